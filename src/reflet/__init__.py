"""Reflet: the configuration that Kubernetes would give a pod, for any process, kept fresh.

The public names.  Each is imported when it is first used, so that importing the package costs
next to nothing.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from reflet._version import __version__

if TYPE_CHECKING:
    from reflet import blocking, errors
    from reflet.api.codec import decode_object, encode
    from reflet.api.core.config import ConfigMap, Secret
    from reflet.api.core.pods import Pod
    from reflet.api.options import ListOptions, PatchType, WatchOptions
    from reflet.api.quantities import Quantity
    from reflet.api.resources import Resource
    from reflet.api.unstructured import AnyObject
    from reflet.client.client import ALL_NAMESPACES
    from reflet.cluster import Cluster, connect
    from reflet.errors import RefletError
    from reflet.informer.handlers.changes import Change, filtered
    from reflet.informer.informer_set import InformerSet
    from reflet.informer.mirror import Mirror
    from reflet.informer.shared_informer import SharedInformer
    from reflet.managers.manager import ConfigMapManager, SecretManager
    from reflet.podconfig.gather import pod_inputs
    from reflet.podconfig.gather_files import pod_inputs_from_files
    from reflet.resolution.environment import resolve_environment
    from reflet.resolution.pod_inputs import Needs, PodInputs
    from reflet.resolution.volume_contents import resolve_volume

_HOMES = {
    "ALL_NAMESPACES": "reflet.client.client",
    "AnyObject": "reflet.api.unstructured",
    "Change": "reflet.informer.handlers.changes",
    "Cluster": "reflet.cluster",
    "ConfigMap": "reflet.api.core.config",
    "ConfigMapManager": "reflet.managers.manager",
    "InformerSet": "reflet.informer.informer_set",
    "ListOptions": "reflet.api.options",
    "Mirror": "reflet.informer.mirror",
    "Needs": "reflet.resolution.pod_inputs",
    "PatchType": "reflet.api.options",
    "Pod": "reflet.api.core.pods",
    "PodInputs": "reflet.resolution.pod_inputs",
    "Quantity": "reflet.api.quantities",
    "RefletError": "reflet.errors",
    "Resource": "reflet.api.resources",
    "Secret": "reflet.api.core.config",
    "SecretManager": "reflet.managers.manager",
    "SharedInformer": "reflet.informer.shared_informer",
    "WatchOptions": "reflet.api.options",
    "connect": "reflet.cluster",
    "decode_object": "reflet.api.codec",
    "encode": "reflet.api.codec",
    "filtered": "reflet.informer.handlers.changes",
    "pod_inputs": "reflet.podconfig.gather",
    "pod_inputs_from_files": "reflet.podconfig.gather_files",
    "resolve_environment": "reflet.resolution.environment",
    "resolve_volume": "reflet.resolution.volume_contents",
}
_ROOMS = ("blocking", "errors")

__all__ = [
    "ALL_NAMESPACES",
    "AnyObject",
    "Change",
    "Cluster",
    "ConfigMap",
    "ConfigMapManager",
    "InformerSet",
    "ListOptions",
    "Mirror",
    "Needs",
    "PatchType",
    "Pod",
    "PodInputs",
    "Quantity",
    "RefletError",
    "Resource",
    "Secret",
    "SecretManager",
    "SharedInformer",
    "WatchOptions",
    "__version__",
    "blocking",
    "connect",
    "decode_object",
    "encode",
    "errors",
    "filtered",
    "pod_inputs",
    "pod_inputs_from_files",
    "resolve_environment",
    "resolve_volume",
]


def __getattr__(name: str) -> Any:
    if name in _HOMES:
        return getattr(import_module(_HOMES[name]), name)
    if name in _ROOMS:
        return import_module(f"reflet.{name}")
    raise AttributeError(f"module 'reflet' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(__all__)
