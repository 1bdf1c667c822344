"""What a container gets: arithmetic on a pod and the objects it names, with no I/O at all.

- ``pod_inputs``: everything that a pod's configuration is made from, as one value
- ``references``: which ConfigMaps and Secrets a pod names, where, and which keys; and whether its
  configuration shows anything of its node
- ``environment``: the variables of a container; as data in ``variables``.  It is made of
  ``variable_sources`` (``valueFrom``), ``expansion`` (``$(NAME)``), ``service_variables`` and
  ``env_files``
- ``volume_contents``: the files of a volume; as data in ``file_contents``.  It is made of
  ``keyed_contents`` (ConfigMap and Secret), ``downward_contents`` and ``projected_contents`` with
  ``trust_bundles``
- ``pod_fields``, ``resource_fields``: what variables and files show of the pod itself
- ``sub_paths``: what mounts ask of a volume
- ``templates``: the pod that a workload makes
- ``objects``, ``wanted_objects``: how callers hand over ConfigMaps and Secrets, whatever they got
  them from, and what can be wrong with one that is asked for
- ``problems``, ``places``, ``origins``: what is wrong, where in the pod, and what a value came from

Results are those of the kubelet of Kubernetes 1.36, its error texts included.  Where the kubelet
stops at the first error, these functions go on and report all of them; no problem, error or
representation shows a Secret's value.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.resolution.environment import resolve_environment
    from reflet.resolution.file_contents import FileContent, Filling, VolumeContents
    from reflet.resolution.objects import ObjectKey, ObjectSource, ObjectsInHand
    from reflet.resolution.pod_inputs import Needs, PodInputs
    from reflet.resolution.references import (
        Reference, Usage, config_map_names, references_of, secret_names,
    )
    from reflet.resolution.resource_fields import NodeInHand, UNKNOWN_NODE
    from reflet.resolution.templates import pod_of
    from reflet.resolution.variables import Assignment, Environment, Variable
    from reflet.resolution.volume_contents import resolve_volume
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.resolution.environment": "resolve_environment",
        "reflet.resolution.file_contents": "FileContent Filling VolumeContents",
        "reflet.resolution.objects": "ObjectKey ObjectSource ObjectsInHand",
        "reflet.resolution.pod_inputs": "Needs PodInputs",
        "reflet.resolution.references": (
            "Reference Usage config_map_names references_of secret_names"
        ),
        "reflet.resolution.resource_fields": "NodeInHand UNKNOWN_NODE",
        "reflet.resolution.templates": "pod_of",
        "reflet.resolution.variables": "Assignment Environment Variable",
        "reflet.resolution.volume_contents": "resolve_volume",
    })

__all__ = [
    "UNKNOWN_NODE", "Assignment", "Environment", "FileContent", "Filling", "Needs", "NodeInHand",
    "ObjectKey", "ObjectSource", "ObjectsInHand", "PodInputs", "Reference", "Usage", "Variable",
    "VolumeContents", "config_map_names", "pod_of", "references_of", "resolve_environment",
    "resolve_volume", "secret_names",
]
