from __future__ import annotations

from importlib import resources

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


def test_every_description_is_about_something_that_exists() -> None:
    content = resources.files("reflet.devserver").joinpath("data/descriptions.json").read_bytes()
    described = msgspec.json.decode(content, type=dict[str, dict[str, str]])

    for name, fields in described.items():
        if name:
            assert fields.keys() <= {"", *SCHEMAS.structure(name).fields}
