"""Finds values by the JSON paths that definitions of custom kinds contain.

The part of the syntax that makes sense in a column, a scale or a selectable field: names,
indexes, ``[*]``, quoted names and comparisons (``[?(@.type=="Ready")]``).

Upstream: client-go/util/jsonpath/jsonpath.go
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, Final

Step = Callable[[Any], Iterator[Any]]

_STEP: Final = re.compile(
    r"""\.(?P<name>(?:[^.\[\]\\]|\\.)+)
      | \[\s*(?P<quote>['"])(?P<quoted>(?:[^\\]|\\.)*?)(?P=quote)\s*\]
      | \[\s*(?P<index>-?\d+)\s*\]
      | \[\s*(?P<all>\*)\s*\]
      | \[\?\(\s*@(?P<field>[^=!<>\s]*)\s*(?P<operator>==|!=)\s*(?P<value>.+?)\s*\)\]
      | (?P<everything>\.\*)
    """,
    re.VERBOSE,
)


def values_at(document: Any, path: str) -> list[Any]:
    """Give every value at a path, in document order; a path that leads nowhere gives none.

    What is not such a path leads nowhere.
    """
    found = [document]
    for step in _steps(path):
        found = [inner for value in found for inner in step(value)]
    return found


def first_at(document: Any, path: str) -> Any:
    """Give the first value at a path, or None."""
    return next(iter(values_at(document, path)), None)


@lru_cache(maxsize=1024)
def _steps(path: str) -> tuple[Step, ...]:
    text = path.strip()
    if text.startswith("{") and text.endswith("}"):
        text = text[1:-1].strip()
    text = text.removeprefix("$")
    if text and text[0] not in ".[":
        text = f".{text}"
    steps: list[Step] = []
    position = 0
    while position < len(text):
        found = _STEP.match(text, position)
        if found is None:
            return (_nowhere,)
        steps.append(_step(found))
        position = found.end()
    return tuple(steps)


def _step(found: re.Match[str]) -> Step:
    parts = found.groupdict()
    if parts["name"] is not None:
        return _everything if parts["name"] == "*" else _member(_unescaped(parts["name"]))
    if parts["quoted"] is not None:
        return _member(_unescaped(parts["quoted"]))
    if parts["index"] is not None:
        return _item(int(parts["index"]))
    if parts["field"] is not None:
        return _matching(parts["field"], parts["operator"], parts["value"])
    return _everything


def _unescaped(text: str) -> str:
    return re.sub(r"\\(.)", r"\1", text)


def _nowhere(_: Any) -> Iterator[Any]:
    return iter(())


def _everything(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        yield from value.values()
    elif isinstance(value, list):
        yield from value


def _member(name: str) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, dict) and name in value:
            yield value[name]

    return step


def _item(index: int) -> Step:
    def step(value: Any) -> Iterator[Any]:
        if isinstance(value, list) and -len(value) <= index < len(value):
            yield value[index]

    return step


def _matching(field: str, operator: str, text: str) -> Step:
    wanted = _constant(text)

    def step(value: Any) -> Iterator[Any]:
        for item in value if isinstance(value, list) else ():
            found = values_at(item, field) if field else [item]
            if found and (found[0] == wanted) == (operator == "=="):
                yield item

    return step


def _constant(text: str) -> Any:
    if text[:1] in {"'", '"'} and text[-1:] == text[:1]:
        return _unescaped(text[1:-1])
    try:
        return json.loads(text)
    except ValueError:
        return text
