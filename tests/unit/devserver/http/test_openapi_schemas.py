from __future__ import annotations

import copy
from importlib import resources
from typing import Any, Final, Literal

import msgspec
import pytest

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.schemas import Schemas
from reflet.devserver.http.openapi_schemas import kind_schemas, reference
from tests.unit.devserver.object_scene import DEFINITION, kind_of

CORE = "io.k8s.api.core.v1."
SCHEMAS = Schemas.recorded()


def test_a_config_map_is_explained() -> None:
    made = kind_schemas(kind_of("configmaps"), SCHEMAS, 3)[f"{CORE}ConfigMap"]

    assert made["description"].startswith("Configuration for programs")
    assert made["properties"]["data"]["additionalProperties"] == {"type": "string"}
    assert made["properties"]["data"]["description"]
    assert made["x-kubernetes-group-version-kind"] == [
        {"group": "", "kind": "ConfigMap", "version": "v1"}
    ]


def test_keys_for_merging_and_applying_are_named() -> None:
    made = kind_schemas(kind_of("pods"), SCHEMAS, 3)

    ports = made[f"{CORE}Container"]["properties"]["ports"]
    assert ports["x-kubernetes-patch-merge-key"] == "containerPort"
    assert ports["x-kubernetes-list-map-keys"] == ["containerPort", "protocol"]
    assert ports["items"]["allOf"] == [reference(f"{CORE}ContainerPort", 3)]


def test_the_older_form_knows_no_defaults_and_refers_directly() -> None:
    made = kind_schemas(kind_of("pods"), SCHEMAS, 2)

    container = made[f"{CORE}Container"]["properties"]
    assert "default" not in container["name"]
    assert container["resources"]["$ref"] == f"#/definitions/{CORE}ResourceRequirements"


@pytest.mark.parametrize("dialect", [2, 3])
def test_a_custom_kind_is_described_by_its_definition(dialect: int) -> None:
    kinds = Kinds()
    kinds.add_custom(DEFINITION)
    kind = kind_of("gears", "example.org", kinds=kinds)

    made = kind_schemas(kind, SCHEMAS, 2 if dialect == 2 else 3)["org.example.v1.Gear"]

    assert made["properties"].keys() == {"apiVersion", "kind", "metadata", "spec", "status"}
    size = made["properties"]["spec"]["properties"]["size"]
    assert size.get("default") == (3 if dialect == 3 else None)


def custom(rules: dict[str, Any], dialect: Literal[2, 3] = 2) -> dict[str, Any]:
    """Describe a custom kind whose schema has a field ``spec`` of these rules."""
    definition = copy.deepcopy(DEFINITION)
    schema = definition["spec"]["versions"][1]["schema"]
    schema["openAPIV3Schema"] = {"type": "object", "properties": {"spec": rules}}
    kinds = Kinds()
    kinds.add_custom(definition)
    made = kind_schemas(kind_of("gears", "example.org", kinds=kinds), SCHEMAS, dialect)
    spec: dict[str, Any] = made["org.example.v1.Gear"]["properties"]["spec"]
    return spec


ANYTHING: Final = {"x-kubernetes-preserve-unknown-fields": True}
TEXT: Final = {"type": "string"}


@pytest.mark.parametrize(
    ("rules", "written"),
    [
        ({**TEXT, "default": "a", "oneOf": [{"enum": ["a"]}], "not": {}, "allOf": []}, TEXT),
        ({"type": "object", "nullable": True, "properties": {"a": TEXT}}, {}),
        ({"type": "array", "nullable": True, "items": TEXT}, {}),
        ({"type": "object", "properties": {"a": TEXT}, **ANYTHING}, ANYTHING),
        ({"type": "array", "items": TEXT, **ANYTHING}, ANYTHING),
        ({**TEXT, **ANYTHING}, TEXT | ANYTHING),
        (
            {"type": "object", "required": ["a", "b"], "properties": {"a": {"nullable": True}}},
            {"type": "object", "required": ["b"], "properties": {"a": {}}},
        ),
        (
            {"type": "object", "required": ["a"], "properties": {"a": {"nullable": True}}},
            {"type": "object", "properties": {"a": {}}},
        ),
        (
            {"type": "object", "required": ["a"], "additionalProperties": {"nullable": True}},
            {"type": "object", "additionalProperties": {}},
        ),
    ],
)
def test_what_kubectl_cannot_read_is_not_in_the_older_form(
    rules: dict[str, Any], written: dict[str, Any]
) -> None:
    """One such schema, and it refuses the whole document."""
    assert custom(rules) == written
    assert custom(rules, 3) == rules


@pytest.mark.parametrize("dialect", [2, 3])
def test_an_object_in_an_object_has_what_all_objects_have(dialect: Literal[2, 3]) -> None:
    rules = {"type": "object", "x-kubernetes-embedded-resource": True, "required": ["kind"]}

    made = custom(rules, dialect)

    assert made["properties"].keys() == {"apiVersion", "kind", "metadata"}
    assert made["required"] == ["kind", "apiVersion"]
    assert ("properties" in custom(rules | ANYTHING, dialect)) is (dialect == 3)


def test_of_a_kind_that_keeps_everything_the_older_form_says_nothing() -> None:
    definition = copy.deepcopy(DEFINITION)
    schema = {"type": "object", "properties": {"spec": TEXT}, **ANYTHING}
    definition["spec"]["versions"][1]["schema"]["openAPIV3Schema"] = schema
    kinds = Kinds()
    kinds.add_custom(definition)
    kind = kind_of("gears", "example.org", kinds=kinds)

    older, newer = (kind_schemas(kind, SCHEMAS, each)["org.example.v1.Gear"] for each in (2, 3))

    assert older.keys() == {"type", "x-kubernetes-group-version-kind"}
    assert newer["properties"].keys() == {"apiVersion", "kind", "metadata", "spec"}


def test_every_description_is_about_something_that_exists() -> None:
    content = resources.files("reflet.devserver").joinpath("data/descriptions.json").read_bytes()
    described = msgspec.json.decode(content, type=dict[str, dict[str, str]])

    for name, fields in described.items():
        if name:
            assert fields.keys() <= {"", *SCHEMAS.structure(name).fields}
