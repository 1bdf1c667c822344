"""What the columns of each built-in kind show: one function a kind, from an object to its cells.

Upstream: pkg/printers/internalversion/printers.go
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from datetime import datetime
from types import MappingProxyType
from typing import Any, Final

import msgspec

from reflet.api.selectors.labels import LabelSelector
from reflet.devserver.printing.pod_printer import pod_cells
from reflet.errors import ParseError
from reflet.gotext.durations import age, human_duration, moment_of

Document = Mapping[str, Any]
Cells = list[Any]
Printer = Callable[[Document, datetime], Cells]

NONE: Final = "<none>"
UNKNOWN: Final = "<unknown>"
MOST_ENDPOINTS: Final = 3

_ROLE_PREFIX: Final = "node-role.kubernetes.io/"
_ROLE_LABEL: Final = "kubernetes.io/role"


class _Expression(msgspec.Struct, frozen=True, gc=False):
    key: str = ""
    operator: str = ""
    values: tuple[str, ...] = ()


def name_of(obj: Document) -> str:
    """Give an object's name."""
    return str(obj["metadata"].get("name", ""))


def created(obj: Document, now: datetime) -> str:
    """Say how old an object is."""
    return age(obj["metadata"].get("creationTimestamp"), now)


def selector_text(selector: Document | None) -> str:
    """Write a label selector in its one-line form."""
    if not selector:
        return NONE
    try:
        expressions = msgspec.convert(selector.get("matchExpressions") or (), list[_Expression])
        parsed = LabelSelector.from_label_selector(selector.get("matchLabels") or {}, expressions)
    except (ParseError, msgspec.ValidationError):
        return "<error>"
    return str(parsed) or NONE


def pairs_text(labels: Document | None) -> str:
    """Write labels on one line."""
    return ",".join(f"{key}={value}" for key, value in sorted((labels or {}).items())) or NONE


def containers_of(template: Document) -> tuple[str, str]:
    """Give the names and the images of a template's containers, each on one line."""
    containers = template.get("spec", {}).get("containers") or ()
    names = ",".join(container.get("name", "") for container in containers)
    images = ",".join(container.get("image", "") for container in containers)
    return names, images


def _joined(texts: Iterable[str]) -> str:
    return ",".join(text for text in texts if text)


def named_only(obj: Document, now: datetime) -> Cells:
    """Show the name and the age, as for kinds about which there is no more to say."""
    return [name_of(obj), created(obj, now)]


def _namespace(obj: Document, now: datetime) -> Cells:
    return [name_of(obj), obj.get("status", {}).get("phase", ""), created(obj, now)]


def _config_map(obj: Document, now: datetime) -> Cells:
    count = len(obj.get("data") or ()) + len(obj.get("binaryData") or ())
    return [name_of(obj), count, created(obj, now)]


def _secret(obj: Document, now: datetime) -> Cells:
    return [name_of(obj), obj.get("type", ""), len(obj.get("data") or ()), created(obj, now)]


def _service(obj: Document, now: datetime) -> Cells:
    spec = obj.get("spec", {})
    internal = spec.get("clusterIPs") or [spec.get("clusterIP")]
    return [
        name_of(obj),
        spec.get("type", ""),
        internal[0] or NONE,
        _external_address(obj),
        _ports(spec.get("ports") or ()) or NONE,
        created(obj, now),
        pairs_text(spec.get("selector")),
    ]


def _external_address(obj: Document) -> str:
    spec = obj.get("spec", {})
    given = list(spec.get("externalIPs") or ())
    match spec.get("type"):
        case "ExternalName":
            return str(spec.get("externalName", ""))
        case "LoadBalancer":
            ingress = obj.get("status", {}).get("loadBalancer", {}).get("ingress") or ()
            found = [each.get("ip") or each.get("hostname") or "" for each in ingress]
            return _joined([*found, *given]) or "<pending>"
        case _:
            return _joined(given) or NONE


def _ports(ports: Iterable[Document]) -> str:
    texts = []
    for port in ports:
        node_port = f":{port['nodePort']}" if port.get("nodePort") else ""
        texts.append(f"{port.get('port', 0)}{node_port}/{port.get('protocol', '')}")
    return ",".join(texts)


def _node(obj: Document, now: datetime) -> Cells:
    status = obj.get("status", {})
    info = status.get("nodeInfo") or {}
    ready = [each for each in status.get("conditions") or () if each.get("type") == "Ready"]
    words = [("Ready" if each.get("status") == "True" else "NotReady") for each in ready]
    words = words[:1] or ["Unknown"]
    if obj.get("spec", {}).get("unschedulable"):
        words.append("SchedulingDisabled")
    return [
        name_of(obj),
        ",".join(words),
        ",".join(_roles(obj["metadata"].get("labels") or {})) or NONE,
        created(obj, now),
        info.get("kubeletVersion", ""),
        _address(status, "InternalIP"),
        _address(status, "ExternalIP"),
        info.get("osImage") or UNKNOWN,
        info.get("kernelVersion") or UNKNOWN,
        info.get("containerRuntimeVersion") or UNKNOWN,
    ]


def _roles(labels: Document) -> list[str]:
    roles = {key[len(_ROLE_PREFIX) :] for key in labels if key.startswith(_ROLE_PREFIX)}
    if labels.get(_ROLE_LABEL):
        roles.add(labels[_ROLE_LABEL])
    return sorted(filter(None, roles))


def _address(status: Document, kind: str) -> str:
    for address in status.get("addresses") or ():
        if address.get("type") == kind:
            return str(address.get("address", ""))
    return NONE


