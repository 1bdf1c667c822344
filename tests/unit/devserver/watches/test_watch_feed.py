"""One watch: where it begins, what it says, how it ends."""

from __future__ import annotations

import asyncio

import pytest

from reflet.devserver.storage.storage import Storage
from reflet.devserver.watches.event_lines import Representation, ServedEvent, json_line
from reflet.devserver.watches.watch_feed import SLICE_OBJECTS, WatchBacklog, WatchEnding
from reflet.devserver.watches.watchers import Watchers
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


def shop() -> Storage:
    """Make a storage with two objects, one of them changed: revisions 2 to 4."""
    storage = Storage()
    storage.create(key("b"), config_map("b"))
    storage.create(key("a"), config_map("a"))
    storage.replace(key("b"), config_map("b", "new"))
    return storage


# Where a watch begins


async def test_a_watch_without_a_version_begins_with_what_is_there_in_order() -> None:
    async with reading(Watchers(shop()), request()) as reader:
        assert reader.seen == ["ADDED a@3", "ADDED b@4"]


async def test_the_initial_events_end_with_a_bookmark_if_bookmarks_are_allowed() -> None:
    async with reading(Watchers(shop()), request(bookmarks=True)) as reader:
        assert reader.seen == ["ADDED a@3", "ADDED b@4", "BOOKMARK @4"]
        assert reader.events[-1]["object"]["metadata"]["annotations"] == {
            "k8s.io/initial-events-end": "true"
        }


async def test_a_streaming_list_may_be_fresher_than_the_version_asked_for() -> None:
    asked = request(resource_version=2, send_initial_events=True, bookmarks=True)

    async with reading(Watchers(shop()), asked) as reader:
        assert reader.seen == ["ADDED a@3", "ADDED b@4", "BOOKMARK @4"]


async def test_a_streaming_list_without_bookmarks_has_no_end() -> None:
    asked = request(resource_version=2, send_initial_events=True)

    async with reading(Watchers(shop()), asked) as reader:
        assert reader.seen == ["ADDED a@3", "ADDED b@4"]


async def test_a_watch_from_a_version_begins_with_what_came_after_it() -> None:
    async with reading(Watchers(shop()), request(resource_version=2)) as reader:
        assert reader.seen == ["ADDED a@3", "MODIFIED b@4"]


async def test_a_watch_that_wants_no_initial_events_begins_now() -> None:
    storage = shop()

    async with reading(Watchers(storage), request(send_initial_events=False)) as reader:
        storage.delete(key("a"))
        await settle()

        assert reader.seen == ["DELETED a@5"]


async def test_a_watch_from_a_forgotten_version_gets_an_error_and_ends() -> None:
    storage = shop()
    storage.expire_history()

    async with reading(Watchers(storage), request(resource_version=2)) as reader:
        assert [event["type"] for event in reader.events] == ["ERROR"]
        assert reader.events[0]["object"]["message"] == "too old resource version: 2 (5)"
        assert reader.events[0]["object"]["code"] == 410
        assert reader.ending is WatchEnding.COMPLETE


async def test_a_watch_from_a_future_version_is_silent_until_after_it() -> None:
    storage = shop()

    async with reading(Watchers(storage), request(resource_version=6)) as reader:
        for value in "xyz":
            storage.replace(key("a"), config_map("a", value))
        await settle()

        assert reader.seen == ["MODIFIED a@7"]


async def test_a_streaming_list_waits_for_a_future_version() -> None:
    storage = shop()
    asked = request(resource_version=5, send_initial_events=True, bookmarks=True)

    async with reading(Watchers(storage), asked) as reader:
        assert reader.seen == []
        storage.delete(key("a"))
        await settle()

        assert reader.seen == ["ADDED b@4", "BOOKMARK @5"]


async def test_a_streaming_list_gives_up_waiting_for_a_future_version() -> None:
    asked = request(resource_version=99, send_initial_events=True, timeout=1)

    async with reading(Watchers(shop()), asked) as reader:
        await asyncio.sleep(3)
        await settle()

        assert reader.events == [
            {
                "type": "ERROR",
                "object": {
                    "kind": "Status",
                    "apiVersion": "v1",
                    "metadata": {},
                    "status": "Failure",
                    "message": "Timeout: Too large resource version: 99, current: 4",
                    "reason": "Timeout",
                    "details": {
                        "causes": [
                            {
                                "reason": "ResourceVersionTooLarge",
                                "message": "Too large resource version",
                            }
                        ],
                        "retryAfterSeconds": 1,
                    },
                    "code": 504,
                },
            }
        ]
        assert reader.ending is WatchEnding.COMPLETE


