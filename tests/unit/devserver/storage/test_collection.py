from __future__ import annotations

import pytest

from reflet.devserver.storage.collection import SNAPSHOTS_KEPT, Collection
from reflet.devserver.storage.stored import Stored, StoredChange, moved_to, stored_at
from reflet.errors import Expired
from tests.unit.devserver.watch_scene import config_map, key


def collection(*, most_changes: int = 100, most_bytes: int = 10**6) -> Collection:
    return Collection(0, most_changes=most_changes, most_bytes=most_bytes)


def put(into: Collection, name: str, revision: int, *, namespace: str = "shop") -> None:
    previous = into.get(key(name, namespace).path)
    stored = stored_at(
        key(name, namespace), config_map(name, str(revision), namespace=namespace), revision, 0
    )
    into.apply(StoredChange("ADDED" if previous is None else "MODIFIED", stored, previous))


def remove(from_: Collection, name: str, revision: int) -> None:
    previous = from_.get(key(name).path)
    assert previous is not None
    from_.apply(StoredChange("DELETED", moved_to(previous, revision), previous))


def summary(states: tuple[Stored, ...]) -> list[str]:
    return [f"{stored.key.path}@{stored.revision}" for stored in states]


def test_a_list_of_one_namespace_has_no_neighbours() -> None:
    objects = collection()
    for revision, namespace in enumerate(["shop-a", "shop", "shop0", "shop"], start=2):
        put(objects, f"n{revision}", revision, namespace=namespace)

    assert summary(objects.list("shop")) == ["shop/n3@3", "shop/n5@5"]
    assert summary(objects.list(None)) == ["shop-a/n2@2", "shop/n3@3", "shop/n5@5", "shop0/n4@4"]


def test_a_past_list_takes_back_additions_changes_and_deletions() -> None:
    objects = collection()
    put(objects, "changed", 2)
    put(objects, "deleted", 3)
    put(objects, "changed", 4)
    remove(objects, "deleted", 5)
    put(objects, "added", 6)

    assert summary(objects.list_at(None, 3)) == ["shop/changed@2", "shop/deleted@3"]


def test_a_past_list_read_again_is_the_same_tuple() -> None:
    objects = collection()
    put(objects, "a", 2)
    put(objects, "a", 9)

    assert objects.list_at("shop", 5) is objects.list_at("shop", 8)


def test_only_some_past_lists_are_remembered() -> None:
    objects = collection()
    for revision in range(2, SNAPSHOTS_KEPT + 10):
        put(objects, "a", revision)
    first = objects.list_at(None, 2)

    for revision in range(3, SNAPSHOTS_KEPT + 5):
        objects.list_at(None, revision)

    again = objects.list_at(None, 2)
    assert again is not first
    assert again == first


def test_the_changes_of_one_object_are_found_without_the_others() -> None:
    objects = collection()
    for revision, name in enumerate("abab", start=2):
        put(objects, name, revision)

    changes = objects.changes_since(2, key("a").path)

    assert [change.revision for change in changes] == [4]


def test_a_window_full_of_changes_is_cut_in_bulk() -> None:
    objects = collection(most_changes=10)
    floors = []
    for revision in range(2, 14):
        stored = stored_at(key(f"n{revision}"), config_map("n"), revision, revision)
        change = StoredChange("ADDED", stored)
        floors.append(objects.floor_after(change))
        objects.apply(change)

    assert floors == [None] * 11 + [3]


def test_a_window_full_of_bytes_is_cut_too() -> None:
    objects = collection(most_bytes=1000)
    put(objects, "a", 2)
    put(objects, "b", 3)
    large = stored_at(key("c"), config_map("c", "x" * 1000), 4, 4)

    assert objects.floor_after(StoredChange("ADDED", large)) == 3


def test_a_change_larger_than_the_window_is_still_kept() -> None:
    objects = collection(most_bytes=10)
    change = StoredChange("ADDED", stored_at(key("c"), config_map("c", "x" * 1000), 4, 4))

    assert objects.floor_after(change) is None


def test_what_is_forgotten_can_neither_be_listed_nor_replayed() -> None:
    objects = collection()
    for revision in range(2, 8):
        put(objects, "a", revision)

    objects.forget(4)

    with pytest.raises(Expired, match=r"^The resourceVersion for the provided list is too old\.$"):
        objects.list_at(None, 3)
    with pytest.raises(Expired, match=r"^too old resource version: 3 \(4\)$"):
        objects.changes_since(3)


def test_at_the_floor_everything_is_still_known() -> None:
    objects = collection()
    for revision in range(2, 8):
        put(objects, "a", revision)

    objects.forget(4)

    assert summary(objects.list_at(None, 4)) == ["shop/a@4"]
    assert [change.revision for change in objects.changes_since(4)] == [5, 6, 7]
    assert [change.revision for change in objects.changes_since(4, "shop/a")] == [5, 6, 7]
