from __future__ import annotations

import msgspec

from reflet.devserver.storage.stored import Key, StoredChange, moved_to, stored_at

CONTENT = {"metadata": {"name": "a", "resourceVersion": "3"}, "data": {"k": "v"}}


def test_keys_are_ordered_by_their_text_as_etcd_orders_them() -> None:
    keys = [Key("pods", "a", "z"), Key("pods", "a-b", "a"), Key("pods", "a0", "a")]

    assert [key.path for key in sorted(keys, key=lambda key: key.path)] == ["a-b/a", "a/z", "a0/a"]


def test_the_path_of_a_cluster_object_is_its_name() -> None:
    assert Key("nodes", "", "worker").path == "worker"


def test_a_stored_object_carries_its_revision_and_its_json() -> None:
    stored = stored_at(Key("configmaps", "", "a"), CONTENT, 7, 5)

    assert stored.object["metadata"] == {"name": "a", "resourceVersion": "7"}
    assert msgspec.json.decode(stored.encoded) == stored.object


def test_storing_leaves_the_given_object_alone() -> None:
    stored_at(Key("configmaps", "", "a"), CONTENT, 7, 5)

    assert CONTENT["metadata"]["resourceVersion"] == "3"


def test_a_state_that_is_moved_keeps_everything_but_its_revision() -> None:
    stored = stored_at(Key("configmaps", "", "a"), CONTENT, 7, 5)

    moved = moved_to(stored, 9)

    assert (moved.revision, moved.created, moved.object["data"]) == (9, 5, {"k": "v"})
    assert moved.object["metadata"]["resourceVersion"] == "9"


def test_a_change_is_known_by_the_state_it_made() -> None:
    change = StoredChange("ADDED", stored_at(Key("configmaps", "", "a"), CONTENT, 7, 7))

    assert (change.key.name, change.revision) == ("a", 7)
