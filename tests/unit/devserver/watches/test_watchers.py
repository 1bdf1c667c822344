"""Many watches: who hears of a change, and that nobody waits for anybody."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import JsonObject
from reflet.devserver.watches.event_lines import Representation, ServedEvent, json_line
from reflet.devserver.watches.watch_feed import WatchEnding, WatchFeed
from reflet.devserver.watches.watchers import (
    FLUSHED_AT_ONCE,
    OFFERED_AT_ONCE,
    Watchers,
    transport_writer,
)
from tests.unit.devserver.watch_scene import (
    Reader,
    config_map,
    key,
    labelled,
    reading,
    request,
    settle,
)

pytestmark = pytest.mark.virtual_time


@pytest.mark.parametrize(
    ("scope", "seen"),
    [
        ({}, ["a", "b", "a"]),
        ({"namespace": "shop"}, ["a", "b"]),
        ({"name": "a"}, ["a", "a"]),
        ({"namespace": "bank", "name": "a"}, ["a"]),
        ({"namespace": "bank", "name": "b"}, []),
    ],
)
async def test_a_watch_hears_of_its_namespace_and_name_only(
    scope: dict[str, str], seen: list[str]
) -> None:
    storage = Storage()

    async with reading(Watchers(storage), request(**scope)) as reader:
        storage.create(key("a"), config_map("a"))
        storage.create(key("b"), config_map("b"))
        storage.create(key("a", "bank"), config_map("a", namespace="bank"))
        storage.create(key("a", resource="secrets"), config_map("a"))
        await settle()

        assert [event["object"]["metadata"]["name"] for event in reader.events] == seen


async def test_an_object_enters_and_leaves_a_selector() -> None:
    storage = Storage()

    async with reading(Watchers(storage), request(matches=labelled(color="red"))) as reader:
        storage.create(key("a"), config_map("a", "1"))
        storage.replace(key("a"), config_map("a", "2", labels={"color": "red"}))
        storage.replace(key("a"), config_map("a", "3", labels={"color": "red"}))
        storage.replace(key("a"), config_map("a", "4"))
        storage.delete(key("a"))
        await settle()

        assert reader.seen == ["ADDED a@3", "MODIFIED a@4", "DELETED a@5"]
        assert reader.events[-1]["object"]["data"] == {"v": "3"}


async def test_watches_of_other_objects_are_not_even_asked() -> None:
    storage = Storage()
    watchers = Watchers(storage)
    asked: list[JsonObject] = []

    def matches(content: JsonObject) -> bool:
        asked.append(content)
        return True

    async with (
        reading(watchers, request(namespace="shop", name="b", matches=matches)),
        reading(watchers, request(name="b", matches=matches)),
        reading(watchers, request(namespace="bank", matches=matches)),
    ):
        storage.create(key("a"), config_map("a"))
        await settle()

    assert asked == []


async def test_changes_of_one_moment_are_written_at_once() -> None:
    storage = Storage()

    async with reading(Watchers(storage), request()) as reader:
        for name in "abc":
            storage.create(key(name), config_map(name))
        await settle()

        assert reader.seen == ["ADDED a@2", "ADDED b@3", "ADDED c@4"]
        assert len(reader.writes) == 1


async def test_a_write_returns_before_anybody_is_written_to() -> None:
    storage = Storage()

    async with reading(Watchers(storage), request()) as reader:
        storage.create(key("a"), config_map("a"))

        assert reader.writes == []


async def test_all_watchers_share_the_bytes_of_a_change() -> None:
    storage = Storage()
    watchers = Watchers(storage)
    rendered: list[ServedEvent] = []

    def render(event: ServedEvent) -> bytes:
        rendered.append(event)
        return json_line(event)

    form = Representation(render)

    async with (
        reading(watchers, request(representation=form)) as first,
        reading(watchers, request(representation=form, namespace="shop")) as second,
    ):
        storage.create(key("a"), config_map("a"))
        await settle()

        assert first.writes[0] is second.writes[0]
        assert len(rendered) == 1


async def test_more_watchers_and_changes_than_fit_in_one_turn_all_get_everything() -> None:
    storage = Storage()
    watchers = Watchers(storage)
    readers = [Reader() for _ in range(2 * FLUSHED_AT_ONCE + 1)]
    async with asyncio.TaskGroup() as tasks:
        for reader in readers:
            tasks.create_task(watchers.open(request()).run(reader.write, reader.drain))
        await settle()

        for number in range(OFFERED_AT_ONCE + 1):
            storage.create(key(f"n{number}"), config_map("n"))
        await settle()
        watchers.close()

    assert {len(reader.events) for reader in readers} == {OFFERED_AT_ONCE + 1}


async def test_a_stuck_watcher_holds_up_neither_writers_nor_other_watchers() -> None:
    storage = Storage()
    watchers = Watchers(storage)

    async with (
        reading(watchers, request(), stuck=True) as stuck,
        reading(watchers, request()) as lively,
    ):
        for name in "abc":
            storage.create(key(name), config_map(name))
            await settle()

        assert stuck.seen == ["ADDED a@2"]
        assert lively.seen == ["ADDED a@2", "ADDED b@3", "ADDED c@4"]


async def test_a_selector_that_fails_ends_its_own_watch_only() -> None:
    storage = Storage()
    watchers = Watchers(storage)

    def fail(content: JsonObject) -> bool:
        raise ValueError("a selector with a bug")

    feed = watchers.open(request(matches=fail))
    reader = Reader()
    task = asyncio.create_task(feed.run(reader.write, reader.drain))

    async with reading(watchers, request()) as other:
        storage.create(key("a"), config_map("a"))

        with pytest.raises(ValueError, match="a selector with a bug"):
            await task
        await settle()
        assert other.seen == ["ADDED a@2"]


@pytest.mark.parametrize("version", [0, 1])
async def test_a_watch_that_begins_right_after_a_write_sees_it_once(version: int) -> None:
    storage = Storage()
    watchers = Watchers(storage)

    async with reading(watchers, request()) as early:
        reader = Reader()
        feed = watchers.open(request(resource_version=version))
        task = asyncio.create_task(feed.run(reader.write, reader.drain))
        asyncio.get_running_loop().call_soon(storage.create, key("b"), config_map("b"))
        storage.create(key("a"), config_map("a"))
        await settle()

        assert reader.seen == early.seen == ["ADDED a@2", "ADDED b@3"]
        task.cancel()
        await asyncio.wait([task])


async def test_watches_are_counted_while_they_run() -> None:
    watchers = Watchers(Storage())

    async with reading(watchers, request()), reading(watchers, request(name="a")):
        assert len(watchers) == 2

    assert len(watchers) == 0


async def test_closing_ends_all_watches_after_what_they_are_due() -> None:
    storage = Storage()
    watchers = Watchers(storage)

    async with reading(watchers, request()) as reader:
        storage.create(key("a"), config_map("a"))
        watchers.close()
        await settle()

        assert reader.seen == ["ADDED a@2"]
        assert reader.ending is WatchEnding.COMPLETE


async def test_a_watch_that_comes_after_closing_ends_at_once() -> None:
    watchers = Watchers(Storage())
    watchers.close()

    async with reading(watchers, request()) as reader:
        assert reader.ending is WatchEnding.COMPLETE


async def test_leaving_twice_or_without_joining_is_harmless() -> None:
    watchers = Watchers(Storage())
    feed: WatchFeed = watchers.open(request())

    watchers.leave(feed)
    watchers.join(feed)
    watchers.leave(feed)
    watchers.leave(feed)

    assert len(watchers) == 0


class FakeTransport(asyncio.WriteTransport):
    """A transport whose buffer nobody empties."""

    def __init__(self, high: int) -> None:
        super().__init__()
        self.buffer = b""
        self.closing = False
        self._high = high

    def get_write_buffer_limits(self) -> tuple[int, int]:
        return 0, self._high

    def get_write_buffer_size(self) -> int:
        return len(self.buffer)

    def write(self, data: Any) -> None:
        self.buffer += data

    def is_closing(self) -> bool:
        return self.closing


async def test_a_connection_has_room_up_to_its_high_mark() -> None:
    transport = FakeTransport(high=4)
    write = transport_writer(transport)

    assert [write(b"ab"), write(b"cd"), write(b"e")] == [True, True, False]
    assert transport.buffer == b"abcde"


async def test_a_closed_connection_is_not_written_to() -> None:
    transport = FakeTransport(high=4)
    write = transport_writer(transport)
    transport.closing = True

    with pytest.raises(ConnectionResetError):
        write(b"ab")
    assert transport.buffer == b""
