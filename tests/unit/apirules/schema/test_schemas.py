from __future__ import annotations

import pytest

from reflet.apirules.schema.schemas import Schema, Schemas, Structure

POD = Schemas.recorded().lookup("io.k8s.api.core.v1.Pod")


def at(schema: Schema, *path: str) -> Schema:
    for step in path:
        inner = schema.items if step == "[]" else schema.field(step)
        assert inner is not None, step
        schema = inner
    return schema


def test_fields_lists_and_maps_are_walked() -> None:
    assert at(POD, "spec", "containers", "[]", "name").shape == "string"
    assert at(POD, "metadata", "labels", "any").shape == "string"
    assert at(POD, "spec", "containers", "[]", "resources", "limits", "cpu").shape == "quantity"


def test_embedded_types_are_dissolved_into_their_owner() -> None:
    action = at(POD, "spec", "containers", "[]", "livenessProbe", "httpGet")

    assert action.embedded_in == ("ProbeHandler",)


def test_the_keys_of_lists_are_known_for_merging_and_for_applying() -> None:
    ports = at(POD, "spec", "containers", "[]", "ports")

    assert (ports.patch_strategy, ports.patch_merge_key) == ("merge", "containerPort")
    assert (ports.list_type, ports.list_map_keys) == ("map", ("containerPort", "protocol"))


def test_a_type_that_is_owned_as_a_whole_says_so_wherever_it_is_used() -> None:
    assert at(POD, "spec", "imagePullSecrets", "[]").map_type == "atomic"


def test_fields_have_the_numbers_of_the_binary_form() -> None:
    structure = Schemas.recorded().structure("io.k8s.api.core.v1.Volume")

    assert structure.wire[1][0] == "name"
    assert structure.wire[2][0] == ""  # the embedded source


def test_an_unknown_field_has_no_schema() -> None:
    assert POD.field("nothing") is None


def test_an_unknown_type_is_an_error() -> None:
    with pytest.raises(KeyError):
        Schemas.recorded().lookup("no.such.Type")


def test_every_recorded_type_can_be_assembled() -> None:
    schemas = Schemas.recorded()

    assert all(isinstance(schemas.structure(name), Structure) for name in schemas)
    assert "io.k8s.api.core.v1.ConfigMap" in schemas


def test_what_was_recorded_names_its_source() -> None:
    assert Schemas.recorded().source.startswith("kube-apiserver v1.")
