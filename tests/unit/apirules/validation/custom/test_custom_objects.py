from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules import regular_expressions
from reflet.apirules.validation.custom.custom_objects import check_custom_object, check_value
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints


def wrong_with(rules: dict[str, Any], value: Any) -> list[str]:
    errors = FieldErrors()
    check_value(rules, value, "p", errors)
    return complaints(errors)


FINE: list[tuple[dict[str, Any], Any]] = [
    ({}, {"any": [1]}),
    ({"type": "integer"}, 2.0),
    ({"type": "number"}, 1),
    ({"type": "string", "nullable": True}, None),
    ({"x-kubernetes-int-or-string": True, "anyOf": [{"type": "integer"}]}, "a"),
    ({"type": "string", "format": "unheard-of"}, "x"),
    ({"type": "string", "pattern": "(?<!"}, "not enforced"),
    ({"oneOf": [{"required": ["a"]}, {"required": ["b"]}]}, {"a": 1}),
    ({"not": {"required": ["a"]}}, {}),
]


@pytest.mark.parametrize(("rules", "value"), FINE)
def test_a_value_that_fits_is_fine(rules: dict[str, Any], value: Any) -> None:
    assert wrong_with(rules, value) == []


NOT_TEXT = 'Invalid value: "integer": {0} in body must be of type string: "integer"'
WRONG: list[tuple[dict[str, Any], Any, str]] = [
    ({"type": "string"}, 1, f"p: {NOT_TEXT.format('p')}"),
    ({"enum": ["a"]}, "b", 'p: Unsupported value: "b": supported values: "a"'),
    ({"maximum": 1.5}, 2, "p: Invalid value: 2: p in body should be less than or equal to 1"),
    ({"multipleOf": 5}, 7, "p: Invalid value: 7: p in body should be a multiple of 5"),
    ({"minLength": 2}, "a", 'p: Invalid value: "a": p in body should be at least 2 chars long'),
    ({"maxLength": 1}, "ab", "p: Too long: may not be more than 1 byte"),
    ({"pattern": "^b"}, "a", "p: Invalid value: \"a\": p in body should match '^b'"),
    ({"format": "date"}, "x", 'p: Invalid value: "x": p in body must be of type date: "x"'),
    ({"minItems": 1}, [], "p: Invalid value: 0: p in body should have at least 1 items"),
    ({"maxItems": 1}, [1, 2], "p: Too many: 2: must have at most 1 item"),
    ({"items": {"type": "string"}}, [1], f"p[0]: {NOT_TEXT.format('p[0]')}"),
    ({"required": ["a"]}, {}, "p.a: Required value"),
    (
        {"additionalProperties": {"type": "string"}},
        {"a": 1},
        f"p.a: {NOT_TEXT.format('p.a')}",
    ),
    ({"minProperties": 1}, {}, "p: Invalid value: 0: p in body should have at least 1 properties"),
    ({"not": {}}, 1, '<nil>: Invalid value: "": "p" must not validate the schema (not)'),
]


@pytest.mark.parametrize(("rules", "value", "wrong"), WRONG)
def test_a_value_that_does_not_fit_is_told_why(
    rules: dict[str, Any], value: Any, wrong: str
) -> None:
    assert wrong_with(rules, value) == [wrong]


@pytest.mark.parametrize(
    ("rules", "said"),
    [
        ({"maximum": 1, "exclusiveMaximum": True}, "less than 1"),
        ({"minimum": 1, "exclusiveMinimum": True}, "greater than 1"),
    ],
)
def test_a_limit_may_be_out_of_reach(rules: dict[str, Any], said: str) -> None:
    assert wrong_with(rules, 1) == [f"p: Invalid value: 1: p in body should be {said}"]


@pytest.mark.parametrize(
    ("rules", "wrong"),
    [
        ({"anyOf": [{"minimum": 5}]}, ["must validate at least one schema (anyOf)", "5"]),
        ({"oneOf": [{}, {}]}, ["schema (oneOf). Found 2 valid alternatives"]),
        ({"oneOf": [{"minimum": 5}]}, ["schema (oneOf). Found none valid", "5"]),
        (
            {"allOf": [{"minimum": 5}]},
            ["5", "must validate all the schemas (allOf). None validated"],
        ),
    ],
)
def test_combinations_say_which_part_failed(rules: dict[str, Any], wrong: list[str]) -> None:
    found = wrong_with(rules, 1)

    assert len(found) == len(wrong)
    assert all(complaint.endswith(said) for said, complaint in zip(wrong, found, strict=True))


def test_items_of_sets_and_maps_are_there_once() -> None:
    rules = {
        "properties": {
            "set": {"x-kubernetes-list-type": "set"},
            "map": {"x-kubernetes-list-type": "map", "x-kubernetes-list-map-keys": ["id"]},
            "list": {},
        }
    }
    document = {"set": [1, 1], "map": [{"id": "a", "v": 1}, {"id": "a", "v": 2}], "list": [1, 1]}
    errors = FieldErrors()

    check_custom_object(rules, document, errors)

    assert complaints(errors) == [
        "set[1]: Duplicate value: 1",
        'map[1]: Duplicate value: {"id":"a"}',
    ]


def test_metadata_is_not_the_schemas_business() -> None:
    errors = FieldErrors()

    check_custom_object({"properties": {"metadata": {"type": "string"}}}, {"metadata": {}}, errors)

    assert not errors


def test_metadata_may_be_required_and_is_always_there() -> None:
    errors = FieldErrors()
    rules = {"type": "object", "required": ["metadata", "spec"]}

    check_custom_object(rules, {"metadata": {"name": "a"}}, errors)

    assert complaints(errors) == ["spec: Required value"]


def test_patterns_are_bounded_for_a_whole_object(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(regular_expressions, "linear_engine", lambda: None)
    regular_expressions.compiled.cache_clear()
    rules = {"items": {"anyOf": [{"pattern": "^(a+)+$"}, {"pattern": "^(a|a)+$"}]}}

    # Each of these alone may be tried, and takes a second.
    wrong = wrong_with(rules, ["a" * 23 + "b"] * 10_000)

    regular_expressions.compiled.cache_clear()
    assert len(wrong) < 10
