from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.values import (
    NONE,
    Dictionary,
    EvaluationError,
    KeyedList,
    OptionalValue,
    SetList,
    Uint,
    concatenated,
    equal,
    kind_of,
)


def item(name: str, size: int) -> Dictionary:
    return Dictionary([("name", name), ("size", size)])


@pytest.mark.parametrize(
    ("left", "right", "same"),
    [
        (1, 1.0, True),
        (1, Uint(1), True),
        (1, True, False),
        ("1", 1, False),
        ([1, [2]], [1, [2]], True),
        ([1, 2], [2, 1], False),
        (SetList(["a", "b"]), ["b", "a"], True),
        (["b", "a"], SetList(["a", "b"]), False),
        (Dictionary([("a", 1)]), Dictionary([("a", 1.0)]), True),
        (Dictionary([("a", 1)]), Dictionary([("b", 1)]), False),
        (NONE, OptionalValue(1), False),
        (OptionalValue([1]), OptionalValue([1]), True),
        (KeyedList([item("a", 1), item("b", 2)], ["name"]), [item("b", 2), item("a", 1)], True),
        (KeyedList([item("a", 1)], ["name"]), [item("a", 2)], False),
    ],
)
def test_values_are_equal_by_what_they_mean(left: Any, right: Any, same: bool) -> None:
    assert equal(left, right) is same


def test_lists_that_are_sets_or_maps_are_joined_as_such() -> None:
    assert concatenated(SetList(["a"]), ["a", "b", "b"]) == ["a", "b"]
    merged = concatenated(KeyedList([item("a", 1), item("b", 2)], ["name"]), [item("a", 3)])
    assert [each.find("size") for each in merged] == [3, 2]
    assert concatenated([1], [1]) == [1, 1]


def test_keys_of_a_map_are_numbers_texts_or_bools() -> None:
    table = Dictionary([(1, "one"), (True, "yes")])

    assert (table.find(1.0), table.find(True)) == ("one", "yes")
    with pytest.raises(EvaluationError, match="unsupported key type: list"):
        table.find([])


def test_every_value_has_a_kind() -> None:
    assert [kind_of(each) for each in (True, 1, Uint(1), None, SetList(), NONE)] == [
        *("bool", "int", "uint", "null", "list", "optional"),
    ]
