"""Which objects a request selects: by labels and by fields, and what is wrong with a selector.

The messages about malformed selectors depend on how far the real parser gets, so those texts, and
only those, are walked through again in its way.

Upstream: apiserver/pkg/storage/selection_predicate.go; apimachinery/pkg/labels/selector.go;
pkg/apis/core/v1/conversion.go, AddFieldLabelConversionsForPod
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.apirules.refusals import bad_request
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation.names import label_value, qualified_name
from reflet.devserver.printing.json_paths import first_at
from reflet.errors import ParseError

Document = Mapping[str, Any]
Reader = Callable[[Document], str]

_ALWAYS: Final = ("metadata.name", "metadata.namespace")
_NO_FIELDS: Final[Mapping[str, Reader]] = MappingProxyType({})
_REFERENCE: Final = (
    *("kind", "namespace", "name", "uid", "apiVersion", "resourceVersion", "fieldPath"),
)
_TOKEN: Final = re.compile(r"!=|==|[=!(),<>]|[^ \t\r\n=!(),<>]+")
_SYMBOLS: Final = frozenset({"!=", "==", "=", "!", "(", ")", ",", "<", ">"})
_OPERATORS: Final = frozenset({"in", "notin", "=", "==", "!=", ">", "<"})
_OPERATOR_NAMES: Final = "in, notin, =, ==, !=, gt, lt"
_INTEGER: Final = re.compile(r"[+-]?[0-9]+")


@dataclass(frozen=True, slots=True)
class SelectionPredicate:
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


def selection(kind: ServedKind, labels: str, fields: str) -> SelectionPredicate:
    """Read the selectors of a request for a kind; refuse what the real server refuses."""
    by_label = _labels(labels)
    by_field = _fields(kind, fields)
    if by_label.selects_everything and by_field.selects_everything:
        return SelectionPredicate()
    readers = {
        requirement.field: _reader(kind, requirement.field) for requirement in by_field.requirements
    }

    def matches(obj: dict[str, Any]) -> bool:
        if not by_label.matches(obj["metadata"].get("labels") or {}):
            return False
        return by_field.matches({field: read(obj) for field, read in readers.items()})

    return SelectionPredicate(
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
    if kind.group == "resource.k8s.io" and kind.storage_key in _FIELDS:
        return f"field label not supported for {kind.api_version}, Kind={kind.kind}: {field}"
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
        "certificatesigningrequests.certificates.k8s.io": {
            "spec.signerName": _at("spec.signerName")
        },
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
        "resourceslices.resource.k8s.io": {
            field: _at(field) for field in ("spec.nodeName", "spec.driver")
        },
        "replicationcontrollers": {"status.replicas": _at("status.replicas", "0")},
        "secrets": {"type": _at("type")},
        "services": {"spec.clusterIP": _at("spec.clusterIP"), "spec.type": _at("spec.type")},
    }
)


class _Complaint(Exception):
    """The walk has come to what is wrong."""


class _Token(NamedTuple):
    text: str

    @property
    def is_word(self) -> bool:
        return bool(self.text) and self.text not in _SYMBOLS


def complaint_about_labels(text: str) -> str:
    """Say what is wrong with a label selector; empty when nothing is."""
    try:
        _Labels(text).walk()
    except _Complaint as complaint:
        return str(complaint)
    return ""


def complaint_about_fields(text: str) -> str:
    """Say what is wrong with a field selector; empty when nothing is."""
    for term in re.findall(r"(?:[^\\,]|\\.?)+", text):
        found = re.search(r"!=|==|=", term)
        if found is None:
            return f"invalid selector: '{text}'; can't understand '{term}'"
        value = term[found.end() :]
        bad = re.search(r"\\(?![\\,=])(.?)", re.sub(r"\\[\\,=]", "", value))
        if bad is not None:
            return f"invalid field selector: invalid escape sequence: \\{bad.group(1)}"
        if "=" in re.sub(r"\\[\\,=]", "", value):
            # Only an equals sign can stand there, and the real server shows its number.
            return f"invalid field selector: unescaped character in value: {ord('=')}"
    return ""


class _Labels:
    """One walk over a label selector."""

    def __init__(self, text: str) -> None:
        self._tokens = [_Token(found) for found in _TOKEN.findall(text)]
        self._tokens.append(_Token(""))
        self._next = 0

    def walk(self) -> None:
        while True:
            token = self._look()
            if not token.text:
                return
            if not (token.is_word or token.text == "!"):
                raise _Complaint(
                    f"found '{token.text}', expected: !, identifier, or 'end of string'"
                )
            try:
                self._requirement()
            except _Complaint as complaint:
                raise _Complaint(f"unable to parse requirement: {complaint}") from None
            after = self._take()
            if not after.text:
                return
            if after.text != ",":
                raise _Complaint(f"found '{after.text}', expected: ',' or 'end of string'")
            following = self._look()
            if not (following.is_word or following.text == "!"):
                raise _Complaint(f"found '{following.text}', expected: identifier after ','")

    def _look(self) -> _Token:
        return self._tokens[min(self._next, len(self._tokens) - 1)]

    def _take(self) -> _Token:
        token = self._look()
        self._next += 1
        return token

    def _requirement(self) -> None:
        token = self._take()
        is_absent = token.text == "!"
        if is_absent:
            token = self._take()
        if not token.is_word:
            raise _Complaint(f"found '{token.text}', expected: identifier")
        _check_key(token.text)
        if is_absent or self._look().text in {"", ","}:
            return
        operator = self._take().text
        if operator not in _OPERATORS:
            raise _Complaint(f"found '{operator}', expected: {_OPERATOR_NAMES}")
        takes_list = operator in {"in", "notin"}
        values = self._values() if takes_list else [self._value()]
        _check_values(token.text, operator, values)

    def _value(self) -> str:
        if self._look().text in {"", ","}:
            return ""
        token = self._take()
        if not token.is_word:
            raise _Complaint(f"found '{token.text}', expected: identifier")
        return token.text

    def _values(self) -> list[str]:
        opening = self._take().text
        if opening != "(":
            raise _Complaint(f"found '{opening}' expected: '('")
        token = self._look()
        if token.text == ")":
            self._take()
            return [""]
        if not (token.is_word or token.text == ","):
            raise _Complaint(f"found '{token.text}', expected: ',', ')' or identifier")
        values = self._identifiers()
        closing = self._take().text
        if closing != ")":
            raise _Complaint(f"found '{closing}', expected: ')'")
        return values

    def _identifiers(self) -> list[str]:
        values: list[str] = []
        while True:
            token = self._take()
            if token.is_word:
                values.append(token.text)
                following = self._look().text
                if following == ",":
                    continue
                if following == ")":
                    return values
                raise _Complaint(f"found '{following}', expected: ',' or ')'")
            if token.text != ",":
                raise _Complaint(f"found '{token.text}', expected: ',', or identifier")
            if not values:
                values.append("")
            following = self._look().text
            if following == ")":
                return [*values, ""]
            if following == ",":
                values.append("")


def _check_key(key: str) -> None:
    problems = qualified_name(key)
    if problems:
        raise _Complaint(f'<nil>: Invalid value: "{key}": {"; ".join(problems)}')


def _check_values(key: str, operator: str, values: list[str]) -> None:
    complaints = []
    if operator in {">", "<"} and not _is_int64(values[0]):
        complaints.append(
            f"values[0]: Invalid value: \"{values[0]}\": for 'Gt', 'Lt' operators, the value must "
            "be an integer"
        )
    for index, value in enumerate(values):
        problems = label_value(value)
        if problems:
            said = "; ".join(problems)
            complaints.append(f'values[{index}][{key}]: Invalid value: "{value}": {said}')
    if complaints:
        raise _Complaint(complaints[0] if len(complaints) == 1 else f"[{', '.join(complaints)}]")


def _is_int64(text: str) -> bool:
    return bool(_INTEGER.fullmatch(text)) and -(2**63) <= int(text) < 2**63
