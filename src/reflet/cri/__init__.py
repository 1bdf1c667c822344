"""Container runtimes, spoken to as the kubelet speaks to them: CRI v1 over a unix socket.

- ``cri_client``: RuntimeService and ImageService
- ``messages``: what they take and give, by the names of ``api.proto``
- ``cri_runtime``: the pods of a runtime, for ``reflet.pleg``
- ``conversions``, ``termination_messages``: what answers mean for a pod
- ``endpoints``: where runtimes listen
- ``wire``: protobuf's wire format for frozen structs
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.cri.cri_client import CriClient, ImageService, RuntimeService
    from reflet.cri.cri_runtime import CriRuntime
    from reflet.cri.endpoints import DEFAULT_ENDPOINTS, find_endpoint
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.cri.cri_client": "CriClient ImageService RuntimeService",
        "reflet.cri.cri_runtime": "CriRuntime",
        "reflet.cri.endpoints": "DEFAULT_ENDPOINTS find_endpoint",
    })

__all__ = [
    "DEFAULT_ENDPOINTS", "CriClient", "CriRuntime", "ImageService", "RuntimeService",
    "find_endpoint",
]
