"""Which objects of a collection a request selects: by labels and by fields.

Owns: the fields by which each kind can be selected, the refusals of other fields, and the test
that an object has to pass.  Must not know lists or watches.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.apirules.refusals import bad_request
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.printing.json_paths import first_at
from reflet.devserver.request.selector_texts import complaint_about_fields, complaint_about_labels
from reflet.errors import ParseError

Document = Mapping[str, Any]
Reader = Callable[[Document], str]

_ALWAYS: Final = ("metadata.name", "metadata.namespace")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a request selects.

    ``name`` is the one name that can match, if the selector says so; ``matches`` is the test,
    None when every object passes.
    """

    name: str | None = None
    namespace: str | None = None
    matches: Callable[[dict[str, Any]], bool] | None = None

    @property
    def selects_everything(self) -> bool:
        """Whether no object is left out."""
        return self.matches is None


def selection(kind: ServedKind, labels: str, fields: str) -> Selection:
    """Read the selectors of a request for a kind; refuse what the real server refuses."""
    by_label = _labels(labels)
    by_field = _fields(kind, fields)
    if by_label.selects_everything and by_field.selects_everything:
        return Selection()
    readers = {
        requirement.field: _reader(kind, requirement.field) for requirement in by_field.requirements
    }

    def matches(obj: dict[str, Any]) -> bool:
        if not by_label.matches(obj["metadata"].get("labels") or {}):
            return False
        return by_field.matches({field: read(obj) for field, read in readers.items()})

    return Selection(
        name=by_field.requires_exact_match("metadata.name"),
        namespace=by_field.requires_exact_match("metadata.namespace"),
        matches=matches,
    )


def _labels(text: str) -> LabelSelector:
    try:
        return LabelSelector.parse(text)
    except ParseError as error:
        raise bad_request(complaint_about_labels(text) or str(error)) from error


def _fields(kind: ServedKind, text: str) -> FieldSelector:
    try:
        selector = FieldSelector.parse(text)
    except ParseError as error:
        raise bad_request(complaint_about_fields(text) or str(error)) from error
    known = _known_fields(kind)
    for requirement in selector.requirements:
        if requirement.field not in known:
            raise bad_request(_unknown(kind, requirement.field))
    return selector


def _unknown(kind: ServedKind, field: str) -> str:
    if kind.storage_key == "jobs.batch":
        return f'field label "{field}" not supported for Job'
    if kind.custom is not None or kind.storage_key in _FIELDS:
        return f"field label not supported: {field}"
    return f'"{field}" is not a known field selector: only "metadata.name", "metadata.namespace"'


def _known_fields(kind: ServedKind) -> frozenset[str]:
    if kind.custom is not None:
        chosen = (path.removeprefix(".") for path in kind.custom.selectable_fields)
        return frozenset((*_ALWAYS, *chosen))
    return frozenset((*_ALWAYS, *_table(kind)))


def _reader(kind: ServedKind, field: str) -> Reader:
    if field in _ALWAYS:
        part = field.partition(".")[2]
        return lambda obj: obj["metadata"].get(part) or ""
    if kind.custom is not None:
        return lambda obj: _text(first_at(obj, f".{field}"))
    return _table(kind)[field]


def _table(kind: ServedKind) -> Mapping[str, Reader]:
    if kind.group == "events.k8s.io":
        return _NEW_EVENT_FIELDS
    return _FIELDS.get(kind.storage_key, _NO_FIELDS)


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value)


def _at(path: str, default: str = "") -> Reader:
    steps = path.split(".")

    def read(obj: Document) -> str:
        value: Any = obj
        for step in steps:
            value = value.get(step) if isinstance(value, Mapping) else None
        return default if value is None else _text(value)

    return read


def _source(event: Document) -> str:
    source = event.get("source") or {}
    return str(source.get("component") or event.get("reportingComponent") or "")


def _addresses(pod: Document) -> str:
    addresses = pod.get("status", {}).get("podIPs") or ()
    return ",".join(str(each.get("ip", "")) for each in addresses)


_NO_FIELDS: Final[Mapping[str, Reader]] = MappingProxyType({})
_REFERENCE: Final = (
    *("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"),
)
_EVENT_FIELDS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        **{f"involvedObject.{part}": _at(f"involvedObject.{part}") for part in _REFERENCE},
        "reason": _at("reason"),
        "reportingComponent": _at("reportingComponent"),
        "source": _source,
        "type": _at("type"),
    }
)
# Selected by the new names, but kept in the old form.
_NEW_EVENT_FIELDS: Final[Mapping[str, Reader]] = MappingProxyType(
    {
        **{f"regarding.{part}": _at(f"involvedObject.{part}") for part in _REFERENCE},
        "reason": _at("reason"),
        "reportingController": _source,
        "type": _at("type"),
    }
)
_FIELDS: Final[Mapping[str, Mapping[str, Reader]]] = MappingProxyType(
    {
        "events": _EVENT_FIELDS,
        "jobs.batch": {"status.successful": _at("status.succeeded", "0")},
        "namespaces": {"status.phase": _at("status.phase")},
        "nodes": {"spec.unschedulable": _at("spec.unschedulable", "false")},
        "pods": {
            **{
                field: _at(field)
                for field in (
                    *("spec.nodeName", "spec.restartPolicy", "spec.schedulerName"),
                    *("spec.serviceAccountName", "status.phase", "status.podIP"),
                    "status.nominatedNodeName",
                )
            },
            "spec.hostNetwork": _at("spec.hostNetwork", "false"),
            "status.podIPs": _addresses,
        },
        "replicationcontrollers": {"status.replicas": _at("status.replicas", "0")},
        "secrets": {"type": _at("type")},
        "services": {"spec.clusterIP": _at("spec.clusterIP"), "spec.type": _at("spec.type")},
    }
)
