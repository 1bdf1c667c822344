"""A namespace that may not be watched as a whole, is slow to load, or has idle objects."""

from __future__ import annotations

import asyncio

import pytest

from tests.unit.managers.watches.namespace_scenes import (
    WHOLE,
    moment,
    scene,
)

pytestmark = pytest.mark.virtual_time


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
        it.idle("a")
        await moment()
        it.server.put("shop", "a")
        await moment()
        with_others = (it.open, it.version("a"))
        it.idle("b")
        it.idle("c")
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
        it.idle("a")
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
