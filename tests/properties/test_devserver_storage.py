"""Whatever is written: the past can be read again, and watchers end where lists are."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflet.devserver.storage.sqlite_journal import SqliteJournal
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import JsonObject, Key, StoredChange
from reflet.devserver.watches.event_lines import Matches, Sightings, WatchRequest
from reflet.devserver.watches.watchers import Watchers
from reflet.errors import Expired
from reflet.testing.virtual_time import run

COLORS: Final = ("red", "blue")
NAMESPACES: Final = ("a", "a-b")
NAMES: Final = ("x", "y")
State = dict[Key, JsonObject]


@dataclass(frozen=True)
class Put:
    key: Key
    color: str
    value: int


@dataclass(frozen=True)
class Delete:
    key: Key


@dataclass(frozen=True)
class Expire:
    pass


Step = Put | Delete | Expire

keys = st.builds(
    Key,
    st.sampled_from(["configmaps", "secrets"]),
    st.sampled_from(NAMESPACES),
    st.sampled_from(NAMES),
)
writes = st.one_of(
    st.builds(Put, keys, st.sampled_from(COLORS), st.integers(0, 2)), st.builds(Delete, keys)
)
steps = st.one_of(writes, writes, writes, writes, st.builds(Expire))
windows = st.sampled_from([1, 3, 10, 1000])


def take(storage: Storage, step: Step) -> None:
    match step:
        case Put(key=key, color=color, value=value):
            metadata = {"name": key.name, "namespace": key.namespace, "color": color}
            content = {"metadata": metadata, "value": value}
            if storage.get(key) is None:
                storage.create(key, content)
            else:
                storage.replace(key, content)
        case Delete(key=key):
            if storage.get(key) is not None:
                storage.delete(key)
        case Expire():
            storage.expire_history()


def state_of(storage: Storage, resource: str, namespace: str | None = None) -> State:
    return {stored.key: stored.object for stored in storage.list(resource, namespace)}


def of_color(color: str) -> Matches:
    return lambda content: content["metadata"]["color"] == color


def selected(state: State, matches: Matches | None) -> State:
    return {key: item for key, item in state.items() if matches is None or matches(item)}


def obey(state: State, key: Key, event_type: str, content: JsonObject) -> None:
    """Do to a copy what an event says, which must make sense there."""
    if event_type == "DELETED":
        del state[key]
    else:
        assert (key in state) == (event_type == "MODIFIED")
        state[key] = content


@given(st.lists(steps, max_size=40), windows)
def test_a_list_of_the_past_equals_a_copy_taken_then(done: list[Step], window: int) -> None:
    storage = Storage(history_changes=window)
    copies = {storage.revision: state_of(storage, "configmaps")}

    for step in done:
        take(storage, step)
        copies[storage.revision] = state_of(storage, "configmaps")

    for revision, copy in copies.items():
        if revision < storage.oldest_revision("configmaps"):
            with pytest.raises(Expired):
                storage.list_at("configmaps", None, revision)
            continue
        listed = storage.list_at("configmaps", None, revision)
        assert {stored.key: stored.object for stored in listed} == copy
        assert [stored.key.path for stored in listed] == sorted(key.path for key in copy)
        for namespace in NAMESPACES:
            assert storage.list_at("configmaps", namespace, revision) == tuple(
                stored for stored in listed if stored.key.namespace == namespace
            )


@given(st.lists(steps, max_size=40))
def test_every_write_takes_the_next_revision_and_everything_else_none(done: list[Step]) -> None:
    storage = Storage()
    told: list[int] = []
    storage.subscribe(lambda change: told.append(change.revision))
    taken = [storage.revision]

    for step in done:
        before = state_of(storage, "configmaps") | state_of(storage, "secrets")
        take(storage, step)
        after = state_of(storage, "configmaps") | state_of(storage, "secrets")
        if isinstance(step, Expire) or before != after:
            taken.append(taken[-1] + 1)
        assert storage.revision == taken[-1]

    assert told == sorted(set(told))
    assert set(told) <= set(taken)


@given(st.lists(steps, max_size=40), windows, st.sampled_from([None, *COLORS]))
def test_who_resumes_from_any_known_revision_ends_with_the_list(
    done: list[Step], window: int, color: str | None
) -> None:
    storage = Storage(history_changes=window)
    for step in done:
        take(storage, step)
    matches = None if color is None else of_color(color)
    present = selected(state_of(storage, "configmaps"), matches)

    for revision in range(storage.oldest_revision("configmaps"), storage.revision + 1):
        listed = storage.list_at("configmaps", None, revision)
        state = selected({stored.key: stored.object for stored in listed}, matches)
        for change in storage.changes_since("configmaps", revision):
            sightings = Sightings(change)
            event_type = sightings.type_for(matches)
            if event_type is not None:
                event = sightings.event(event_type)
                assert event.object["metadata"]["resourceVersion"] == str(change.revision)
                assert msgspec.json.decode(event.encoded) == event.object
                obey(state, change.key, event_type, event.object)
        assert state == present


@given(st.lists(steps, max_size=30), windows, st.lists(st.integers(0, 30), max_size=4))
@settings(max_examples=50, deadline=None)
def test_a_journal_opened_again_at_any_point_gives_the_same_storage(
    done: list[Step], window: int, reopened_before: list[int]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        journal = SqliteJournal(folder)
        journal.open()
        storage = Storage(journal, history_changes=window)
        plain = Storage(history_changes=window)
        for number, step in enumerate(done):
            if number in reopened_before:
                journal.close()
                journal.open()
                storage = Storage(journal, history_changes=window)
            take(storage, step)
            take(plain, step)
        journal.close()
        with SqliteJournal(folder) as journal:
            last = Storage(journal, history_changes=window)

    assert everything_in(last) == everything_in(storage) == everything_in(plain)


def everything_in(storage: Storage) -> object:
    return storage.revision, [
        (
            storage.oldest_revision(resource),
            storage.list(resource),
            list(storage.changes_since(resource, storage.oldest_revision(resource))),
        )
        for resource in ("configmaps", "secrets", "never written")
    ]


# Live watches


@dataclass(frozen=True)
class Watch:
    """A watch that begins after some steps: with what is there, or from what it listed then."""

    after: int
    lists_first: bool
    namespace: str | None
    name: str | None
    color: str | None


watches = st.builds(
    Watch,
    st.integers(0, 30),
    st.booleans(),
    st.sampled_from([None, *NAMESPACES]),
    st.sampled_from([None, *NAMES]),
    st.sampled_from([None, *COLORS]),
)


class Mirror:
    """A client that keeps a copy by the events it gets; every other write has to be waited for."""

    def __init__(self, storage: Storage, watch: Watch) -> None:
        self.watch = watch
        self.matches = None if watch.color is None else of_color(watch.color)
        self.state: State = self.expected(storage) if watch.lists_first else {}
        self.version = storage.revision
        self.bookmarked = False
        self._has_room = False

    def expected(self, storage: Storage) -> State:
        state = selected(state_of(storage, "configmaps", self.watch.namespace), self.matches)
        return {key: item for key, item in state.items() if self.watch.name in {None, key.name}}

    def request(self) -> WatchRequest:
        return WatchRequest(
            resource="configmaps",
            blank={},
            namespace=self.watch.namespace,
            name=self.watch.name,
            matches=self.matches,
            resource_version=self.version if self.watch.lists_first else 0,
            bookmarks=True,
        )

    def write(self, content: bytes) -> bool:
        for line in content.splitlines():
            self._take(msgspec.json.decode(line))
        self._has_room = not self._has_room
        return self._has_room

    async def drain(self) -> None:
        await asyncio.sleep(0)

    def _take(self, event: JsonObject) -> None:
        metadata = event["object"]["metadata"]
        version = int(metadata["resourceVersion"])
        if event["type"] == "BOOKMARK":
            self.bookmarked = True
            return
        if self.bookmarked or self.watch.lists_first:
            assert version > self.version
            self.version = version
        key = Key("configmaps", metadata["namespace"], metadata["name"])
        obey(self.state, key, event["type"], event["object"])


async def live(done: Sequence[tuple[Step, bool]], wanted: Sequence[Watch]) -> None:
    storage = Storage()
    watchers = Watchers(storage)
    mirrors: list[Mirror] = []
    async with asyncio.TaskGroup() as tasks:
        for number, (step, pause) in enumerate([*done, (None, True)]):
            for watch in wanted:
                if min(watch.after, len(done)) == number:
                    mirror = Mirror(storage, watch)
                    mirrors.append(mirror)
                    feed = watchers.open(mirror.request())
                    tasks.create_task(feed.run(mirror.write, mirror.drain))
            if step is not None:
                take(storage, step)
            if pause:
                await asyncio.sleep(0)
        await asyncio.sleep(10)
        for mirror in mirrors:
            assert mirror.state == mirror.expected(storage)
        watchers.close()


live_writes = st.tuples(writes, st.booleans())


@given(st.lists(live_writes, max_size=30), st.lists(watches, min_size=1, max_size=4))
@settings(deadline=None)
def test_every_watcher_ends_with_the_list_of_what_it_selects(
    done: list[tuple[Step, bool]], wanted: list[Watch]
) -> None:
    run(live(done, wanted))


def without_versions(storage: Storage) -> object:
    return {
        key: {**content, "metadata": {**content["metadata"], "resourceVersion": ""}}
        for resource in ("configmaps", "secrets")
        for key, content in state_of(storage, resource).items()
    }


@given(st.lists(steps, max_size=20), st.lists(steps, max_size=20))
def test_a_restored_storage_has_what_it_had_and_who_watched_it_knows(
    before: list[Step], after: list[Step]
) -> None:
    storage = Storage()
    for step in before:
        take(storage, step)
    beginning = without_versions(storage)
    snapshot = storage.snapshot()
    seen = state_of(storage, "configmaps")
    revisions = [storage.revision]

    def watch(change: StoredChange) -> None:
        revisions.append(change.revision)
        if change.key.resource == "configmaps":
            obey(seen, change.key, change.type, change.stored.object)

    storage.subscribe(watch)
    for step in after:
        take(storage, step)
    storage.restore(snapshot)

    assert without_versions(storage) == beginning
    assert seen == state_of(storage, "configmaps")
    assert revisions == sorted(set(revisions))