@pytest.mark.parametrize("version", [0, 2])
async def test_only_the_object_of_the_name_is_caught_up_with(version: int) -> None:
    storage = shop()
    storage.create(key("b", "bank"), config_map("b", namespace="bank"))

    async with (
        reading(Watchers(storage), request(name="b", resource_version=version)) as by_name,
        reading(
            Watchers(storage), request(name="b", namespace="shop", resource_version=version)
        ) as by_key,
        reading(
            Watchers(storage), request(namespace="bank", resource_version=version)
        ) as by_namespace,
    ):
        assert [event.split(maxsplit=1)[1] for event in by_name.seen] in (
            ["b@5", "b@4"],
            ["b@4", "b@5"],
        )
        assert [event.split(maxsplit=1)[1] for event in by_key.seen] == ["b@4"]
        assert [event.split(maxsplit=1)[1] for event in by_namespace.seen] == ["b@5"]


async def test_an_absent_object_has_no_initial_events() -> None:
    asked = request(namespace="shop", name="absent", bookmarks=True)

    async with reading(Watchers(shop()), asked) as reader:
        assert reader.seen == ["BOOKMARK @4"]


async def test_a_selector_holds_for_initial_events_too() -> None:
    storage = Storage()
    storage.create(key("a"), config_map("a", labels={"color": "red"}))
    storage.create(key("b"), config_map("b"))

    async with reading(Watchers(storage), request(matches=labelled(color="red"))) as reader:
        assert reader.seen == ["ADDED a@2"]


async def test_a_long_list_lets_others_work_in_between() -> None:
    storage = Storage()
    for number in range(3 * SLICE_OBJECTS):
        storage.create(key(f"n{number:05}"), config_map("n"))

    async with reading(Watchers(storage), request(bookmarks=True)) as reader:
        assert len(reader.writes) > 3
        assert len(reader.events) == 3 * SLICE_OBJECTS + 1


async def test_what_changes_during_a_long_list_follows_the_list() -> None:
    storage = Storage()
    for number in range(3 * SLICE_OBJECTS):
        storage.create(key(f"n{number:05}"), config_map("n"))
    watchers = Watchers(storage)
    reader = Reader()
    task = asyncio.create_task(
        watchers.open(request(bookmarks=True)).run(reader.write, reader.drain)
    )
    await asyncio.sleep(0)

    storage.delete(key("n00000"))
    await settle()

    assert len(reader.events) == 3 * SLICE_OBJECTS + 2
    assert reader.events[-2]["type"] == "BOOKMARK"
    assert reader.seen[-1] == f"DELETED n@{storage.revision}"
    task.cancel()
    await asyncio.wait([task])


# Bookmarks and time


# Two seconds before the end of the second is between two nanoseconds, and its timer a hair early.
@pytest.mark.parametrize("begins", [0.0, 115.152348414])
async def test_bookmarks_come_every_minute_and_shortly_before_the_end(begins: float) -> None:
    await asyncio.sleep(begins)
    storage = shop()
    moments: list[float] = []
    loop = asyncio.get_running_loop()
    reader = Reader()

    def write(content: bytes) -> bool:
        moments.append(round(loop.time() - begins, 6))
        assert len(moments) < 10
        return reader.write(content)

    asked = request(resource_version=3, bookmarks=True, timeout=130)
    ending = await Watchers(storage).open(asked).run(write, reader.drain)

    assert reader.seen == ["MODIFIED b@4", "BOOKMARK @4", "BOOKMARK @4", "BOOKMARK @4"]
    assert moments == [0, 60, 120, 128]
    assert loop.time() == pytest.approx(begins + 130)
    assert ending is WatchEnding.COMPLETE
    assert "annotations" not in reader.events[-1]["object"]["metadata"]


async def test_a_bookmark_carries_the_revision_of_the_whole_server() -> None:
    storage = shop()

    async with reading(Watchers(storage), request(resource_version=4, bookmarks=True)) as reader:
        storage.create(key("a", resource="secrets"), config_map("a"))
        await asyncio.sleep(61)

        assert reader.seen == ["BOOKMARK @5"]


async def test_there_is_no_bookmark_before_anything_is_new() -> None:
    async with reading(Watchers(shop()), request(resource_version=4, bookmarks=True)) as reader:
        await asyncio.sleep(61)

        assert reader.seen == []


async def test_a_bookmark_never_overtakes_a_change() -> None:
    storage = shop()
    loop = asyncio.get_running_loop()

    # The bookmark is due in the moment of the change, before the change was spread.
    loop.call_at(60, storage.delete, key("a"))

    async with reading(Watchers(storage), request(resource_version=4, bookmarks=True)) as reader:
        await asyncio.sleep(61)

        assert reader.seen == ["DELETED a@5", "BOOKMARK @5"]


async def test_without_leave_there_are_no_bookmarks() -> None:
    async with reading(Watchers(shop()), request(timeout=130)) as reader:
        await asyncio.sleep(131)

        assert reader.seen == ["ADDED a@3", "ADDED b@4"]
        assert reader.ending is WatchEnding.COMPLETE


async def test_a_negative_time_limit_is_over_before_it_begins() -> None:
    async with reading(Watchers(shop()), request(timeout=-1)) as reader:
        assert reader.seen == []
        assert reader.ending is WatchEnding.COMPLETE


