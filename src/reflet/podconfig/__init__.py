"""What one pod gets: gathered, resolved again whenever the result changes, and its files on disk.

- ``gather``, ``gather_users``, ``gather_files``: what a pod's configuration is made from, and who
  may use an object, asked once of a server or of manifests
- ``gather_objects``, ``gather_many_objects``: ConfigMaps and Secrets by name, of one pod or of many
- ``gather_lint``, ``gather_existence``: what lint looks at
- ``gather_why``, ``gather_why_targets``, ``gather_why_files``: pods, workloads and what it takes to
  say why they do not run
- ``pod_configuration``: a registered pod's environments and volumes, now and as they change
- ``resolved_pod``: one such result, and how two of them differ
- ``pod_wakeups``: which pods have to look again because something of theirs has changed
- ``last_known_objects``: reading a pod's objects, which stay known while the server is away
- ``service_account_tokens``: tokens that are renewed in time
- ``trust_bundle_watch``: ClusterTrustBundles, watched once a pod wants them
- ``many_pods``: what is asked about many pods at once
- ``volume_delivery``: the volumes of a result as files, and environment files that containers wrote
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.insight.possible_users import PossibleUsers
    from reflet.podconfig.gather import pod_inputs
    from reflet.podconfig.gather_files import (
        inputs_of_every_pod, pod_inputs_from_files, possible_users_from_files,
    )
    from reflet.podconfig.gather_lint import lint_subjects_from_files
    from reflet.podconfig.gather_users import possible_users
    from reflet.podconfig.last_known_objects import LastKnownObjects, objects_of
    from reflet.podconfig.pod_configuration import PodConfiguration
    from reflet.podconfig.pod_wakeups import PodWakeups
    from reflet.podconfig.resolved_pod import Difference, NameChanges, ResolvedPod, difference
    from reflet.podconfig.service_account_tokens import ServiceAccountTokens
    from reflet.podconfig.trust_bundle_watch import TrustBundles
    from reflet.podconfig.volume_delivery import FolderFiles, VolumeDelivery
    from reflet.resolution.pod_inputs import Needs, PodInputs
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.insight.possible_users": "PossibleUsers",
        "reflet.podconfig.gather": "pod_inputs",
        "reflet.podconfig.gather_files": (
            "inputs_of_every_pod pod_inputs_from_files possible_users_from_files"
        ),
        "reflet.podconfig.gather_lint": "lint_subjects_from_files",
        "reflet.podconfig.gather_users": "possible_users",
        "reflet.podconfig.last_known_objects": "LastKnownObjects objects_of",
        "reflet.podconfig.pod_configuration": "PodConfiguration",
        "reflet.podconfig.pod_wakeups": "PodWakeups",
        "reflet.podconfig.resolved_pod": "Difference NameChanges ResolvedPod difference",
        "reflet.podconfig.service_account_tokens": "ServiceAccountTokens",
        "reflet.podconfig.trust_bundle_watch": "TrustBundles",
        "reflet.podconfig.volume_delivery": "FolderFiles VolumeDelivery",
        "reflet.resolution.pod_inputs": "Needs PodInputs",
    })

__all__ = [
    "Difference", "FolderFiles", "LastKnownObjects", "NameChanges", "Needs", "PodConfiguration",
    "PodInputs", "PodWakeups", "PossibleUsers", "ResolvedPod", "ServiceAccountTokens",
    "TrustBundles", "VolumeDelivery", "difference", "inputs_of_every_pod",
    "lint_subjects_from_files", "objects_of", "pod_inputs", "pod_inputs_from_files",
    "possible_users", "possible_users_from_files",
]
