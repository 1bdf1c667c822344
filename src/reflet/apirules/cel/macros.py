"""Runs macros: what is done with each item of a list or each key of a map.

Upstream: cel-go/parser/macro.go; cel-go/ext/comprehensions.go; cel-go/cel/library.go, optMap
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cmp_to_key
from typing import Any, Final

from reflet.apirules.cel.evaluation import NO_SUCH_OVERLOAD, Activation, Run
from reflet.apirules.cel.operators import compare
from reflet.apirules.cel.values import (
    MISSING,
    NONE,
    Dictionary,
    EvaluationError,
    MapValue,
    OptionalValue,
)

STEP_COST: Final = 4
COLLECTING_COST: Final = 13


@dataclass(frozen=True, slots=True)
class Steps:
    """A range, the numbers of the variables for its items, and what is evaluated for each."""

    range: Run
    slots: tuple[int, ...]
    arguments: tuple[Run, ...]

    def over(self, activation: Activation, cost: int) -> Iterator[tuple[Any, Any]]:
        """Set the variables to each item in turn, and give key and item."""
        values = self.range(activation)
        slots = activation.slots
        if isinstance(values, list):
            pairs: Iterator[tuple[Any, Any]] = enumerate(values)
            first = 1
        elif isinstance(values, MapValue):
            pairs = ((key, values.find(key)) for key in values.keys())  # noqa: SIM118 - no dict
            first = 0
        else:
            raise EvaluationError(NO_SUCH_OVERLOAD)
        for pair in pairs:
            activation.spend(cost)
            if len(self.slots) == 2:
                slots[self.slots[0]], slots[self.slots[1]] = pair
            else:
                slots[self.slots[0]] = pair[first]
            yield pair

    def chosen(self, activation: Activation) -> Iterator[tuple[Any, Any]]:
        """Give those for which the condition holds, if there is a condition."""
        condition = self.arguments[0] if len(self.arguments) == 2 else None
        for pair in self.over(activation, COLLECTING_COST):
            if condition is None or _truth(condition(activation)):
                yield pair


def _truth(value: Any) -> bool:
    if not isinstance(value, bool):
        raise EvaluationError(NO_SUCH_OVERLOAD)
    return value


def _quantified(steps: Steps, *, decisive: bool) -> Run:
    condition = steps.arguments[0]

    def run(activation: Activation) -> bool:
        failed: EvaluationError | None = None
        for _ in steps.over(activation, STEP_COST):
            try:
                if _truth(condition(activation)) is decisive:
                    return decisive
            except EvaluationError as error:
                failed = failed or error
        if failed is not None:
            raise failed
        return not decisive

    return run


def _all(steps: Steps) -> Run:
    return _quantified(steps, decisive=False)


def _exists(steps: Steps) -> Run:
    return _quantified(steps, decisive=True)


def _exists_one(steps: Steps) -> Run:
    condition = steps.arguments[0]
    return lambda activation: (
        sum(_truth(condition(activation)) for _ in steps.over(activation, STEP_COST)) == 1
    )


def _map(steps: Steps) -> Run:
    transform = steps.arguments[-1]
    return lambda activation: [transform(activation) for _ in steps.chosen(activation)]


def _filter(steps: Steps) -> Run:
    condition = steps.arguments[0]

    def run(activation: Activation) -> list[Any]:
        slot = steps.slots[0]
        return [
            activation.slots[slot]
            for _ in steps.over(activation, COLLECTING_COST)
            if _truth(condition(activation))
        ]

    return run


def _transform_map(steps: Steps) -> Run:
    transform = steps.arguments[-1]
    return lambda activation: Dictionary(
        [(key, transform(activation)) for key, _ in steps.chosen(activation)]
    )


def _transform_map_entry(steps: Steps) -> Run:
    transform = steps.arguments[-1]

    def run(activation: Activation) -> Dictionary:
        pairs = []
        for _ in steps.chosen(activation):
            made = transform(activation)
            pairs += [(key, made.find(key)) for key in made.keys()]  # noqa: SIM118 - no dict
        found = Dictionary(pairs)
        if len(found) < len(pairs):
            raise EvaluationError("insert failed: key already exists")
        return found

    return run


def _opt_map(steps: Steps) -> Run:
    flat = _opt_flat_map(steps)

    def run(activation: Activation) -> OptionalValue:
        found = flat(activation)
        return NONE if found is NONE else OptionalValue(found)

    return run


def _opt_flat_map(steps: Steps) -> Run:
    transform = steps.arguments[0]

    def run(activation: Activation) -> Any:
        value = steps.range(activation)
        if not isinstance(value, OptionalValue):
            raise EvaluationError(NO_SUCH_OVERLOAD)
        if value.value is MISSING:
            return NONE
        activation.slots[steps.slots[0]] = value.value
        return transform(activation)

    return run


def _sort_by(steps: Steps) -> Run:
    key = steps.arguments[0]

    def run(activation: Activation) -> list[Any]:
        found = [(key(activation), item) for _, item in steps.over(activation, COLLECTING_COST)]
        return [item for _, item in sorted(found, key=cmp_to_key(_compared_keys))]

    return run


def _compared_keys(left: Sequence[Any], right: Sequence[Any]) -> int:
    return compare(left[0], right[0])


MACROS: Final[Mapping[str, Callable[[Steps], Run]]] = {
    "all": _all,
    "exists": _exists,
    "exists_one": _exists_one,
    "existsOne": _exists_one,
    "map": _map,
    "transformList": _map,
    "filter": _filter,
    "transformMap": _transform_map,
    "transformMapEntry": _transform_map_entry,
    "optMap": _opt_map,
    "optFlatMap": _opt_flat_map,
    "sortBy": _sort_by,
}
