from __future__ import annotations

import msgspec

from tests.unit.devserver.object_scene import kind_of


def test_a_kind_of_the_core_group_is_named_without_a_group() -> None:
    kind = kind_of("configmaps")

    assert (kind.api_version, kind.qualified_resource) == ("v1", "configmaps")
    assert (kind.storage_key, kind.list_kind) == ("configmaps", "ConfigMapList")


def test_a_kind_of_another_group_is_named_with_it() -> None:
    kind = kind_of("deployments", "apps")

    assert (kind.api_version, kind.qualified_resource) == ("apps/v1", "deployments.apps")


def test_subresources_are_found_by_name() -> None:
    kind = kind_of("deployments", "apps")
    scale = kind.subresource("scale")

    assert scale is not None
    assert (scale.group, scale.kind) == ("autoscaling", "Scale")
    assert kind.has_status
    assert kind.subresource("log") is None


def test_reviews_and_what_can_only_be_read_are_not_stored() -> None:
    assert not kind_of("selfsubjectaccessreviews", "authorization.k8s.io").is_stored
    assert not kind_of("bindings").is_stored
    assert not kind_of("componentstatuses").is_stored


def test_the_hash_of_the_stored_version_is_the_real_servers() -> None:
    assert kind_of("configmaps").storage_version_hash == "qFsyl6wFWjQ="
    assert kind_of("events", "events.k8s.io").storage_version_hash == "r2yiGXH7wu8="


def test_kinds_are_equal_that_say_the_same_wherever_their_structure_comes_from() -> None:
    kind = kind_of("deployments", "apps")
    same = msgspec.structs.replace(kind, read_schema=lambda: kind.schema)

    assert same == kind
    assert len({kind, same}) == 1
    assert msgspec.structs.replace(kind, short_names=()) != kind
    assert kind != "deployments"
