"""What ``reflet watch`` prints: a line or a document for each change.

A line has the facts of the object, and of its difference to the state before, that fit on one.  It
never shows a value, only names: the object may be a Secret.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial
from typing import Any, Final, Protocol

import msgspec

from reflet.api.json_reader import FAILURES, refuse
from reflet.api.unstructured import AnyObject
from reflet.api.yaml.text import write_yaml
from reflet.cli.output.output import GAP, visible, width_of
from reflet.cli.output.palette import Meaning, paint
from reflet.cli.output.server_objects import json_line, json_text, shown
from reflet.informer.handlers.changes import Change

WIDEST_NAMESPACE: Final = 20
WIDEST_NAME: Final = 40
"""Columns: a longer name moves the rest of its own line, and of no other."""
NARROWEST_DETAILS: Final = 20

_MEANINGS: Final[Mapping[str, Meaning]] = {
    "TYPE": "title",
    "ADDED": "good",
    "UPDATED": "caution",
    "DELETED": "wrong",
    "SYNCED": "dim",
}

TYPE_WIDTH: Final = len("UPDATED")
TIME_WIDTH: Final = len("00:00:00")


class ChangeOutput(Protocol):
    """A form.  Texts end with a newline."""

    def changed(self, changes: Sequence[Change[AnyObject]]) -> Iterator[str]:
        """Give the text of each change of a batch."""
        ...

    def synced(self, count: int) -> str:
        """Say that the *count* objects that were there at the beginning have been told."""
        ...


class TableOutput:
    """Lines for people, in at most *columns* columns where names allow it.

    Headings come with the first line.  Columns grow with what they hold, and do not shrink.
    """

    def __init__(
        self,
        *,
        with_namespace: bool,
        no_headers: bool,
        columns: int,
        now: Callable[[], datetime],
    ) -> None:
        self._with_namespace = with_namespace
        self._headings_wanted = not no_headers
        self._columns = columns
        self._now = now
        self._namespace_width = len("NAMESPACE")
        self._name_width = len("NAME")

    def changed(self, changes: Sequence[Change[AnyObject]]) -> Iterator[str]:
        """Give a line for each change."""
        for change in changes:
            metadata = change.object.metadata
            self._namespace_width = _grown(
                self._namespace_width, metadata.namespace, WIDEST_NAMESPACE
            )
            self._name_width = _grown(self._name_width, metadata.name, WIDEST_NAME)
        for change in changes:
            metadata = change.object.metadata
            yield self._headings() + self._line(
                change.type, self._time(), metadata.namespace, metadata.name, details(change)
            )

    def synced(self, count: int) -> str:
        """Give a line that says how many objects came before it."""
        told = f"{count} object{'' if count == 1 else 's'}"
        return self._headings() + self._line("SYNCED", self._time(), "", "", told)

    def _headings(self) -> str:
        if not self._headings_wanted:
            return ""
        self._headings_wanted = False
        return self._line("TYPE", "TIME", "NAMESPACE", "NAME", "DETAILS")

    def _time(self) -> str:
        return self._now().strftime("%H:%M:%S")

    def _line(self, kind: str, time: str, namespace: str, name: str, facts: str) -> str:
        cells = [kind.ljust(TYPE_WIDTH), time.ljust(TIME_WIDTH)]
        if self._with_namespace:
            cells.append(_padded(visible(namespace), self._namespace_width))
        cells.append(_padded(visible(name), self._name_width))
        begin = GAP.join(cells)
        room = self._columns - width_of(begin) - len(GAP)
        facts = _shortened(visible(facts), max(room, NARROWEST_DETAILS))
        line = f"{begin}{GAP}{facts}".rstrip()
        return paint(line[:TYPE_WIDTH], _MEANINGS.get(kind)) + line[TYPE_WIDTH:] + "\n"


class DocumentOutput:
    """Documents for programs: ``{"type": …, "object": …}``, the object null for SYNCED."""

    def __init__(self, form: str, *, reveal: bool, managed_fields: bool = False) -> None:
        self._write = _FORMS[form]
        self._shown = partial(shown, reveal=reveal, managed_fields=managed_fields)

    def changed(self, changes: Sequence[Change[AnyObject]]) -> Iterator[str]:
        """Give a document for each change; of a deletion, the last state that was known."""
        for change in changes:
            yield self._write({"type": change.type, "object": self._shown(change.object)})

    def synced(self, count: int) -> str:  # noqa: ARG002 - a program has counted
        """Give a document without an object."""
        return self._write({"type": "SYNCED", "object": None})


def _indented(document: dict[str, Any]) -> str:
    return json_text(msgspec.json.encode(document)) + "\n"


def _one_line(document: dict[str, Any]) -> str:
    return json_line(msgspec.json.encode(document)) + "\n"


def _yaml(document: dict[str, Any]) -> str:
    return f"---\n{write_yaml(document)}"


_FORMS: Final[dict[str, Callable[[dict[str, Any]], str]]] = {
    "json": _indented,
    "jsonl": _one_line,
    "yaml": _yaml,
}


def _grown(width: int, text: str, widest: int) -> int:
    needed = width_of(visible(text))
    return max(width, needed) if needed <= widest else width


def _padded(text: str, width: int) -> str:
    return text + " " * (width - width_of(text))


def _shortened(text: str, width: int) -> str:
    if width_of(text) <= width:
        return text
    while width_of(text) >= width:
        text = text[:-1]
    return text.rstrip() + "…"


BAGS: Final = ("data", "binaryData", "stringData")
"""Members whose keys people give names to."""

# What changes with every change, and says nothing about it.
_NOISE: Final = frozenset({"generation", "managedFields", "resourceVersion"})
_HEAD: Final = frozenset({"apiVersion", "kind", "metadata"})


def details(change: Change[AnyObject]) -> str:
    """The facts worth a line: the object's state, and what is different from before.

    Raises ``DecodeError`` for an object whose parts cannot be decoded.
    """
    if change.type == "DELETED":
        return "while the server was away" if change.stale else ""
    try:
        facts = [_state(change.object)]
        if change.type == "UPDATED" and change.old is not None:
            facts.append(", ".join(_differences(change.old, change.object)))
    except FAILURES as error:
        refuse(error, repr(change.object))
    return "; ".join(filter(None, facts))


Members = Mapping[str, msgspec.Raw]
"""An object's members, each still the bytes that came: what nobody asks for is never decoded."""

