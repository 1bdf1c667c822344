from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.schema.schemas import ANYTHING, Schema
from reflet.devserver.patches.typed_values import (
    form_of,
    is_declared,
    item_element,
    items_by_element,
    list_relation,
    misfits,
)
from reflet.errors import DecodeError
from tests.unit.devserver.small_schemas import PARTS, PORTS, SPEC, TAGS, TEXT, TEXTS


@pytest.mark.parametrize(
    ("value", "form"), [({}, "map"), (None, "map"), ([], "list"), (1, "scalar"), ("", "scalar")]
)
def test_where_anything_may_stand_the_value_decides(value: Any, form: str) -> None:
    assert form_of(ANYTHING, value) == form


@pytest.mark.parametrize(
    ("schema", "form"), [(SPEC, "map"), (TEXTS, "map"), (TAGS, "list"), (TEXT, "scalar")]
)
def test_elsewhere_the_schema_decides(schema: Schema, form: str) -> None:
    assert form_of(schema, 1) == form


def test_the_keys_of_a_map_are_not_declared() -> None:
    assert (is_declared(SPEC, "size"), is_declared(SPEC, "none"), is_declared(TEXTS, "a")) == (
        True,
        False,
        False,
    )


@pytest.mark.parametrize(
    ("schema", "relation"),
    [
        (TAGS, "set"),
        (PARTS, "map"),
        (Schema("list"), "atomic"),
        (Schema("list", patch_strategy="merge"), "set"),
        (Schema("list", patch_strategy="merge,retainKeys", patch_merge_key="a"), "map"),
        (Schema("list", patch_strategy="merge", patch_merge_key="a", list_type="atomic"), "atomic"),
        (Schema("list", patch_strategy="replace"), "atomic"),
    ],
)
def test_a_list_that_says_nothing_is_told_by_its_patch_strategy(
    schema: Schema, relation: str
) -> None:
    assert list_relation(schema) == relation


def test_a_key_that_is_missing_has_its_default() -> None:
    assert item_element(PORTS, {"number": 80}) == 'k:{"number":80,"protocol":"TCP"}'


@pytest.mark.parametrize(
    ("schema", "item", "problem"),
    [
        (PARTS, None, "associative list with keys may not have a null element"),
        (PARTS, "a", "associative list with keys may not have non-map elements"),
        (
            PARTS,
            {"size": 1},
            (
                'associative list with keys has an element that omits all key fields ["name"] (and '
                "doesn't have default values for any key fields)"
            ),
        ),
        (TAGS, {}, "associative list without keys has an element that's a map type"),
        (TAGS, [], "not supported: associative list with lists as elements"),
        (TAGS, None, "associative list without keys has an element that's an explicit null"),
    ],
)
def test_an_item_that_cannot_be_told_from_others_has_no_element(
    schema: Schema, item: Any, problem: str
) -> None:
    with pytest.raises(DecodeError) as refused:
        item_element(schema, item)

    assert str(refused.value) == problem


def test_items_are_grouped_and_those_without_an_element_left_out() -> None:
    assert items_by_element(TAGS, ["a", "b", "a", None]) == {'v:"a"': ["a", "a"], 'v:"b"': ["b"]}


@pytest.mark.parametrize(
    "value",
    [
        {},
        None,
        {"size": 1, "on": True, "name": "n", "steps": ["a", "a"], "loose": {"any": [{}]}},
        {"size": None, "parts": None, "texts": {"a": None}},
        {"parts": [{"name": "a", "ports": [{"number": 1}, {"number": 1, "protocol": "UDP"}]}]},
    ],
)
def test_a_value_that_fits_has_no_misfits(value: Any) -> None:
    assert list(misfits(value, SPEC)) == []


@pytest.mark.parametrize(
    ("value", "problem"),
    [
        ({"size": "1"}, ".size: expected numeric (int or float), got string"),
        ({"size": True}, ".size: expected numeric (int or float), got bool"),
        ({"on": 1}, ".on: expected boolean, got &{1}"),
        ({"name": 1.5}, ".name: expected string, got &value.valueUnstructured{Value:1.5}"),
        ({"steps": [1]}, ".steps[0]: expected string, got &value.valueUnstructured{Value:1}"),
        ({"tags": ["a", "a"]}, '.tags: duplicate entries for key [="a"]'),
        ({"parts": {}}, ".parts: expected list, got &{map[]}"),
        ({"texts": []}, ".texts: expected map, got &{[]}"),
        ({"none": 1}, ".none: field not declared in schema"),
        ([], "expected map, got &{[]}"),
    ],
)
def test_a_misfit_names_its_place(value: Any, problem: str) -> None:
    assert list(misfits(value, SPEC)) == [problem]


@pytest.mark.parametrize("shape", ["quantity", "intOrString", "time"])
def test_any_scalar_fits_where_its_form_is_read_later(shape: Any) -> None:
    schema = Schema(shape)

    assert [list(misfits(value, schema)) for value in ("1", 1, True, [1])] == [
        [],
        [],
        [],
        ["expected any scalar, got &{[1]}"],
    ]
