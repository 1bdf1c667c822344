"""Of several objects of one name, a pod means the nearest."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.errors import NotFound
from reflet.resolution.objects import ObjectKey
from reflet.resolution.references.placed_objects import PlacedObject, PlacedObjects
from tests.unit.resolution.scenes import config_map

PLACES = ("base/cm.yaml:1", "env/prod/cm.yaml:1", "env/prod/web.yaml:9", "env/test/a/cm.yaml:1")


def variants() -> PlacedObjects:
    return PlacedObjects(
        PlacedObject(place, config_map("settings", place=place)) for place in PLACES
    )


@pytest.mark.parametrize(
    ("place", "nearest"),
    [
        ("env/prod/web.yaml:30", "env/prod/web.yaml:9"),
        ("env/prod/other.yaml:1", "env/prod/web.yaml:9"),
        ("env/test/pod.yaml:1", "env/test/a/cm.yaml:1"),
        ("base/pod.yaml:1", "base/cm.yaml:1"),
        ("elsewhere/pod.yaml:1", "base/cm.yaml:1"),
    ],
)
def test_what_has_most_of_the_path_in_common_is_nearest(place: str, nearest: str) -> None:
    found = variants().seen_from(place).config_map("shop", "settings")

    assert isinstance(found, ConfigMap)
    assert found.data == {"place": nearest}


def test_another_kind_name_or_namespace_is_not_there() -> None:
    seen = variants().seen_from("base/pod.yaml:1")

    for answer in (
        seen.config_map("shop", "other"),
        seen.config_map("other", "settings"),
        seen.secret("shop", "settings"),
    ):
        assert isinstance(answer, NotFound)


def test_whoever_moves_between_namespaces_may_mean_any_of_them() -> None:
    found = variants().nearest_of_any_namespace("ConfigMap", "settings", "base/pod.yaml:1")

    assert isinstance(found, ConfigMap)
    assert found.data == {"place": "base/cm.yaml:1"}
    assert PlacedObjects().nearest_of_any_namespace("Secret", "settings", "") is None


def test_secrets_are_found_too() -> None:
    secret = Secret(data={"a": b"b"})
    objects = PlacedObjects([PlacedObject("a.yaml:1", secret)])

    assert objects.seen_from("b.yaml:1").secret("", "") == secret


def test_variants_that_are_equally_near_and_differ_are_several() -> None:
    places = ("cm/one.yaml:1", "cm/two.yaml:1", "near/cm.yaml:1")
    objects = PlacedObjects(
        PlacedObject(place, config_map("settings", place=place)) for place in places
    )
    key: ObjectKey = ("ConfigMap", "shop", "settings")

    assert objects.are_several(key, "cm/pod.yaml:1")
    assert not objects.are_several(key, "cm/one.yaml:9")
    assert not objects.are_several(key, "near/pod.yaml:1")
    same = PlacedObjects(PlacedObject(place, config_map("settings")) for place in places)
    assert not same.are_several(key, "cm/pod.yaml:1")
