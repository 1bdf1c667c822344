"""What the server says of a CustomResourceDefinition: whether its names are free, and served.

Owns: the status of definitions, which in the real server controllers write a moment later.
Must not know how custom objects are served.
"""

from __future__ import annotations

from typing import Any

from reflet.devserver.verbs.state import State
from reflet.gotext.times import time_text

Document = dict[str, Any]


def with_accepted_names(definition: Document, state: State) -> Document:
    """Give the definition with its status: names accepted, or not, and so established or not."""
    names = definition["spec"]["names"]
    conflict = _conflict(definition, state)
    before = definition.get("status") or {}
    now = time_text(state.now())
    if conflict is None:
        found = (
            ("NamesAccepted", "True", "NoConflicts", "no conflicts found"),
            ("Established", "True", "InitialNamesAccepted", "the initial names have been accepted"),
        )
    else:
        found = (
            ("NamesAccepted", "False", *conflict),
            ("Established", "False", "NotAccepted", "not all names are accepted"),
        )
    conditions = [
        {
            "type": kind,
            "status": status,
            "lastTransitionTime": _since(before, kind, status) or now,
            "reason": reason,
            "message": message,
        }
        for kind, status, reason, message in found
    ]
    stored = [
        version["name"] for version in definition["spec"]["versions"] if version.get("storage")
    ]
    earlier = before.get("storedVersions") or []
    status = {
        "conditions": conditions,
        "acceptedNames": names,
        "storedVersions": [*earlier, *(version for version in stored if version not in earlier)],
    }
    return {**definition, "metadata": {**definition["metadata"]}, "status": status}


def _conflict(definition: Document, state: State) -> tuple[str, str] | None:
    """Say which name of the definition another resource of its group has already."""
    spec = definition["spec"]
    own = definition["metadata"]["name"]
    for kind in state.kinds:
        if kind.group != spec["group"]:
            continue
        if kind.custom is not None and kind.custom.definition == own:
            continue
        if kind.kind == spec["names"]["kind"]:
            return "KindConflict", f'"{kind.kind}" is already in use'
        if kind.plural == spec["names"]["plural"]:
            return "PluralConflict", f'"{kind.plural}" is already in use'
    return None


def _since(before: Document, kind: str, status: str) -> str:
    """Say since when a condition has had its status; empty when it changes now."""
    for earlier in before.get("conditions") or ():
        if (earlier.get("type"), earlier.get("status")) == (kind, status):
            return str(earlier.get("lastTransitionTime") or "")
    return ""
