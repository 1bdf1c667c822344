"""Kubernetes' vocabulary: frozen data, and how bytes become data.  No I/O, no clock.

Every struct can be imported from here; a module is loaded when one of its names is first asked
for, so that nobody pays for structs they do not use.

Structs
    ``frozen``            the base of all structs: JSON names, read-only mappings, QuantityText
    ``meta``              ObjectMeta, ListMeta, owner references, conditions, Time, MicroTime
    ``core/``             the kinds: pods, containers, volumes, config, nodes, services, workloads,
                          and the small ones
    ``unstructured``      AnyObject: any other kind, kept as bytes
    ``tables``            Table: what the server prints for people
    ``status``            Status, the error it means, and questions about errors

Names
    ``resources``         the resource catalogue and URL paths
    ``scheme``            which struct stands for which kind

Bytes
    ``codec``             objects and lists
    ``watch_events``      lines of a watch stream
    ``json_reader``       strict, then tolerant decoding, and what is said of failures
    ``field_path``        places inside an object: ``spec.containers[0].name``
    ``yaml/``             manifests, and printing

Small texts and requests
    ``quantities``        exact amounts: ``500m``, ``1Gi``
    ``selectors/``        label selectors and field selectors: parsing and matching
    ``options``           GetOptions, ListOptions, WatchOptions, DeleteOptions and the others
    ``paging``            limit and continue: the pager
"""

from typing import TYPE_CHECKING

from reflet._exports import lazy_exports

# fmt: off
# isort: off
if TYPE_CHECKING:
    from reflet.api.codec import Listing, decode, decode_list, decode_object, encode
    from reflet.api.core.config import ConfigMap, Secret
    from reflet.api.core.containers import (
        Capabilities, ConfigMapEnvSource, ConfigMapKeySelector, Container, ContainerPort,
        EnvFromSource, EnvVar, EnvVarSource, EphemeralContainer, FileKeySelector,
        ObjectFieldSelector, ResourceClaim, ResourceFieldSelector, ResourceRequirements,
        SecretEnvSource, SecretKeySelector, SecurityContext, VolumeDevice, VolumeMount,
    )
    from reflet.api.core.nodes import (
        DaemonEndpoint, Node, NodeAddress, NodeDaemonEndpoints, NodeSpec, NodeStatus,
        NodeSystemInfo, Taint,
    )
    from reflet.api.core.pods import (
        ContainerState, ContainerStateRunning, ContainerStateTerminated, ContainerStateWaiting,
        ContainerStatus, HostAlias, HostIP, Pod, PodIP, PodReadinessGate, PodSecurityContext,
        PodSpec, PodStatus, PodTemplateSpec, Sysctl, Toleration,
    )
    from reflet.api.core.services import Service, ServicePort, ServiceSpec, ServiceStatus
    from reflet.api.core.small_kinds import (
        Event, EventSeries, EventSource, Lease, LeaseSpec, Namespace, NamespaceSpec,
        NamespaceStatus, ServiceAccount,
    )
    from reflet.api.core.volumes import (
        AzureFileVolumeSource, CSIVolumeSource, CephFSVolumeSource, CinderVolumeSource,
        ClusterTrustBundleProjection, ConfigMapProjection, ConfigMapVolumeSource,
        DownwardAPIProjection, DownwardAPIVolumeFile, DownwardAPIVolumeSource, EmptyDirVolumeSource,
        EphemeralVolumeSource, FlexVolumeSource, HostPathVolumeSource, ISCSIVolumeSource,
        ImageVolumeSource, KeyToPath, NFSVolumeSource, PersistentVolumeClaimVolumeSource,
        PodCertificateProjection, ProjectedVolumeSource, RBDVolumeSource, ScaleIOVolumeSource,
        SecretProjection, SecretVolumeSource, ServiceAccountTokenProjection, StorageOSVolumeSource,
        Volume, VolumeProjection,
    )
    from reflet.api.core.workloads import (
        CronJob, CronJobSpec, CronJobStatus, DaemonSet, DaemonSetSpec, DaemonSetStatus, Deployment,
        DeploymentSpec, DeploymentStatus, Job, JobSpec, JobStatus, JobTemplateSpec, ReplicaSet,
        ReplicaSetSpec, ReplicaSetStatus, ReplicationController, ReplicationControllerSpec,
        StatefulSet, StatefulSetOrdinals, StatefulSetSpec, StatefulSetStatus,
    )
    from reflet.api.frozen import Frozen, constant
    from reflet.api.meta import (
        Condition, KubernetesObject, LabelSelectorRequirement, ListMeta, LocalObjectReference,
        MicroTime, ObjectMeta, ObjectReference, OwnerReference, Time, TypedObject,
    )
    from reflet.api.options import (
        CreateOptions, DeleteOptions, FieldValidation, GetOptions, ListOptions, PatchOptions,
        PatchType, PropagationPolicy, ResourceVersionMatch, UpdateOptions, WatchOptions,
    )
    from reflet.api.quantities import Notation, Quantity
    from reflet.api.resources import Resource
    from reflet.api.selectors.fields import FieldSelector
    from reflet.api.selectors.labels import LabelSelector
    from reflet.api.status import Status
    from reflet.api.unstructured import AnyObject
    from reflet.api.watch_events import ErrorEvent, EventType, WatchEvent
