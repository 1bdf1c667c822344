"""Headings and cells of the kinds that are served besides those that most programs use.

Upstream: pkg/printers/internalversion/printers.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from types import MappingProxyType
from typing import Final, NamedTuple

from reflet.devserver.printing.columns import AGE, NAME, Column, column
from reflet.devserver.printing.printers import (
    NONE,
    UNKNOWN,
    Cells,
    Document,
    containers_of,
    created,
    name_of,
    pairs_text,
    selector_text,
)

UNSET: Final = "<unset>"
NOT_APPLICABLE: Final = "N/A"
MOST_SHOWN: Final = 3  # of hosts, ports and endpoints
MOST_METRICS: Final = 2

_DEFAULT_CLASS: Final = "storageclass.kubernetes.io/is-default-class"
_RBAC: Final = "rbac.authorization.k8s.io"
_ACCESS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "ReadWriteOnce": "RWO",
        "ReadOnlyMany": "ROX",
        "ReadWriteMany": "RWX",
        "ReadWriteOncePod": "RWOP",
    }
)


class TableOf(NamedTuple):
    """The headings of a kind's table, and what makes an object's cells."""

    columns: tuple[Column, ...]
    cells: Callable[[Document, datetime], Cells]


def _some(texts: Sequence[str], most: int = MOST_SHOWN, separator: str = ",") -> str:
    shown = separator.join(texts[:most])
    return f"{shown} + {len(texts) - most} more..." if len(texts) > most else shown


def _wide(name: str) -> Column:
    return column(name, priority=1)


def _texts(*names: str) -> tuple[Column, ...]:
    return tuple(map(column, names))


def _created_at(obj: Document, now: datetime) -> Cells:  # noqa: ARG001 - a printer's shape
    return [name_of(obj), obj["metadata"].get("creationTimestamp", "")]


def _replication_controller(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        created(obj, now),
        *containers_of(spec.get("template", {})),
        pairs_text(spec.get("selector")),
    ]


def _pod_template(obj: Document, now: datetime) -> Cells:  # noqa: ARG001 - a printer's shape
    template = obj.get("template", {})
    labels = template.get("metadata", {}).get("labels")
    return [name_of(obj), *containers_of(template), pairs_text(labels)]


def _revision(obj: Document, now: datetime) -> Cells:
    owners = obj["metadata"].get("ownerReferences") or ()
    controllers = [_owner(owner) for owner in owners if owner.get("controller")]
    controller = controllers[0] if controllers else NONE
    return [name_of(obj), controller, obj.get("revision", 0), created(obj, now)]


def _owner(owner: Document) -> str:
    group = owner.get("apiVersion", "").rpartition("/")[0]
    kind = owner.get("kind", "").lower()
    return f"{kind}.{group}/{owner.get('name', '')}" if group else f"{kind}/{owner.get('name', '')}"


def _role_binding(obj: Document, now: datetime) -> Cells:
    role = obj.get("roleRef", {})
    subjects = obj.get("subjects") or ()

    def named(kind: str) -> str:
        found = (each for each in subjects if each.get("kind") == kind)
        if kind == "ServiceAccount":
            return ", ".join(f"{each.get('namespace', '')}/{each['name']}" for each in found)
        return ", ".join(each["name"] for each in found)

    return [
        name_of(obj),
        f"{role.get('kind', '')}/{role.get('name', '')}",
        created(obj, now),
        *map(named, ("User", "Group", "ServiceAccount")),
    ]


def _ingress(obj: Document, now: datetime) -> Cells:
    spec = obj.get("spec", {})
    hosts = [rule["host"] for rule in spec.get("rules") or () if rule.get("host")]
    balancers = obj.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
    addresses = [each.get("ip") or each.get("hostname") or "" for each in balancers]
    return [
        name_of(obj),
        spec.get("ingressClassName") or NONE,
        _some(hosts) or "*",
        ",".join(filter(None, addresses)),
        "80, 443" if spec.get("tls") else "80",
        created(obj, now),
    ]


def _ingress_class(obj: Document, now: datetime) -> Cells:
    spec = obj.get("spec", {})
    parameters = spec.get("parameters")
    text = NONE
    if parameters:
        group = f".{parameters['apiGroup']}" if parameters.get("apiGroup") else ""
        text = f"{parameters.get('kind', '')}{group}/{parameters.get('name', '')}"
    return [name_of(obj), spec.get("controller", ""), text, created(obj, now)]


def _network_policy(obj: Document, now: datetime) -> Cells:
    selector = obj.get("spec", {}).get("podSelector")
    return [name_of(obj), selector_text(selector), created(obj, now)]


def _disruption_budget(obj: Document, now: datetime) -> Cells:
    spec = obj.get("spec", {})
    bounds = (spec.get(name) for name in ("minAvailable", "maxUnavailable"))
    return [
        name_of(obj),
        *(NOT_APPLICABLE if bound is None else str(bound) for bound in bounds),
        obj.get("status", {}).get("disruptionsAllowed", 0),
        created(obj, now),
    ]


def _autoscaler(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    target = spec.get("scaleTargetRef", {})
    reports = status.get("currentMetrics") or ()
    metrics = [
        _metric(metric, reports[index] if index < len(reports) else {})
        for index, metric in enumerate(spec.get("metrics") or ())
    ]
    least = spec.get("minReplicas")
    return [
        name_of(obj),
        f"{target.get('kind', '')}/{target.get('name', '')}",
        _some(metrics, MOST_METRICS, ", ") or NONE,
        UNSET if least is None else str(least),
        spec.get("maxReplicas", 0),
        status.get("currentReplicas", 0),
        created(obj, now),
    ]


def _metric(metric: Document, report: Document) -> str:
    """Write what is measured and what is aimed at."""
    kind = metric.get("type", "")
    part = kind[:1].lower() + kind[1:]
    source = metric.get(part) or {}
    target, current = source.get("target") or {}, (report.get(part) or {}).get("current") or {}
    if kind in {"Resource", "ContainerResource"}:
        name = source.get("name", "")
        if target.get("averageValue") is not None:
            return f"{name}: {current.get('averageValue', UNKNOWN)}/{target['averageValue']}"
        aim = target.get("averageUtilization")
        wanted = "<auto>" if aim is None else f"{aim}%"
        found = current.get("averageUtilization")
        return f"{name}: {UNKNOWN if found is None else f'{found}%'}/{wanted}"
    if kind == "Pods":
        return f"{current.get('averageValue', UNKNOWN)}/{target.get('averageValue', '')}"
    if target.get("averageValue") is not None:
        return f"{current.get('averageValue', UNKNOWN)}/{target['averageValue']} (avg)"
    return f"{current.get('value', UNKNOWN)}/{target.get('value', '')}"


def _access(modes: Sequence[str] | None) -> str:
    return ",".join(short for mode, short in _ACCESS.items() if mode in (modes or ()))


def _claim(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    is_going = "deletionTimestamp" in obj["metadata"]
    is_bound = bool(spec.get("volumeName"))
    return [
        name_of(obj),
        "Terminating" if is_going else status.get("phase", ""),
        spec.get("volumeName", ""),
        status.get("capacity", {}).get("storage", "0") if is_bound else "",
        _access(status.get("accessModes")) if is_bound else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        created(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


def _volume(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    is_going = "deletionTimestamp" in obj["metadata"]
    claim = spec.get("claimRef")
    return [
        name_of(obj),
        spec.get("capacity", {}).get("storage", "0"),
        _access(spec.get("accessModes")),
        spec.get("persistentVolumeReclaimPolicy", ""),
        "Terminating" if is_going else status.get("phase", ""),
        f"{claim.get('namespace', '')}/{claim.get('name', '')}" if claim else "",
        spec.get("storageClassName") or "",
        spec.get("volumeAttributesClassName") or UNSET,
        status.get("reason", ""),
        created(obj, now),
        spec.get("volumeMode") or UNSET,
    ]


def _storage_class(obj: Document, now: datetime) -> Cells:
    is_default = (obj["metadata"].get("annotations") or {}).get(_DEFAULT_CLASS) == "true"
    return [
        f"{name_of(obj)} (default)" if is_default else name_of(obj),
        obj.get("provisioner", ""),
        obj.get("reclaimPolicy", ""),
        obj.get("volumeBindingMode", ""),
        obj.get("allowVolumeExpansion", False),
        created(obj, now),
    ]


def _priority_class(obj: Document, now: datetime) -> Cells:
    return [
        name_of(obj),
        obj.get("value", 0),
        obj.get("globalDefault", False),
        created(obj, now),
        obj.get("preemptionPolicy", ""),
    ]


def _endpoint_slice(obj: Document, now: datetime) -> Cells:
    ports = [_port(port) for port in obj.get("ports") or ()]
    addresses = [
        address for each in obj.get("endpoints") or () for address in each.get("addresses") or ()
    ]
    return [
        name_of(obj),
        obj.get("addressType", ""),
        _some(ports) or UNSET,
        _some(addresses) or UNSET,
        created(obj, now),
    ]


def _port(port: Document) -> str:
    number = port.get("port")
    return str(port.get("name") or "*") if number is None else str(number)


def _quota(obj: Document, now: datetime) -> Cells:
    status = obj.get("status", {})
    used = status.get("used", {})
    requests: list[str] = []
    limits: list[str] = []
    for name, most in sorted((status.get("hard") or {}).items()):
        shown = f"{name}: {used.get(name, '0')}/{most}"
        (limits if name.startswith("limits.") else requests).append(shown)
    return [name_of(obj), ", ".join(requests), ", ".join(limits), created(obj, now)]


CREATED_AT: Final = TableOf((NAME, column("Created At", "date")), _created_at)
_BINDINGS: Final = TableOf(
    (NAME, column("Role"), AGE, *map(_wide, ("Users", "Groups", "ServiceAccounts"))),
    _role_binding,
)
_TEMPLATE: Final = ("Containers", "Images")


def _integers(*names: str) -> tuple[Column, ...]:
    return tuple(column(name, "integer") for name in names)


FURTHER_TABLES: Final[Mapping[str, TableOf]] = MappingProxyType(
    {
        f"clusterrolebindings.{_RBAC}": _BINDINGS,
        f"clusterroles.{_RBAC}": CREATED_AT,
        "controllerrevisions.apps": TableOf(
            (NAME, *_texts("Controller", "Revision"), AGE), _revision
        ),
        "endpointslices.discovery.k8s.io": TableOf(
            (NAME, *_texts("AddressType", "Ports", "Endpoints"), AGE), _endpoint_slice
        ),
        "horizontalpodautoscalers.autoscaling": TableOf(
            (NAME, *_texts("Reference", "Targets", "MinPods", "MaxPods", "Replicas"), AGE),
            _autoscaler,
        ),
        "ingressclasses.networking.k8s.io": TableOf(
            (NAME, *_texts("Controller", "Parameters"), AGE), _ingress_class
        ),
        "ingresses.networking.k8s.io": TableOf(
            (NAME, *_texts("Class", "Hosts", "Address", "Ports"), AGE), _ingress
        ),
        "limitranges": CREATED_AT,
        "networkpolicies.networking.k8s.io": TableOf(
            (NAME, column("Pod-Selector"), AGE), _network_policy
        ),
        "persistentvolumeclaims": TableOf(
            (
                NAME,
                *_texts("Status", "Volume", "Capacity", "Access Modes"),
                *_texts("StorageClass", "VolumeAttributesClass"),
                AGE,
                _wide("VolumeMode"),
            ),
            _claim,
        ),
        "persistentvolumes": TableOf(
            (
                NAME,
                *_texts("Capacity", "Access Modes", "Reclaim Policy", "Status", "Claim"),
                *_texts("StorageClass", "VolumeAttributesClass", "Reason"),
                AGE,
                _wide("VolumeMode"),
            ),
            _volume,
        ),
        "poddisruptionbudgets.policy": TableOf(
            (
                NAME,
                *_texts("Min Available", "Max Unavailable"),
                *_integers("Allowed Disruptions"),
                AGE,
            ),
            _disruption_budget,
        ),
        "podtemplates": TableOf((NAME, *_texts(*_TEMPLATE, "Pod Labels")), _pod_template),
        "priorityclasses.scheduling.k8s.io": TableOf(
            (
                NAME,
                *_integers("Value"),
                column("Global-Default", "boolean"),
                AGE,
                column("PreemptionPolicy"),
            ),
            _priority_class,
        ),
        "replicationcontrollers": TableOf(
            (
                NAME,
                *_integers("Desired", "Current", "Ready"),
                AGE,
                *map(_wide, (*_TEMPLATE, "Selector")),
            ),
            _replication_controller,
        ),
        "resourcequotas": TableOf((NAME, *_texts("Request", "Limit"), AGE), _quota),
        f"rolebindings.{_RBAC}": _BINDINGS,
        f"roles.{_RBAC}": CREATED_AT,
        "storageclasses.storage.k8s.io": TableOf(
            (
                NAME,
                *_texts("Provisioner", "ReclaimPolicy", "VolumeBindingMode"),
                column("AllowVolumeExpansion"),
                AGE,
            ),
            _storage_class,
        ),
    }
)
"""By the place where the objects are stored."""
