from __future__ import annotations

import logging

import pytest

from reflet.api.status import is_too_large_version
from reflet.apirules.refusals import status_document
from reflet.devserver.storage.storage import JournalContents, Storage
from reflet.devserver.storage.stored import Key, StoredChange
from reflet.errors import AlreadyExists, Conflict, Expired, InternalError, NotFound, Timeout
from tests.unit.devserver.watch_scene import config_map, key


class FullDisk:
    """A journal that can write nothing."""

    def read(self) -> JournalContents:
        return JournalContents()

    def record(self, change: StoredChange, /, *, floor: int | None) -> None:
        raise InternalError("the disk is full", code=500)

    def expire(self, revision: int, /) -> None:
        raise InternalError("the disk is full", code=500)


def storage_with(*names: str) -> Storage:
    storage = Storage()
    for name in names:
        storage.create(key(name), config_map(name))
    return storage


def test_an_empty_storage_has_a_revision_like_an_empty_etcd() -> None:
    assert Storage().revision == 1


def test_every_write_takes_the_next_revision_whatever_it_writes() -> None:
    storage = Storage()

    first = storage.create(key("a"), config_map("a"))
    second = storage.create(Key("nodes", "", "worker"), {"metadata": {"name": "worker"}})
    third = storage.delete(key("a"))

    assert [first.revision, second.revision, third.revision] == [2, 3, 4]
    assert storage.revision == 4


def test_a_created_object_is_found_with_its_version() -> None:
    storage = storage_with("settings")

    stored = storage.get(key("settings"))

    assert stored is not None
    assert stored.object["metadata"]["resourceVersion"] == "2"
    assert stored.created == 2


def test_an_absent_object_is_none() -> None:
    assert Storage().get(key("settings")) is None


def test_a_name_is_taken_once() -> None:
    storage = storage_with("settings")

    with pytest.raises(AlreadyExists, match=r'^configmaps "settings" already exists$'):
        storage.create(key("settings"), config_map("settings"))

    assert storage.revision == 2


def test_replacing_keeps_the_moment_of_creation() -> None:
    storage = storage_with("settings")

    stored = storage.replace(key("settings"), config_map("settings", "new"))

    assert (stored.revision, stored.created) == (3, 2)
    assert storage.get(key("settings")) is stored


def test_replacing_by_an_equal_object_writes_nothing() -> None:
    storage = storage_with("settings")

    stored = storage.replace(key("settings"), config_map("settings"))

    assert stored.revision == storage.revision == 2


def test_replacing_an_outdated_version_is_a_conflict() -> None:
    storage = storage_with("settings")
    storage.replace(key("settings"), config_map("settings", "new"))

    with pytest.raises(Conflict) as caught:
        storage.replace(key("settings"), config_map("settings", "mine"), expected_revision=2)

    assert status_document(caught.value) == {
        "kind": "Status",
        "apiVersion": "v1",
        "metadata": {},
        "status": "Failure",
        "message": 'Operation cannot be fulfilled on configmaps "settings": the object has been '
        "modified; please apply your changes to the latest version and try again",
        "reason": "Conflict",
        "details": {"name": "settings", "kind": "configmaps"},
        "code": 409,
    }


def test_what_is_not_there_cannot_be_replaced_and_is_named_with_its_group() -> None:
    with pytest.raises(NotFound, match=r'^deployments\.apps "web" not found$') as caught:
        Storage().replace(Key("deployments.apps", "shop", "web"), {"metadata": {}})

    assert (caught.value.kind, caught.value.group) == ("deployments", "apps")


def test_deleting_gives_the_last_state_with_the_revision_of_the_deletion() -> None:
    storage = storage_with("settings")

    last = storage.delete(key("settings"))

    assert last.object["metadata"]["resourceVersion"] == "3"
    assert storage.get(key("settings")) is None
    assert storage.list("configmaps") == ()


def test_deleting_an_outdated_version_is_a_conflict() -> None:
    storage = storage_with("settings")
    storage.replace(key("settings"), config_map("settings", "new"))

    with pytest.raises(Conflict):
        storage.delete(key("settings"), expected_revision=2)

    assert storage.get(key("settings")) is not None


