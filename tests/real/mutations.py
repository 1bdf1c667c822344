"""Objects with one thing wrong: every field of good ones, broken in a dozen ways.

Owns: what is put where, by chance that a seed repeats.  Must not know either server.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from tests.real.devserver_objects import Manifest

Path = tuple[str | int, ...]

TEXTS: Final = (
    *("", "-1", "0", "1.5", "9" * 30, "1Gi", "150%", "nope", "Bad_Value!", "a b", "é" * 40, "<x>"),
    *("a" * 64, "a" * 300, "../x", "a/b/c", "x.com/y", "kubernetes.io/y", "*.a.b", "-a", "a-"),
    *("10.0.0.0/99", "010.0.0.1", "1.2.3.4", "Exists", "Never", "TCP", "system-x"),
)
NUMBERS: Final = (-1, 0, 1, 256, 70000, 2**31 - 1, 2**31, -(2**31), 2**63, 1.5)
OTHERS: Final[tuple[Any, ...]] = (None, True, "x", 7, [], {}, [None], [{}], {"a": "b"}, ["x", "x"])
KEYS: Final = ("unknown", "Bad Key!", "a/b/c", "cpu", "example.com/x", "x" * 300)


@dataclass(frozen=True, slots=True)
class Mutant:
    """A body, and what was done to which field of it."""

    change: str
    body: Manifest


def mutants(
    body: Manifest, random: Random, *, untouched: Collection[Path] = ()
) -> Iterator[Mutant]:
    """Yield broken copies of an object, without end; ``untouched`` fields stay as they are."""
    kept = {("apiVersion",), ("kind",), *untouched}
    paths = [path for path in _paths(body) if path not in kept]
    while True:
        path = random.choice(paths)
        made = copy.deepcopy(body)
        holder = _at(made, path[:-1])
        change = _break(holder, path[-1], random)
        yield Mutant(f"{'.'.join(map(str, path))} {change}", made)


def _break(holder: Any, key: str | int, random: Random) -> str:
    old = holder[key]
    ways = ["other"] * 2 + ["gone"] + (["same sort"] * 6 if old is not None else [])
    match random.choice(ways), old:
        case "gone", _:
            del holder[key]
            return "is gone"
        case "same sort", bool():
            holder[key] = not old
        case "same sort", str():
            holder[key] = random.choice(TEXTS)
        case "same sort", int() | float():
            holder[key] = random.choice(NUMBERS)
        case "same sort", list():
            holder[key] = random.choice([old + copy.deepcopy(old), old[::-1], old[1:]])
        case "same sort", dict():
            old[random.choice(KEYS)] = random.choice(["1", "-1", 1, {}, None])
        case _:
            holder[key] = copy.deepcopy(random.choice(OTHERS))
    return f"is {str(holder[key])[:60]}"


def _paths(value: Any, path: Path = ()) -> Iterator[Path]:
    inner = dict(enumerate(value)) if isinstance(value, list) else value
    for key, each in inner.items() if isinstance(inner, dict) else ():
        yield (*path, key)
        yield from _paths(each, (*path, key))


def _at(value: Any, path: Path) -> Any:
    for key in path:
        value = value[key]
    return value
