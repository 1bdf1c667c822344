"""Which classes a definition describes."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.insight.custom_structs import StructClass, classes_of

TEXT = {"type": "string"}


def definition(*versions: str, schema: Any = None, **more: Any) -> dict[str, Any]:
    return {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": "widgets.example.com"},
        "spec": {
            "group": "example.com",
            "names": {"kind": "Widget", "plural": "widgets"},
            "versions": [
                {
                    "name": name,
                    "served": name != "v0",
                    "schema": {"openAPIV3Schema": schema or {"type": "object"}},
                }
                for name in versions or ("v1",)
            ],
            **more,
        },
    }


def classes(**properties: Any) -> list[StructClass]:
    schema = {"type": "object", "properties": properties}
    return list(classes_of(definition(schema=schema)))


def field_of(schema: dict[str, Any], *, name: str = "x", required: bool = False) -> tuple[str, str]:
    """The annotation and the default of a field of spec."""
    spec = {
        "type": "object",
        "properties": {name: schema},
        "required": [name] if required else [],
    }
    (found,) = next(each for each in classes(spec=spec) if each.name == "WidgetSpec").fields
    return found.annotation, found.default


@pytest.mark.parametrize(
    ("schema", "annotation", "default"),
    [
        (TEXT, "str | None", "None"),
        ({"type": "boolean"}, "bool | None", "None"),
        ({"type": "number"}, "float | None", "None"),
        ({"type": "string", "format": "date-time"}, "Time | None", "None"),
        ({"type": "string", "format": "byte"}, "bytes | None", "None"),
        ({"type": "string", "format": "uri"}, "str | None", "None"),
        ({"type": "integer", "default": 3}, "int", "3"),
        ({"type": "integer", "default": True}, "int | None", "None"),
        ({"type": "string", "default": 'a "b"'}, "str", "'a \"b\"'"),
        ({"type": "boolean", "default": False}, "bool", "False"),
        ({"type": "integer", "default": 3, "nullable": True}, "int | None", "3"),
        ({"type": "string", "enum": ["a", "it's"]}, 'Literal["a", "it\'s"] | None', "None"),
        ({"type": "string", "enum": ["a", "b"], "default": "b"}, 'Literal["a", "b"]', '"b"'),
        ({"type": "string", "enum": ["a"], "default": "z"}, 'Literal["a"] | None', "None"),
        ({"type": "integer", "enum": [1, 2]}, "Literal[1, 2] | None", "None"),
        ({"type": "number", "enum": [1.5]}, "float | None", "None"),
        ({"x-kubernetes-int-or-string": True}, "int | str | None", "None"),
        ({"x-kubernetes-int-or-string": True, "default": "25%"}, "int | str", '"25%"'),
        ({"type": "array", "items": TEXT}, "tuple[str, ...]", "()"),
        ({"type": "array", "items": TEXT, "nullable": True}, "tuple[str, ...] | None", "()"),
        (
            {"type": "array", "items": {"type": "string", "nullable": True}},
            "tuple[str | None, ...]",
            "()",
        ),
        ({"type": "object", "additionalProperties": TEXT}, "Mapping[str, str]", "{}"),
        ({"type": "object", "additionalProperties": True}, "Mapping[str, Any] | None", "None"),
        ({"type": "object"}, "Mapping[str, Any] | None", "None"),
        (
            {
                "type": "object",
                "x-kubernetes-preserve-unknown-fields": True,
                "properties": {"a": TEXT},
            },
            "Mapping[str, Any] | None",
            "None",
        ),
        ({"x-kubernetes-preserve-unknown-fields": True}, "Any", "None"),
    ],
)
def test_a_schema_becomes_an_annotation(
    schema: dict[str, Any], annotation: str, default: str
) -> None:
    assert field_of(schema) == (annotation, default)


@pytest.mark.parametrize(
    ("schema", "annotation"),
    [
        (TEXT, "str"),
        ({"type": "string", "nullable": True}, "str | None"),
        ({"type": "array", "items": TEXT}, "tuple[str, ...]"),
    ],
)
def test_what_is_required_has_no_default(schema: dict[str, Any], annotation: str) -> None:
    assert field_of(schema, required=True) == (annotation, "")


def test_classes_are_named_by_the_path_to_them_and_come_before_who_needs_them() -> None:
    port = {"type": "object", "properties": {"number": {"type": "integer"}}}
    ports = {"type": "array", "items": port}
    by_name = {"type": "object", "additionalProperties": port}

    found = classes(spec={"type": "object", "properties": {"ports": ports, "byName": by_name}})

    assert [each.name for each in found] == [
        "WidgetSpecPorts",
        "WidgetSpecByName",
        "WidgetSpec",
        "Widget",
    ]
    assert [each.annotation for each in found[2].fields] == [
        "tuple[WidgetSpecPorts, ...]",
        "Mapping[str, WidgetSpecByName]",
    ]


def test_two_paths_that_read_alike_make_two_classes() -> None:
    part = {"type": "object", "properties": {"x": TEXT}}
    found = classes(
        aB={"type": "object", "properties": {"c": part}},
        a={"type": "object", "properties": {"bC": part}},
    )

    assert [each.name for each in found] == [
        "WidgetABC",
        "WidgetAB",
        "WidgetABC_",
        "WidgetA",
        "Widget",
    ]


@pytest.mark.parametrize(
    ("json_name", "attribute", "is_renamed"),
    [
        ("maxSize", "max_size", False),
        ("hostIPs", "host_ips", False),
        ("from", "from_", False),
        ("str", "str_", False),
        ("URL", "url", True),
        ("x-ray", "x_ray", True),
        ("9lives", "field_9lives", True),
    ],
)
def test_a_json_name_becomes_an_attribute(json_name: str, attribute: str, is_renamed: bool) -> None:
    (found,) = classes(**{json_name: TEXT})[-1].fields

    assert (found.name, found.json_name, found.is_renamed) == (attribute, json_name, is_renamed)


def test_two_names_that_become_one_attribute_are_told_apart() -> None:
    fields = classes(**{"a-b": TEXT, "a.b": TEXT})[-1].fields

    assert [(each.name, each.is_renamed) for each in fields] == [("a_b", True), ("a_b_", True)]


def test_the_classes_of_several_versions_carry_them() -> None:
    found = classes_of(definition("v0", "v1", "v1beta1"))

    assert [(each.name, each.identity) for each in found] == [
        ("WidgetV1", ("example.com/v1", "Widget")),
        ("WidgetV1beta1", ("example.com/v1beta1", "Widget")),
    ]


def test_one_version_can_be_chosen_though_it_is_not_served() -> None:
    (found,) = classes_of(definition("v0", "v1"), version="v0")

    assert (found.name, found.identity) == ("Widget", ("example.com/v0", "Widget"))


def test_an_object_that_keeps_unknown_fields_may_not_be_written_back() -> None:
    (kept,) = classes_of(definition())
    schema = {"type": "object", "x-kubernetes-preserve-unknown-fields": True}
    (lost,) = classes_of(definition(schema=schema))

    assert (kept.complete, lost.complete) == (True, False)


@pytest.mark.parametrize(
    ("wrong", "version", "message"),
    [
        (
            {"apiVersion": "v1", "kind": "Pod"},
            "",
            "Pod of v1 is no CustomResourceDefinition of apiextensions.k8s.io/v1",
        ),
        (definition(names=None), "", "is not whole"),
        (definition(versions=[{"served": True}]), "", "'name' is missing"),
        (definition(), "v2", "Widget.example.com has no version 'v2': it has v1"),
        (
            definition(versions=[{"name": "v1", "served": True}]),
            "",
            "version v1 has no schema that can be read: 'schema'",
        ),
        (definition(schema={"properties": []}), "", "has no schema that can be read"),
    ],
)
def test_what_is_no_definition_is_refused(
    wrong: dict[str, Any], version: str, message: str
) -> None:
    with pytest.raises(ConfigurationError) as raised:
        list(classes_of(wrong, version=version))

    assert message in str(raised.value)
