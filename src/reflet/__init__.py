"""Reflet: the configuration that Kubernetes would give a pod, for any process, kept fresh.

The public names.  Each is imported when it is first used, so that importing the package costs
next to nothing.
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports
from reflet._version import __version__

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet import (
        adapters, api, blocking, client, controllers, devserver, errors, informer, managers, play,
        pleg, podconfig, pods, resolution, runtime, store, testing, transport, volumes,
    )
    from reflet.api import (
        AnyObject, ConfigMap, CreateOptions, CronJob, DaemonSet, DeleteOptions, Deployment, Event,
        FieldValidation, GetOptions, Job, Lease, ListOptions, Namespace, Node, PatchOptions,
        PatchType, Pod, PropagationPolicy, Quantity, ReplicaSet, ReplicationController, Resource,
        ResourceVersionMatch, Secret, Service, ServiceAccount, StatefulSet, UpdateOptions,
        WatchOptions, decode_object, encode,
    )
    from reflet.client import ALL_NAMESPACES
    from reflet.cluster import Cluster, connect
    from reflet.controllers import (
        Controller, EventRecorder, Requeue, WorkQueue, leader, reconcile,
    )
    from reflet.errors import RefletError
    from reflet.informer import (
        Change, DeltaFifo, InformerSet, Mirror, Reflector, SharedInformer, filtered,
    )
    from reflet.managers import ConfigMapManager, SecretManager
    from reflet.podconfig import pod_inputs, pod_inputs_from_files
    from reflet.resolution import Needs, PodInputs, resolve_environment, resolve_volume
    from reflet.store import Store
    from reflet.transport import ConnectionSettings
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet": (
            "adapters api blocking client controllers devserver errors informer managers play "
            "pleg podconfig pods resolution runtime store testing transport volumes"
        ),
        "reflet.api": (
            "AnyObject ConfigMap CreateOptions CronJob DaemonSet DeleteOptions Deployment Event "
            "FieldValidation GetOptions Job Lease ListOptions Namespace Node PatchOptions "
            "PatchType Pod PropagationPolicy Quantity ReplicaSet ReplicationController Resource "
            "ResourceVersionMatch Secret Service ServiceAccount StatefulSet UpdateOptions "
            "WatchOptions decode_object encode"
        ),
        "reflet.client": "ALL_NAMESPACES",
        "reflet.cluster": "Cluster connect",
        "reflet.controllers": "Controller EventRecorder Requeue WorkQueue leader reconcile",
        "reflet.errors": "RefletError",
        "reflet.informer": "Change DeltaFifo InformerSet Mirror Reflector SharedInformer filtered",
        "reflet.managers": "ConfigMapManager SecretManager",
        "reflet.podconfig": "pod_inputs pod_inputs_from_files",
        "reflet.resolution": "Needs PodInputs resolve_environment resolve_volume",
        "reflet.store": "Store",
        "reflet.transport": "ConnectionSettings",
    })

__all__ = [
    "ALL_NAMESPACES", "AnyObject", "Change", "Cluster", "ConfigMap", "ConfigMapManager",
    "ConnectionSettings", "Controller", "CreateOptions", "CronJob", "DaemonSet", "DeleteOptions",
    "DeltaFifo", "Deployment", "Event", "EventRecorder", "FieldValidation", "GetOptions",
    "InformerSet", "Job", "Lease", "ListOptions", "Mirror", "Namespace", "Needs", "Node",
    "PatchOptions", "PatchType", "Pod", "PodInputs", "PropagationPolicy", "Quantity", "Reflector",
    "RefletError", "ReplicaSet", "ReplicationController", "Requeue", "Resource",
    "ResourceVersionMatch", "Secret", "SecretManager", "Service", "ServiceAccount",
    "SharedInformer", "StatefulSet", "Store", "UpdateOptions", "WatchOptions", "WorkQueue",
    "__version__", "adapters", "api", "blocking", "client", "connect", "controllers",
    "decode_object", "devserver", "encode", "errors", "filtered", "informer", "leader", "managers",
    "play", "pleg", "pod_inputs", "pod_inputs_from_files", "podconfig", "pods", "reconcile",
    "resolution", "resolve_environment", "resolve_volume", "runtime", "store", "testing",
    "transport", "volumes",
]
