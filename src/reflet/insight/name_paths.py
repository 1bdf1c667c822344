"""Paths that lead from an object to the names that stand in it.

Steps between dots: ``spec.tls[].secretName``.  ``[]`` goes through a list, ``{}`` through the
values of a map, ``*`` in a step stands for any letters, ``**`` for any number of steps, and
``'…'`` quotes a step that has dots.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from functools import cache
from typing import Any, Final

from reflet.api.field_path import with_field, with_index, with_key

_STEP: Final = re.compile(r"'([^']+)'|([^.'\[\]{}]+)|(\[\]|\{\})")
_PATH: Final = re.compile(
    r"(?:'[^']+'|[^.'\[\]{}]+)(?:\[\]|\{\})*(?:\.(?:'[^']+'|[^.'\[\]{}]+)(?:\[\]|\{\})*)*"
)
_PLAIN: Final = re.compile(r"[\w-]+")
_DEEPEST: Final = 30  # steps that ** goes down
_THROUGH: Final = frozenset({"[]", "{}", "**"})

Found = tuple[str, str, Mapping[str, Any]]
"""A place, the text that stands there, and the mapping around it."""


def is_path(text: str) -> bool:
    """Whether a text is a path."""
    return _PATH.fullmatch(text) is not None


def texts_at(document: Mapping[str, Any], path: str) -> Iterator[Found]:
    """Yield each text, empty ones aside, to which a path leads."""
    yield from _found(document, _steps(path), "")


def member_names(document: Any) -> frozenset[str]:
    """Return the names of all members at any depth, for ``may_lead_somewhere``."""
    names: set[str] = set()
    waiting = [document]
    while waiting:
        value = waiting.pop()
        if isinstance(value, Mapping):
            names.update(value)
            waiting += value.values()
        elif isinstance(value, list | tuple):
            waiting += value
    return frozenset(names)


def may_lead_somewhere(path: str, names: frozenset[str]) -> bool:
    """Whether an object with members of those names can have something at a path.

    Most paths lead nowhere in most objects, and looking there costs a walk through all of it.
    """
    literal, patterns = _needed(path)
    return literal <= names and all(
        any(fnmatchcase(name, pattern) for name in names) for pattern in patterns
    )


@cache
def _needed(path: str) -> tuple[frozenset[str], tuple[str, ...]]:
    steps = [step for step in _steps(path) if step not in _THROUGH]
    patterns = tuple(step for step in steps if "*" in step)
    return frozenset(steps) - frozenset(patterns), patterns


@cache
def _steps(path: str) -> tuple[str, ...]:
    """Split a path; steps through lists and maps are ``[]`` and ``{}``."""
    return tuple(quoted or plain or through for quoted, plain, through in _STEP.findall(path))


def _found(
    value: Any, steps: tuple[str, ...], place: str, around: Mapping[str, Any] | None = None
) -> Iterator[Found]:
    """Yield each text at the end of the steps, its place, and the mapping that it stands in."""
    if not steps:
        if isinstance(value, str) and value:
            yield place, value, around or {}
        return
    step, rest = steps[0], steps[1:]
    if step == "[]":
        for index, item in enumerate(value if isinstance(value, list | tuple) else ()):
            yield from _found(item, rest, with_index(place, index), around)
    elif step == "**":
        yield from _anywhere(value, rest, place, _DEEPEST)
    elif isinstance(value, Mapping):
        names = value if step == "{}" else _members(value, step)
        for name in names:
            yield from _found(value[name], rest, _joined(place, str(name)), value)


def _members(value: Mapping[str, Any], step: str) -> list[str]:
    if "*" not in step:
        return [step] if step in value else []
    return [name for name in value if fnmatchcase(str(name), step)]


def _anywhere(value: Any, rest: tuple[str, ...], place: str, depth: int) -> Iterator[Found]:
    if isinstance(value, Mapping):
        yield from _found(value, rest, place)
        inside = [(_joined(place, str(name)), item) for name, item in value.items()]
    elif isinstance(value, list | tuple):
        inside = [(with_index(place, index), item) for index, item in enumerate(value)]
    else:
        return
    if depth:
        for below, item in inside:
            yield from _anywhere(item, rest, below, depth - 1)


def _joined(place: str, name: str) -> str:
    return with_field(place, name) if _PLAIN.fullmatch(name) else with_key(place, name)
