"""Headings and cells of the kinds that configure the cluster: webhooks, drivers, devices, flows.

Upstream: pkg/printers/internalversion/printers.go; kube-aggregator/pkg/registry/apiservice/etcd
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

from reflet.devserver.printing.columns import AGE, NAME, Column, column
from reflet.devserver.printing.further_printers import CREATED_AT, UNSET, TableOf
from reflet.devserver.printing.printers import NONE, Cells, Document, created, name_of
from reflet.gotext.durations import human_duration
from reflet.gotext.printing import plain

_ADMISSION: Final = "admissionregistration.k8s.io"
_DEVICES: Final = "resource.k8s.io"
_FLOW: Final = "flowcontrol.apiserver.k8s.io"
_STORAGE: Final = "storage.k8s.io"


def _between(make: Callable[[Document], Cells]) -> Callable[[Document, datetime], Cells]:
    """Put cells between the name and the age."""
    return lambda obj, now: [name_of(obj), *make(obj), created(obj, now)]


def _aged(make: Callable[[Document], Cells], *columns: str | Column) -> TableOf:
    middle = (column(each) if isinstance(each, str) else each for each in columns)
    return TableOf((NAME, *middle, AGE), _between(make))


def _condition(obj: Document, kind: str) -> Document | None:
    found = (obj.get("status") or {}).get("conditions") or ()
    return next((each for each in found if each.get("type") == kind), None)


def _api_service(obj: Document) -> Cells:
    service = obj["spec"].get("service")
    place = "Local"
    if service is not None:
        place = f"{service.get('namespace', '')}/{service.get('name', '')}"
    available = _condition(obj, "Available")
    if available is None:
        return [place, "Unknown"]
    status, reason = available.get("status", ""), available.get("reason", "")
    return [place, f"{status} ({reason})" if status != "True" and reason else status]


def _component_status(obj: Document, now: datetime) -> Cells:  # noqa: ARG001 - a printer's shape
    healthy = next((c for c in obj.get("conditions") or () if c.get("type") == "Healthy"), None)
    if healthy is None:
        return [name_of(obj), "Unknown", "", ""]
    status = "Healthy" if healthy.get("status") == "True" else "Unhealthy"
    return [name_of(obj), status, healthy.get("message", ""), healthy.get("error", "")]


def _certificate_request(obj: Document, now: datetime) -> Cells:
    spec, status = obj["spec"], obj.get("status") or {}
    seconds = spec.get("expirationSeconds")
    state = "Pending"
    if _condition(obj, "Denied"):
        state = "Denied"
    elif _condition(obj, "Approved"):
        state = "Approved"
    state += ",Failed" if _condition(obj, "Failed") else ""
    state += ",Issued" if status.get("certificate") else ""
    return [
        name_of(obj),
        created(obj, now),
        spec.get("signerName") or NONE,
        spec.get("username", ""),
        NONE if seconds is None else human_duration(seconds),
        state,
    ]


def _webhooks(obj: Document) -> Cells:
    return [len(obj.get("webhooks") or ())]


def _policy(rules: str) -> Callable[[Document], Cells]:
    def cells(obj: Document) -> Cells:
        spec = obj["spec"]
        kind = spec.get("paramKind")
        shown = UNSET
        if kind is not None:
            shown = f"{kind.get('apiVersion', '')}/{kind.get('kind', '')}"
        return [len(spec.get(rules) or ()), shown]

    return cells


def _policy_binding(obj: Document) -> Cells:
    spec = obj["spec"]
    reference = spec.get("paramRef") or {}
    shown = UNSET
    if reference.get("name"):
        shown = f"{reference.get('namespace') or '*'}/{reference['name']}"
    elif reference.get("selector") is not None:
        shown = _selector(reference["selector"])
    return [spec.get("policyName", ""), shown]


def _selector(selector: Document) -> str:
    """Write a selector as its generated ``String`` method does."""
    labels = "".join(
        f"{key}: {value}," for key, value in sorted((selector.get("matchLabels") or {}).items())
    )
    expressions = "".join(
        f"LabelSelectorRequirement{{Key:{each.get('key', '')},Operator:{each.get('operator', '')},"
        f"Values:{plain(each.get('values') or [])},}},"
        for each in selector.get("matchExpressions") or ()
    )
    matched = f"MatchLabels:map[string]string{{{labels}}}"
    inner = f"MatchExpressions:[]LabelSelectorRequirement{{{expressions}}}"
    return f"&LabelSelector{{{matched},{inner},}}"


def _driver(obj: Document) -> Cells:
    spec = obj["spec"]
    tokens = spec.get("tokenRequests")
    return [
        spec.get("attachRequired", True),
        spec.get("podInfoOnMount", False),
        spec.get("storageCapacity", False),
        UNSET if tokens is None else ",".join(each.get("audience", "") for each in tokens),
        spec.get("requiresRepublish", False),
        ",".join(spec.get("volumeLifecycleModes") or ()) or NONE,
    ]


def _attachment(obj: Document) -> Cells:
    spec = obj["spec"]
    return [
        spec.get("attacher", ""),
        (spec.get("source") or {}).get("persistentVolumeName", ""),
        spec.get("nodeName", ""),
        (obj.get("status") or {}).get("attached", False),
    ]


def _flow_schema(obj: Document, now: datetime) -> Cells:
    spec = obj["spec"]
    method = spec.get("distinguisherMethod")
    dangling = _condition(obj, "Dangling")
    return [
        name_of(obj),
        spec.get("priorityLevelConfiguration", {}).get("name", ""),
        spec.get("matchingPrecedence", 0),
        NONE if method is None else method.get("type", ""),
        created(obj, now),
        "?" if dangling is None else dangling.get("status", ""),
    ]


def _priority_level(obj: Document) -> Cells:
    spec = obj["spec"]
    limited = spec.get("limited")
    queuing = ((limited or {}).get("limitResponse") or {}).get("queuing")
    return [
        spec.get("type", ""),
        NONE if limited is None else limited.get("nominalConcurrencyShares", 0),
        *(
            NONE if queuing is None else queuing.get(name, 0)
            for name in ("queues", "handSize", "queueLengthLimit")
        ),
    ]


def _address(obj: Document) -> Cells:
    parent = obj["spec"].get("parentRef")
    if parent is None:
        return [NONE]
    group = f".{parent['group']}" if parent.get("group") else ""
    parts = [f"{parent.get('resource', '')}{group}".lower(), parent.get("namespace") or ""]
    return ["/".join([*filter(None, parts), parent.get("name", "")])]


def _claim(obj: Document) -> Cells:
    status, is_going = obj.get("status") or {}, "deletionTimestamp" in obj["metadata"]
    states = ["deleted"] if is_going else []
    if status.get("allocation") is not None:
        states.append("allocated")
        states += ["reserved"] if status.get("reservedFor") else []
    elif not is_going:
        states.append("pending")
    return [",".join(states)]


def _slice(obj: Document) -> Cells:
    spec = obj["spec"]
    pool: Any = spec.get("pool") or {}
    return [spec.get("nodeName", ""), spec.get("driver", ""), pool.get("name", "")]


_COUNT: Final = "integer"
_TRUTH: Final = "boolean"
_WEBHOOKS: Final = _aged(_webhooks, column("Webhooks", _COUNT))
_BINDINGS: Final = _aged(_policy_binding, "PolicyName", "ParamRef")

CLUSTER_TABLES: Final[Mapping[str, TableOf]] = MappingProxyType(
    {
        "apiservices.apiregistration.k8s.io": _aged(_api_service, "Service", "Available"),
        "certificatesigningrequests.certificates.k8s.io": TableOf(
            (
                *(NAME, AGE),
                *map(column, ("SignerName", "Requestor", "RequestedDuration", "Condition")),
            ),
            _certificate_request,
        ),
        "componentstatuses": TableOf(
            (NAME, *map(column, ("Status", "Message", "Error"))), _component_status
        ),
        f"csidrivers.{_STORAGE}": _aged(
            _driver,
            column("AttachRequired", _TRUTH),
            column("PodInfoOnMount", _TRUTH),
            column("StorageCapacity", _TRUTH),
            "TokenRequests",
            column("RequiresRepublish", _TRUTH),
            "Modes",
        ),
        f"csinodes.{_STORAGE}": _aged(
            lambda obj: [len(obj["spec"].get("drivers") or ())], column("Drivers", _COUNT)
        ),
        f"csistoragecapacities.{_STORAGE}": CREATED_AT,
        f"flowschemas.{_FLOW}": TableOf(
            (
                NAME,
                *map(column, ("PriorityLevel", "MatchingPrecedence", "DistinguisherMethod")),
                AGE,
                column("MissingPL"),
            ),
            _flow_schema,
        ),
        # The real server gives these rows an age, and the table no heading for it.
        "ipaddresses.networking.k8s.io": TableOf((NAME, column("ParentRef")), _between(_address)),
        f"mutatingadmissionpolicies.{_ADMISSION}": _aged(
            _policy("mutations"), column("Mutations", _COUNT), "ParamKind"
        ),
        f"mutatingadmissionpolicybindings.{_ADMISSION}": _BINDINGS,
        f"mutatingwebhookconfigurations.{_ADMISSION}": _WEBHOOKS,
        f"prioritylevelconfigurations.{_FLOW}": _aged(
            _priority_level,
            *("Type", "NominalConcurrencyShares", "Queues", "HandSize", "QueueLengthLimit"),
        ),
        f"resourceclaims.{_DEVICES}": _aged(_claim, "State"),
        f"resourceslices.{_DEVICES}": _aged(_slice, "Node", "Driver", "Pool"),
        "runtimeclasses.node.k8s.io": _aged(lambda obj: [obj.get("handler", "")], "Handler"),
        "servicecidrs.networking.k8s.io": _aged(
            lambda obj: [",".join(obj["spec"].get("cidrs") or ())], "CIDRs"
        ),
        f"validatingadmissionpolicies.{_ADMISSION}": _aged(
            _policy("validations"), column("Validations", _COUNT), "ParamKind"
        ),
        f"validatingadmissionpolicybindings.{_ADMISSION}": _BINDINGS,
        f"validatingwebhookconfigurations.{_ADMISSION}": _WEBHOOKS,
        f"volumeattachments.{_STORAGE}": _aged(
            _attachment,
            *(column("Attacher", form="name"), "PV", "Node", column("Attached", _TRUTH)),
        ),
        f"volumeattributesclasses.{_STORAGE}": _aged(
            lambda obj: [obj.get("driverName", "")], "DriverName"
        ),
    }
)
"""By the place where the objects are stored."""