_MEMBERS: Final = msgspec.json.Decoder(dict[str, msgspec.Raw])
_ABSENT: Final = msgspec.Raw(b"null")


def _members(item: AnyObject) -> Members:
    # Not item.content: an object keeps that, several times the size of its bytes, as long as it
    # is kept itself, and a watch keeps every object.
    return _MEMBERS.decode(item.to_json())


def _member(members: Members, name: str) -> Any:
    return msgspec.json.decode(members.get(name, _ABSENT))


def _state(item: AnyObject) -> str:
    if item.metadata.deletion_timestamp is not None:
        return "is being deleted"
    members = _members(item)
    if item.kind in {"ConfigMap", "Secret"}:
        keys = sum(len(bag) for name in BAGS if isinstance(bag := _member(members, name), dict))
        return f"{keys} key{'' if keys == 1 else 's'}"
    if item.kind == "Event":
        facts = (_text(_member(members, "type")), _text(_member(members, "reason")))
        return " ".join(filter(None, facts))
    status = _mapping(_member(members, "status"))
    if item.kind == "Pod":
        return " ".join(filter(None, (_text(status.get("phase")), _ready_containers(status))))
    wanted = _mapping(_member(members, "spec")).get("replicas")
    if isinstance(wanted, int):
        return f"{status.get('readyReplicas') or 0}/{wanted} ready"
    return _text(status.get("phase")) or _readiness(status)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _ready_containers(status: Mapping[str, Any]) -> str:
    containers = status.get("containerStatuses")
    if not isinstance(containers, list):
        return ""
    ready = sum(isinstance(each, dict) and each.get("ready") is True for each in containers)
    return f"{ready}/{len(containers)} ready"


def _readiness(status: Mapping[str, Any]) -> str:
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, list) else ():
        if isinstance(condition, dict) and condition.get("type") == "Ready":
            return "ready" if condition.get("status") == "True" else "not ready"
    return ""


def _differences(old: AnyObject, new: AnyObject) -> Iterator[str]:
    """Name what differs: keys of bags with a sign, other members by their name."""
    before, after = _members(old), _members(new)
    for name in BAGS:
        if _differ(before, after, name):
            keys = list(_changed_keys(_member(before, name), _member(after, name)))
            if keys:
                yield " ".join(keys)
    members = (before.keys() | after.keys()) - _HEAD - set(BAGS)
    yield from sorted(name for name in members if _differ(before, after, name))
    metadata = _mapping(_member(before, "metadata"))
    changed = _mapping(_member(after, "metadata"))
    members = (metadata.keys() | changed.keys()) - _NOISE
    yield from sorted(name for name in members if metadata.get(name) != changed.get(name))


def _differ(before: Members, after: Members, name: str) -> bool:
    old, new = before.get(name, _ABSENT), after.get(name, _ABSENT)
    # Other bytes may mean the same: a server that is another version writes in another order.
    return bytes(old) != bytes(new) and msgspec.json.decode(old) != msgspec.json.decode(new)


def _changed_keys(before: object, after: object) -> Iterator[str]:
    old, new = _mapping(before), _mapping(after)
    for key in sorted(old.keys() | new.keys()):
        if key not in old:
            yield f"+{key}"
        elif key not in new:
            yield f"-{key}"
        elif old[key] != new[key]:
            yield f"~{key}"


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
