from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.cel.values import (
    MISSING,
    Duration,
    EvaluationError,
    KeyedList,
    Preserved,
    SetList,
    Timestamp,
    equal,
)
from reflet.apirules.validation.custom.schema_values import ObjectValue, value_of

TEXT = {"type": "string"}
NAMED = {
    "type": "array",
    "items": {"type": "object", "properties": {"a-b": TEXT}},
    "x-kubernetes-list-type": "map",
    "x-kubernetes-list-map-keys": ["a-b"],
}


@pytest.mark.parametrize(
    ("rules", "raw", "value"),
    [
        ({"type": "number"}, 2, 2.0),
        ({"type": "integer"}, 2.0, 2),
        ({"type": "string", "format": "byte"}, "YWI=", b"ab"),
        ({"type": "string", "format": "duration"}, "1s", Duration(10**9)),
        ({"type": "string", "format": "date"}, "1970-01-02", Timestamp(86400 * 10**9)),
        ({"type": "string", "format": "date-time"}, "1970-01-01T00:00:01Z", Timestamp(10**9)),
        ({"x-kubernetes-int-or-string": True}, "5%", "5%"),
        ({"type": "string", "nullable": True}, None, None),
        ({"type": "array", "items": TEXT, "x-kubernetes-list-type": "set"}, ["a"], SetList(["a"])),
        ({"x-kubernetes-preserve-unknown-fields": True}, {"a": 1}, Preserved({"a": 1})),
    ],
)
def test_a_value_has_the_type_of_its_schema(rules: dict[str, Any], raw: Any, value: Any) -> None:
    found = value_of(rules, raw)

    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("rules", "raw"),
    [
        (TEXT, None),
        (TEXT, 1),
        ({"type": "integer"}, 1.5),
        ({"type": "integer"}, True),
        ({"type": "number"}, "1"),
        ({"type": "boolean"}, 1),
        ({"type": "array", "items": TEXT}, {}),
        ({"type": "object"}, []),
        ({"type": "string", "format": "duration"}, "soon"),
        ({"type": "string", "format": "byte"}, "?"),
        ({"x-kubernetes-int-or-string": True}, 1.5),
    ],
)
def test_a_value_of_another_type_is_an_error(rules: dict[str, Any], raw: Any) -> None:
    with pytest.raises(EvaluationError):
        value_of(rules, raw)


def test_an_object_shows_what_the_schema_knows() -> None:
    rules = {"type": "object", "properties": {"a-b": TEXT, "c": {**TEXT, "nullable": True}}}
    found = ObjectValue(rules, {"a-b": "x", "c": None, "other": 1})

    assert list(found.keys()) == ["a__dash__b", "c"]
    assert (found.find("a__dash__b"), found.find("c"), found.find("other")) == (
        "x",
        MISSING,
        MISSING,
    )
    assert len(found) == 3


def test_what_the_schema_does_not_know_counts_when_objects_are_compared() -> None:
    rules = {"type": "object", "properties": {"a": TEXT}}
    one, other = ({"a": "x", "b": number} for number in (1, 2))

    assert equal(ObjectValue(rules, one), ObjectValue(rules, dict(one)))
    assert not equal(ObjectValue(rules, one), ObjectValue(rules, other))


def test_a_map_is_read_by_its_own_keys() -> None:
    found = ObjectValue({"type": "object", "additionalProperties": TEXT}, {"a-b": "x"})

    assert list(found.keys()) == ["a-b"]
    assert found.find("a-b") == "x"
    with pytest.raises(EvaluationError, match="no such overload"):
        found.find(1)


def test_an_embedded_object_has_a_name() -> None:
    rules = {"type": "object", "x-kubernetes-embedded-resource": True}

    found = ObjectValue(rules, {"kind": "Pod", "metadata": {"name": "x", "labels": {}}})

    assert found.find("kind") == "Pod"
    assert list(found.find("metadata").keys()) == ["name"]


def test_items_with_keys_are_known_by_them() -> None:
    found = value_of(NAMED, [{"a-b": "x"}])

    assert isinstance(found, KeyedList)
    assert found.key(found[0]) == ("x",)
