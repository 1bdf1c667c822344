"""What a change is about, in a few words.

Owns: which facts of an object, and of its difference to the state before, fit on a line.  Never
shows a value, only names: the object may be a Secret.  Must not know how a line is printed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reflet.api.unstructured import AnyObject
from reflet.informer.changes import Change

BAGS: Final = ("data", "binaryData", "stringData")
"""Members whose keys people give names to."""

# What changes with every change, and says nothing about it.
_NOISE: Final = frozenset({"generation", "managedFields", "resourceVersion"})
_HEAD: Final = frozenset({"apiVersion", "kind", "metadata"})


def details(change: Change[AnyObject]) -> str:
    """The facts worth a line: the object's state, and what is different from before."""
    if change.type == "DELETED":
        return "while the server was away" if change.stale else ""
    facts = [_state(change.object)]
    if change.type == "UPDATED" and change.old is not None:
        facts.append(", ".join(_differences(change.old, change.object)))
    return "; ".join(filter(None, facts))


def _state(item: AnyObject) -> str:
    if item.metadata.deletion_timestamp is not None:
        return "is being deleted"
    status = item.status
    if item.kind == "Pod":
        return " ".join(filter(None, (_text(status.get("phase")), _ready_containers(status))))
    if item.kind in {"ConfigMap", "Secret"}:
        keys = sum(len(bag) for name in BAGS if isinstance(bag := item.get(name), Mapping))
        return f"{keys} key{'' if keys == 1 else 's'}"
    if item.kind == "Event":
        return " ".join(filter(None, (_text(item.get("type")), _text(item.get("reason")))))
    wanted = item.spec.get("replicas")
    if isinstance(wanted, int):
        return f"{status.get('readyReplicas') or 0}/{wanted} ready"
    return _text(status.get("phase")) or _readiness(status)


def _text(value: object) -> str:
    return value if isinstance(value, str) else ""


def _ready_containers(status: Mapping[str, Any]) -> str:
    containers = status.get("containerStatuses")
    if not isinstance(containers, tuple):
        return ""
    ready = sum(isinstance(each, Mapping) and each.get("ready") is True for each in containers)
    return f"{ready}/{len(containers)} ready"


def _readiness(status: Mapping[str, Any]) -> str:
    conditions = status.get("conditions")
    for condition in conditions if isinstance(conditions, tuple) else ():
        if isinstance(condition, Mapping) and condition.get("type") == "Ready":
            return "ready" if condition.get("status") == "True" else "not ready"
    return ""


def _differences(old: AnyObject, new: AnyObject) -> Iterator[str]:
    """Name what differs: keys of bags with a sign, other members by their name."""
    before, after = old.content, new.content
    for name in BAGS:
        keys = list(_changed_keys(before.get(name), after.get(name)))
        if keys:
            yield " ".join(keys)
    members = (before.keys() | after.keys()) - _HEAD - set(BAGS)
    yield from sorted(name for name in members if before.get(name) != after.get(name))
    metadata, changed = _mapping(before.get("metadata")), _mapping(after.get("metadata"))
    members = (metadata.keys() | changed.keys()) - _NOISE
    yield from sorted(name for name in members if metadata.get(name) != changed.get(name))


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
