from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.patches.strategic_merge import strategic_merge
from reflet.errors import ApiError, Invalid
from tests.unit.devserver.small_schemas import SPEC


def merged(document: dict[str, Any], patch: dict[str, Any]) -> dict[str, Any]:
    return strategic_merge(document, patch, SPEC)


def part(name: str, **fields: Any) -> dict[str, Any]:
    return {"name": name, **fields}


def test_maps_merge_and_null_deletes() -> None:
    document = {"texts": {"a": "1", "b": "2"}}

    assert merged(document, {"texts": {"a": None, "c": "3"}}) == {"texts": {"b": "2", "c": "3"}}


def test_items_merge_by_their_key_at_every_depth() -> None:
    document = {"parts": [part("a", ports=[{"number": 1, "name": "x"}]), part("b", size=1)]}
    patch = {"parts": [part("a", ports=[{"number": 1, "host": "h"}, {"number": 2}])]}

    assert merged(document, patch) == {
        "parts": [
            part("a", ports=[{"number": 1, "name": "x", "host": "h"}, {"number": 2}]),
            part("b", size=1),
        ]
    }


def test_a_list_that_does_not_merge_is_replaced() -> None:
    assert merged({"steps": ["a", "b"]}, {"steps": ["c"]}) == {"steps": ["c"]}


def test_texts_merge_once_each() -> None:
    assert merged({"tags": ["a", "b"]}, {"tags": ["b", "c"]}) == {"tags": ["a", "b", "c"]}


def test_a_field_whose_strategy_is_replacement_is_replaced() -> None:
    assert merged({"replaced": {"a": "1"}}, {"replaced": {}}) == {"replaced": {}}


def test_keys_that_are_not_retained_go() -> None:
    document = {"strategy": {"type": "slow", "rolling": {"by": "1"}}}
    patch = {"strategy": {"$retainKeys": ["type"], "type": "fast"}}

    assert merged(document, patch) == {"strategy": {"type": "fast"}}


def test_deletions_are_carried_out_before_additions() -> None:
    document = {"parts": [part("a"), part("b"), part("a", size=2)]}
    patch = {"parts": [{"name": "a", "$patch": "delete"}, part("c")]}

    assert merged(document, patch) == {"parts": [part("c"), part("b")]}


def test_a_list_can_be_replaced_on_request() -> None:
    document = {"parts": [part("a"), part("b")]}

    assert merged(document, {"parts": [{"$patch": "replace"}, part("c")]}) == {"parts": [part("c")]}


def test_the_whole_can_be_replaced_on_request() -> None:
    assert merged({"size": 1}, {"$patch": "replace", "name": "n"}) == {"name": "n"}


def test_something_new_has_no_nulls_and_no_directives() -> None:
    patch = {
        "texts": {"a": None, "b": "1"},
        "parts": [part("a"), {"name": "b", "$patch": "delete"}],
    }

    assert merged({}, patch) == {"texts": {"b": "1"}, "parts": [part("a")]}


def test_a_value_of_another_type_takes_the_place_of_the_old_one() -> None:
    assert merged({"texts": {"a": "1"}}, {"texts": ["x"]}) == {"texts": ["x"]}


def test_an_order_alone_reorders() -> None:
    document = {"tags": ["a", "b", "c"]}

    assert merged(document, {"$setElementOrder/tags": ["c", "a"]}) == {"tags": ["b", "c", "a"]}


def test_a_new_item_stands_where_a_deleted_one_has_made_room() -> None:
    document = {"parts": [part("x"), part("z"), part("y")]}
    patch = {
        "$setElementOrder/parts": [{"name": "w"}, {"name": "x"}],
        "parts": [part("w"), {"name": "y", "$patch": "delete"}],
    }

    assert merged(document, patch) == {"parts": [part("z"), part("w"), part("x")]}


def test_an_order_of_what_is_not_there_does_nothing() -> None:
    assert merged({}, {"$setElementOrder/tags": ["c"]}) == {}


def test_deleting_from_what_is_not_there_does_nothing() -> None:
    assert merged({}, {"$deleteFromPrimitiveList/tags": ["c"]}) == {}


@pytest.mark.parametrize(
    ("document", "patch", "code", "message"),
    [
        (
            {"tags": ["a"]},
            {"tags": [1]},
            500,
            "list element types are not identical: [[a] [1]]",
        ),
        (
            {"parts": [part("a")]},
            {"parts": ["b"]},
            500,
            "list element types are not identical: [[map[name:a]] [b]]",
        ),
        (
            {"texts": {"a": {"x": "1"}}},
            {"texts": {"a": {"x": "2"}}},
            500,
            "merging an object in json but data type is not struct, instead is: map",
        ),
        (
            {"unheard": {"a": 1}},
            {"unheard": {"b": 1}},
            500,
            'unable to find api field in struct for the json field "unheard"',
        ),
        (
            {"parts": [part("a")]},
            {"$setElementOrder/parts": [{"name": "a"}], "parts": {"name": "a"}},
            500,
            "expected a []interface {}, but received a map[string]interface {}",
        ),
        (
            {"parts": [part("a")]},
            {"$setElementOrder/parts": ["a"], "parts": [part("a")]},
            500,
            "expected a map[string]interface {}, but received a string",
        ),
        (
            {},
            {"$setElementOrder/tags": None},
            500,
            "expected a []interface {}, but received a %!s(<nil>)",
        ),
        (
            {"tags": []},
            {"$setElementOrder/tags": ["a"]},
            500,
            "no elements in any of the given slices",
        ),
    ],
)
def test_a_patch_that_cannot_be_merged_is_refused(
    document: dict[str, Any], patch: dict[str, Any], code: int, message: str
) -> None:
    with pytest.raises(ApiError) as refused:
        merged(document, patch)

    assert (refused.value.code, refused.value.message) == (code, message)


def test_lists_of_lists_are_refused() -> None:
    with pytest.raises(Invalid) as refused:
        merged({"tags": [["a"]]}, {"tags": [["b"]]})

    assert refused.value.code == 422


def test_neither_side_is_changed() -> None:
    document = {"parts": [part("a", labels={"x": "1"})], "tags": ["a"]}
    patch = {
        "$setElementOrder/tags": ["b", "a"],
        "tags": ["b"],
        "parts": [part("a", labels={"x": None}), {"name": "z", "$patch": "delete"}],
    }
    before = repr((document, patch))

    merged(document, patch)

    assert repr((document, patch)) == before


def test_long_lists_take_no_longer_than_their_length() -> None:
    many = [part(str(number)) for number in range(20_000)]

    result = merged({"parts": many}, {"parts": many[::-1]})

    assert result == {"parts": many[::-1]}
