"""Reflet: the configuration that Kubernetes would give a pod, for any process, kept fresh.

The public names.  Each is imported when it is first used, so that importing the package costs
next to nothing.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports
from reflet._version import __version__

if TYPE_CHECKING:
    from reflet import (
        adapters,
        api,
        blocking,
        client,
        devserver,
        errors,
        informer,
        managers,
        pleg,
        podconfig,
        pods,
        resolution,
        runtime,
        store,
        testing,
        transport,
        volumes,
    )
    from reflet.api.codec import decode_object, encode
    from reflet.api.core.config import ConfigMap, Secret
    from reflet.api.core.nodes import Node
    from reflet.api.core.pods import Pod
    from reflet.api.core.services import Service
    from reflet.api.core.small_kinds import Event, Lease, Namespace, ServiceAccount
    from reflet.api.core.workloads import (
        CronJob,
        DaemonSet,
        Deployment,
        Job,
        ReplicaSet,
        ReplicationController,
        StatefulSet,
    )
    from reflet.api.options import (
        CreateOptions,
        DeleteOptions,
        FieldValidation,
        GetOptions,
        ListOptions,
        PatchOptions,
        PatchType,
        PropagationPolicy,
        ResourceVersionMatch,
        UpdateOptions,
        WatchOptions,
    )
    from reflet.api.quantities import Quantity
    from reflet.api.resources import Resource
    from reflet.api.unstructured import AnyObject
    from reflet.client.client import ALL_NAMESPACES
    from reflet.cluster import Cluster, connect
    from reflet.errors import RefletError
    from reflet.informer.handlers.changes import Change, filtered
    from reflet.informer.informer_set import InformerSet
    from reflet.informer.mirror import Mirror
    from reflet.informer.queues.delta_fifo import DeltaFifo
    from reflet.informer.reflector.reflector import Reflector
    from reflet.informer.shared_informer import SharedInformer
    from reflet.managers.manager import ConfigMapManager, SecretManager
    from reflet.podconfig.gather import pod_inputs
    from reflet.podconfig.gather_files import pod_inputs_from_files
    from reflet.resolution.environment import resolve_environment
    from reflet.resolution.pod_inputs import Needs, PodInputs
    from reflet.resolution.volume_contents import resolve_volume
    from reflet.store.store import Store
    from reflet.transport.config.settings import ConnectionSettings
else:
    __getattr__, __dir__ = lazy_exports(
        __name__,
        {
            "reflet": (
                "adapters api blocking client devserver errors informer managers pleg "
                "podconfig pods resolution runtime store testing transport volumes"
            ),
            "reflet.api.codec": "decode_object encode",
            "reflet.api.core.config": "ConfigMap Secret",
            "reflet.api.core.nodes": "Node",
            "reflet.api.core.pods": "Pod",
            "reflet.api.core.services": "Service",
            "reflet.api.core.small_kinds": "Event Lease Namespace ServiceAccount",
            "reflet.api.core.workloads": (
                "CronJob DaemonSet Deployment Job ReplicaSet ReplicationController StatefulSet"
            ),
            "reflet.api.options": (
                "CreateOptions DeleteOptions FieldValidation GetOptions ListOptions "
                "PatchOptions PatchType PropagationPolicy ResourceVersionMatch UpdateOptions "
                "WatchOptions"
            ),
            "reflet.api.quantities": "Quantity",
            "reflet.api.resources": "Resource",
            "reflet.api.unstructured": "AnyObject",
            "reflet.client.client": "ALL_NAMESPACES",
            "reflet.cluster": "Cluster connect",
            "reflet.errors": "RefletError",
            "reflet.informer.handlers.changes": "Change filtered",
            "reflet.informer.informer_set": "InformerSet",
            "reflet.informer.mirror": "Mirror",
            "reflet.informer.queues.delta_fifo": "DeltaFifo",
            "reflet.informer.reflector.reflector": "Reflector",
            "reflet.informer.shared_informer": "SharedInformer",
            "reflet.managers.manager": "ConfigMapManager SecretManager",
            "reflet.podconfig.gather": "pod_inputs",
            "reflet.podconfig.gather_files": "pod_inputs_from_files",
            "reflet.resolution.environment": "resolve_environment",
            "reflet.resolution.pod_inputs": "Needs PodInputs",
            "reflet.resolution.volume_contents": "resolve_volume",
            "reflet.store.store": "Store",
            "reflet.transport.config.settings": "ConnectionSettings",
        },
    )

__all__ = [
    "ALL_NAMESPACES", "AnyObject", "Change", "Cluster", "ConfigMap", "ConfigMapManager",
    "ConnectionSettings", "CreateOptions", "CronJob", "DaemonSet", "DeleteOptions", "DeltaFifo",
    "Deployment", "Event", "FieldValidation", "GetOptions", "InformerSet", "Job", "Lease",
    "ListOptions", "Mirror", "Namespace", "Needs", "Node", "PatchOptions", "PatchType", "Pod",
    "PodInputs", "PropagationPolicy", "Quantity", "Reflector", "RefletError", "ReplicaSet",
    "ReplicationController", "Resource", "ResourceVersionMatch", "Secret", "SecretManager",
    "Service", "ServiceAccount", "SharedInformer", "StatefulSet", "Store", "UpdateOptions",
    "WatchOptions", "__version__", "adapters", "api", "blocking", "client", "connect",
    "decode_object", "devserver", "encode", "errors", "filtered", "informer", "managers", "pleg",
    "pod_inputs", "pod_inputs_from_files", "podconfig", "pods", "resolution", "resolve_environment",
    "resolve_volume", "runtime", "store", "testing", "transport", "volumes",
]  # fmt: skip
