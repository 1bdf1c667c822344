"""The table of built-in kinds: under which names, with which verbs and subresources.

A test against a real server checks every row.  The order is that of discovery.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, NamedTuple

from reflet.apirules.schema.schemas import Schemas
from reflet.apirules.schema.served_kind import ALL_VERBS, ServedKind, Subresource

SCALE: Final = Subresource("scale", "Scale", group="autoscaling", version="v1")
TOKEN: Final = Subresource(
    "token", "TokenRequest", verbs=("create",), group="authentication.k8s.io", version="v1"
)
BINDING: Final = Subresource("binding", "Binding", verbs=("create",))
EVICTION: Final = Subresource(
    "eviction", "Eviction", verbs=("create",), group="policy", version="v1"
)
LOG: Final = Subresource("log", "Pod", verbs=("get",))
CREATE_ONLY: Final = ("create",)

CLUSTER: Final = False
NAMESPACED: Final = True


class _Row(NamedTuple):
    plural: str
    kind: str
    namespaced: bool = NAMESPACED
    short_names: tuple[str, ...] = ()
    categories: tuple[str, ...] = ()
    subresources: tuple[str | Subresource, ...] = ()
    verbs: tuple[str, ...] = ALL_VERBS
    storage_key: str = ""
    storage_version: str = ""
    singular: str = ""


class _Group(NamedTuple):
    name: str
    version: str
    package: str  # the first part of the names of its types
    rows: tuple[_Row, ...]


_WORKLOAD: Final = ("all",)
_EXTENSION: Final = ("api-extensions",)


def _extension(plural: str, kind: str, *subresources: str) -> _Row:
    return _Row(plural, kind, CLUSTER, categories=_EXTENSION, subresources=subresources)


_AUTOSCALERS: Final = _Row(
    "horizontalpodautoscalers",
    "HorizontalPodAutoscaler",
    short_names=("hpa",),
    categories=_WORKLOAD,
    subresources=("status",),
    storage_version="v2",
)

GROUPS: Final[tuple[_Group, ...]] = (
    _Group(
        "",
        "v1",
        "io.k8s.api.core.v1",
        (
            _Row("bindings", "Binding", verbs=CREATE_ONLY),
            _Row(
                "componentstatuses",
                "ComponentStatus",
                CLUSTER,
                short_names=("cs",),
                verbs=("get", "list"),
            ),
            _Row("configmaps", "ConfigMap", short_names=("cm",)),
            _Row("endpoints", "Endpoints", short_names=("ep",), singular="endpoints"),
            _Row("events", "Event", short_names=("ev",)),
            _Row("limitranges", "LimitRange", short_names=("limits",)),
            _Row(
                "namespaces",
                "Namespace",
                CLUSTER,
                short_names=("ns",),
                subresources=(Subresource("finalize", "Namespace", verbs=("update",)), "status"),
                verbs=tuple(verb for verb in ALL_VERBS if verb != "deletecollection"),
            ),
            _Row("nodes", "Node", CLUSTER, short_names=("no",), subresources=("status",)),
            _Row(
                "persistentvolumeclaims",
                "PersistentVolumeClaim",
                short_names=("pvc",),
                subresources=("status",),
            ),
            _Row(
                "persistentvolumes",
                "PersistentVolume",
                CLUSTER,
                short_names=("pv",),
                subresources=("status",),
            ),
            _Row(
                "pods",
                "Pod",
                short_names=("po",),
                categories=_WORKLOAD,
                subresources=(BINDING, EVICTION, LOG, "status"),
            ),
            _Row("podtemplates", "PodTemplate"),
            _Row(
                "replicationcontrollers",
                "ReplicationController",
                short_names=("rc",),
                categories=_WORKLOAD,
                subresources=(SCALE, "status"),
            ),
            _Row(
                "resourcequotas", "ResourceQuota", short_names=("quota",), subresources=("status",)
            ),
            _Row("secrets", "Secret"),
            _Row("serviceaccounts", "ServiceAccount", short_names=("sa",), subresources=(TOKEN,)),
            _Row(
                "services",
                "Service",
                short_names=("svc",),
                categories=_WORKLOAD,
                subresources=("status",),
            ),
        ),
    ),
    _Group(
        "apiregistration.k8s.io",
        "v1",
        "io.k8s.kube-aggregator.pkg.apis.apiregistration.v1",
        (_extension("apiservices", "APIService", "status"),),
    ),
    _Group(
        "apps",
        "v1",
        "io.k8s.api.apps.v1",
        (
            _Row("controllerrevisions", "ControllerRevision"),
            _Row(
                "daemonsets",
                "DaemonSet",
                short_names=("ds",),
                categories=_WORKLOAD,
                subresources=("status",),
            ),
            _Row(
                "deployments",
                "Deployment",
                short_names=("deploy",),
                categories=_WORKLOAD,
                subresources=(SCALE, "status"),
            ),
            _Row(
                "replicasets",
                "ReplicaSet",
                short_names=("rs",),
                categories=_WORKLOAD,
                subresources=(SCALE, "status"),
            ),
            _Row(
                "statefulsets",
                "StatefulSet",
                short_names=("sts",),
                categories=_WORKLOAD,
                subresources=(SCALE, "status"),
            ),
        ),
    ),
    _Group(
        "events.k8s.io",
        "v1",
        "io.k8s.api.events.v1",
        (_Row("events", "Event", short_names=("ev",), storage_key="events"),),
    ),
    _Group(
        "authentication.k8s.io",
        "v1",
        "io.k8s.api.authentication.v1",
        (
            _Row("selfsubjectreviews", "SelfSubjectReview", CLUSTER, verbs=CREATE_ONLY),
            _Row("tokenreviews", "TokenReview", CLUSTER, verbs=CREATE_ONLY),
        ),
    ),
    _Group(
        "authorization.k8s.io",
        "v1",
        "io.k8s.api.authorization.v1",
        (
            _Row("localsubjectaccessreviews", "LocalSubjectAccessReview", verbs=CREATE_ONLY),
            _Row("selfsubjectaccessreviews", "SelfSubjectAccessReview", CLUSTER, verbs=CREATE_ONLY),
            _Row("selfsubjectrulesreviews", "SelfSubjectRulesReview", CLUSTER, verbs=CREATE_ONLY),
            _Row("subjectaccessreviews", "SubjectAccessReview", CLUSTER, verbs=CREATE_ONLY),
        ),
    ),
    _Group(
        "autoscaling",
        "v2",
        "io.k8s.api.autoscaling.v2",
        (_AUTOSCALERS,),
    ),
    _Group("autoscaling", "v1", "io.k8s.api.autoscaling.v1", (_AUTOSCALERS,)),
    _Group(
        "batch",
        "v1",
        "io.k8s.api.batch.v1",
        (
            _Row(
                "cronjobs",
                "CronJob",
                short_names=("cj",),
                categories=_WORKLOAD,
                subresources=("status",),
            ),
            _Row("jobs", "Job", categories=_WORKLOAD, subresources=("status",)),
        ),
    ),
    _Group(
        "certificates.k8s.io",
        "v1",
        "io.k8s.api.certificates.v1",
        (
            _Row(
                "certificatesigningrequests",
                "CertificateSigningRequest",
                CLUSTER,
                short_names=("csr",),
                subresources=("approval", "status"),
            ),
        ),
    ),
    _Group(
        "networking.k8s.io",
        "v1",
        "io.k8s.api.networking.v1",
        (
            _Row("ingressclasses", "IngressClass", CLUSTER),
            _Row("ingresses", "Ingress", short_names=("ing",), subresources=("status",)),
            _Row("ipaddresses", "IPAddress", CLUSTER, short_names=("ip",)),
            _Row("networkpolicies", "NetworkPolicy", short_names=("netpol",)),
            _Row("servicecidrs", "ServiceCIDR", CLUSTER, subresources=("status",)),
        ),
    ),
    _Group(
        "policy",
        "v1",
        "io.k8s.api.policy.v1",
        (
            _Row(
                "poddisruptionbudgets",
                "PodDisruptionBudget",
                short_names=("pdb",),
                subresources=("status",),
            ),
        ),
    ),
    _Group(
        "rbac.authorization.k8s.io",
        "v1",
        "io.k8s.api.rbac.v1",
        (
            _Row("clusterrolebindings", "ClusterRoleBinding", CLUSTER),
            _Row("clusterroles", "ClusterRole", CLUSTER),
            _Row("rolebindings", "RoleBinding"),
            _Row("roles", "Role"),
        ),
    ),
    _Group(
        "storage.k8s.io",
        "v1",
        "io.k8s.api.storage.v1",
        (
            _Row("csidrivers", "CSIDriver", CLUSTER),
            _Row("csinodes", "CSINode", CLUSTER),
            _Row("csistoragecapacities", "CSIStorageCapacity"),
            _Row("storageclasses", "StorageClass", CLUSTER, short_names=("sc",)),
            _Row("volumeattachments", "VolumeAttachment", CLUSTER, subresources=("status",)),
            _Row("volumeattributesclasses", "VolumeAttributesClass", CLUSTER, short_names=("vac",)),
        ),
    ),
    _Group(
        "admissionregistration.k8s.io",
        "v1",
        "io.k8s.api.admissionregistration.v1",
        (
            _extension("mutatingadmissionpolicies", "MutatingAdmissionPolicy"),
            _extension("mutatingadmissionpolicybindings", "MutatingAdmissionPolicyBinding"),
            _extension("mutatingwebhookconfigurations", "MutatingWebhookConfiguration"),
            _extension("validatingadmissionpolicies", "ValidatingAdmissionPolicy", "status"),
            _extension("validatingadmissionpolicybindings", "ValidatingAdmissionPolicyBinding"),
            _extension("validatingwebhookconfigurations", "ValidatingWebhookConfiguration"),
        ),
    ),
    _Group(
        "apiextensions.k8s.io",
        "v1",
        "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1",
        (
            _Row(
                "customresourcedefinitions",
                "CustomResourceDefinition",
                CLUSTER,
                short_names=("crd", "crds"),
                categories=_EXTENSION,
                subresources=("status",),
            ),
        ),
    ),
    _Group(
        "scheduling.k8s.io",
        "v1",
        "io.k8s.api.scheduling.v1",
        (_Row("priorityclasses", "PriorityClass", CLUSTER, short_names=("pc",)),),
    ),
    _Group(
        "coordination.k8s.io",
        "v1",
        "io.k8s.api.coordination.v1",
        (_Row("leases", "Lease"),),
    ),
    _Group(
        "node.k8s.io",
        "v1",
        "io.k8s.api.node.v1",
        (_Row("runtimeclasses", "RuntimeClass", CLUSTER),),
    ),
    _Group(
        "discovery.k8s.io",
        "v1",
        "io.k8s.api.discovery.v1",
        (_Row("endpointslices", "EndpointSlice"),),
    ),
    _Group(
        "resource.k8s.io",
        "v1",
        "io.k8s.api.resource.v1",
        (
            _Row("deviceclasses", "DeviceClass", CLUSTER),
            _Row("resourceclaims", "ResourceClaim", subresources=("status",)),
            _Row("resourceclaimtemplates", "ResourceClaimTemplate"),
            _Row("resourceslices", "ResourceSlice", CLUSTER),
        ),
    ),
    _Group(
        "flowcontrol.apiserver.k8s.io",
        "v1",
        "io.k8s.api.flowcontrol.v1",
        (
            _Row("flowschemas", "FlowSchema", CLUSTER, subresources=("status",)),
            _Row(
                "prioritylevelconfigurations",
                "PriorityLevelConfiguration",
                CLUSTER,
                subresources=("status",),
            ),
        ),
    ),
)


def builtin_kinds(schemas: Schemas) -> Iterator[ServedKind]:
    """Yield every built-in kind, in the order in which discovery shows them."""
    for group in GROUPS:
        for row in group.rows:
            yield _served(group, row, schemas)


def _served(group: _Group, row: _Row, schemas: Schemas) -> ServedKind:
    type_name = f"{group.package}.{row.kind}"
    schema = schemas.lookup(type_name)
    return ServedKind(
        group=group.name,
        version=group.version,
        kind=row.kind,
        plural=row.plural,
        singular=row.singular or row.kind.lower(),
        namespaced=row.namespaced,
        type_name=type_name,
        read_schema=lambda: schema,
        short_names=row.short_names,
        categories=row.categories,
        verbs=row.verbs,
        subresources=tuple(
            Subresource(entry, row.kind) if isinstance(entry, str) else entry
            for entry in row.subresources
        ),
        storage_key=row.storage_key,
        storage_version=row.storage_version,
    )