else:
    __getattr__, __dir__ = lazy_exports(__name__, {
        "reflet.api.codec": "Listing decode decode_list decode_object encode",
        "reflet.api.core.config": "ConfigMap Secret",
        "reflet.api.core.containers": (
            "Capabilities ConfigMapEnvSource ConfigMapKeySelector Container ContainerPort "
            "EnvFromSource EnvVar EnvVarSource EphemeralContainer FileKeySelector "
            "ObjectFieldSelector ResourceClaim ResourceFieldSelector ResourceRequirements "
            "SecretEnvSource SecretKeySelector SecurityContext VolumeDevice VolumeMount"
        ),
        "reflet.api.core.nodes": (
            "DaemonEndpoint Node NodeAddress NodeDaemonEndpoints NodeSpec NodeStatus "
            "NodeSystemInfo Taint"
        ),
        "reflet.api.core.pods": (
            "ContainerState ContainerStateRunning ContainerStateTerminated ContainerStateWaiting "
            "ContainerStatus HostAlias HostIP Pod PodIP PodReadinessGate PodSecurityContext "
            "PodSpec PodStatus PodTemplateSpec Sysctl Toleration"
        ),
        "reflet.api.core.services": "Service ServicePort ServiceSpec ServiceStatus",
        "reflet.api.core.small_kinds": (
            "Event EventSeries EventSource Lease LeaseSpec Namespace NamespaceSpec "
            "NamespaceStatus ServiceAccount"
        ),
        "reflet.api.core.volumes": (
            "AzureFileVolumeSource CSIVolumeSource CephFSVolumeSource CinderVolumeSource "
            "ClusterTrustBundleProjection ConfigMapProjection ConfigMapVolumeSource "
            "DownwardAPIProjection DownwardAPIVolumeFile DownwardAPIVolumeSource "
            "EmptyDirVolumeSource EphemeralVolumeSource FlexVolumeSource HostPathVolumeSource "
            "ISCSIVolumeSource ImageVolumeSource KeyToPath NFSVolumeSource "
            "PersistentVolumeClaimVolumeSource PodCertificateProjection ProjectedVolumeSource "
            "RBDVolumeSource ScaleIOVolumeSource SecretProjection SecretVolumeSource "
            "ServiceAccountTokenProjection StorageOSVolumeSource Volume VolumeProjection"
        ),
        "reflet.api.core.workloads": (
            "CronJob CronJobSpec CronJobStatus DaemonSet DaemonSetSpec DaemonSetStatus Deployment "
            "DeploymentSpec DeploymentStatus Job JobSpec JobStatus JobTemplateSpec ReplicaSet "
            "ReplicaSetSpec ReplicaSetStatus ReplicationController ReplicationControllerSpec "
            "StatefulSet StatefulSetOrdinals StatefulSetSpec StatefulSetStatus"
        ),
        "reflet.api.frozen": "Frozen constant",
        "reflet.api.meta": (
            "Condition KubernetesObject LabelSelectorRequirement ListMeta LocalObjectReference "
            "MicroTime ObjectMeta ObjectReference OwnerReference Time TypedObject"
        ),
        "reflet.api.options": (
            "CreateOptions DeleteOptions FieldValidation GetOptions ListOptions PatchOptions "
            "PatchType PropagationPolicy ResourceVersionMatch UpdateOptions WatchOptions"
        ),
        "reflet.api.quantities": "Notation Quantity",
        "reflet.api.resources": "Resource",
        "reflet.api.selectors.fields": "FieldSelector",
        "reflet.api.selectors.labels": "LabelSelector",
        "reflet.api.status": "Status",
        "reflet.api.unstructured": "AnyObject",
        "reflet.api.watch_events": "ErrorEvent EventType WatchEvent",
    })

