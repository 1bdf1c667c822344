"""Evaluates the rules of a schema on an object.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from typing import Any, Final

from reflet.apirules.cel.expression import Expression
from reflet.apirules.cel.values import (
    NONE,
    EvaluationError,
    NotEvaluated,
    OptionalValue,
    OutOfBudget,
)
from reflet.apirules.validation.custom.compiled_rules import CompiledNode, Rule
from reflet.apirules.validation.custom.correlation import (
    Correlated,
    item_key,
    items_by_key,
    list_keys,
)
from reflet.apirules.validation.custom.schema_values import value_of
from reflet.apirules.validation.field_errors import OMITTED, FieldErrors

LIMIT_OF_A_RULE: Final = 1_000_000
# The real server goes on to 10,000,000, in a second; here that would take ten.
LIMIT_OF_AN_OBJECT: Final = 3_000_000
LONGEST_MESSAGE: Final = 5 * 1024
_NO_BUDGET: Final = "not evaluated: the rules of this object cost too much"


class _Exhausted(Exception):
    """No rule is evaluated any more."""


def check_rules(
    node: CompiledNode,
    document: Mapping[str, Any],
    old: Mapping[str, Any] | None,
    errors: FieldErrors,
    correlated: Correlated | None = None,
) -> list[str]:
    """Check an object against its rules, and return warnings.

    What a rule says of values that an update leaves as they were is only a warning.
    """
    check = _Check(errors)
    with suppress(_Exhausted):  # what ended it is among the errors
        check.node(node, "", document, old, _Place(correlated, None))
    return check.warnings


class _Place:
    """Where in the old object we are, or where we were when it could last be said."""

    __slots__ = ("_nearest", "here")

    def __init__(self, here: Correlated | None, nearest: Correlated | None) -> None:
        self.here = here
        self._nearest = nearest

    @property
    def is_unchanged(self) -> bool:
        found = self.here or self._nearest
        return found is not None and found.is_unchanged

    def key(self, name: str) -> _Place:
        if self.here is None:
            return self
        if self._nearest is None and name in {"apiVersion", "kind"}:
            return _Place(None, None)
        return _Place(self.here.key(name), self.here)

    def index(self, place: int) -> _Place:
        return self if self.here is None else _Place(self.here.index(place), self.here)


class _Check:
    def __init__(self, errors: FieldErrors) -> None:
        self.warnings: list[str] = []
        self._errors = errors
        self._left = LIMIT_OF_AN_OBJECT

    def node(self, node: CompiledNode, path: str, new: Any, old: Any, place: _Place) -> None:
        if new is None:
            return
        if node.rules:
            self._rules(node, path, new, old, place)
        if isinstance(new, list):
            self._items(node, path, new, old, place)
        elif isinstance(new, Mapping):
            self._fields(node, path, new, old, place)

    def _items(
        self, node: CompiledNode, path: str, new: list[Any], old: Any, place: _Place
    ) -> None:
        if node.items is None:
            return
        keys = list_keys(node.schema)
        before = items_by_key(old, keys) if keys and isinstance(old, list) else {}
        for index, item in enumerate(new):
            known = before.get(item_key(item, keys)) if before else None
            self.node(node.items, f"{path}[{index}]", item, known, place.index(index))

    def _fields(
        self, node: CompiledNode, path: str, new: Mapping[str, Any], old: Any, place: _Place
    ) -> None:
        before = old if isinstance(old, Mapping) else {}
        for name, value in new.items():
            if node.values is not None:
                here = f"{path}[{name}]"
                self.node(node.values, here, value, before.get(name), place.key(name))
            elif name in node.properties:
                here = f"{path}.{name}" if path else name
                self.node(node.properties[name], here, value, before.get(name), place.key(name))

    def _rules(self, node: CompiledNode, path: str, new: Any, old: Any, place: _Place) -> None:
        here, kind = path or "<nil>", node.schema.get("type", "")
        if self._left <= 0:
            self.warnings.append(f"{here}: {_NO_BUDGET}")
            raise _Exhausted
        try:
            value = value_of(node.schema, new)
            before = None if old is None else value_of(node.schema, old)
        except EvaluationError as error:
            for rule in node.rules:
                self._errors.invalid(here, kind, f"{error} evaluating rule: {rule.said}")
            return
        for rule in node.rules:
            if rule.expression is None or (
                rule.is_transition and old is None and not rule.is_optional
            ):
                continue
            known: Any = before
            if rule.is_optional:
                known = NONE if old is None else OptionalValue(before)
            if not self._holds(rule, [value, known], here, kind):
                shown = OMITTED if kind in {"object", "array"} else new
                self._blame(rule, [value, known], path, shown, place)

    def _holds(self, rule: Rule, variables: list[Any], here: str, kind: str) -> bool:
        """Tell whether a rule holds; what prevents an answer is an error of its own."""
        if rule.expression is None:
            return True
        try:
            return self._value(rule.expression, variables) is True
        except OutOfBudget:
            if self._left < LIMIT_OF_A_RULE:
                self.warnings.append(f"{here}: {_NO_BUDGET}")
                raise _Exhausted from None
            self._errors.invalid(
                here,
                kind,
                "'operation cancelled: actual cost limit exceeded': no further validation rules "
                f"will be run due to call cost exceeds limit for rule: {rule.said}",
            )
            raise _Exhausted from None
        except NotEvaluated as reason:
            self.warnings.append(f"{here}: not evaluated: {rule.said}: {reason}")
        except EvaluationError as error:
            if str(error).startswith("no such overload"):
                said = (
                    f"'{error}': call arguments did not match a supported operator, function or "
                    f"macro signature for rule: {rule.said}"
                )
            else:
                said = f"{error} evaluating rule: {rule.said}"
            self._errors.invalid(here, kind, said)
        return True

    def _value(self, expression: Expression, variables: list[Any]) -> Any:
        value, cost = expression.evaluate(variables, limit=min(LIMIT_OF_A_RULE, self._left))
        self._left -= cost
        return value

    def _blame(
        self, rule: Rule, variables: list[Any], path: str, value: Any, place: _Place
    ) -> None:
        below = rule.field_path
        joint = "." if path and below and not below.startswith("[") else ""
        here = f"{path}{joint}{below}" or "<nil>"
        detail = self._message(rule, variables)
        found = FieldErrors()
        match rule.source.get("reason"):
            case "FieldValueForbidden":
                found.forbidden(here, detail)
            case "FieldValueRequired":
                found.required(here, detail)
            case "FieldValueDuplicate":
                found.duplicate(here, value)
            case _:
                found.invalid(here, value, detail)
        if not rule.is_transition and place.is_unchanged:
            self.warnings += [f"{cause.field}: {cause.message}" for cause in found.causes]
        else:
            self._errors.causes += found.causes

    def _message(self, rule: Rule, variables: list[Any]) -> str:
        if rule.message is not None:
            try:
                text = str(self._value(rule.message, variables)).strip()
            except (EvaluationError, NotEvaluated, OutOfBudget):
                text = ""
            if text and "\n" not in text and len(text.encode()) <= LONGEST_MESSAGE:
                return text
        message = str(rule.source.get("message") or "").strip()
        return message or f"failed rule: {rule.said}"
