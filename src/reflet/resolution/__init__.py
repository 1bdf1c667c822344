"""What a container gets: arithmetic on a pod and the objects it names, with no I/O at all.

- ``pod_inputs``: everything that a pod's configuration is made from, as one value
- ``environment``: the variables of a container
- ``volumes``: the files of a volume, and what a mount shows of them
- ``references``: which ConfigMaps and Secrets a pod names, and what reading one can end in
- ``templates``: the pod that a workload makes
- ``pod_fields``, ``resource_fields``: what variables and files show of the pod itself
- ``objects``: how callers hand over ConfigMaps and Secrets, whatever they got them from
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
    from reflet.resolution.environment.environment import resolve_environment
    from reflet.resolution.environment.variables import Assignment, Environment, Variable
    from reflet.resolution.objects import ObjectKey, ObjectSource, ObjectsInHand
    from reflet.resolution.pod_inputs import Needs, PodInputs
    from reflet.resolution.references.references import (
        Reference, Usage, config_map_names, references_of, secret_names,
    )
    from reflet.resolution.resource_fields import NodeInHand, UNKNOWN_NODE
    from reflet.resolution.templates.templates import pod_of
    from reflet.resolution.volumes.file_contents import FileContent, Filling, VolumeContents
    from reflet.resolution.volumes.volume_contents import resolve_volume
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.resolution.environment.environment": "resolve_environment",
        "reflet.resolution.environment.variables": "Assignment Environment Variable",
        "reflet.resolution.objects": "ObjectKey ObjectSource ObjectsInHand",
        "reflet.resolution.pod_inputs": "Needs PodInputs",
        "reflet.resolution.references.references": (
            "Reference Usage config_map_names references_of secret_names"
        ),
        "reflet.resolution.resource_fields": "NodeInHand UNKNOWN_NODE",
        "reflet.resolution.templates.templates": "pod_of",
        "reflet.resolution.volumes.file_contents": "FileContent Filling VolumeContents",
        "reflet.resolution.volumes.volume_contents": "resolve_volume",
    })

__all__ = [
    "UNKNOWN_NODE", "Assignment", "Environment", "FileContent", "Filling", "Needs", "NodeInHand",
    "ObjectKey", "ObjectSource", "ObjectsInHand", "PodInputs", "Reference", "Usage", "Variable",
    "VolumeContents", "config_map_names", "pod_of", "references_of", "resolve_environment",
    "resolve_volume", "secret_names",
]
