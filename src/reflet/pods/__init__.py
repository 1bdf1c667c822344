"""Where pods come from, and the one place that registers and unregisters them.

- ``pod_sources``: the pods of the API server, by node or selector; the feed of a source
- ``folder_pods``: pods of manifests in a folder, static pods among them
- ``pod_manager``: which pods there are, and which static pod belongs to which mirror pod
- ``mirror_pods``: showing a static pod on the API server, and taking that back
- ``registrar``: registering pods with the managers, and unregistering terminated ones
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.pods.folder_pods import FolderPods
    from reflet.pods.mirror_pods import create_mirror, delete_mirror, mirror_pod
    from reflet.pods.pod_manager import PodManager, PodPair, StaticPodRefused
    from reflet.pods.pod_sources import (
        AllPodsSeen, PodFeed, PodGone, PodNews, PodSeen, PodSource, ServedPods, pods_of_node,
    )
    from reflet.pods.registrar import PodListener, PodRegistrar, is_terminated
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.pods.folder_pods": "FolderPods",
        "reflet.pods.mirror_pods": "create_mirror delete_mirror mirror_pod",
        "reflet.pods.pod_manager": "PodManager PodPair StaticPodRefused",
        "reflet.pods.pod_sources": (
            "AllPodsSeen PodFeed PodGone PodNews PodSeen PodSource ServedPods pods_of_node"
        ),
        "reflet.pods.registrar": "PodListener PodRegistrar is_terminated",
    })

__all__ = [
    "AllPodsSeen", "FolderPods", "PodFeed", "PodGone", "PodListener", "PodManager", "PodNews",
    "PodPair", "PodRegistrar", "PodSeen", "PodSource", "ServedPods", "StaticPodRefused",
    "create_mirror", "delete_mirror", "is_terminated", "mirror_pod", "pods_of_node",
]
