from __future__ import annotations

import pytest

from reflet.apirules.cel.evaluation import Activation
from reflet.apirules.cel.values import NONE, Dictionary, EvaluationError, OptionalValue, OutOfBudget
from tests.unit.apirules.cel.expression_scene import value_of

MISSING_KEY = Dictionary([("a", 1)])


def test_a_condition_that_decides_makes_errors_void() -> None:
    assert value_of("1 / 0 == 1 || true") is True
    assert value_of("1 / 0 == 1 && false") is False


def test_an_error_stays_where_nothing_decides() -> None:
    with pytest.raises(EvaluationError, match="division by zero"):
        value_of("1 / 0 == 1 || false")


def test_only_the_chosen_branch_is_evaluated() -> None:
    assert value_of("true ? 1 : 1 / 0") == 1
    assert value_of("pair.?a.orValue(1 / 0)", pair=MISSING_KEY) == 1


def test_a_missing_field_is_an_error_a_test_or_nothing() -> None:
    with pytest.raises(EvaluationError, match="no such key: b"):
        value_of("pair.b", pair=MISSING_KEY)
    assert value_of("has(pair.b)", pair=MISSING_KEY) is False
    assert value_of("pair.?b", pair=MISSING_KEY) is NONE


def test_a_function_is_found_by_the_values_where_types_leave_it_open() -> None:
    assert value_of("self + self", self="a") == "aa"
    assert value_of("self + self", self=2) == 4
    with pytest.raises(EvaluationError, match="no such overload"):
        value_of("self + 1", self="a")


def test_a_field_of_an_optional_value_is_optional() -> None:
    inner = OptionalValue(Dictionary([("b", 2)]))

    assert value_of("self.b", self=inner).value == 2
    assert value_of("self.c", self=inner) is NONE
    assert value_of("self.b", self=NONE) is NONE


def test_a_map_has_each_key_once() -> None:
    with pytest.raises(EvaluationError, match="repeated key"):
        value_of("{'a': 1, 'a': 2}")


def test_work_is_counted_and_bounded() -> None:
    activation = Activation([], 0, limit=5)
    activation.spend(5)

    with pytest.raises(OutOfBudget):
        activation.spend(1)
    with pytest.raises(OutOfBudget):
        value_of("text.contains('a')", 100, text="b" * 10_000)
