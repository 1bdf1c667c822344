from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.patches.field_sets import FieldSet
from reflet.devserver.patches.typed_merge import compared, fields_of, named
from tests.unit.devserver.small_schemas import SPEC


@pytest.mark.parametrize(
    ("value", "fields"),
    [
        ({"size": 1}, {"f:size": {}}),
        ({"texts": {"a": "1"}}, {"f:texts": {"f:a": {}}}),
        ({"texts": {}}, {"f:texts": {}}),
        ({"texts": None}, {"f:texts": {}}),
        ({"whole": {"a": "1"}}, {"f:whole": {}}),
        ({"steps": ["a"]}, {"f:steps": {}}),
        ({"steps": []}, {"f:steps": {}}),
        ({"tags": ["a"]}, {"f:tags": {'v:"a"': {}}}),
        ({"tags": []}, {}),
        ({"tags": ["a", "a"]}, {"f:tags": {'v:"a"': {}}}),
        (
            {"parts": [{"name": "a", "size": 1}]},
            {"f:parts": {'k:{"name":"a"}': {".": {}, "f:name": {}, "f:size": {}}}},
        ),
        (
            {"loose": {"a": {"b": [1]}, "c": 1}},
            {"f:loose": {"f:a": {".": {}, "f:b": {}}, "f:c": {}}},
        ),
    ],
)
def test_whoever_applies_a_value_says_something_about_these_fields(
    value: Any, fields: dict[str, Any]
) -> None:
    assert fields_of(value, SPEC).encoded() == fields


def test_named_fields_lead_to_members_and_keys_of_maps_do_not() -> None:
    fields = FieldSet.of([("f:parts", 'k:{"name":"a"}', "f:labels", "f:x"), ("f:texts", "f:a")])

    assert named(fields, SPEC).encoded() == {
        "f:parts": {".": {}, 'k:{"name":"a"}': {"f:labels": {".": {}, "f:x": {}}}},
        "f:texts": {".": {}, "f:a": {}},
    }


@pytest.mark.parametrize(
    ("old", "new", "removed", "modified", "added"),
    [
        ({"size": 1}, {"size": 1.0}, {}, {}, {}),
        ({"size": 1}, {"size": 2}, {}, {"f:size": {}}, {}),
        ({"size": 1}, {}, {"f:size": {}}, {}, {}),
        ({}, {"texts": {"a": "1"}}, {}, {}, {"f:texts": {".": {}, "f:a": {}}}),
        ({"texts": None}, {"texts": {"a": "1"}}, {}, {}, {"f:texts": {"f:a": {}}}),
        ({"texts": {}}, {"texts": None}, {}, {"f:texts": {}}, {}),
        ({"whole": {"a": "1"}}, {"whole": {"b": "1"}}, {}, {"f:whole": {}}, {}),
        (
            {"tags": ["a", "b"]},
            {"tags": ["b", "c"]},
            {"f:tags": {'v:"a"': {}}},
            {},
            {"f:tags": {'v:"c"': {}}},
        ),
        ({"tags": ["a", "b"]}, {"tags": ["b", "a"]}, {}, {}, {}),
        (
            {"tags": ["a", "a"]},
            {"tags": ["a"]},
            {"f:tags": {'v:"a"': {}}},
            {},
            {"f:tags": {'v:"a"': {}}},
        ),
        (
            {"tags": ["a"]},
            {"tags": ["a", "a"]},
            {"f:tags": {'v:"a"': {}}},
            {},
            {"f:tags": {'v:"a"': {}}},
        ),
        ({"tags": ["a", "a"]}, {"tags": ["a", "a", "a"]}, {}, {"f:tags": {'v:"a"': {}}}, {}),
        ({"tags": ["a", "a"]}, {"tags": ["a", "a"]}, {}, {}, {}),
        ({"steps": ["a", "b"]}, {"steps": ["b", "a"]}, {}, {"f:steps": {}}, {}),
        ({"loose": {"a": 1}}, {"loose": 2}, {"f:loose": {"f:a": {}}}, {"f:loose": {}}, {}),
        ({"loose": 2}, {"loose": {"a": 1}}, {}, {"f:loose": {}}, {"f:loose": {"f:a": {}}}),
    ],
)
def test_a_comparison_says_which_fields_are_gone_changed_and_new(
    old: Any, new: Any, removed: Any, modified: Any, added: Any
) -> None:
    found = compared(old, new, SPEC)

    assert (found.removed.encoded(), found.modified.encoded(), found.added.encoded()) == (
        removed,
        modified,
        added,
    )


def test_fields_can_be_left_out_of_account() -> None:
    found = compared({"size": 1}, {"texts": {"a": "1"}, "name": "n"}, SPEC)

    left = found.without(FieldSet.of([("f:texts",), ("f:size",)]))

    assert (left.removed.encoded(), left.written.encoded()) == ({}, {"f:name": {}})
