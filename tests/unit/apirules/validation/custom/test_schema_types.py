from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.custom.schema_types import (
    declared_type,
    escaped,
    unescaped,
    with_metadata,
)

TEXT = {"type": "string"}


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("plain", "plain"),
        ("namespace", "__namespace__"),
        ("a-b.c/d", "a__dash__b__dot__c__slash__d"),
        ("a__b", "a__underscores__b"),
        ("true", "__true__"),
    ],
)
def test_a_field_is_known_under_a_name_that_can_be_written(name: str, known: str) -> None:
    assert escaped(name) == known
    assert unescaped(known) == name


def test_some_names_cannot_be_written() -> None:
    assert [escaped(name) for name in ("1a", "a b", "", "é")] == [None] * 4
    assert unescaped("a__nothing__b") is None


@pytest.mark.parametrize(
    ("rules", "kind"),
    [
        ({"type": "integer"}, "int"),
        ({"type": "number"}, "double"),
        ({"type": "boolean"}, "bool"),
        (TEXT, "string"),
        ({"type": "string", "format": "date-time"}, "timestamp"),
        ({"type": "string", "format": "date"}, "timestamp"),
        ({"type": "string", "format": "duration"}, "duration"),
        ({"type": "string", "format": "byte"}, "bytes"),
        ({"x-kubernetes-int-or-string": True}, "dyn"),
        ({"type": "array", "items": TEXT}, "list(string)"),
        ({"type": "object", "additionalProperties": TEXT}, "map(string, string)"),
        ({"type": "object"}, "self"),
    ],
)
def test_a_schema_has_a_type(rules: dict[str, Any], kind: str) -> None:
    assert str(declared_type(rules)) == kind


@pytest.mark.parametrize(
    "rules",
    [
        {"x-kubernetes-preserve-unknown-fields": True},
        {"type": "array"},
        {"type": "array", "items": {}},
        {"type": "object", "additionalProperties": {}},
    ],
)
def test_what_has_no_type_is_not_seen(rules: dict[str, Any]) -> None:
    assert declared_type(rules) is None


def test_the_names_of_an_object_can_always_be_read() -> None:
    kind = declared_type({"type": "object", "properties": {"a b": TEXT, "c": TEXT}}, is_root=True)

    assert kind is not None
    assert set(kind.fields) == {"c", "apiVersion", "kind", "metadata"}
    assert set(kind.fields["metadata"].fields) == {"name", "generateName"}


def test_metadata_that_is_described_stays_as_it_is() -> None:
    names = {"name": TEXT, "generateName": TEXT, "labels": {"type": "object"}}
    metadata = {"type": "object", "properties": names}
    rules = {
        "type": "object",
        "properties": {"kind": TEXT, "apiVersion": TEXT, "metadata": metadata},
    }

    assert with_metadata(rules) is rules
