"""Of several objects of one name, a pod means the nearest."""

from __future__ import annotations

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.errors import NotFound
from reflet.resolution.placed_objects import PlacedObject, PlacedObjects
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