@pytest.mark.parametrize("seconds", [None, 0])
async def test_without_a_time_limit_the_server_takes_thirty_minutes_to_an_hour(
    seconds: int | None,
) -> None:
    watchers = Watchers(shop(), chance=lambda: 0.5)
    reader = Reader()

    await watchers.open(request(timeout=seconds)).run(reader.write, reader.drain)

    assert asyncio.get_running_loop().time() == 2700


# Slow clients


async def test_a_client_that_has_no_room_gets_the_rest_when_it_reads_on() -> None:
    storage = shop()

    async with reading(Watchers(storage), request(resource_version=4), stuck=True) as reader:
        for value in "xyz":
            storage.replace(key("a"), config_map("a", value))
            await settle()
        assert reader.seen == ["MODIFIED a@5"]

        reader.read_on()
        await settle()

        assert reader.seen == ["MODIFIED a@5", "MODIFIED a@6", "MODIFIED a@7"]


async def test_initial_events_wait_for_a_slow_client() -> None:
    storage = Storage()
    for number in range(3 * SLICE_OBJECTS):
        storage.create(key(f"n{number:05}"), config_map("n"))

    async with reading(Watchers(storage), request(), stuck=True) as reader:
        assert len(reader.writes) == 1
        assert 0 < len(reader.events) <= SLICE_OBJECTS

        reader.read_on()
        await settle()

        assert len(reader.events) == 3 * SLICE_OBJECTS


@pytest.mark.parametrize("backlog", [WatchBacklog(events=3), WatchBacklog(content=600)])
async def test_a_client_that_falls_too_far_behind_is_abandoned(backlog: WatchBacklog) -> None:
    storage = shop()
    watchers = Watchers(storage, backlog=backlog)

    async with reading(watchers, request(resource_version=4), stuck=True) as reader:
        for value in range(6):
            storage.replace(key("a"), config_map("a", str(value)))
            await settle()

        assert reader.ending is WatchEnding.ABANDONED
        assert reader.seen == ["MODIFIED a@5"]
        assert len(watchers) == 0


async def test_many_changes_at_once_are_not_taken_for_a_slow_client() -> None:
    storage = shop()
    watchers = Watchers(storage, backlog=WatchBacklog(events=3))

    async with reading(watchers, request(resource_version=4)) as reader:
        for value in range(20):
            storage.replace(key("a"), config_map("a", str(value)))
        await settle()

        assert len(reader.events) == 20


async def test_a_stuck_client_is_abandoned_at_the_time_limit() -> None:
    async with reading(Watchers(shop()), request(timeout=10), stuck=True) as reader:
        await asyncio.sleep(11)

        assert reader.ending is WatchEnding.ABANDONED


async def test_a_client_that_is_gone_ends_the_watch_with_the_error() -> None:
    storage = shop()
    watchers = Watchers(storage)

    def write(content: bytes) -> bool:
        raise ConnectionResetError("gone")

    feed = watchers.open(request(resource_version=4))
    task = asyncio.create_task(feed.run(write, Reader().drain))
    await settle()
    storage.delete(key("a"))

    with pytest.raises(ConnectionResetError, match="gone"):
        await task
    assert len(watchers) == 0


async def test_the_error_of_waiting_for_room_is_raised() -> None:
    async def drain() -> None:
        raise TimeoutError("the connection's own")

    reader = Reader(stuck=True)

    with pytest.raises(TimeoutError, match="the connection's own"):
        await Watchers(shop()).open(request()).run(reader.write, drain)


# Representations


def upper(event: ServedEvent) -> bytes:
    return json_line(event).upper()


async def test_the_first_event_of_a_stream_may_look_different() -> None:
    storage = shop()
    table = Representation(json_line, upper)

    async with reading(Watchers(storage), request(representation=table)) as reader:
        storage.delete(key("a"))
        await settle()

        lines = b"".join(reader.writes).splitlines()
        assert [line.isupper() for line in lines] == [True, False, False]


async def test_the_first_event_of_a_silent_stream_is_the_first_change() -> None:
    storage = shop()
    asked = request(resource_version=4, representation=Representation(json_line, upper))

    async with reading(Watchers(storage), asked) as reader:
        storage.delete(key("a"))
        storage.delete(key("b"))
        await settle()

        lines = b"".join(reader.writes).splitlines()
        assert [line.isupper() for line in lines] == [True, False]


async def test_a_change_during_the_list_does_not_take_the_place_of_the_first_event() -> None:
    storage = Storage()
    for number in range(SLICE_OBJECTS + 5):
        labels = {"color": "red"} if number == SLICE_OBJECTS else {}
        storage.create(key(f"n{number:05}"), config_map("n", labels=labels))
    asked = request(matches=labelled(color="red"), representation=Representation(json_line, upper))
    reader = Reader()
    task = asyncio.create_task(Watchers(storage).open(asked).run(reader.write, reader.drain))
    await asyncio.sleep(0)

    storage.create(key("later"), config_map("later", labels={"color": "red"}))
    await settle()

    lines = b"".join(reader.writes).splitlines()
    assert [line.isupper() for line in lines] == [True, False]
    task.cancel()
    await asyncio.wait([task])
