"""Whatever breaks, the mirror ends up equal to the server, and never hammers it.

Every scene has real sockets and a loop with virtual time, so that faults last as long as in
``docs/performance.md`` and delays are those of a program that sets none.  Requests are counted
without jitter, which is when there are most of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, Final

import pytest

from reflet.api.resources import Resource
from reflet.devserver.faults import Action
from reflet.errors import Forbidden, InternalError, Unauthorized
from reflet.informer.reflector.loop import ListFailed
from reflet.informer.reflector.reflector import WATCH_SILENCE
from reflet.transport.interface import ANSWER_TIMEOUT
from tests.mirror_scenes import CONFIG_MAPS, FOR_EVER, WIDGETS, Scene, scene

pytestmark = pytest.mark.virtual_time

NEXT_DELAY: Final = 26.0  # seconds; the longest delay that a fault of half a minute leads to
MANY: Final = 1200


@pytest.fixture(params=[CONFIG_MAPS, WIDGETS], ids=["typed", "custom"])
def resource(request: pytest.FixtureRequest) -> Resource:
    chosen: Resource = request.param
    return chosen


@pytest.fixture(params=[True, False], ids=["streaming", "listing"])
def streaming(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


def many_names() -> tuple[str, ...]:
    return tuple(f"object-{number:04}" for number in range(MANY))


def something_happens(made: Scene) -> None:
    """What a client misses that is away: a deletion, a change, something new, and a new life."""
    made.collection.delete("apple")
    made.collection.put("banana")
    made.collection.put("damson", "garden")
    made.collection.delete("cherry")
    made.collection.put("cherry")


def assert_told_of_the_deletion(made: Scene) -> None:
    for witness in made.witnesses:
        assert witness.told_of("shop/apple") == ["ADDED", "DELETED"]


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
async def test_no_fault_that_lasts_ten_minutes_becomes_a_hot_loop(
    streaming: bool, action: Action, verb: str
) -> None:
    async with scene(streaming=streaming) as made:
        made.fault(action, verb=verb, times=FOR_EVER, retry_after=1)
        made.fault(Action.CORRUPT, verb="watch", now=True)
        for number in range(60):
            made.collection.put("banana" if number % 7 else "elder")
            made.collection.delete("apple")
            await asyncio.sleep(10)
        asked = made.requests()
        made.heal()

        await made.agrees(within=WATCH_SILENCE + 2 * ANSWER_TIMEOUT + 60)
        assert_told_of_the_deletion(made)
        assert asked <= 600  # one a second, however it fails


def _cause(error: Exception) -> BaseException:
    match error:
        case ListFailed(__cause__=cause) if cause is not None:
            return cause
        case _:
            return error
