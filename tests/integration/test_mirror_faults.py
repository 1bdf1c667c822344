"""Whatever breaks, the mirror ends up equal to the server, and never hammers it.

Every scene has real sockets and a loop with virtual time, so that faults last as long as in
``docs/performance/faults.md`` and delays are those of a program that sets none.  Requests are
counted without jitter, which is when there are most of them.
"""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.resources import Resource
from reflet.devserver.faults import Action
from reflet.errors import InternalError
from reflet.informer.reflector.reflector import WATCH_SILENCE
from tests.integration.mirror_fault_scenes import (
    MANY,
    NEXT_DELAY,
    assert_told_of_the_deletion,
    many_names,
    something_happens,
)
from tests.mirror_scenes import CONFIG_MAPS, FOR_EVER, WIDGETS, scene

pytestmark = pytest.mark.virtual_time


@pytest.fixture(params=[CONFIG_MAPS, WIDGETS], ids=["typed", "custom"])
def resource(request: pytest.FixtureRequest) -> Resource:
    chosen: Resource = request.param
    return chosen


@pytest.fixture(params=[True, False], ids=["streaming", "listing"])
def streaming(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# The faults of the comparison with other clients


async def test_watches_that_are_answered_500_for_12_seconds(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        made.fault(Action.STATUS, verb="watch", status=500, times=FOR_EVER)
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(12)
        asked = made.requests()
        made.heal()

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 16
        assert all(isinstance(error, InternalError) for error in made.errors)


async def test_watches_that_are_dropped_before_their_head_for_10_seconds(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        made.fault(Action.DROP, verb="watch", times=FOR_EVER)
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(10)
        asked = made.requests()
        made.heal()

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 20


async def test_a_reset_in_the_middle_of_a_line_is_resumed_at_once(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before, lists = made.requests(), made.requests("list")
        await asyncio.sleep(2)
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)

        assert await made.agrees(within=NEXT_DELAY) < 0.5
        assert_told_of_the_deletion(made)
        assert (made.requests() - before, made.requests("list") - lists) == (1, 0)


async def test_every_watch_is_reset_in_the_middle_of_its_first_line(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        made.fault(Action.RESET, verb="watch", times=FOR_EVER)
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)
        for number in range(20):
            made.collection.put("banana" if number % 2 else "elder")
            await asyncio.sleep(0.5)
        asked = made.requests()
        made.heal()

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 24


async def test_clean_closes_every_half_second_cost_no_list(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before, lists = made.requests(), made.requests("list")
        something_happens(made)
        for number in range(20):
            made.collection.put("banana" if number % 2 else "elder")
            await asyncio.sleep(0.5)
            made.fault(Action.CLOSE, verb="watch", now=True)
        asked = made.requests() - before

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 20
        assert made.requests("list") == lists


async def test_closes_twenty_times_a_second_are_followed_once_a_second(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before, lists = made.requests(), made.requests("list")
        something_happens(made)
        for number in range(200):
            made.collection.put("banana" if number % 2 else "elder")
            await asyncio.sleep(0.05)
            made.fault(Action.CLOSE, verb="watch", now=True)
        asked = made.requests() - before

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 12
        assert made.requests("list") == lists


async def test_clean_closes_of_a_quiet_collection_are_waited_for(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before = made.requests()
        for _ in range(20):
            await asyncio.sleep(0.5)
            made.fault(Action.CLOSE, verb="watch", now=True)
        asked = made.requests() - before

        await made.agrees(within=NEXT_DELAY)
        assert asked <= 16


async def test_an_expired_version_leads_to_a_list_that_shows_what_was_missed(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before = made.requests()
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)
        made.collection.expire()

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert made.witnesses[0].told_of("garden/damson") == ["ADDED"]
        assert all(
            change.stale
            for witness in made.witnesses
            for change in witness.told
            if change.type == "DELETED"
        )
        assert made.requests() - before <= 4


async def test_a_stream_that_says_nothing_on_a_live_connection_is_opened_again_in_the_end(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before = made.requests()
        made.fault(Action.STALL, verb="watch", now=True)
        something_happens(made)

        await made.agrees(within=WATCH_SILENCE + 2)
        assert_told_of_the_deletion(made)
        assert made.requests() - before == 1


async def test_many_objects_come_with_one_request(resource: Resource, streaming: bool) -> None:
    async with scene(resource, names=many_names(), streaming=streaming) as made:
        assert len(made.informer.store) == MANY
        assert made.requests() == (1 if streaming else 2)


async def test_many_objects_that_come_in_pages_are_all_there(resource: Resource) -> None:
    names = many_names()

    async with scene(resource, names=names, streaming=False, page_size=100) as made:
        before = made.requests("list")
        made.fault(Action.RESET, verb="watch", now=True)
        for name in names[:10]:
            made.collection.delete(name)
        made.collection.expire()

        await made.agrees(within=2 * NEXT_DELAY)
        assert len(made.informer.store) == MANY - 10
        assert made.requests("list") - before == 1 + 12  # the version is gone, then the pages


async def test_many_objects_of_which_half_go_unseen(resource: Resource, streaming: bool) -> None:
    names = many_names()

    async with scene(resource, names=names, streaming=streaming) as made:
        before = made.requests()
        made.fault(Action.RESET, verb="watch", now=True)
        for name in names[::2]:
            made.collection.delete(name)
        made.collection.expire()

        await made.agrees(within=2 * NEXT_DELAY)
        assert len(made.informer.store) == MANY // 2
        assert made.requests() - before <= 4


async def test_stopping_while_idle_is_immediate_and_told_to_nobody(
    resource: Resource, streaming: bool
) -> None:
    loop = asyncio.get_running_loop()

    async with scene(resource, streaming=streaming) as made:
        told = [len(witness.told) for witness in made.witnesses]
        begun = loop.time()
        await made.informer.__aexit__(None, None, None)

        assert loop.time() - begun < 0.1
        assert [len(witness.told) for witness in made.witnesses] == told
        assert made.errors == []
