from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.values import EvaluationError, OutOfBudget, equal
from tests.unit.apirules.cel.expression_scene import value_of


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("numbers.isSorted() || ['a', 'b'].isSorted()", True),
        ("numbers.min() + numbers.max() + numbers.sum()", 10),
        ("[1.5, 2.0].sum()", 3.5),
        ("[1u, 2u].sum() == 3u", True),
        ("[duration('1s')].sum() == duration('1s')", True),
        ("numbers.sort()", [1, 2, 3]),
        ("numbers.indexOf(1) * 10 + numbers.lastIndexOf(9)", 9),
        ("numbers.slice(1, 3)", [1, 2]),
        ("[[1], [2, 3]].flatten()", [1, 2, 3]),
        ("[dyn([1, 2])].flatten(2)", [1, 2]),
        ("lists.range(3)", [0, 1, 2]),
        ("numbers.reverse()", [2, 1, 3]),
        ("[1, 2, 1].distinct()", [1, 2]),
        ("numbers.first().value() * 10 + numbers.last().value()", 32),
        ("[].first().hasValue()", False),
        ("sets.contains(numbers, [1, 1]) && !sets.contains([1], numbers)", True),
        ("sets.equivalent([1, 2, 2], [2, 1])", True),
        ("sets.intersects([1], [2]) || sets.intersects([1], [1])", True),
    ],
)
def test_lists_are_judged_and_made(text: str, value: Any) -> None:
    assert equal(value_of(text, numbers=[3, 1, 2]), value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[].map(x, 1).min()", "min called on empty list"),
        ("[9223372036854775807, 1].sum()", "integer overflow"),
        ("numbers.slice(-1, 2)", "negative indexes not supported"),
        ("numbers.slice(2, 1)", "start index must be less than"),
        ("numbers.slice(0, 9)", "list is length 3"),
        ("dyn([[1]]).flatten(-1)", "level must be non-negative"),
    ],
)
def test_what_a_list_cannot_do_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text, numbers=[3, 1, 2])


@pytest.mark.parametrize(
    "text", ["numbers.distinct()", "sets.equivalent(numbers, numbers)", "lists.range(10000000)"]
)
def test_no_list_is_compared_with_itself_for_ever(text: str) -> None:
    with pytest.raises(OutOfBudget):
        value_of(text, 10**9, numbers=list(range(5000)))
