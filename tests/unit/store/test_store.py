"""Objects by key, indexed."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from reflet.api.config import ConfigMap
from reflet.errors import RefletError
from reflet.store.deltas import Changed, Replaced, Resynced
from reflet.store.keys import ExplicitKey, KeyFailure, Tombstone
from reflet.store.store import EventsRefused, IndexConflict, IndexMissing, Store
from reflet.store.transactions import Put, Remove, TransactionError
from reflet.testing.scripted_source import added, bookmark, deleted, modified
from tests.unit.store.config_maps import Keyless, config_map, names, users_of


def store_of(*items: ConfigMap) -> Store[ConfigMap]:
    store = Store(indexers={"users": users_of})
    store.replace(items, "1")
    return store


def fussy(item: ConfigMap) -> list[str]:
    if "bad" in users_of(item):
        raise ValueError("bad users")
    return users_of(item)


def content(store: Store[ConfigMap]) -> dict[str, str]:
    items, _ = store.snapshot()
    return {key: item.metadata.resource_version for key, item in items.items()}


def index(store: Store[ConfigMap], name: str = "users") -> dict[str, list[str]]:
    return {value: store.index_keys(name, value) for value in store.index_values(name)}


# Events


def test_events_add_change_and_remove_objects() -> None:
    store = store_of(config_map("a", "1"), config_map("b", "1"))

    store.change(
        [
            added(config_map("c", "2")),
            modified(config_map("a", "3")),
            deleted(config_map("b", "4")),
        ]
    )

    assert content(store) == {"shop/a": "3", "shop/c": "2"}


def test_a_batch_says_what_each_event_found() -> None:
    first, second = config_map("a", "1"), config_map("a", "2")
    store = store_of(first)

    found = store.change(
        [
            modified(second),
            deleted(config_map("a", "3")),
            deleted(config_map("a", "4")),
            bookmark("5"),
            added(config_map("a", "6")),
        ]
    )

    assert found == [first, second, None, None, None]


def test_the_version_is_that_of_the_last_event() -> None:
    store = store_of()

    store.change([added(config_map("a", "9")), bookmark("5")])

    assert store.version == "5"


def test_no_events_change_nothing() -> None:
    store = store_of(config_map("a", "1"))

    assert store.change([]) == []
    assert store.version == "1"


def test_events_keep_every_index_true() -> None:
    store = store_of(config_map("a", users="x,y"), config_map("b", users="y"))

    store.change(
        [
            modified(config_map("a", users="y,z")),
            deleted(config_map("b")),
            added(config_map("c", users="x", namespace="bank")),
        ]
    )

    assert index(store) == {"x": ["bank/c"], "y": ["shop/a"], "z": ["shop/a"]}
    assert index(store, "namespace") == {"shop": ["shop/a"], "bank": ["bank/c"]}


def test_an_event_whose_index_values_fail_is_left_out_alone() -> None:
    store = Store(indexers={"users": users_of, "fussy": fussy})
    store.replace([config_map("a", "1", users="x")], "1")

    with pytest.raises(EventsRefused, match=r"^1 of 3 events were not stored: .*bad users$"):
        store.change(
            [
                added(config_map("b", "2", users="x")),
                modified(config_map("a", "3", users="y,bad")),
                added(config_map("c", "4", users="z")),
            ]
        )

    assert content(store) == {"shop/a": "1", "shop/b": "2", "shop/c": "4"}
    assert index(store) == index(store, "fussy") == {"x": ["shop/a", "shop/b"], "z": ["shop/c"]}
    assert store.version == "4"


def test_a_refusal_says_which_events_and_what_the_others_found() -> None:
    store = Store(indexers={"fussy": fussy})
    a = config_map("a", "1")
    store.put(a)

    with pytest.raises(EventsRefused) as caught:
        store.change([modified(config_map("a", users="bad")), modified(config_map("a", "2"))])

    assert set(caught.value.refused) == {0}
    assert caught.value.found == [a, a]


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
    store.change([added(config_map("b", users="x"))])

    assert [users_of(item) for item in store.objects()] == [[], []]


def test_a_transform_that_fails_stores_nothing() -> None:
    store = Store(transform=without_users)

    with pytest.raises(RefletError, match=r"^transforming: no$"):
        store.put(config_map("bad"))

    assert len(store) == 0


def test_an_event_that_cannot_be_transformed_is_left_out_alone() -> None:
    store = Store(transform=without_users)

    with pytest.raises(EventsRefused, match="transforming: no"):
        store.change([added(config_map("bad")), added(config_map("a"))])

    assert list(store.keys()) == ["shop/a"]


def test_a_list_that_cannot_be_transformed_changes_nothing() -> None:
    store = Store(transform=without_users)
    store.put(config_map("a", "1"))

    with pytest.raises(RefletError, match="transforming: no"):
        store.replace([config_map("b"), config_map("bad")], "2")

    assert (content(store), store.version) == ({"shop/a": "1"}, "1")


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


def test_an_object_whose_index_values_fail_is_not_stored() -> None:
    store = Store(indexers={"users": users_of, "fussy": fussy})
    store.put(config_map("a", "1", users="x"))

    with pytest.raises(RuntimeError, match="bad users"):
        store.put(config_map("a", "2", users="bad"))

    assert content(store) == {"shop/a": "1"}
    assert index(store) == index(store, "fussy") == {"x": ["shop/a"]}


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


def test_a_list_whose_index_values_fail_changes_nothing() -> None:
    store = Store(indexers={"users": users_of, "fussy": fussy})
    store.replace([config_map("a", "1", users="x")], "1")

    with pytest.raises(RuntimeError, match="bad users"):
        store.replace([config_map("b", users="y"), config_map("c", users="bad")], "2")

    assert (content(store), store.version) == ({"shop/a": "1"}, "1")
    assert index(store) == index(store, "fussy") == {"x": ["shop/a"]}
    assert names(store.by_index("users", "x")) == ["a"]


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


def test_operations_whose_index_values_fail_are_left_out_and_reported() -> None:
    store = Store(indexers={"fussy": fussy})

    with pytest.raises(TransactionError) as caught:
        store.transaction([Put(config_map("a", "1")), Put(config_map("b", "2", users="bad"))])

    assert caught.value.successful == (0,)
    assert (content(store), store.version) == ({"shop/a": "1"}, "1")


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
