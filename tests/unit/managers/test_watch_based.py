"""The strategies ``watch`` and ``auto``: memory that streams keep fresh."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import CacheNotSynced, ConnectionRefused, Forbidden, NotFound, NotRegistered
from reflet.managers.object_changes import ObjectChange, ObjectChanges
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.watch_based import IdleRule, WatchedObjects
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.streams import IndividualStreams
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.store.config_maps import config_map

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001
FIVE_MINUTES = 300.0
SIX_MINUTES = 361.0


def watched(server: ServedObjects, **options: Any) -> WatchedObjects[ConfigMap]:
    clock = VirtualClock()
    settings = StreamSettings(server=server, kind=ConfigMap, word="configmap", clock=clock)
    return WatchedObjects(IndividualStreams(settings), word="configmap", clock=clock, **options)


def changes() -> ObjectChanges[ConfigMap]:
    return ObjectChanges(lambda namespace, name: ObjectChange(namespace, name, None, ()))


async def test_an_object_is_watched_once_however_many_refer_to_it() -> None:
    server = ServedObjects()
    server.put("shop", "a")
    async with watched(server) as objects:
        for number in range(100):
            objects.add_reference("shop", "a", f"pod {number}")
        await objects.get("shop", "a")
        open_with_many = list(server.streams)
        for number in range(99):
            objects.delete_reference("shop", "a", f"pod {number}")
        await asyncio.sleep(A_MOMENT)
        open_with_one = list(server.streams)
        objects.delete_reference("shop", "a", "pod 99")
        await asyncio.sleep(A_MOMENT)

        assert open_with_many == open_with_one == [("shop", "a")]
        assert (server.streams, len(objects), len(objects.plan())) == ([], 0, 0)


async def test_a_read_shows_what_the_stream_brought() -> None:
    server = ServedObjects()
    first = server.put("shop", "a")
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        read = [await objects.get("shop", "a")]
        second = server.put("shop", "a")
        await asyncio.sleep(A_MOMENT)
        read.append(objects.peek("shop", "a"))
        server.delete("shop", "a")
        await asyncio.sleep(A_MOMENT)

        assert read == [first, second]
        for reading in (objects.get("shop", "a"), _peeked(objects)):
            with pytest.raises(NotFound, match=r'^configmap "a" not found$'):
                await reading


async def _peeked(objects: WatchedObjects[ConfigMap]) -> ConfigMap:
    return objects.peek("shop", "a")


async def test_what_nobody_refers_to_is_not_registered() -> None:
    async with watched(ServedObjects()) as objects:
        for reading in (objects.get("shop", "a"), _peeked(objects)):
            with pytest.raises(NotRegistered, match=r'^object "shop"/"a" not registered$'):
                await reading
        with pytest.raises(NotRegistered):
            objects.state_of("shop", "a")


async def test_a_read_waits_for_the_first_state_and_no_longer() -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    server.delays = lambda place: 0.7
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")

        assert await objects.get("shop", "a") == item
        assert asyncio.get_running_loop().time() == 0.7


async def test_a_read_gives_up_after_a_second_and_says_why() -> None:
    server = ServedObjects()
    server.forbids = lambda verb, place: True
    text = r"^failed to sync configmap cache: timed out waiting for the condition$"
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        with pytest.raises(CacheNotSynced, match=text) as caught:
            await objects.get("shop", "a")
        waited = asyncio.get_running_loop().time()
        with pytest.raises(CacheNotSynced):
            objects.peek("shop", "a")

    assert waited == 1.0
    assert isinstance(caught.value.__cause__, Exception)
    assert isinstance(caught.value.__cause__.__cause__, Forbidden)
    assert (caught.value.namespace, caught.value.name) == ("shop", "a")


async def test_a_server_that_is_away_is_named_as_the_cause() -> None:
    server = ServedObjects()
    server.go_away()
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        with pytest.raises(CacheNotSynced) as caught:
            await objects.get("shop", "a")

    assert isinstance(caught.value.__cause__, ConnectionRefused)


async def test_who_waits_for_what_nobody_refers_to_any_more_is_told_so() -> None:
    server = ServedObjects()
    server.delays = lambda place: 10.0
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        reading = asyncio.create_task(objects.get("shop", "a"))
        await asyncio.sleep(0.5)
        objects.delete_reference("shop", "a", "pod")

        with pytest.raises(NotRegistered):
            await reading
        assert asyncio.get_running_loop().time() == 0.5


async def test_the_last_content_is_served_while_the_server_is_away() -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await objects.get("shop", "a")
        server.go_away()
        await asyncio.sleep(100)

        assert await objects.get("shop", "a") == objects.peek("shop", "a") == item


async def test_an_immutable_object_is_watched_no_more_once_it_was_read() -> None:
    server = ServedObjects()
    item = server.put("shop", "a", immutable=True)
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(A_MOMENT)
        before = list(server.streams)
        read = [await objects.get("shop", "a")]
        await asyncio.sleep(A_MOMENT)
        after = list(server.streams)
        server.delete("shop", "a")
        server.put("shop", "a", text="another")
        await asyncio.sleep(1000)
        read.append(await objects.get("shop", "a"))

        assert (before, after, server.streams) == ([("shop", "a")], [], [])
        assert read == [item, item]
        assert objects.state_of("shop", "a") == "immutable"
        assert len(server.requests) == 1


async def test_an_immutable_object_is_seen_anew_by_new_references() -> None:
    server = ServedObjects()
    server.put("shop", "a", immutable=True)
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await objects.get("shop", "a")
        server.delete("shop", "a")
        new = server.put("shop", "a")
        objects.delete_reference("shop", "a", "pod")
        objects.add_reference("shop", "a", "another pod")

        assert await objects.get("shop", "a") == new


async def test_a_look_into_memory_ends_the_watch_of_an_immutable_object_too() -> None:
    server = ServedObjects()
    server.put("shop", "a", immutable=True)
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(A_MOMENT)
        objects.peek("shop", "a")
        await asyncio.sleep(A_MOMENT)

        assert (server.streams, objects.state_of("shop", "a")) == ([], "immutable")


async def test_what_nobody_reads_is_watched_no_more_until_it_is_read() -> None:
    server = ServedObjects()
    first = server.put("shop", "a")
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(FIVE_MINUTES)
        still_open = list(server.streams)
        await asyncio.sleep(SIX_MINUTES - FIVE_MINUTES)
        idle = (list(server.streams), objects.state_of("shop", "a"))
        second = server.put("shop", "a")
        read = await objects.get("shop", "a")

        assert (still_open, idle) == ([("shop", "a")], ([], "idle"))
        assert (read, server.streams) == (second, [("shop", "a")])
        # It goes on from the version of the first state.
        version = first.metadata.resource_version
        assert server.requests == ["stream shop/a at ''", f"stream shop/a at {version!r}"]


async def test_every_read_counts_even_one_that_fails() -> None:
    server = ServedObjects()
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        for _ in range(10):
            await asyncio.sleep(FIVE_MINUTES - 1)
            with pytest.raises(NotFound):
                objects.peek("shop", "a")

        assert server.streams == [("shop", "a")]


async def test_what_is_loading_is_never_idle() -> None:
    server = ServedObjects()
    server.delays = lambda place: 10_000.0
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(9_000)

        assert (objects.state_of("shop", "a"), len(objects.plan())) == ("loading", 1)


async def test_a_look_into_memory_wakes_what_is_idle() -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(SIX_MINUTES)
        with pytest.raises(CacheNotSynced):
            objects.peek("shop", "a")
        await asyncio.sleep(A_MOMENT)

        assert objects.peek("shop", "a") == item


async def test_nothing_is_idle_while_somebody_follows() -> None:
    server = ServedObjects()
    server.put("shop", "a")
    followers = [changes()]
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(SIX_MINUTES)
        objects.follow(followers[0])
        await asyncio.sleep(SIX_MINUTES)
        followed = list(server.streams)
        followers.clear()
        await asyncio.sleep(SIX_MINUTES)

        assert (followed, server.streams) == ([("shop", "a")], [])


async def test_followers_hear_of_changed_answers_and_of_the_end() -> None:
    server = ServedObjects()
    heard: list[str] = []
    follower = changes()
    async with watched(server) as objects:
        objects.follow(follower)
        objects.add_reference("shop", "a", "pod")
        for step in (server.put, server.put, server.delete):
            await asyncio.sleep(A_MOMENT)
            heard.append((await anext(follower)).name)
            step("shop", "a")
        await asyncio.sleep(A_MOMENT)
        heard.append((await anext(follower)).name)

    assert heard == ["a", "a", "a", "a"]
    assert [change async for change in follower] == []
    late = changes()
    objects.follow(late)
    assert late.closed


async def test_references_may_come_before_the_streams_begin() -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    objects = watched(server)
    objects.add_reference("shop", "a", "pod")
    with pytest.raises(CacheNotSynced):
        await objects.get("shop", "a")
    async with objects:
        assert await objects.get("shop", "a") == item


async def test_after_the_end_what_is_known_is_answered_and_nothing_begins() -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    async with watched(server) as objects:
        objects.add_reference("shop", "a", "pod")
        await objects.get("shop", "a")
        waiting = asyncio.create_task(objects.get("shop", "b"))
        objects.add_reference("shop", "b", "pod")
        server.delays = lambda place: 10.0
        await asyncio.sleep(0)
    objects.add_reference("shop", "c", "pod")

    assert await objects.get("shop", "a") == objects.peek("shop", "a") == item
    for reading in (waiting, objects.get("shop", "c")):
        with pytest.raises(CacheNotSynced):
            await reading
    assert (server.streams, asyncio.get_running_loop().time()) == ([], 0.0)


async def test_a_stream_that_is_wanted_again_waits_for_its_own_end() -> None:
    server = ServedObjects()
    server.put("shop", "a")
    async with watched(server, idle=IdleRule(longest=0.0, look_every=1e9)) as objects:
        objects.add_reference("shop", "a", "pod")
        await objects.get("shop", "a")
        for _ in range(20):
            await asyncio.sleep(A_MOMENT)
            objects.stop_if_idle()
            await objects.get("shop", "a")

        assert server.most_streams == 1


def test_any_thread_may_look_into_memory() -> None:
    server = ServedObjects()
    read: list[ConfigMap] = []
    settings = StreamSettings(server=server, kind=ConfigMap, word="configmap")
    item = server.put("shop", "a", immutable=True)

    async def scene() -> None:
        async with WatchedObjects(IndividualStreams(settings), word="configmap") as objects:
            objects.add_reference("shop", "a", "pod")
            while objects.state_of("shop", "a") != "live":  # noqa: ASYNC110 - in its own time
                await asyncio.sleep(0)
            thread = threading.Thread(target=lambda: read.append(objects.peek("shop", "a")))
            thread.start()
            await asyncio.to_thread(thread.join)
            while objects.state_of("shop", "a") != "immutable":  # noqa: ASYNC110 - as before
                await asyncio.sleep(0)

    asyncio.run(scene())

    assert read == [item]


async def test_what_nobody_refers_to_any_more_does_not_wait_for_a_stuck_follower() -> None:
    stuck = changes()
    async with watched(ServedObjects()) as objects:
        objects.follow(stuck)
        for number in range(100):
            objects.add_reference("shop", f"job-{number}", "pod")
            await asyncio.sleep(A_MOMENT)
            objects.delete_reference("shop", f"job-{number}", "pod")
        objects.add_reference("shop", "a", "pod")
        await asyncio.sleep(A_MOMENT)

        assert ", 1 waiting" in repr(stuck)


class InterruptedEntry(ObjectEntry[ConfigMap]):
    """An entry that another thread writes to when *after* fields of it have been read."""

    after: int
    shown: ConfigMap
    FIELDS = frozenset({"idle", "object", "synced"})

    def __getattribute__(self, name: str) -> Any:
        value = super().__getattribute__(name)
        if name in InterruptedEntry.FIELDS:
            self.after -= 1
            if self.after == 0:
                self.show(self.shown, "2")
        return value


@pytest.mark.parametrize("after", [1, 2])
async def test_a_look_that_is_overtaken_by_the_answer_says_nothing_false(
    monkeypatch: pytest.MonkeyPatch, after: int
) -> None:
    monkeypatch.setattr("reflet.managers.watch_based.ObjectEntry", InterruptedEntry)
    objects = watched(ServedObjects())
    objects.add_reference("shop", "a", "pod")
    entry: Any = objects._entries["shop", "a"]
    entry.after, entry.shown = after, config_map("a", "2")

    try:
        answer: Any = objects.peek("shop", "a")
    except CacheNotSynced:
        answer = "nothing is known yet"

    assert answer in ("nothing is known yet", entry.shown)
