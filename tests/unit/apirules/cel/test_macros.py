from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.values import Dictionary, EvaluationError, equal
from tests.unit.apirules.cel.expression_scene import value_of

TABLE = Dictionary([("a", 1), ("b", 2)])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("numbers.all(x, x > 0)", True),
        ("numbers.exists(x, x > 2)", True),
        ("numbers.exists_one(x, x > 1)", False),
        ("numbers.existsOne(i, v, v > 2)", True),
        ("numbers.map(x, x * 2)", [2, 4, 6]),
        ("numbers.map(x, x > 1, x * 2)", [4, 6]),
        ("numbers.filter(x, x != 2)", [1, 3]),
        ("numbers.transformList(i, v, i > 0, i * v)", [2, 6]),
        ("numbers.sortBy(x, -x)", [3, 2, 1]),
        ("numbers.map(x, numbers.filter(y, y < x).size())", [0, 1, 2]),
        ("table.all(k, table[k] > 0)", True),
        ("table.exists(k, v, k == 'b' && v == 2)", True),
        ("table.map(k, k)", ["a", "b"]),
        ("table.filter(k, k == 'a')", ["a"]),
        ("table.transformMap(k, v, v > 1, v * 2) == {'b': 4}", True),
        ("table.transformMapEntry(k, v, {string(v): k}) == {'1': 'a', '2': 'b'}", True),
        ("optional.of(1).optMap(x, x + 1).value()", 2),
        ("optional.none().optMap(x, 1).hasValue()", False),
        ("optional.of(1).optFlatMap(x, optional.none()).hasValue()", False),
    ],
)
def test_a_macro_goes_through_its_range(text: str, value: Any) -> None:
    assert equal(value_of(text, numbers=[1, 2, 3], table=TABLE), value)


def test_an_error_counts_only_if_no_other_item_decides() -> None:
    assert value_of("numbers.exists(x, 1 / (x - 1) > 0)", numbers=[1, 2]) is True
    with pytest.raises(EvaluationError, match="division by zero"):
        value_of("numbers.all(x, 1 / (x - 1) > 0)", numbers=[1, 2])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("self.all(x, x)", "no such overload"),
        ("self.optMap(x, x)", "no such overload"),
        ("table.transformMapEntry(k, v, {'same': v})", "key already exists"),
    ],
)
def test_what_a_macro_cannot_do_is_an_error(text: str, said: str) -> None:
    with pytest.raises(EvaluationError, match=said):
        value_of(text, self=[1], table=TABLE)


def test_what_is_no_range_is_an_error() -> None:
    with pytest.raises(EvaluationError, match="no such overload"):
        value_of("self.all(x, true)", self=1)
