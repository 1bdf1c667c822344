"""Refusals, damage, lost history and two faults at once: the mirror still ends up equal."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from reflet.api.resources import Resource
from reflet.devserver.faults import Action
from reflet.errors import Forbidden, InternalError, Unauthorized
from reflet.informer.reflector.loop import ListFailed
from reflet.informer.reflector.reflector import WATCH_SILENCE
from reflet.transport.interface import ANSWER_TIMEOUT
from tests.integration.mirror_fault_scenes import (
    MANY,
    NEXT_DELAY,
    assert_told_of_the_deletion,
    many_names,
    something_happens,
)
from tests.mirror_scenes import CONFIG_MAPS, FOR_EVER, WIDGETS, Scene, scene

pytestmark = pytest.mark.virtual_time


@pytest.fixture(params=[CONFIG_MAPS, WIDGETS], ids=["typed", "custom"])
def resource(request: pytest.FixtureRequest) -> Resource:
    chosen: Resource = request.param
    return chosen


@pytest.fixture(params=[True, False], ids=["streaming", "listing"])
def streaming(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


# Refusals


@pytest.mark.parametrize(
    ("status", "error"), [(401, Unauthorized), (403, Forbidden), (500, InternalError)]
)
async def test_a_refusal_of_everything_for_half_a_minute(
    resource: Resource, streaming: bool, status: int, error: type[Exception]
) -> None:
    async with scene(resource, streaming=streaming) as made:
        made.fault(Action.STATUS, status=status, times=FOR_EVER)
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(30)
        asked = made.requests()
        made.heal()

        await made.agrees(within=2 * NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 16
        assert {type(_cause(each)) for each in made.errors} == {error}


@pytest.mark.parametrize(("seconds", "most"), [(1, 40), (7, 10)])
async def test_a_throttling_server_gets_the_pause_that_it_asks_for(
    resource: Resource, streaming: bool, seconds: int, most: int
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before, lists = made.requests(), made.requests("list")
        made.fault(Action.STATUS, status=429, retry_after=seconds, times=FOR_EVER)
        await asyncio.sleep(2)
        made.fault(Action.CLOSE, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(30)
        asked = made.requests() - before
        made.heal()

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= most
        assert made.requests("list") == lists


async def test_a_throttling_server_that_names_no_time_is_not_listed(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before, lists = made.requests(), made.requests("list")
        made.fault(Action.STATUS, verb="watch", status=429, times=FOR_EVER)
        await asyncio.sleep(2)
        made.fault(Action.CLOSE, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(30)
        asked = made.requests() - before
        made.heal()

        await made.agrees(within=NEXT_DELAY)
        assert asked <= 6
        assert made.requests("list") == lists


# Damage


@pytest.mark.parametrize("action", [Action.TRUNCATE, Action.CORRUPT])
async def test_damaged_lines_are_never_taken_for_events(
    resource: Resource, streaming: bool, action: Action
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before = made.requests()
        made.fault(action, verb="watch", times=3)
        made.fault(action, verb="watch", now=True)
        something_happens(made)

        await made.agrees(within=2 * NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert made.requests() - before <= 10


@pytest.mark.parametrize("action", [Action.TRUNCATE, Action.CORRUPT, Action.RESET, Action.DROP])
async def test_a_damaged_list_replaces_nothing(resource: Resource, action: Action) -> None:
    async with scene(resource, streaming=False) as made:
        before = made.requests()
        made.fault(action, verb="list", times=3)
        made.fault(Action.CORRUPT, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(1)
        told = [change.type for change in made.witnesses[0].told]
        await made.agrees(within=2 * NEXT_DELAY)

        assert "DELETED" not in told
        assert_told_of_the_deletion(made)
        assert made.requests() - before <= 8


# History and absence


async def test_a_history_that_expires_before_every_watch(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        made.fault(Action.EXPIRE, verb="watch", times=FOR_EVER)
        made.fault(Action.RESET, verb="watch", now=True)
        something_happens(made)
        await asyncio.sleep(30)
        asked = made.requests()
        made.heal()

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert asked <= 20


async def test_a_server_that_is_away_for_20_seconds_is_not_listed_afterwards(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before, lists = made.requests(), made.requests("list")
        await asyncio.sleep(2)
        restarting = asyncio.create_task(made.server.restart(20))
        await asyncio.sleep(1)
        something_happens(made)
        await restarting

        await made.agrees(within=NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert made.requests() - before <= 2
        assert made.requests("list") == lists


async def test_a_server_that_comes_back_without_its_history(
    resource: Resource, streaming: bool
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before = made.requests()
        restarting = asyncio.create_task(made.server.restart(20))
        await asyncio.sleep(1)
        something_happens(made)
        made.collection.expire()
        await restarting

        await made.agrees(within=2 * NEXT_DELAY)
        assert_told_of_the_deletion(made)
        assert made.requests() - before <= 5


# Before anything is known


@pytest.mark.parametrize(
    ("action", "options"),
    [
        (Action.STATUS, {"status": 500}),
        (Action.STATUS, {"status": 403}),
        (Action.STATUS, {"status": 429, "retry_after": 2}),
        (Action.STATUS, {"status": 503}),
        (Action.DROP, {}),
        (Action.RESET, {}),
        (Action.TRUNCATE, {}),
        (Action.CORRUPT, {}),
        (Action.CLOSE, {"verb": "watch"}),
        (Action.STALL, {}),
        (Action.DELAY, {"seconds": 5}),
        (Action.EXPIRE, {}),
        (Action.RESTART, {"seconds": 3}),
    ],
)
async def test_nothing_is_shown_until_the_first_list_is_whole(
    streaming: bool, action: Action, options: dict[str, Any]
) -> None:
    def breaks(made: Scene) -> None:
        made.fault(action, times=4, **options)

    async with scene(streaming=streaming, before=breaks, synced=False) as made:
        while not made.informer.synced.is_set:
            assert made.informer.store.keys() == []
            await asyncio.sleep(0.5)
        made.heal()
        something_happens(made)

        await made.agrees(within=WATCH_SILENCE + 4 * ANSWER_TIMEOUT)
        assert made.requests() <= 14
        for witness in made.witnesses:
            initial = sorted(change.key for change in witness.told if change.initial)
            assert initial == ["shop/apple", "shop/banana", "shop/cherry"]


@pytest.mark.parametrize("action", [Action.CLOSE, Action.RESET])
@pytest.mark.parametrize("steps", range(1, 5))
async def test_a_streaming_list_that_ends_early_is_not_taken_for_the_whole(
    action: Action, steps: int
) -> None:
    async with scene(names=many_names(), synced=False) as made:
        while not made.requests("watch"):  # noqa: ASYNC110 - the very step counts
            await asyncio.sleep(0)
        for _ in range(steps):
            await asyncio.sleep(0)
        made.fault(action, verb="watch", now=True)
        await made.agrees(within=60)

        for witness in made.witnesses:
            assert sum(change.initial for change in witness.told) == MANY
            news = {change.type for change in witness.told if not change.is_resync}
            assert news == {"ADDED"}


# Two faults at once


async def _away_and_throttling(made: Scene) -> None:
    made.fault(Action.STATUS, status=429, retry_after=2, times=5)
    made.fault(Action.RESTART, now=True, seconds=5)
    something_happens(made)


async def _expired_and_lists_fail(made: Scene) -> None:
    made.fault(Action.STATUS, verb="list", status=500, times=3)
    made.fault(Action.DROP, verb="watch", times=3)
    made.fault(Action.RESET, verb="watch", now=True)
    something_happens(made)
    made.collection.expire()


async def _expired_while_it_stalls(made: Scene) -> None:
    made.fault(Action.STALL, verb="watch", now=True)
    something_happens(made)
    made.collection.expire()


async def _corrupt_then_forbidden(made: Scene) -> None:
    made.fault(Action.STATUS, status=403, times=4)
    made.fault(Action.CORRUPT, verb="watch", now=True)
    something_happens(made)


async def _reset_then_stalled(made: Scene) -> None:
    made.fault(Action.STALL, times=2)
    made.fault(Action.RESET, verb="watch", now=True)
    something_happens(made)


async def _expired_twice_within_one_list(made: Scene) -> None:
    made.fault(Action.EXPIRE, times=2)
    made.fault(Action.TRUNCATE, times=2)
    made.fault(Action.CLOSE, verb="watch", now=True)
    something_happens(made)


@pytest.mark.parametrize(
    "happens",
    [
        _away_and_throttling,
        _expired_and_lists_fail,
        _expired_while_it_stalls,
        _corrupt_then_forbidden,
        _reset_then_stalled,
        _expired_twice_within_one_list,
    ],
)
async def test_two_faults_at_once(
    resource: Resource, streaming: bool, happens: Callable[[Scene], Awaitable[None]]
) -> None:
    async with scene(resource, streaming=streaming) as made:
        before = made.requests()
        await happens(made)

        await made.agrees(within=2 * WATCH_SILENCE + 120)
        assert_told_of_the_deletion(made)
        assert made.requests() - before <= 20


# For ever


@pytest.mark.parametrize("verb", ["watch", "list", ""], ids=["watches", "lists", "everything"])
@pytest.mark.parametrize("action", Action)
async def test_no_fault_that_lasts_five_minutes_becomes_a_hot_loop(
    streaming: bool, action: Action, verb: str
) -> None:
    async with scene(streaming=streaming) as made:
        made.fault(action, verb=verb, times=FOR_EVER, retry_after=1)
        made.fault(Action.CORRUPT, verb="watch", now=True)
        for number in range(30):
            made.collection.put("banana" if number % 7 else "elder")
            made.collection.delete("apple")
            await asyncio.sleep(10)
        asked = made.requests()
        made.heal()

        await made.agrees(within=WATCH_SILENCE + 2 * ANSWER_TIMEOUT + 60)
        assert_told_of_the_deletion(made)
        assert asked <= 300  # one a second, however it fails


def _cause(error: Exception) -> BaseException:
    match error:
        case ListFailed(__cause__=cause) if cause is not None:
            return cause
        case _:
            return error
