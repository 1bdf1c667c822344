"""Fills in what the real server fills in, so that clients find what they rely on.

Types, not kinds: a container is the same in a pod and in a deployment's template.  What depends
on names, times or the object before is in kind_strategies.py.  Custom objects get the defaults of
their definition.  Objects are changed in place: callers own what they pass.

Upstream: pkg/apis/*/v1/defaults.go and zz_generated.defaults.go;
apiextensions-apiserver/pkg/apiserver/schema/defaulting/algorithm.go
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.defaults import cluster_kinds, pods, workloads
from reflet.apirules.schema.schemas import Schema, Structure

Defaulter = Callable[[dict[str, Any]], None]

_CORE: Final = "io.k8s.api.core.v1."
_RBAC: Final = "rbac.authorization.k8s.io"
_MILLI: Final = 10**6  # billionths


def fill_defaults(schema: Schema, document: dict[str, Any]) -> None:
    """Fill in the defaults of an object and of everything inside it, from the outside in."""
    structure = schema.structure
    if structure is None:
        return
    defaulter = DEFAULTERS.get(structure.type_name)
    if defaulter is not None:
        defaulter(document)
    for name, field in _with_defaults(structure):
        value = document.get(name)
        if value is None or (value == "" and not field.pointer):
            if _is_meaningful(field):
                document[name] = field.default
        else:
            _fill_value(field, value)


def _is_meaningful(field: Schema) -> bool:
    # Zero and false are what Go shows for nothing; only where nothing can be said, too, they mean
    # something.
    default = field.default
    return bool(default or (field.pointer and default is not None)) and not isinstance(
        default, dict
    )


@cache
def _with_defaults(structure: Structure) -> tuple[tuple[str, Schema], ...]:
    """Give the fields of a recorded type that have defaults, or anything inside that has."""
    return tuple(
        (name, field)
        for name, field in structure.fields.items()
        if _is_meaningful(field) or _reaches_defaults(field, frozenset({structure.type_name}))
    )


def _reaches_defaults(schema: Schema, above: frozenset[str]) -> bool:
    inner = schema.items or schema.values or schema
    if schema.shape == "map" and inner.shape == "quantity":
        return True
    structure = inner.structure
    if inner.shape != "object" or structure is None:
        return False
    if structure.type_name in above or structure.type_name in DEFAULTERS:
        return True  # what contains itself is looked through whenever it is there
    here = above | {structure.type_name}
    return any(
        _is_meaningful(field) or _reaches_defaults(field, here)
        for field in structure.fields.values()
    )


def _fill_value(schema: Schema, value: Any) -> None:
    if schema.shape == "object":
        fill_defaults(schema, value)
    elif schema.shape == "list" and schema.items is not None:
        if schema.items.shape == "object":
            for item in value:
                fill_defaults(schema.items, item)
    elif schema.shape == "map" and schema.values is not None:
        if schema.values.shape == "quantity":
            _round_up(value)
        elif schema.values.shape == "object":
            for item in value.values():
                fill_defaults(schema.values, item)


def _round_up(amounts: dict[str, str]) -> None:
    for name, text in amounts.items():
        amount = Quantity.parse(text)
        if amount.nanos % _MILLI:
            amounts[name] = str(Quantity(-(-amount.nanos // _MILLI) * _MILLI, amount.notation))


def fill_custom_defaults(schema: Schema, document: dict[str, Any]) -> None:
    """Fill in the defaults that the definition names, in place.

    Null counts as absent where the definition does not allow it, and goes.
    """
    structure = schema.structure
    if structure is None:
        return
    for name, field in structure.fields.items():
        if document.get(name) is None and not field.rules.get("nullable"):
            document.pop(name, None)
            if field.default is not None:
                document[name] = copy.deepcopy(field.default)
        if name in document and name != "metadata":
            _fill_custom_value(field, document[name])


def _fill_custom_value(schema: Schema, value: Any) -> None:
    if isinstance(value, dict):
        inner = schema.values
        if inner is None:
            fill_custom_defaults(schema, value)
            return
        for key in [key for key in value if value[key] is None]:
            if not inner.rules.get("nullable"):
                del value[key]
        for each in value.values():
            _fill_custom_value(inner, each)
    elif isinstance(value, list) and schema.items is not None:
        for each in value:
            _fill_custom_value(schema.items, each)


def _absent(name: str, value: Any) -> Defaulter:
    def fill(document: dict[str, Any]) -> None:
        if document.get(name) in (None, ""):
            document[name] = value

    return fill


def _unsaid(name: str, value: Any) -> Defaulter:
    """Fill in a field that may be empty: only where nothing is said of it."""

    def fill(document: dict[str, Any]) -> None:
        if document.get(name) is None:
            document[name] = value

    return fill


def _service(document: dict[str, Any]) -> None:
    spec = document["spec"]
    spec.setdefault("sessionAffinity", "None")
    if spec["sessionAffinity"] == "None":
        spec.pop("sessionAffinityConfig", None)
    elif spec["sessionAffinity"] == "ClientIP":
        client = (spec.get("sessionAffinityConfig") or {}).get("clientIP") or {}
        if client.get("timeoutSeconds") is None:
            spec["sessionAffinityConfig"] = {"clientIP": {"timeoutSeconds": 10800}}
    spec.setdefault("type", "ClusterIP")
    kind = spec["type"]
    for port in spec.get("ports", ()):
        if port.get("targetPort") in (None, 0, ""):
            port["targetPort"] = port["port"]
    if kind in {"NodePort", "LoadBalancer"} or (kind == "ClusterIP" and spec.get("externalIPs")):
        spec.setdefault("externalTrafficPolicy", "Cluster")
    if kind != "ExternalName":
        spec.setdefault("internalTrafficPolicy", "Cluster")
    if kind == "LoadBalancer":
        spec.setdefault("allocateLoadBalancerNodePorts", True)
        for ingress in document.get("status", {}).get("loadBalancer", {}).get("ingress", ()):
            if ingress.get("ip"):
                ingress.setdefault("ipMode", "VIP")


def _namespace(document: dict[str, Any]) -> None:
    name = document["metadata"].get("name")
    if name:
        document["metadata"].setdefault("labels", {})["kubernetes.io/metadata.name"] = name


def _node_status(document: dict[str, Any]) -> None:
    if "capacity" in document:
        document.setdefault("allocatable", dict(document["capacity"]))


def _endpoint_subset(document: dict[str, Any]) -> None:
    for port in document.get("ports", ()):
        port.setdefault("protocol", "TCP")


def _endpoint_slice_port(document: dict[str, Any]) -> None:
    document.setdefault("name", "")
    document.setdefault("protocol", "TCP")


def _limit_range_item(document: dict[str, Any]) -> None:
    if document.get("type") != "Container":
        return
    limits = dict(document.get("max", {})) | document.get("default", {})
    requests = dict(document.get("min", {})) | limits | document.get("defaultRequest", {})
    filled = {"default": limits, "defaultRequest": requests}
    document.update({name: amounts for name, amounts in filled.items() if amounts})


def _node_spec(document: dict[str, Any]) -> None:
    # Two names for one thing: where they differ, the one range is meant.
    network, networks = document.get("podCIDR"), document.get("podCIDRs")
    if network and (not networks or networks[0] != network):
        document["podCIDRs"] = [network]
    elif networks:
        document["podCIDR"] = networks[0]


def _persistent_volume(document: dict[str, Any]) -> None:
    document["status"].setdefault("phase", "Pending")
    document["spec"].setdefault("persistentVolumeReclaimPolicy", "Retain")
    document["spec"].setdefault("volumeMode", "Filesystem")


def _network_policy(document: dict[str, Any]) -> None:
    spec = document["spec"]
    if not spec.get("policyTypes"):
        spec["policyTypes"] = ["Ingress", "Egress"] if spec.get("egress") else ["Ingress"]


def _network_policy_port(document: dict[str, Any]) -> None:
    # An empty protocol is none that there is, and not the same as none at all.
    if document.get("protocol") is None:
        document["protocol"] = "TCP"


def _ingress_class(document: dict[str, Any]) -> None:
    parameters = document.get("spec", {}).get("parameters")
    if parameters is not None and parameters.get("scope") is None:
        parameters["scope"] = "Cluster"


def _binding(document: dict[str, Any]) -> None:
    if not document["roleRef"].get("apiGroup"):
        document["roleRef"]["apiGroup"] = _RBAC


def _subject(document: dict[str, Any]) -> None:
    if document.get("kind") in {"User", "Group"} and not document.get("apiGroup"):
        document["apiGroup"] = _RBAC


def _storage_class(document: dict[str, Any]) -> None:
    document.setdefault("reclaimPolicy", "Delete")
    document.setdefault("volumeBindingMode", "Immediate")


def _definition(document: dict[str, Any]) -> None:
    spec = document["spec"]
    names = spec["names"]
    kind = names.get("kind", "")
    names.setdefault("singular", kind.lower())
    if kind and not names.get("listKind"):
        names["listKind"] = f"{kind}List"
    if spec.get("conversion") is None:
        spec["conversion"] = {"strategy": "None"}
    status = document["status"]
    if not status.get("storedVersions"):
        status["storedVersions"] = [
            version["name"] for version in spec.get("versions") or () if version.get("storage")
        ][:1]


DEFAULTERS: Final[Mapping[str, Defaulter]] = {
    **pods.DEFAULTERS,
    **workloads.DEFAULTERS,
    **cluster_kinds.DEFAULTERS,
    f"{_CORE}Secret": _absent("type", "Opaque"),
    f"{_CORE}Service": _service,
    f"{_CORE}Namespace": _namespace,
    f"{_CORE}NamespaceStatus": _absent("phase", "Active"),
    f"{_CORE}NodeSpec": _node_spec,
    f"{_CORE}NodeStatus": _node_status,
    f"{_CORE}EndpointSubset": _endpoint_subset,
    f"{_CORE}LimitRangeItem": _limit_range_item,
    f"{_CORE}PersistentVolume": _persistent_volume,
    f"{_CORE}PersistentVolumeClaimSpec": _unsaid("volumeMode", "Filesystem"),
    f"{_CORE}PersistentVolumeClaimStatus": _absent("phase", "Pending"),
    "io.k8s.api.discovery.v1.EndpointPort": _endpoint_slice_port,
    "io.k8s.api.networking.v1.NetworkPolicy": _network_policy,
    "io.k8s.api.networking.v1.NetworkPolicyPort": _network_policy_port,
    "io.k8s.api.networking.v1.IngressClass": _ingress_class,
    "io.k8s.api.rbac.v1.ClusterRoleBinding": _binding,
    "io.k8s.api.rbac.v1.RoleBinding": _binding,
    "io.k8s.api.rbac.v1.Subject": _subject,
    "io.k8s.api.scheduling.v1.PriorityClass": _unsaid("preemptionPolicy", "PreemptLowerPriority"),
    "io.k8s.api.storage.v1.StorageClass": _storage_class,
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition": (
        _definition
    ),
    "io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.ServiceReference": _absent(
        "port", 443
    ),
}