__all__ = [
    "AnyObject", "AzureFileVolumeSource", "CSIVolumeSource", "Capabilities", "CephFSVolumeSource",
    "CinderVolumeSource", "ClusterTrustBundleProjection", "Condition", "ConfigMap",
    "ConfigMapEnvSource", "ConfigMapKeySelector", "ConfigMapProjection", "ConfigMapVolumeSource",
    "Container", "ContainerPort", "ContainerState", "ContainerStateRunning",
    "ContainerStateTerminated", "ContainerStateWaiting", "ContainerStatus", "CreateOptions",
    "CronJob", "CronJobSpec", "CronJobStatus", "DaemonEndpoint", "DaemonSet", "DaemonSetSpec",
    "DaemonSetStatus", "DeleteOptions", "Deployment", "DeploymentSpec", "DeploymentStatus",
    "DownwardAPIProjection", "DownwardAPIVolumeFile", "DownwardAPIVolumeSource",
    "EmptyDirVolumeSource", "EnvFromSource", "EnvVar", "EnvVarSource", "EphemeralContainer",
    "EphemeralVolumeSource", "ErrorEvent", "Event", "EventSeries", "EventSource", "EventType",
    "FieldSelector", "FieldValidation", "FileKeySelector", "FlexVolumeSource", "Frozen",
    "GetOptions",
    "HostAlias", "HostIP", "HostPathVolumeSource", "ISCSIVolumeSource", "ImageVolumeSource", "Job",
    "JobSpec", "JobStatus", "JobTemplateSpec", "KeyToPath", "KubernetesObject", "LabelSelector",
    "LabelSelectorRequirement", "Lease", "LeaseSpec", "ListMeta", "ListOptions", "Listing",
    "LocalObjectReference", "MicroTime", "NFSVolumeSource", "Namespace", "NamespaceSpec",
    "NamespaceStatus", "Node", "NodeAddress", "NodeDaemonEndpoints", "NodeSpec", "NodeStatus",
    "NodeSystemInfo", "Notation", "ObjectFieldSelector", "ObjectMeta", "ObjectReference",
    "OwnerReference", "PatchOptions", "PatchType", "PersistentVolumeClaimVolumeSource", "Pod",
    "PodCertificateProjection", "PodIP", "PodReadinessGate", "PodSecurityContext", "PodSpec",
    "PodStatus", "PodTemplateSpec", "ProjectedVolumeSource", "PropagationPolicy", "Quantity",
    "RBDVolumeSource", "ReplicaSet", "ReplicaSetSpec", "ReplicaSetStatus", "ReplicationController",
    "ReplicationControllerSpec", "Resource", "ResourceClaim", "ResourceFieldSelector",
    "ResourceRequirements", "ResourceVersionMatch", "ScaleIOVolumeSource", "Secret",
    "SecretEnvSource", "SecretKeySelector", "SecretProjection", "SecretVolumeSource",
    "SecurityContext", "Service", "ServiceAccount", "ServiceAccountTokenProjection", "ServicePort",
    "ServiceSpec", "ServiceStatus", "StatefulSet", "StatefulSetOrdinals", "StatefulSetSpec",
    "StatefulSetStatus", "Status", "StorageOSVolumeSource", "Sysctl", "Taint", "Time", "Toleration",
    "TypedObject", "UpdateOptions", "Volume", "VolumeDevice", "VolumeMount", "VolumeProjection",
    "WatchEvent", "WatchOptions", "constant", "decode", "decode_list", "decode_object", "encode",
]
