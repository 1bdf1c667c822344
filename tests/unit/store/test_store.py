"""Objects by key, indexed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.store.deltas import (
    Changed,
    Put,
    Remove,
    Replaced,
    Resynced,
    TransactionError,
)
from reflet.store.keys import ExplicitKey, KeyFailure, Tombstone
from reflet.store.store import IndexConflict, IndexMissing, Store
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import Keyless, config_map, names, users_of
from tests.unit.store.stores import change, content, index, noted, store_of

# Events


def test_events_add_change_and_remove_objects() -> None:
    store = store_of(config_map("a", "1"), config_map("b", "1"))

    change(
        store,
        added(config_map("c", "2")),
        modified(config_map("a", "3")),
        deleted(config_map("b", "4")),
    )

    assert content(store) == {"shop/a": "3", "shop/c": "2"}


def test_a_batch_says_what_became_of_each_object_and_what_was_there_before() -> None:
    a1, a2, a3, a4, a6 = (config_map("a", version) for version in "12346")
    store = store_of(a1)

    made = change(store, modified(a2), deleted(a3), deleted(a4), bookmark("5"), added(a6))

    assert made == [
        ("UPDATED", a2, a1, False),
        ("DELETED", a3, a2, False),
        ("DELETED", a4, None, False),
        ("ADDED", a6, None, False),
    ]


@pytest.mark.parametrize(("version", "repeated"), [("1", True), ("2", False)])
def test_a_batch_says_whether_it_brings_a_version_again(version: str, repeated: bool) -> None:
    store = store_of(config_map("a", "1"))

    assert store.change([modified(config_map("a", version))], noted)[1] is repeated


def test_an_event_of_an_unknown_type_is_reported_and_only_its_version_counts(
    caplog: pytest.LogCaptureFixture,
) -> None:
    strange: Any = "RENAMED"
    store = store_of(config_map("a", "1"))

    made = change(store, WatchEvent(type=strange, object=config_map("a", "2")))

    assert (made, content(store), store.version) == ([], {"shop/a": "1"}, "2")
    assert "unable to understand watch event of type 'RENAMED'" in caplog.text


def test_the_version_is_that_of_the_last_event() -> None:
    store = store_of()

    change(store, added(config_map("a", "9")), bookmark("5"))

    assert store.version == "5"


def test_no_events_change_nothing() -> None:
    store = store_of(config_map("a", "1"))

    assert change(store) == []
    assert store.version == "1"


def test_events_keep_every_index_true() -> None:
    store = store_of(config_map("a", users="x,y"), config_map("b", users="y"))

    change(
        store,
        modified(config_map("a", users="y,z")),
        deleted(config_map("b")),
        added(config_map("c", users="x", namespace="bank")),
    )

    assert index(store) == {"x": ["bank/c"], "y": ["shop/a"], "z": ["shop/a"]}
    assert index(store, "namespace") == {"shop": ["shop/a"], "bank": ["bank/c"]}


def test_a_deltas_events_are_applied() -> None:
    store = store_of()

    store.apply(Changed([added(config_map("a", "2"))]))
    store.apply(Resynced())

    assert content(store) == {"shop/a": "2"}


def test_a_replacement_is_applied() -> None:
    store = store_of(config_map("a"))

    store.apply(Replaced([config_map("b", "7")], "8"))

    assert (content(store), store.version) == ({"shop/b": "7"}, "8")


# Transform


def without_users(item: ConfigMap) -> ConfigMap:
    if item.metadata.name == "bad":
        raise ValueError("no")
    return msgspec.structs.replace(
        item, metadata=msgspec.structs.replace(item.metadata, annotations={"users": ""})
    )


def test_objects_are_transformed_before_they_are_stored() -> None:
    store = Store(transform=without_users)

    store.put(config_map("a", users="x"))
    change(store, added(config_map("b", users="x")))

    assert [users_of(item) for item in store.objects()] == [[], []]


def test_putting_what_cannot_be_transformed_is_an_error_and_stores_nothing() -> None:
    store = Store(transform=without_users)

    with pytest.raises(RefletError, match=r"^transforming: no$"):
        store.put(config_map("bad"))

    assert len(store) == 0


def without_version(item: ConfigMap) -> ConfigMap:
    metadata = msgspec.structs.replace(item.metadata, resource_version="")
    return msgspec.structs.replace(item, metadata=metadata)


def test_the_version_is_the_servers_whatever_the_transform_leaves() -> None:
    store = Store(transform=without_version)
    versions = []

    store.put(config_map("a", "2"))
    versions.append(store.version)
    change(store, modified(config_map("a", "3")))
    versions.append(store.version)

    assert versions == ["2", "3"]


def test_a_key_is_taken_before_the_transform() -> None:
    def renamed(item: ConfigMap) -> ConfigMap:
        return config_map("other")

    store = Store(transform=renamed)
    store.put(config_map("a"))

    assert list(store.keys()) == ["shop/a"]


def test_a_transaction_does_not_transform() -> None:
    store = Store(transform=without_users)

    store.transaction([Put(config_map("a", users="x"))])

    assert users_of(store.objects()[0]) == ["x"]


# Single writes


def test_putting_replaces_and_takes_the_objects_version_whatever_it_is() -> None:
    store = store_of(config_map("a", "9"))

    store.put(config_map("a", "4"))

    assert (content(store), store.version) == ({"shop/a": "4"}, "4")


def test_deleting_takes_the_version_even_when_nothing_was_there() -> None:
    store = store_of(config_map("a", "1"))

    store.delete(config_map("b", "7"))

    assert (content(store), store.version) == ({"shop/a": "1"}, "7")


def test_a_tombstone_deletes_what_it_names() -> None:
    store = store_of(config_map("a", "1"), config_map("b", "1"))

    store.delete(Tombstone("shop/a", None))
    store.delete(ExplicitKey("shop/b"))

    assert (len(store), store.version) == (0, "1")


def test_what_has_no_key_is_reported_with_the_object() -> None:
    keyless: Any = Keyless()
    store = store_of()

    with pytest.raises(
        KeyFailure, match=r"^couldn't create key for object Keyless: object has no meta: "
    ) as caught:
        store.put(keyless)

    assert caught.value.object is keyless
    assert isinstance(caught.value.__cause__, RefletError)


def test_deleting_what_has_no_key_is_reported_too() -> None:
    keyless: Any = Keyless()

    with pytest.raises(KeyFailure):
        store_of().delete(keyless)


# Replace


def test_replacing_swaps_everything_and_says_what_was_there() -> None:
    a = config_map("a", "1", users="x")
    store = store_of(a)

    before = store.replace([config_map("b", "2", users="y")], "3")

    assert before == {"shop/a": a}
    assert (content(store), store.version) == ({"shop/b": "2"}, "3")
    assert (index(store), index(store, "namespace")) == ({"y": ["shop/b"]}, {"shop": ["shop/b"]})


def test_a_list_with_an_object_without_a_key_changes_nothing() -> None:
    keyless: Any = Keyless()
    store = store_of(config_map("a", "1"))

    with pytest.raises(KeyFailure):
        store.replace([config_map("b"), keyless], "2")

    assert (content(store), store.version) == ({"shop/a": "1"}, "1")


# Transactions


def test_a_transaction_is_carried_out_in_order() -> None:
    store = store_of(config_map("a", "1"))

    store.transaction(
        [Put(config_map("b", "5")), Remove(config_map("a", "6")), Put(config_map("b", "4"))]
    )

    assert (content(store), store.version) == ({"shop/b": "4"}, "4")


def test_operations_without_a_key_are_left_out_and_reported() -> None:
    keyless: Any = Keyless()
    store = store_of()

    with pytest.raises(TransactionError) as caught:
        store.transaction(
            [Put(config_map("a", "1")), Remove(keyless), Put(config_map("b", "2")), Put(keyless)]
        )

    assert (caught.value.successful, caught.value.total) == ((0, 2), 4)
    assert str(caught.value).startswith(
        "failed to execute (2/4) transactions failed due to: [couldn't create key for object"
    )
    assert (content(store), store.version) == ({"shop/a": "1", "shop/b": "2"}, "2")


def test_an_empty_transaction_changes_nothing() -> None:
    store = store_of(config_map("a"))

    store.transaction([])

    assert store.version == "1"


# Queries


def test_a_store_is_asked_like_a_collection() -> None:
    store = store_of(config_map("a", "3"))

    assert (len(store), "shop/a" in store, "shop/b" in store) == (1, True, False)


def test_objects_that_share_a_value_are_found_once() -> None:
    a = config_map("a", users="x,y")
    store = store_of(a, config_map("b", users="y,x"), config_map("c", users="z"))

    assert names(store.sharing_index("users", a)) == ["a", "b"]


def test_objects_of_the_same_namespace_share_it() -> None:
    store = store_of(config_map("a"), config_map("b", namespace="bank"))

    assert names(store.sharing_index("namespace", config_map("x"))) == ["a"]


def test_an_unknown_value_has_no_objects() -> None:
    assert store_of().by_index("users", "nobody") == []


def test_an_unknown_index_is_an_error() -> None:
    with pytest.raises(IndexMissing, match=r"^Index with name colour does not exist$"):
        store_of().by_index("colour", "red")


def test_an_unknown_index_has_no_values() -> None:
    assert store_of().index_values("colour") == []


def test_the_values_that_an_object_would_have_can_be_asked() -> None:
    store = store_of()

    assert store.index_values_of("users", config_map("a", users="x,y")) == ("x", "y")
    assert store.index_values_of("namespace", config_map("a")) == ("shop",)


# Indexes


def test_a_new_index_knows_what_is_there() -> None:
    store = Store[ConfigMap]()
    store.put(config_map("a", users="x"))

    store.add_indexers({"users": users_of})

    assert index(store) == {"x": ["shop/a"]}


@pytest.mark.parametrize("name", ["users", "namespace"])
def test_a_known_name_is_a_conflict_and_nothing_is_added(name: str) -> None:
    store = store_of()

    with pytest.raises(IndexConflict, match=rf"^indexer conflict: {name}$"):
        store.add_indexers({"new": users_of, name: users_of})

    assert store.indexes == {"namespace", "users"}


def test_bookmarks_move_the_version_only() -> None:
    store = store_of(config_map("a", "1"))

    store.bookmark("12")

    assert (content(store), store.version) == ({"shop/a": "1"}, "12")