def test_a_future_revision_cannot_be_listed() -> None:
    storage = storage_with("settings")

    with pytest.raises(
        Timeout, match=r"^Timeout: Too large resource version: 9, current: 2$"
    ) as caught:
        storage.list_at("configmaps", None, 9)

    assert is_too_large_version(caught.value)
    assert (caught.value.code, caught.value.retry_after) == (504, 1)


def test_a_past_revision_can_be_listed() -> None:
    storage = storage_with("a", "b")

    assert [stored.key.name for stored in storage.list_at("configmaps", "shop", 2)] == ["a"]


def test_the_history_of_a_resource_is_not_pushed_out_by_another() -> None:
    storage = Storage(history_changes=10)
    storage.create(key("quiet"), config_map("quiet"))
    for number in range(30):
        storage.create(key(f"busy-{number}", resource="events"), config_map("busy"))

    assert len(storage.changes_since("configmaps", 1)) == 1
    with pytest.raises(Expired):
        storage.changes_since("events", 5)
    assert storage.changes_since("events", storage.oldest_revision("events"))


def test_after_expiry_every_version_seen_before_is_too_old() -> None:
    storage = storage_with("a")
    newest = storage.revision

    storage.expire_history()

    with pytest.raises(Expired, match=r"^too old resource version: 2 \(3\)$"):
        storage.changes_since("configmaps", newest)
    with pytest.raises(Expired):
        storage.changes_since("secrets", newest)
    assert storage.changes_since("configmaps", storage.revision) == []


def test_a_write_that_cannot_be_kept_has_not_happened() -> None:
    storage = Storage(FullDisk())
    told: list[StoredChange] = []
    storage.subscribe(told.append)

    with pytest.raises(InternalError):
        storage.create(key("a"), config_map("a"))

    assert (storage.revision, storage.get(key("a")), told) == (1, None, [])


def test_an_expiry_that_cannot_be_kept_has_not_happened() -> None:
    storage = Storage(FullDisk())

    with pytest.raises(InternalError):
        storage.expire_history()

    assert storage.revision == 1
    assert storage.changes_since("configmaps", 1) == []


def test_a_subscriber_hears_of_every_change_until_it_stops() -> None:
    storage = storage_with("before")
    heard: list[tuple[str, str]] = []
    stop = storage.subscribe(lambda change: heard.append((change.type, change.key.name)))

    storage.create(key("a"), config_map("a"))
    storage.replace(key("a"), config_map("a", "new"))
    storage.delete(key("a"))
    stop()
    storage.create(key("after"), config_map("after"))

    assert heard == [("ADDED", "a"), ("MODIFIED", "a"), ("DELETED", "a")]


def test_a_subscriber_of_one_resource_hears_of_no_other() -> None:
    storage = Storage()
    heard: list[str] = []
    storage.subscribe(lambda change: heard.append(change.key.resource), resource="secrets")

    storage.create(key("a"), config_map("a"))
    storage.create(key("a", resource="secrets"), config_map("a"))

    assert heard == ["secrets"]


def test_a_subscriber_that_writes_does_not_disturb_the_order_of_the_others() -> None:
    storage = Storage()

    def make_account(change: StoredChange) -> None:
        if change.key.resource == "namespaces":
            account = Key("serviceaccounts", change.key.name, "default")
            storage.create(account, {"metadata": {"name": "default"}})

    heard: list[int] = []
    storage.subscribe(make_account)
    storage.subscribe(lambda change: heard.append(change.revision))

    storage.create(Key("namespaces", "", "shop"), {"metadata": {"name": "shop"}})

    assert heard == [2, 3]


def test_a_subscriber_that_fails_is_logged_and_harms_nobody(
    caplog: pytest.LogCaptureFixture,
) -> None:
    storage = Storage()
    heard: list[int] = []

    def fail(change: StoredChange) -> None:
        raise ValueError("no")

    storage.subscribe(fail)
    storage.subscribe(lambda change: heard.append(change.revision))

    with caplog.at_level(logging.ERROR):
        stored = storage.create(key("a"), config_map("a"))

    assert (stored.revision, heard) == (2, [2])
    assert "failed at revision 2 of configmaps" in caplog.text
