"""The resource catalogue: what a resource is called, and where it is on the server.

The built-in resources, finding one by whatever a person types, and URL paths.  Which resources a
server really has is ``client.discovery``.

Upstream: apimachinery/pkg/api/meta/restmapper.go, DefaultRESTMapper;
    client-go/restmapper/shortcut.go
"""

from collections.abc import Iterable, Mapping
from functools import cache
from types import MappingProxyType
from typing import Final

import msgspec

from reflet.errors import ParseError

ALL_NAMESPACES: Final = "*"
"""Stands for a namespace where objects of all namespaces are meant."""

_UNESCAPED: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~:")


class Resource(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """A kind of object as the server serves it; built-in or custom."""

    version: str
    plural: str
    kind: str
    group: str = ""
    singular: str = ""
    short_names: tuple[str, ...] = ()
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """``v1`` for the core group, else ``group/version``."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def full_name(self) -> str:
        """``configmaps``, or ``deployments.apps``: the plural with its group."""
        return f"{self.plural}.{self.group}" if self.group else self.plural

    @property
    def type_name(self) -> str:
        """``configmap``, or ``deployment.apps``: how kubectl writes TYPE in TYPE/NAME."""
        singular = self.singular or self.kind.lower()
        return f"{singular}.{self.group}" if self.group else singular

    def names(self) -> tuple[str, ...]:
        """Return, in lower case, everything the resource may be called without its group."""
        named = (self.plural, self.singular or self.kind, self.kind, *self.short_names)
        return tuple(dict.fromkeys(name.lower() for name in named))

    def path(
        self, namespace: str | None = None, name: str | None = None, subresource: str | None = None
    ) -> str:
        """Return the URL path of all objects, of one namespace's, of one, or of a part of one.

        Raises ``ParseError`` for names that cannot be part of a path, for a namespace where
        there are none, and for one object of a namespaced resource without its namespace.

        - *namespace*: None is all namespaces, or a resource without them
        - *name*: name of one object; None is all of them
        - *subresource*: part of the object, such as ``status``; None is the object
        """
        root = f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"
        parts = [root]
        if namespace is not None:
            if not self.namespaced:
                raise ParseError(f"{self.full_name} have no namespace, so not {namespace!r} either")
            parts += ["namespaces", segment(namespace, "namespace")]
        elif self.namespaced and name is not None:
            raise ParseError(f"the namespace of {self.full_name} {name!r} is missing")
        parts.append(self.plural)
        if name is not None:
            parts.append(segment(name, f"name of {self.full_name}"))
        if subresource is not None:
            if name is None:
                raise ParseError(f"{subresource!r} is a part of one object; its name is missing")
            parts += [segment(part, "subresource") for part in subresource.split("/")]
        return "/".join(parts)

    def __str__(self) -> str:
        return self.full_name


def segment(text: str, what: str) -> str:
    """Return a name as one segment of a URL path, escaped; raise ``ParseError`` if it cannot be."""
    if not text:
        raise ParseError(f"the {what} is empty")
    if text in {".", ".."}:
        raise ParseError(f"{text!r} may not be a {what}")
    for forbidden in "/%":
        if forbidden in text:
            raise ParseError(f"{text!r} may not be a {what}: it contains {forbidden!r}")
    if _UNESCAPED.issuperset(text):
        return text
    # Rare enough to keep the import out of everybody's start.
    from urllib.parse import quote  # noqa: PLC0415

    try:
        return quote(text, safe=":")
    except UnicodeEncodeError as error:
        raise ParseError(f"{text!r} may not be a {what}: it is not text") from error


def find(text: str, resources: Iterable[Resource] | None = None) -> Resource:
    """Return the resource that a person means: ``cm``, ``ConfigMap``, ``deployments.v1.apps``.

    Upper and lower case are the same.  Where several fit, the first of ``resources`` counts,
    which are the built-in ones unless others are given.  Raises ``ParseError`` for an unknown
    name, with suggestions.
    """
    index = _built_in_index() if resources is None else _indexed(resources)
    resource = index.get(text.strip().lower())
    if resource is None:
        raise ParseError(_unknown(text, index))
    return resource


def find_kind(
    api_version: str, kind: str, resources: Iterable[Resource] | None = None
) -> Resource | None:
    """Return the resource whose objects say ``apiVersion`` and ``kind`` of themselves, if any."""
    for resource in BUILT_IN if resources is None else resources:
        if resource.kind == kind and resource.api_version == api_version:
            return resource
    return None


def _indexed(resources: Iterable[Resource]) -> Mapping[str, Resource]:
    index: dict[str, Resource] = {}
    for resource in resources:
        endings = ["", f".{resource.version}.{resource.group}"]
        endings.append(f".{resource.group}" if resource.group else f".{resource.version}")
        for name in resource.names():
            for ending in endings:
                index.setdefault(f"{name}{ending}".lower(), resource)
    return index


@cache
def _built_in_index() -> Mapping[str, Resource]:
    return MappingProxyType(_indexed(BUILT_IN))


def _unknown(text: str, index: Mapping[str, Resource]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 - only needed to explain a mistake

    close = get_close_matches(text.strip().lower(), index, n=6, cutoff=0.7)
    meant = list(dict.fromkeys(index[name].full_name for name in close))[:3]
    hint = f"; did you mean {' or '.join(meant)}?" if meant else ""
    return f"there is no resource {text!r}{hint}"


def _core(plural: str, kind: str, *short_names: str, namespaced: bool = True) -> Resource:
    return Resource(
        version="v1", plural=plural, kind=kind, short_names=short_names, namespaced=namespaced
    )


def _grouped(
    group: str, plural: str, kind: str, *short_names: str, namespaced: bool = True
) -> Resource:
    return Resource(
        group=group,
        version="v1",
        plural=plural,
        kind=kind,
        short_names=short_names,
        namespaced=namespaced,
    )


CONFIG_MAPS: Final = _core("configmaps", "ConfigMap", "cm")
ENDPOINTS: Final = _core("endpoints", "Endpoints", "ep")
EVENTS: Final = _core("events", "Event", "ev")
LIMIT_RANGES: Final = _core("limitranges", "LimitRange", "limits")
NAMESPACES: Final = _core("namespaces", "Namespace", "ns", namespaced=False)
NODES: Final = _core("nodes", "Node", "no", namespaced=False)
PERSISTENT_VOLUME_CLAIMS: Final = _core("persistentvolumeclaims", "PersistentVolumeClaim", "pvc")
PERSISTENT_VOLUMES: Final = _core("persistentvolumes", "PersistentVolume", "pv", namespaced=False)
POD_TEMPLATES: Final = _core("podtemplates", "PodTemplate")
PODS: Final = _core("pods", "Pod", "po")
REPLICATION_CONTROLLERS: Final = _core("replicationcontrollers", "ReplicationController", "rc")
RESOURCE_QUOTAS: Final = _core("resourcequotas", "ResourceQuota", "quota")
SECRETS: Final = _core("secrets", "Secret")
SERVICE_ACCOUNTS: Final = _core("serviceaccounts", "ServiceAccount", "sa")
SERVICES: Final = _core("services", "Service", "svc")

CONTROLLER_REVISIONS: Final = _grouped("apps", "controllerrevisions", "ControllerRevision")
DAEMON_SETS: Final = _grouped("apps", "daemonsets", "DaemonSet", "ds")
DEPLOYMENTS: Final = _grouped("apps", "deployments", "Deployment", "deploy")
REPLICA_SETS: Final = _grouped("apps", "replicasets", "ReplicaSet", "rs")
STATEFUL_SETS: Final = _grouped("apps", "statefulsets", "StatefulSet", "sts")

CRON_JOBS: Final = _grouped("batch", "cronjobs", "CronJob", "cj")
JOBS: Final = _grouped("batch", "jobs", "Job")

LEASES: Final = _grouped("coordination.k8s.io", "leases", "Lease")
ENDPOINT_SLICES: Final = _grouped("discovery.k8s.io", "endpointslices", "EndpointSlice")
GROUPED_EVENTS: Final = _grouped("events.k8s.io", "events", "Event", "ev")

INGRESS_CLASSES: Final = _grouped(
    "networking.k8s.io", "ingressclasses", "IngressClass", namespaced=False
)
INGRESSES: Final = _grouped("networking.k8s.io", "ingresses", "Ingress", "ing")
NETWORK_POLICIES: Final = _grouped(
    "networking.k8s.io", "networkpolicies", "NetworkPolicy", "netpol"
)

_RBAC: Final = "rbac.authorization.k8s.io"
CLUSTER_ROLE_BINDINGS: Final = _grouped(
    _RBAC, "clusterrolebindings", "ClusterRoleBinding", namespaced=False
)
CLUSTER_ROLES: Final = _grouped(_RBAC, "clusterroles", "ClusterRole", namespaced=False)
ROLE_BINDINGS: Final = _grouped(_RBAC, "rolebindings", "RoleBinding")
ROLES: Final = _grouped(_RBAC, "roles", "Role")

CUSTOM_RESOURCE_DEFINITIONS: Final = _grouped(
    "apiextensions.k8s.io",
    "customresourcedefinitions",
    "CustomResourceDefinition",
    "crd",
    "crds",
    namespaced=False,
)
POD_DISRUPTION_BUDGETS: Final = _grouped(
    "policy", "poddisruptionbudgets", "PodDisruptionBudget", "pdb"
)
PRIORITY_CLASSES: Final = _grouped(
    "scheduling.k8s.io", "priorityclasses", "PriorityClass", "pc", namespaced=False
)
RUNTIME_CLASSES: Final = _grouped("node.k8s.io", "runtimeclasses", "RuntimeClass", namespaced=False)
STORAGE_CLASSES: Final = _grouped(
    "storage.k8s.io", "storageclasses", "StorageClass", "sc", namespaced=False
)

BUILT_IN: Final[tuple[Resource, ...]] = tuple(
    value for value in list(globals().values()) if isinstance(value, Resource)
)
"""Every resource named above, the core group first: it wins where names are equal."""
