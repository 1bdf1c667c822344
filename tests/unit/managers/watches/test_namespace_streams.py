"""The streams of one namespace, and moving between one for each object and one for all."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.managers.watches.namespace_scenes import (
    A_MOMENT,
    WHOLE,
    moment,
    scene,
)

pytestmark = pytest.mark.virtual_time


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
        it.idle("a")
        await moment()
        idle = (it.open, it.version("a"))
        it.server.route = lambda: 1
        it.need("a")
        await asyncio.sleep(2.0)

        assert (seen, idle) == ("104", ([], ""))
        assert (it.server.requests[-1], it.version("a")) == ("stream shop/a at '104'", "104")
