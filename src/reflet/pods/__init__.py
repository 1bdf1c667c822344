"""Where pods come from, and the one place that registers and unregisters them."""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

if TYPE_CHECKING:
    from reflet.pods.folder_pods import FolderPods
    from reflet.pods.pod_manager import PodManager, PodPair, StaticPodRefused
    from reflet.pods.pod_sources import (
        PodGone,
        PodListener,
        PodNews,
        PodRegistrar,
        PodSeen,
        PodSource,
        ServedPods,
        pods_of_node,
    )
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet.pods.folder_pods": "FolderPods",
            "reflet.pods.pod_manager": "PodManager PodPair StaticPodRefused",
            "reflet.pods.pod_sources": (
                "PodGone PodListener PodNews PodRegistrar PodSeen PodSource ServedPods pods_of_node"
            ),
        },
    )

__all__ = [
    "FolderPods", "PodGone", "PodListener", "PodManager", "PodNews", "PodPair", "PodRegistrar",
    "PodSeen", "PodSource", "ServedPods", "StaticPodRefused", "pods_of_node",
]  # fmt: skip
