from __future__ import annotations

import random

from reflet.apirules.schema.kinds import custom_kinds, custom_schema, version_rank
from reflet.apirules.schema.schemas import Schemas
from reflet.apirules.schema.served_kind import PrinterColumn
from tests.unit.devserver.object_scene import DEFINITION

V1, V1BETA1 = custom_kinds(DEFINITION, Schemas.recorded())


def test_names_come_from_the_definition() -> None:
    assert (V1.kind, V1.plural, V1.singular, V1.list_kind) == ("Gear", "gears", "gear", "GearList")
    assert (V1.short_names, V1.namespaced) == (("gr",), True)


def test_subresources_and_columns_belong_to_a_version() -> None:
    assert V1.custom is not None
    assert [part.name for part in V1.subresources] == ["status", "scale"]
    assert V1.custom.printer_columns == (PrinterColumn("Size", "integer", ".spec.size"),)
    assert V1.custom.scale is not None
    assert V1.custom.scale.spec_replicas == ".spec.replicas"
    assert V1BETA1.subresources == ()


def test_all_versions_are_kept_in_the_one_that_is_stored() -> None:
    assert {V1.storage_version, V1BETA1.storage_version} == {"v1"}
    assert V1.storage_key == V1BETA1.storage_key == "gears.example.org"


def test_versions_are_ranked_by_maturity_then_number() -> None:
    ranked = ["v10", "v2", "v1", "v2beta3", "v1beta10", "v1beta2", "v3alpha1", "a", "foo1"]
    shuffled = random.Random(1).sample(ranked, len(ranked))

    assert sorted(shuffled, key=version_rank) == ranked


def test_the_structure_is_that_of_the_schema_with_metadata() -> None:
    spec = V1.schema.field("spec")
    metadata = V1.schema.field("metadata")
    assert spec is not None
    assert metadata is not None
    size, parts, labels, free = (spec.field(n) for n in ("size", "parts", "labels", "free"))

    assert metadata.field("labels") is not None
    assert size is not None
    assert (size.shape, size.default) == ("int64", 3)
    assert parts is not None
    assert (parts.list_type, parts.list_map_keys) == ("map", ("id",))
    assert labels is not None
    assert labels.values is not None
    assert free is not None
    assert free.preserves_unknown


def test_a_number_or_text_and_an_embedded_object_have_their_shapes() -> None:
    rules = {
        "type": "object",
        "properties": {
            "port": {"x-kubernetes-int-or-string": True},
            "inner": {"type": "object", "x-kubernetes-embedded-resource": True},
            "any": {"x-kubernetes-preserve-unknown-fields": True},
        },
    }

    schema = custom_schema(rules, Schemas.recorded())

    port, inner, anything = (schema.field(name) for name in ("port", "inner", "any"))
    assert port is not None
    assert port.shape == "intOrString"
    assert inner is not None
    assert inner.field("metadata") is not None
    assert anything is not None
    assert anything.preserves_unknown
