"""Whether two servers said the same, up to what no two servers say alike.

Owns: what is left out of the comparison (times, uids, versions, addresses, tokens) and the form
in which differences are told.  Must not know how answers were obtained.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import zip_longest
from typing import Any, Final

from tests.real.differential.script import Ask, Watch
from tests.real.differential.side import Outcome

_ABSENT: Final = "‹absent›"

# Fields whose values are each server's own, whatever they are; absent and empty still count.
_OWN_VALUES: Final[Mapping[str, str]] = {
    "resourceVersion": "‹version›",
    "continue": "‹continue›",
    "token": "‹token›",
    "clusterIP": "‹address›",
    "nodePort": "‹port›",
    "healthCheckNodePort": "‹port›",
    "storageVersionHash": "‹hash›",
}
_IN_TEXTS: Final[tuple[tuple[re.Pattern[str], str], ...]] = (
    (re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"), "‹uid›"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z"), "‹precise time›"),
    (re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"), "‹time›"),
    (re.compile(r"\b(made-)[bcdfghjklmnpqrstvwxz2456789]{5}\b"), r"\1‹chosen›"),
    (re.compile(r"\b10\.(?:0|96)\.\d+\.\d+\b"), "‹address›"),
    (re.compile(r"\b(80|443):3\d{4}/"), r"\1:‹port›/"),
    (re.compile(r"((?:resource version: |current: |precondition \(|record \(|› \())\d+"), r"\1‹v›"),
    (re.compile(r"""(resourceVersion: )(["'])\d+\2"""), r"\1\2‹version›\2"),
    (re.compile(r"\(\d+\)"), "(‹v›)"),
)
# Some refusals repeat the whole object, whose fields have no order that anybody is promised.
_QUOTED_OBJECT: Final = re.compile(r'(?<=Invalid value: )"\{(?:[^"\\]|\\.)*\}"')
_AGE: Final = re.compile(r"\d+s")


LONGEST: Final = 600  # characters of a value in a report


def _short(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


@dataclass(frozen=True, slots=True)
class Difference:
    """A place in an answer (``code``, ``body.metadata.name``) where two servers differ."""

    place: str
    real: Any
    ours: Any

    def __str__(self) -> str:
        return f"{self.place}\n      real: {_short(self.real)}\n      ours: {_short(self.ours)}"


def differences(request: Ask | Watch, real: Outcome, ours: Outcome) -> list[Difference]:
    """Say where two answers to one request differ."""
    return list(_compared("", _comparable(request, real), _comparable(request, ours)))


def _comparable(request: Ask | Watch, outcome: Outcome) -> dict[str, Any]:
    view = request.view or (lambda body: body)
    return {
        "code": outcome.code,
        "headers": {name: _settled(value) for name, value in outcome.headers.items()},
        "body": _settled(view(outcome.body)),
    }


def _settled(value: Any) -> Any:
    """Replace what each server chooses for itself by its name."""
    match value:
        case dict():
            if isinstance(value.get("cells"), list):
                value = value | {"cells": [_age(cell) for cell in value["cells"]]}
            if isinstance(value.get("columnDefinitions"), list):
                value = value | {
                    "columnDefinitions": [_column(c) for c in value["columnDefinitions"]]
                }
            return {_settled(name): _field(name, inner) for name, inner in value.items()}
        case list():
            return [_settled(inner) for inner in value]
        case str():
            value = _QUOTED_OBJECT.sub(_in_order, value)
            for pattern, name in _IN_TEXTS:
                value = pattern.sub(name, value)
            return value
        case _:
            return value


def _in_order(found: re.Match[str]) -> str:
    document = json.loads(json.loads(found[0]))
    if isinstance(document.get("metadata"), dict):
        document["metadata"] = _settled(document["metadata"])
    return json.dumps(document, sort_keys=True, ensure_ascii=False)


def _field(name: str, value: Any) -> Any:
    if name == "managedFields" and isinstance(value, list):
        # They are ordered by the second in which they wrote, which may be another on each server.
        value = sorted(value, key=_manager)
    own = _OWN_VALUES.get(name)
    is_chosen = isinstance(value, str | int) and value not in {"", "None", 0}
    return own if own is not None and is_chosen else _settled(value)


def _manager(entry: dict[str, Any]) -> list[str]:
    return [str(entry.get(name, "")) for name in ("operation", "manager", "subresource")]


def _column(column: dict[str, Any]) -> dict[str, Any]:
    """Leave out what a column is about: our words are our own."""
    return {name: value for name, value in column.items() if name != "description"}


def _age(cell: Any) -> Any:
    return "‹age›" if isinstance(cell, str) and _AGE.fullmatch(cell) else cell


def _compared(place: str, real: Any, ours: Any) -> Iterator[Difference]:
    if isinstance(real, dict) and isinstance(ours, dict) and _kind(real) == _kind(ours):
        for name in {**real, **ours}:
            inner = f"{place}.{name}" if place else str(name)
            yield from _compared(inner, real.get(name, _ABSENT), ours.get(name, _ABSENT))
    elif isinstance(real, list) and isinstance(ours, list):
        for index, (one, other) in enumerate(zip_longest(real, ours, fillvalue=_ABSENT)):
            yield from _compared(f"{place}.{index}", one, other)
    elif real != ours or isinstance(real, bool) is not isinstance(ours, bool):
        yield Difference(place, real, ours)


def _kind(document: dict[str, Any]) -> Any:
    """Tell what a document is: documents of two kinds differ as wholes."""
    return document.get("kind"), document.get("status") == "Failure"


def unexplained(request: Ask | Watch, found: list[Difference]) -> list[str]:
    """Tell differences that are not declared, and declared ones that are not there."""
    told = [str(each) for each in found if not _explains(request.differs, each.place)]
    for place, why in request.differs.items():
        if not any(_explains({place: why}, each.place) for each in found):
            told.append(f"{place}\n      declared to differ ({why}), but both are alike")
    return told


def _explains(declared: Mapping[str, str], place: str) -> bool:
    return any(place == each or place.startswith(f"{each}.") for each in declared)
