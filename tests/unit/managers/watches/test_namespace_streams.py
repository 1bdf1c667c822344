"""The streams of one namespace, and moving between one for each object and one for all."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.watches.namespace_streams import NamespaceStreams
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.stream_plan import StreamLimits
from reflet.runtime.tasks import TaskOwner
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import Place, ServedObjects

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001
WHOLE: Place = ("shop", None)
LIMITS = StreamLimits(
    namespace_from=3, namespace_until=2, most_objects=50, patience=2.0, refused_for=60.0
)


class Scene:
    """The streams of the namespace ``shop``, and entries by name."""

    def __init__(self, server: ServedObjects, tasks: TaskOwner) -> None:
        clock = VirtualClock()
        settings = StreamSettings(server=server, kind=ConfigMap, word="configmap", clock=clock)
        self.server = server
        self.entries: dict[str, ObjectEntry[ConfigMap]] = {}
        self.versions: list[str] = []
        self.emptied: list[Any] = []
        self.streams = NamespaceStreams(
            settings,
            "shop",
            limits=LIMITS,
            clock=clock,
            tasks=tasks,
            emptied=self.emptied.append,
        )

    def need(self, *names: str) -> None:
        for name in names:
            entry = self.entries.get(name)
            if entry is None:
                entry = self.entries[name] = ObjectEntry(
                    "shop", name, now=0.0, changed=lambda it: self.versions.append(it.version)
                )
            self.streams.start(entry)

    def release(self, *names: str) -> None:
        for name in names:
            self.streams.release(self.entries.pop(name))

    def version(self, name: str) -> str | None:
        """The version that is shown, None for "not found", empty while nothing is known."""
        entry = self.entries[name]
        if not entry.synced:
            return ""
        return None if entry.object is None else entry.object.metadata.resource_version

    @property
    def open(self) -> list[str]:
        return sorted(name or "*" for _, name in self.server.streams)


@asynccontextmanager
async def scene(*names: str, streaming: bool = True, opaque: bool = False) -> AsyncIterator[Scene]:
    """Two API servers that have the objects *names*, from version 101 on."""
    server = ServedObjects(streaming=streaming, replicas=2)
    server.opaque = opaque
    for name in names:
        server.put("shop", name)
    async with TaskOwner("test") as tasks:
        stage = Scene(server, tasks)
        yield stage
        stage.streams.close()


async def moment() -> None:
    await asyncio.sleep(A_MOMENT)


async def test_few_objects_have_streams_of_their_own() -> None:
    async with scene("a", "b") as it:
        it.need("a", "b")
        await moment()

        assert (it.open, it.version("a"), it.version("b")) == (["a", "b"], "101", "102")
        assert "only from 3 on" in it.streams.open_streams()[0].reason


async def test_many_objects_that_come_together_have_one_stream_from_the_beginning() -> None:
    async with scene("a", "b") as it:
        it.need("a", "b", "c")
        await moment()

        assert (it.open, it.server.requests) == (["*"], ["stream shop/* at ''"])
        assert [it.version(name) for name in "abc"] == ["101", "102", None]
        assert [stream.name for stream in it.streams.open_streams()] == [None]


async def test_when_enough_are_needed_one_stream_takes_over_and_then_the_others_end() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b")
        await moment()
        it.server.delays = lambda place: 1.0 if place == WHOLE else 0.0
        it.need("c")
        await asyncio.sleep(0.5)
        it.server.put("shop", "a")
        await moment()
        before = (it.open, it.version("a"))
        await asyncio.sleep(1.0)

        assert before == (["a", "b"], "104")
        assert (it.open, it.version("a"), it.version("c")) == (["*"], "104", "103")


async def test_a_stream_that_is_behind_does_not_take_over_yet() -> None:
    async with scene("a", "b", "c", streaming=False) as it:
        it.need("a", "b")
        await moment()
        it.server.delays = lambda place: 5.0 if place == WHOLE else 0.0
        it.need("c")
        await asyncio.sleep(7.0)  # its first state is read, and has not come yet
        it.server.put("shop", "a")
        await asyncio.sleep(A_MOMENT)
        seen = [it.version("a")]
        for _ in range(30):
            await asyncio.sleep(1.0)
            seen.append(it.version("a"))

        assert set(seen) == {"104"}
        assert it.open == ["*"]


async def test_a_late_object_is_watched_alone_until_the_stream_knows_as_much() -> None:
    async with scene("a", "b", "c", "d") as it:
        it.need("a", "b", "c")
        await moment()
        it.need("d")
        await moment()

        assert (it.open, it.version("d")) == (["*"], "104")
        assert it.server.requests == ["stream shop/* at ''", "stream shop/d at ''"]
        it.server.put("shop", "d")
        await moment()
        assert it.version("d") == "105"


async def test_a_late_absence_is_believed_when_the_stream_has_come_as_far() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.put("bank", "x")
        it.need("d")
        await moment()
        alone = (it.open, it.version("d"))
        it.server.bookmark_everywhere()
        await moment()

        assert alone == (["*", "d"], None)
        assert (it.open, it.version("d")) == (["*"], None)


async def test_a_late_object_that_changes_is_known_at_once() -> None:
    async with scene("a", "b", "c", "d") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.delays = lambda place: 0.0 if place == WHOLE else 5.0
        it.need("d")
        it.server.put("shop", "d")
        await moment()

        assert (it.open, it.version("d")) == (["*"], "105")


async def test_few_objects_that_are_left_get_their_own_streams_before_the_one_ends() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.delays = lambda place: 0.0 if place == WHOLE else 1.0
        it.release("b", "c")
        await asyncio.sleep(0.5)
        it.server.put("shop", "a")
        await moment()
        before = (it.open, it.version("a"))
        await asyncio.sleep(3.0)

        assert before == (["*"], "104")
        assert (it.open, it.version("a")) == (["a"], "104")


async def test_a_stream_of_its_own_that_is_behind_does_not_take_over_yet() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.lag(9, replica=1)
        it.server.route = lambda: 1
        it.server.delays = lambda place: 0.0 if place == WHOLE else 1.0
        it.release("b", "c")
        await asyncio.sleep(0.5)
        it.server.put("shop", "a")
        await asyncio.sleep(1.0)
        behind = (it.open, it.version("a"))
        it.server.lag(0, replica=1)
        await asyncio.sleep(1.5)

        assert behind == (["*", "a"], "104")
        assert (it.open, it.version("a")) == (["a"], "104")


async def test_a_change_of_mind_while_moving_keeps_the_one_stream() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.delays = lambda place: 0.0 if place == WHOLE else 1.0
        it.release("b", "c")
        await asyncio.sleep(0.5)
        it.need("b", "c")
        await asyncio.sleep(5.0)

        assert (it.open, sorted(it.versions[-2:])) == (["*"], ["102", "103"])


async def test_a_batch_that_begins_behind_what_was_seen_shows_nothing_older() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.lag(9)
        it.server.route = lambda: 1
        for _ in range(3):
            it.server.put("shop", "d")
        it.need("d")
        await moment()
        it.versions.clear()
        it.server.lag(0)
        await moment()

        assert (it.open, it.version("d"), it.versions) == (["*"], "106", [])


async def test_what_went_idle_while_it_was_moving_goes_on_from_what_was_seen() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.delays = lambda place: 0.0 if place == WHOLE else 1.0
        it.release("b", "c")
        await moment()
        it.server.lag(9, replica=1)
        it.server.put("shop", "a")
        await moment()
        seen = it.version("a")
        it.streams.idle(it.entries["a"])
        await moment()
        idle = (it.open, it.version("a"))
        it.server.route = lambda: 1
        it.need("a")
        await asyncio.sleep(2.0)

        assert (seen, idle) == ("104", ([], ""))
        assert (it.server.requests[-1], it.version("a")) == ("stream shop/a at '104'", "104")


async def test_a_forbidden_namespace_means_streams_for_each_and_is_remembered() -> None:
    async with scene("a", "b", "c", "d") as it:
        it.server.forbids = lambda verb, place: place == WHOLE
        it.need("a", "b", "c")
        await moment()
        first = it.open
        it.need("d")
        await moment()
        asked = [request for request in it.server.requests if "*" in request]
        why = {stream.reason for stream in it.streams.open_streams()}
        it.server.forbids = lambda verb, place: False
        await asyncio.sleep(60)

        assert (first, len(asked)) == (["a", "b", "c"], 2)
        assert why == {"watching the whole namespace is forbidden"}
        assert it.open == ["*"]
        assert [it.version(name) for name in "abcd"] == ["101", "102", "103", "104"]


async def test_a_namespace_that_becomes_forbidden_is_left_without_a_gap() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.forbids = lambda verb, place: place == WHOLE
        it.server.go_away()
        await moment()
        during = [it.version(name) for name in "abc"]
        it.server.come_back()
        it.server.put("shop", "a")
        await asyncio.sleep(30)

        assert during == ["101", "102", "103"]
        assert (it.open, it.version("a")) == (["a", "b", "c"], "104")


async def test_versions_that_are_no_numbers_do_not_keep_what_a_forbidden_namespace_showed() -> None:
    async with scene("a", "b", "c", opaque=True) as it:
        it.need("a", "b", "c")
        await moment()
        it.server.forbids = lambda verb, place: place == WHOLE
        it.server.go_away()
        await moment()
        it.server.come_back()
        it.server.put("shop", "a")
        await asyncio.sleep(30)

        assert (it.open, it.version("a")) == (["a", "b", "c"], "version 104")


@pytest.mark.parametrize("needed", ["ab", "abc", "abcd"])
async def test_a_server_that_is_restored_from_a_backup_wins(needed: str) -> None:
    async with scene("a", "b", "c") as it:
        it.need(*needed[:3])
        await moment()
        it.need(*needed[3:])
        for _ in range(100):
            it.server.put("shop", "a")
        it.server.put("shop", "d")
        await moment()
        before = it.version("a")
        it.server.restore(101)
        it.server.put("shop", "b")
        await asyncio.sleep(30)
        it.server.bookmark_everywhere()
        await moment()

        assert (before, it.version("a"), it.version("b")) == ("203", "101", "104")
        assert it.open == (["a", "b"] if needed == "ab" else ["*"])
        if "d" in needed:
            assert it.version("d") is None


async def test_a_restored_server_wins_over_what_was_seen_before_it_was_forbidden() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.put("shop", "a")
        await moment()
        it.server.forbids = lambda verb, place: place == WHOLE
        it.server.restore(2)
        await asyncio.sleep(30)

        assert (it.open, it.version("a"), it.version("c")) == (["a", "b", "c"], "101", None)


async def test_a_namespace_that_is_too_large_is_not_watched_as_a_whole() -> None:
    async with scene(*(f"object-{number}" for number in range(51))) as it:
        it.need("object-1", "object-2", "object-3")
        await moment()

        assert it.open == ["object-1", "object-2", "object-3"]
        reasons = {stream.reason for stream in it.streams.open_streams()}
        assert reasons == {"the namespace has more than 50 objects"}


async def test_a_namespace_that_becomes_too_large_is_left_without_a_gap() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.server.delays = lambda place: 1.0
        for number in range(48):
            it.server.put("shop", f"object-{number}")
        await asyncio.sleep(1.5)
        during = (it.open, it.version("a"))
        await asyncio.sleep(1.0)

        assert during == ([], "101")
        assert (it.open, it.version("a")) == (["a", "b", "c"], "101")


async def test_when_one_stream_is_slow_objects_get_their_own_meanwhile() -> None:
    async with scene("a", "b", "c") as it:
        it.server.delays = lambda place: 10.0 if place == WHOLE else 0.0
        it.need("a", "b", "c")
        await asyncio.sleep(1.9)
        waiting = it.open
        await asyncio.sleep(0.2)
        meanwhile = (it.open, it.version("a"))
        await asyncio.sleep(10.0)

        assert (waiting, meanwhile) == ([], (["a", "b", "c"], "101"))
        assert (it.open, it.version("a")) == (["*"], "101")


async def test_an_idle_object_stays_fresh_while_that_costs_nothing() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.streams.idle(it.entries["a"])
        await moment()
        it.server.put("shop", "a")
        await moment()
        with_others = (it.open, it.version("a"))
        it.streams.idle(it.entries["b"])
        it.streams.idle(it.entries["c"])
        await moment()
        nobody = (it.open, it.version("a"))
        it.need("a")
        await moment()

        assert with_others == (["*"], "104")
        assert nobody == ([], "")
        assert (it.open, it.version("a")) == (["a"], "104")
        assert it.server.requests[-1] == "stream shop/a at '104'"


async def test_an_idle_object_of_its_own_stream_goes_on_from_its_version() -> None:
    async with scene("a") as it:
        it.need("a")
        await moment()
        it.streams.idle(it.entries["a"])
        await moment()
        idle = (it.open, it.version("a"))
        it.need("a")
        await moment()

        assert (idle, it.open) == (([], ""), ["a"])
        assert it.server.requests[-1] == "stream shop/a at '101'"


async def test_nothing_is_left_when_nothing_is_needed() -> None:
    async with scene("a", "b", "c") as it:
        it.need("a", "b", "c")
        await moment()
        it.release("a", "b", "c")
        await moment()

        assert (it.open, it.streams.open_streams(), it.emptied) == ([], [], [it.streams])


async def test_who_waits_learns_what_the_trouble_is() -> None:
    async with scene() as it:
        it.server.go_away()
        it.need("a", "b", "c")
        await moment()

        assert type(it.entries["a"].failure).__name__ == "ConnectionRefused"
