"""Runs the parts of an expression: each is a function of an activation.

Upstream: cel-go/interpreter
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

from reflet.apirules.cel.signatures import Overload
from reflet.apirules.cel.types import Type, is_free
from reflet.apirules.cel.values import (
    MISSING,
    NONE,
    Dictionary,
    EvaluationError,
    MapValue,
    NotEvaluated,
    OptionalValue,
    OutOfBudget,
    kind_of,
)
from reflet.apirules.regular_expressions import TOO_LONG

NO_SUCH_OVERLOAD: Final = "no such overload"
LIST_COST: Final = 10
MAP_COST: Final = 30
# Functions whose work does not grow with their arguments.
_CONSTANT: Final = frozenset({"size", "_[_]", "_[?_]", "first", "last", "type", "dyn"})


class Activation:
    """The variables of one evaluation, by number, and what it has cost so far."""

    __slots__ = ("cost", "limit", "slots")

    def __init__(self, variables: Sequence[Any], size: int, *, limit: int) -> None:
        self.slots: list[Any] = [*variables, *[None] * (size - len(variables))]
        self.cost = 0
        self.limit = limit

    def spend(self, cost: int) -> None:
        """Count work.  Raises OutOfBudget."""
        self.cost += cost
        if self.cost > self.limit:
            raise OutOfBudget


Run = Callable[[Activation], Any]


def constant(value: Any) -> Run:
    """Give a value that never changes."""
    return lambda _: value


def variable(slot: int) -> Run:
    """Read a variable."""

    def run(activation: Activation) -> Any:
        activation.cost += 1
        return activation.slots[slot]

    return run


def select(operand: Run, field: str, *, is_test: bool, is_optional: bool) -> Run:
    """Read a field, or tell whether it is there."""

    def run(activation: Activation) -> Any:
        activation.cost += 1
        value = operand(activation)
        within_optional = isinstance(value, OptionalValue)
        if within_optional:
            value = value.value
            if value is MISSING:
                return False if is_test else NONE
        if not isinstance(value, MapValue):
            raise EvaluationError(NO_SUCH_OVERLOAD)
        found = value.find(field)
        if is_test:
            return found is not MISSING
        if within_optional or is_optional:
            return NONE if found is MISSING else OptionalValue(found)
        if found is MISSING:
            raise EvaluationError(f"no such key: {field}")
        return found

    return run


def logical(terms: Sequence[Run], *, decisive: bool) -> Run:
    """Join conditions; one that decides makes the errors of the others void."""

    def run(activation: Activation) -> bool:
        failed: EvaluationError | None = None
        for term in terms:
            try:
                value = term(activation)
            except EvaluationError as error:
                failed = failed or error
                continue
            if not isinstance(value, bool):
                failed = failed or EvaluationError(NO_SUCH_OVERLOAD)
            elif value is decisive:
                return decisive
        if failed is not None:
            raise failed
        return not decisive

    return run


def conditional(condition: Run, then: Run, otherwise: Run) -> Run:
    """Evaluate one of two."""

    def run(activation: Activation) -> Any:
        value = condition(activation)
        if not isinstance(value, bool):
            raise EvaluationError(NO_SUCH_OVERLOAD)
        return then(activation) if value else otherwise(activation)

    return run


def make_list(entries: Sequence[tuple[Run, bool]]) -> Run:
    """Make a list; items that are optional and missing are left out."""

    def run(activation: Activation) -> list[Any]:
        activation.cost += LIST_COST
        made = []
        for value, is_optional in entries:
            found = value(activation)
            if not is_optional:
                made.append(found)
            elif found.value is not MISSING:
                made.append(found.value)
        return made

    return run


def make_map(entries: Sequence[tuple[Run, Run, bool]]) -> Run:
    """Make a map; pairs that are optional and missing are left out."""

    def run(activation: Activation) -> Dictionary:
        activation.cost += MAP_COST
        pairs = []
        for key, value, is_optional in entries:
            found = value(activation)
            if is_optional:
                if found.value is MISSING:
                    continue
                found = found.value
            pairs.append((key(activation), found))
        made = Dictionary(pairs)
        if len(made) < len(pairs):
            raise EvaluationError("Failed with repeated key")
        return made

    return run


def call(
    name: str, overloads: Sequence[Overload], arguments: Sequence[Run], given: Sequence[Type]
) -> Run:
    """Call a function; which one is decided while it runs, where types leave it open."""
    only = overloads[0]
    is_certain = len(overloads) == 1 and not any(
        is_free(kind.kind) and not is_free(wanted.kind) and wanted.kind != "variable"
        for kind, wanted in zip(given, only.parameters, strict=True)
    )
    is_constant = name in _CONSTANT
    kinds = [tuple(wanted.kind for wanted in each.parameters) for each in overloads]

    def chosen(values: Sequence[Any]) -> Overload:
        found = [kind_of(value) for value in values]
        for each, wanted in zip(overloads, kinds, strict=True):
            if all(map(_is_of_kind, found, wanted)):
                return each
        raise EvaluationError(NO_SUCH_OVERLOAD)

    def run(activation: Activation) -> Any:
        values = [argument(activation) for argument in arguments]
        activation.spend(1 if is_constant else 1 + sum(map(_length, values)))
        overload = only if is_certain else chosen(values)
        if overload.work is not None:
            activation.cost += overload.work(*values)
            if activation.cost > activation.limit:
                raise NotEvaluated(TOO_LONG)
        return overload.run(*values)

    return run


def _length(value: Any) -> int:
    if isinstance(value, str):
        return len(value) // 10
    return len(value) if isinstance(value, list) else 0


def or_else(target: Run, otherwise: Run, *, is_unwrapped: bool) -> Run:
    """Give what is in an optional value, or else something that is evaluated only then."""

    def run(activation: Activation) -> Any:
        activation.cost += 1
        value = target(activation)
        if not isinstance(value, OptionalValue):
            raise EvaluationError(NO_SUCH_OVERLOAD)
        if value.value is MISSING:
            return otherwise(activation)
        return value.value if is_unwrapped else value

    return run


def _is_of_kind(found: str, wanted: str) -> bool:
    return found == wanted or wanted in {"dyn", "variable"}