def _event(obj: Document, now: datetime) -> Cells:
    about = obj.get("involvedObject") or {}
    series = obj.get("series") or {}
    happened = obj.get("eventTime")
    first = age(obj.get("firstTimestamp") or happened, now)
    last = age(obj["lastTimestamp"], now) if obj.get("lastTimestamp") else first
    count = obj.get("count") or 1
    if series:
        last, count = age(series.get("lastObservedTime"), now), series.get("count", 0)
    kind = about.get("kind", "").lower()
    source = obj.get("source") or {}
    component = source.get("component") or obj.get("reportingComponent") or ""
    instance = source.get("host") or obj.get("reportingInstance") or ""
    return [
        last,
        obj.get("type", ""),
        obj.get("reason", ""),
        f"{kind}/{about['name']}" if about.get("name") else kind,
        about.get("fieldPath", ""),
        f"{component}, {instance}" if instance else component,
        obj.get("message", "").strip(),
        first,
        count,
        name_of(obj),
    ]


def _endpoints(obj: Document, now: datetime) -> Cells:
    found = [
        f"{address.get('ip', '')}{suffix}"
        for subset in obj.get("subsets") or ()
        for suffix in [f":{port.get('port', 0)}" for port in subset.get("ports") or ()] or [""]
        for address in subset.get("addresses") or ()
    ]
    shown = ",".join(found[:MOST_ENDPOINTS]) or NONE
    if len(found) > MOST_ENDPOINTS:
        shown += f" + {len(found) - MOST_ENDPOINTS} more..."
    return [name_of(obj), shown, created(obj, now)]


def _deployment(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}",
        status.get("updatedReplicas", 0),
        status.get("availableReplicas", 0),
        created(obj, now),
        *containers_of(spec.get("template", {})),
        selector_text(spec.get("selector")),
    ]


def _replica_set(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    return [
        name_of(obj),
        spec.get("replicas", 0),
        status.get("replicas", 0),
        status.get("readyReplicas", 0),
        created(obj, now),
        *containers_of(spec.get("template", {})),
        selector_text(spec.get("selector")),
    ]


def _stateful_set(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    ready = f"{status.get('readyReplicas', 0)}/{spec.get('replicas', 0)}"
    return [name_of(obj), ready, created(obj, now), *containers_of(spec.get("template", {}))]


def _daemon_set(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    template = spec.get("template", {})
    return [
        name_of(obj),
        status.get("desiredNumberScheduled", 0),
        status.get("currentNumberScheduled", 0),
        status.get("numberReady", 0),
        status.get("updatedNumberScheduled", 0),
        status.get("numberAvailable", 0),
        pairs_text(template.get("spec", {}).get("nodeSelector")),
        created(obj, now),
        *containers_of(template),
        selector_text(spec.get("selector")),
    ]


def _job(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    succeeded, parallelism = status.get("succeeded", 0), spec.get("parallelism") or 0
    if spec.get("completions") is not None:
        completions = f"{succeeded}/{spec['completions']}"
    else:
        completions = f"{succeeded}/1" + (f" of {parallelism}" if parallelism > 1 else "")
    began = moment_of(status.get("startTime"))
    ended = moment_of(status.get("completionTime")) or now
    return [
        name_of(obj),
        _job_status(obj),
        completions,
        "" if began is None else human_duration((ended - began).total_seconds()),
        created(obj, now),
        *containers_of(spec.get("template", {})),
        selector_text(spec.get("selector")),
    ]


def _job_status(obj: Document) -> str:
    conditions = obj.get("status", {}).get("conditions") or ()
    true = {each.get("type") for each in conditions if each.get("status") == "True"}
    for condition in ("Complete", "Failed"):
        if condition in true:
            return condition
    if obj["metadata"].get("deletionTimestamp"):
        return "Terminating"
    for condition in ("Suspended", "FailureTarget", "SuccessCriteriaMet"):
        if condition in true:
            return condition
    return "Running"


def _cron_job(obj: Document, now: datetime) -> Cells:
    spec, status = obj.get("spec", {}), obj.get("status", {})
    scheduled = status.get("lastScheduleTime")
    template = spec.get("jobTemplate", {}).get("spec", {})
    return [
        name_of(obj),
        spec.get("schedule", ""),
        spec.get("timeZone") or NONE,
        "True" if spec.get("suspend") else "False",
        len(status.get("active") or ()),
        age(scheduled, now) if scheduled else NONE,
        created(obj, now),
        *containers_of(template.get("template", {})),
        selector_text(template.get("selector")),
    ]


def _lease(obj: Document, now: datetime) -> Cells:
    return [name_of(obj), obj.get("spec", {}).get("holderIdentity", ""), created(obj, now)]


def _definition(obj: Document, now: datetime) -> Cells:  # noqa: ARG001 - a printer's shape
    return [name_of(obj), obj["metadata"].get("creationTimestamp", "")]


def _pod(obj: Document, now: datetime) -> Cells:
    return [name_of(obj), *pod_cells(obj, now)]


PRINTERS: Final[Mapping[str, Printer]] = MappingProxyType(
    {
        "configmaps": _config_map,
        "cronjobs.batch": _cron_job,
        "customresourcedefinitions.apiextensions.k8s.io": _definition,
        "daemonsets.apps": _daemon_set,
        "deployments.apps": _deployment,
        "endpoints": _endpoints,
        "events": _event,
        "jobs.batch": _job,
        "leases.coordination.k8s.io": _lease,
        "namespaces": _namespace,
        "nodes": _node,
        "pods": _pod,
        "replicasets.apps": _replica_set,
        "secrets": _secret,
        "services": _service,
        "statefulsets.apps": _stateful_set,
    }
)
"""By the place where the objects are stored."""
