"""Reading one's own writes."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.informer.mutation_cache import MutationCache
from reflet.store.store import Store
from reflet.testing.virtual_time import ManualClock
from tests.unit.store.config_maps import config_map, names, users_of


class Scene:
    def __init__(self, *stored: ConfigMap, **options: Any) -> None:
        self.clock = ManualClock()
        self.store = Store(indexers={"users": users_of})
        self.store.replace(stored, "1")
        self.cache = MutationCache(self.store, clock=self.clock, **options)

    def version(self, key: str = "shop/a") -> str | None:
        found = self.cache.get(key)
        return None if found is None else found.metadata.resource_version


def test_a_newer_write_is_read_instead_of_the_store() -> None:
    scene = Scene(config_map("a", "9"))

    scene.cache.wrote(config_map("a", "10"))

    assert scene.version() == "10"


@pytest.mark.parametrize("stored", ["10", "11"])
def test_a_store_that_has_caught_up_is_read_and_the_write_forgotten(stored: str) -> None:
    scene = Scene(config_map("a", stored))
    scene.cache.wrote(config_map("a", "10"))

    assert (scene.version(), len(scene.cache)) == (stored, 0)


def test_without_writes_the_store_is_read() -> None:
    scene = Scene(config_map("a", "9"))

    assert (scene.version(), scene.version("shop/b")) == ("9", None)


def test_a_write_is_forgotten_after_its_time() -> None:
    scene = Scene(config_map("a", "9"), time_to_live=30)
    scene.cache.wrote(config_map("a", "10"))

    scene.clock.advance(30)

    assert (scene.version(), len(scene.cache)) == ("9", 0)


@pytest.mark.parametrize(("include_adds", "version"), [(False, None), (True, "10")])
def test_what_the_store_lacks_counts_only_where_it_is_asked_for(
    include_adds: bool, version: str | None
) -> None:
    scene = Scene(include_adds=include_adds)

    scene.cache.wrote(config_map("a", "10"))

    assert scene.version() == version


def test_only_the_last_writes_are_kept_and_reading_counts_as_use() -> None:
    scene = Scene(*(config_map(name, "1") for name in "abc"), size=2)
    scene.cache.wrote(config_map("a", "5"))
    scene.cache.wrote(config_map("b", "5"))
    scene.version("shop/a")

    scene.cache.wrote(config_map("c", "5"))

    versions = [scene.version(f"shop/{name}") for name in "abc"]
    assert versions == ["5", "1", "5"]


@pytest.mark.parametrize(("stored", "written"), [("x", "10"), ("9", "y"), ("", "10"), ("9", "1²")])
def test_versions_that_are_no_numbers_cannot_be_compared_so_the_store_wins(
    stored: str, written: str
) -> None:
    scene = Scene(config_map("a", stored))
    scene.cache.wrote(config_map("a", written))

    assert scene.version() == stored


def test_an_index_finds_the_newest_states() -> None:
    scene = Scene(
        config_map("keeps", "1", users="me"),
        config_map("loses", "1", users="me"),
        config_map("gains", "1"),
        include_adds=True,
    )
    scene.cache.wrote(config_map("loses", "2"))
    scene.cache.wrote(config_map("gains", "2", users="me"))
    scene.cache.wrote(config_map("new", "2", users="me"))

    assert names(scene.cache.by_index("users", "me")) == ["gains", "keeps", "new"]


def test_an_index_does_not_find_what_the_store_lacks_unless_it_is_asked_for() -> None:
    scene = Scene()
    scene.cache.wrote(config_map("new", "2", users="me"))

    assert scene.cache.by_index("users", "me") == []


def test_a_write_that_an_index_cannot_digest_does_not_hide_the_others() -> None:
    def fussy(item: ConfigMap) -> list[str]:
        if "bad" in users_of(item):
            raise ValueError("bad users")
        return users_of(item)

    scene = Scene(config_map("a", "1", users="me"), config_map("b", "1", users="me"))
    scene.store.add_indexers({"fussy": fussy})
    scene.cache.wrote(config_map("a", "2", users="bad"))

    assert names(scene.cache.by_index("fussy", "me")) == ["b"]
