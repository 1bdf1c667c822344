from __future__ import annotations

from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key, StoredChange
from tests.unit.devserver.watch_scene import config_map, key

DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"


def told_by(storage: Storage) -> list[tuple[str, str]]:
    """Fill a list with what happens."""
    told: list[tuple[str, str]] = []

    def hear(change: StoredChange) -> None:
        told.append((change.type, change.key.name))

    storage.subscribe(hear)
    return told


def test_only_the_difference_is_written() -> None:
    storage = Storage()
    for name in ("stays", "changes", "goes"):
        storage.create(key(name), config_map(name))
    snapshot = storage.snapshot()
    storage.replace(key("changes"), {**config_map("changes"), "data": {"color": "red"}})
    storage.delete(key("goes"))
    storage.create(key("comes"), config_map("comes"))
    told = told_by(storage)

    storage.restore(snapshot)

    assert told == [("MODIFIED", "changes"), ("ADDED", "goes"), ("DELETED", "comes")]


def test_what_is_as_it_was_keeps_its_version_though_it_was_written() -> None:
    storage = Storage()
    storage.create(key("a"), config_map("a"))
    snapshot = storage.snapshot()
    storage.replace(key("a"), {**config_map("a"), "data": {"color": "red"}})
    last = storage.replace(key("a"), config_map("a"))

    storage.restore(snapshot)

    assert storage.get(key("a")) == last


def test_versions_go_on_upwards() -> None:
    storage = Storage()
    created = storage.create(key("a"), config_map("a"))
    snapshot = storage.snapshot()
    deleted = storage.delete(key("a"))

    storage.restore(snapshot)

    found = storage.get(key("a"))
    assert found is not None
    assert (created.revision, deleted.revision, found.revision) == (2, 3, 4)
    assert found.object["metadata"]["resourceVersion"] == "4"


def test_what_others_need_is_there_before_them_and_goes_after_them() -> None:
    storage = Storage()
    storage.create(Key("things.example.com", "", "old"), config_map("old"))
    storage.create(Key(DEFINITIONS, "", "old definition"), config_map("old definition"))
    snapshot = storage.snapshot()
    for resource, name in (("things.example.com", "old"), (DEFINITIONS, "old definition")):
        storage.delete(Key(resource, "", name))
    storage.create(Key(DEFINITIONS, "", "new definition"), config_map("new definition"))
    storage.create(Key("others.example.com", "", "new"), config_map("new"))
    told = told_by(storage)

    storage.restore(snapshot, first=(DEFINITIONS,))

    assert told == [
        ("ADDED", "old definition"),
        ("ADDED", "old"),
        ("DELETED", "new"),
        ("DELETED", "new definition"),
    ]


def test_a_subscriber_may_have_done_part_of_it() -> None:
    storage = Storage()
    storage.create(key("a"), config_map("a"))
    snapshot = storage.snapshot()
    for name in ("b", "c"):
        storage.create(key(name), config_map(name))

    def go_too(change: StoredChange) -> None:
        other = key("b")
        if change.key.name == "c" and storage.get(other) is not None:
            storage.delete(other)

    storage.subscribe(go_too)
    storage.restore(snapshot)

    assert [stored.key.name for stored in storage.list("configmaps")] == ["a"]
