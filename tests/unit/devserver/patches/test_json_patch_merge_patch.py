from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.patches.json_patch import merge_patch


# The examples of RFC 7386 that begin and end with an object.
@pytest.mark.parametrize(
    ("document", "patch", "result"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": "b", "b": "c"}, {"a": None}, {"b": "c"}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": "c"}, {"a": ["b"]}, {"a": ["b"]}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        ({"a": [{"b": "c"}]}, {"a": [1]}, {"a": [1]}),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_the_examples_of_the_rfc(
    document: dict[str, Any], patch: dict[str, Any], result: dict[str, Any]
) -> None:
    assert merge_patch(document, patch) == result


def test_nulls_in_a_new_list_are_items_but_those_in_its_maps_are_not() -> None:
    assert merge_patch({}, {"a": [None, {"b": None, "c": 1}]}) == {"a": [None, {"c": 1}]}


def test_a_list_in_place_of_a_map_keeps_its_nulls() -> None:
    assert merge_patch({"a": {}}, {"a": [{"b": None}]}) == {"a": [{"b": None}]}


def test_neither_side_is_changed() -> None:
    document: dict[str, Any] = {"a": {"b": 1}}
    patch: dict[str, Any] = {"a": {"c": {"d": None}}}

    merge_patch(document, patch)

    assert (document, patch) == ({"a": {"b": 1}}, {"a": {"c": {"d": None}}})
