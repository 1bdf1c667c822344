from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.yaml_reading import DEEPEST
from reflet.devserver.patches.json_values import check_depth, copied, equivalent, identity, same
from reflet.errors import DecodeError


def nested(depth: int) -> Any:
    value: Any = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    ("left", "right"),
    [(True, 1), (1, 1.0), ("1", 1), (None, False), ([1], [True]), ({"a": 1}, {"a": 1.0})],
)
def test_values_that_python_takes_for_equal_are_not_the_same(left: Any, right: Any) -> None:
    assert not same(left, right)


@pytest.mark.parametrize("value", [None, True, 1, 1.5, "a", [1, {"a": None}], {"a": {"b": [1]}}])
def test_a_value_is_the_same_as_its_copy(value: Any) -> None:
    assert same(copied(value), value)


def test_a_copy_shares_nothing_that_can_be_changed() -> None:
    inner: dict[str, Any] = {"b": [1]}

    copy = copied({"a": inner})

    inner["b"].append(2)
    assert copy == {"a": {"b": [1]}}


@pytest.mark.parametrize(("left", "right"), [(1, 1.0), ({"a": [2.0]}, {"a": [2]})])
def test_numbers_are_equivalent_by_value(left: Any, right: Any) -> None:
    assert equivalent(left, right)


@pytest.mark.parametrize(("left", "right"), [(True, 1), ([0], [False]), ({}, []), ("", None)])
def test_truth_is_not_equivalent_to_a_number_nor_nothing_to_nothing_else(
    left: Any, right: Any
) -> None:
    assert not equivalent(left, right)


def test_an_identity_ignores_the_order_of_keys_and_nothing_else() -> None:
    same_names = identity({"a": 1, "b": 2}) == identity({"b": 2, "a": 1})

    assert (same_names, identity(1) == identity("1"), identity(True) == identity(1)) == (
        True,
        False,
        False,
    )


def test_the_deepest_value_allowed_passes() -> None:
    check_depth(nested(DEEPEST))


@pytest.mark.parametrize("depth", [DEEPEST + 1, 100_000])
def test_a_deeper_value_is_refused_however_deep(depth: int) -> None:
    with pytest.raises(DecodeError, match="exceeded max depth"):
        check_depth(nested(depth))


def test_a_deeper_value_is_not_copied() -> None:
    with pytest.raises(DecodeError, match="exceeded max depth"):
        copied(nested(DEEPEST + 1))
