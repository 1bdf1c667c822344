"""Functions of lists, and of lists as sets.

Upstream: cel-go/ext/lists.go and sets.go; apiserver/pkg/cel/library/lists.go
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cmp_to_key
from itertools import pairwise
from typing import Any, Final

from reflet.apirules.cel.operators import compare
from reflet.apirules.cel.signatures import declare, signature
from reflet.apirules.cel.values import (
    HIGHEST_INT,
    LOWEST_INT,
    NONE,
    Duration,
    EvaluationError,
    OptionalValue,
    OutOfBudget,
    Uint,
    equal,
)

LONGEST_RANGE: Final = 1_000_000
MOST_COMPARISONS: Final = 1_000_000
_COMPARABLE: Final = ["int", "uint", "double", "bool", "duration", "timestamp", "string", "bytes"]


def _is_sorted(values: list[Any]) -> bool:
    return all(compare(*pair) <= 0 for pair in pairwise(values))


def _least(values: list[Any]) -> Any:
    return _best(values, "min", 1)


def _greatest(values: list[Any]) -> Any:
    return _best(values, "max", -1)


def _best(values: list[Any], name: str, worse: int) -> Any:
    if not values:
        raise EvaluationError(f"{name} called on empty list")
    best = values[0]
    for value in values[1:]:
        if compare(best, value) == worse:
            best = value
    return best


def _sorted(values: list[Any]) -> list[Any]:
    return sorted(values, key=cmp_to_key(compare))


for _kind in _COMPARABLE:
    declare(f"list({_kind})::isSorted() bool", _is_sorted)
    declare(f"list({_kind})::min() {_kind}", _least)
    declare(f"list({_kind})::max() {_kind}", _greatest)
    declare(f"list({_kind})::sort() list({_kind})", _sorted)


@signature("list(int)::sum() int")
def _sum(values: list[int]) -> int:
    total = sum(values)
    if not LOWEST_INT <= total <= HIGHEST_INT:
        raise EvaluationError("integer overflow")
    return total


declare("list(uint)::sum() uint", lambda values: Uint(sum(values)))
declare("list(double)::sum() double", lambda values: float(sum(values)))


@signature("list(duration)::sum() duration")
def _sum_of_durations(values: list[Duration]) -> Duration:
    return Duration(sum(value.nanoseconds for value in values))


@signature("list(A)::indexOf(A) int")
def _index_of(values: list[Any], item: Any) -> int:
    return next((index for index, value in enumerate(values) if equal(value, item)), -1)


@signature("list(A)::lastIndexOf(A) int")
def _last_index_of(values: list[Any], item: Any) -> int:
    found = _index_of(values[::-1], item)
    return -1 if found < 0 else len(values) - 1 - found


@signature("list(A)::slice(int, int) list(A)")
def _slice(values: list[Any], start: int, end: int) -> list[Any]:
    if start < 0 or end < 0:
        raise EvaluationError(f"cannot slice({start}, {end}), negative indexes not supported")
    if start > end:
        said = f"cannot slice({start}, {end}), start index must be less than or equal to end index"
        raise EvaluationError(said)
    if len(values) < end:
        raise EvaluationError(f"cannot slice({start}, {end}), list is length {len(values)}")
    return list(values)[start:end]


@signature("list(list(A))::flatten() list(A)", "list(dyn)::flatten(int) list(dyn)")
def _flatten(values: list[Any], depth: int = 1) -> list[Any]:
    if depth < 0:
        raise EvaluationError("level must be non-negative")
    return list(_flat(values, depth))


def _flat(values: list[Any], depth: int) -> Iterator[Any]:
    for value in values:
        if isinstance(value, list) and depth:
            yield from _flat(value, depth - 1)
        else:
            yield value


@signature("lists.range(int) list(int)")
def _range(count: int) -> list[int]:
    if count > LONGEST_RANGE:
        raise OutOfBudget
    return list(range(count))


declare("list(A)::reverse() list(A)", lambda values: list(values)[::-1])


@signature("list(A)::distinct() list(A)")
def _distinct(values: list[Any]) -> list[Any]:
    _bounded(len(values) ** 2)
    found: list[Any] = []
    for value in values:
        if not _contains(found, value):
            found.append(value)
    return found


def _contains(values: list[Any], item: Any) -> bool:
    return any(equal(value, item) for value in values)


@signature("list(A)::first() optional(A)")
def _first(values: list[Any]) -> OptionalValue:
    return OptionalValue(values[0]) if values else NONE


@signature("list(A)::last() optional(A)")
def _last(values: list[Any]) -> OptionalValue:
    return OptionalValue(values[-1]) if values else NONE


def _bounded(comparisons: int) -> None:
    if comparisons > MOST_COMPARISONS:
        raise OutOfBudget


@signature("sets.contains(list(A), list(A)) bool")
def _has_all(values: list[Any], wanted: list[Any]) -> bool:
    _bounded(len(values) * len(wanted))
    return all(_contains(values, each) for each in wanted)


@signature("sets.equivalent(list(A), list(A)) bool")
def _equivalent(left: list[Any], right: list[Any]) -> bool:
    return _has_all(left, right) and _has_all(right, left)


@signature("sets.intersects(list(A), list(A)) bool")
def _intersects(left: list[Any], right: list[Any]) -> bool:
    _bounded(len(left) * len(right))
    return any(_contains(right, each) for each in left)
