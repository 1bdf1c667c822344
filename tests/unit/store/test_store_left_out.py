"""Objects that an index function or the transform cannot digest."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.runtime.metrics import MemoryMetrics
from reflet.store.deltas import (
    Changed,
    Put,
)
from reflet.store.store import Store
from reflet.testing.scripted_source import added, deleted, modified
from tests.unit.store.config_maps import config_map, users_of
from tests.unit.store.stores import change, content, fussy, index, store_of

# What an index function cannot digest


WRITES = {
    "put": lambda store, item: store.put(item),
    "event": lambda store, item: store.apply(Changed([modified(item)])),
    "list": lambda store, item: store.replace([item, config_map("b", users="z")], "9"),
    "transaction": lambda store, item: store.transaction([Put(item)]),
}


def fussy_store(*items: ConfigMap) -> Store[ConfigMap]:
    store = Store(indexers={"users": users_of, "fussy": fussy}, resource="configmaps")
    store.replace(items, "1")
    return store


@pytest.fixture(params=WRITES)
def write(request: pytest.FixtureRequest) -> Any:
    """One of the ways in which an object comes in."""
    return WRITES[request.param]


def test_an_object_is_left_out_of_that_index_alone(write: Any) -> None:
    store = fussy_store(config_map("b", users="z"))

    write(store, config_map("a", "2", users="x,bad"))

    assert content(store)["shop/a"] == "2"
    assert index(store) == {"x": ["shop/a"], "bad": ["shop/a"], "z": ["shop/b"]}
    assert index(store, "fussy") == {"z": ["shop/b"]}


def test_nothing_is_left_of_the_values_that_it_had(write: Any) -> None:
    store = fussy_store(config_map("a", "1", users="x"), config_map("b", users="z"))

    write(store, config_map("a", "2", users="bad"))

    assert index(store, "fussy") == {"z": ["shop/b"]}


def test_it_is_found_again_as_soon_as_it_can_be_digested(write: Any) -> None:
    store = fussy_store(config_map("a", "1", users="bad"), config_map("b", users="z"))

    write(store, config_map("a", "2", users="x"))

    assert index(store, "fussy") == {"x": ["shop/a"], "z": ["shop/b"]}


def test_it_goes_as_any_other_does() -> None:
    store = fussy_store(config_map("a", "1", users="bad"))

    change(store, deleted(config_map("a", "2", users="bad")))

    assert (len(store), index(store), index(store, "fussy")) == (0, {}, {})


def test_it_is_logged_and_counted_once_however_often_it_comes(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = MemoryMetrics()
    store = Store(indexers={"fussy": fussy}, resource="configmaps", metrics=metrics)
    bad = config_map("a", "1", users="bad")

    change(store, added(bad))
    change(store, modified(bad))
    for _ in range(3):
        store.replace([bad], "1")

    (record,) = caplog.records
    assert record.getMessage() == (
        'configmaps: shop/a left out of the index "fussy", because its function failed: '
        "ValueError('bad users')"
    )
    labels = {"resource": "configmaps", "place": "index fussy"}
    assert metrics.counted("reflet_store_left_out_total", **labels) == 1


def test_its_next_version_is_logged_again(caplog: pytest.LogCaptureFixture) -> None:
    store = fussy_store(config_map("a", "1", users="bad"))

    change(store, modified(config_map("a", "2", users="bad")))

    assert len(caplog.records) == 2


def test_a_function_that_fails_for_everything_is_one_line_in_the_log(
    caplog: pytest.LogCaptureFixture,
) -> None:
    fussy_store(*(config_map(str(number), users="bad") for number in range(100)))

    (record,) = caplog.records
    assert "shop/0, shop/1, shop/2, shop/3, shop/4 and 95 more left out" in record.getMessage()


def test_a_new_index_has_what_it_can_digest() -> None:
    store = store_of(config_map("a", users="bad"), config_map("b", users="x"))

    store.add_indexers({"fussy": fussy})

    assert index(store, "fussy") == {"x": ["shop/b"]}


def test_what_is_left_out_shares_nothing_and_has_no_values() -> None:
    bad = config_map("a", users="x,bad")
    store = fussy_store(bad, config_map("b", users="x"))

    assert store.sharing_index("fussy", bad) == []
    assert store.index_values_of("fussy", bad) == ()


# What the transform cannot digest


def picky(item: ConfigMap) -> ConfigMap:
    if "bad" in users_of(item):
        raise ValueError("bad users")
    return item


def picky_store(*items: ConfigMap) -> Store[ConfigMap]:
    store = Store(indexers={"users": users_of}, transform=picky, resource="configmaps")
    store.replace(items, "1")
    return store


def test_an_object_of_a_list_is_left_out_and_the_others_are_there() -> None:
    store = picky_store(config_map("a", "1"))

    store.replace([config_map("a", "2", users="bad"), config_map("b", "2", users="x")], "9")

    assert (content(store), store.version) == ({"shop/b": "2"}, "9")


def test_the_old_state_of_what_can_no_longer_be_digested_is_a_stale_end() -> None:
    a1, bad = config_map("a", "1", users="x"), config_map("a", "2", users="bad")
    store = picky_store(a1)

    made = change(store, modified(bad), added(config_map("b", "3")))

    assert made == [("DELETED", a1, a1, True), ("ADDED", config_map("b", "3"), None, False)]
    assert (content(store), index(store), store.version) == ({"shop/b": "3"}, {}, "3")


def test_what_was_never_there_ends_without_a_word() -> None:
    store = picky_store()

    assert change(store, added(config_map("a", "1", users="bad"))) == []


def test_what_can_be_digested_again_comes_anew() -> None:
    a3 = config_map("a", "3")
    store = picky_store(config_map("a", "1"))
    change(store, modified(config_map("a", "2", users="bad")))

    assert change(store, modified(a3)) == [("ADDED", a3, None, False)]


def test_a_deletion_that_cannot_be_digested_deletes_all_the_same() -> None:
    a1 = config_map("a", "1", users="x")
    store = picky_store(a1)

    made = change(store, deleted(config_map("a", "2", users="bad")))

    assert made == [("DELETED", a1, a1, True)]
    assert (content(store), index(store)) == ({}, {})


def test_what_the_transform_leaves_out_is_logged_and_counted_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics = MemoryMetrics()
    store = Store(transform=picky, resource="configmaps", metrics=metrics)
    bad = config_map("a", "1", users="bad")

    change(store, added(bad))
    for _ in range(3):
        store.replace([bad], "1")
    change(store, deleted(bad))

    (record,) = caplog.records
    assert record.getMessage() == (
        "configmaps: shop/a left out of the store, because the transform failed: "
        "ValueError('bad users')"
    )
    labels = {"resource": "configmaps", "place": "store"}
    assert metrics.counted("reflet_store_left_out_total", **labels) == 1


@pytest.mark.parametrize("write", [WRITES["event"], WRITES["list"]])
def test_a_function_that_is_interrupted_changes_nothing(write: Any) -> None:
    def interrupted(item: ConfigMap) -> list[str]:
        if item.metadata.resource_version == "2":
            raise KeyboardInterrupt
        return users_of(item)

    store = Store(indexers={"users": users_of, "slow": interrupted})
    store.replace([config_map("a", "1", users="x")], "1")

    with pytest.raises(KeyboardInterrupt):
        write(store, config_map("a", "2", users="y"))

    assert content(store) == {"shop/a": "1"}
    assert index(store) == index(store, "slow") == {"x": ["shop/a"]}
