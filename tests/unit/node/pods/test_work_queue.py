from __future__ import annotations

import asyncio

import pytest

from reflet.node.pods.work_queue import JITTER, Due, WorkQueue
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

BY_CLOCK = Due(sync=True, by_clock=True)


async def after_the_first(chance: float = 0.0) -> WorkQueue:
    """An agenda from which the first sync was taken."""
    agenda = WorkQueue(VirtualClock(), lambda: chance)
    await agenda.next()
    return agenda


async def timed(agenda: WorkQueue) -> tuple[Due, float]:
    """What is due next, and after how many seconds."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    return await agenda.next(), loop.time() - began


async def is_empty(agenda: WorkQueue) -> bool:
    """Whether nothing comes in a day."""
    try:
        async with asyncio.timeout(86400):
            await agenda.next()
    except TimeoutError:
        return True
    return False


async def test_the_first_sync_is_due_at_once() -> None:
    agenda = WorkQueue(VirtualClock(), lambda: 0.0)

    assert await timed(agenda) == (Due(sync=True), 0)


async def test_what_was_taken_is_not_due_again() -> None:
    assert await is_empty(await after_the_first())


async def test_asking_wakes_whoever_waits() -> None:
    agenda = await after_the_first()
    asyncio.get_running_loop().call_later(5, agenda.ask_for_refresh)

    assert await timed(agenda) == (Due(refresh=True), 5)


async def test_what_was_asked_for_meanwhile_is_due_together_and_once() -> None:
    agenda = await after_the_first()
    for _ in range(3):
        agenda.ask_for_refresh()
        agenda.ask_for_sync()

    assert await timed(agenda) == (Due(sync=True, refresh=True), 0)
    assert await is_empty(agenda)


async def test_a_moment_that_has_come_is_a_sync_by_the_clock() -> None:
    agenda = await after_the_first()
    agenda.by(7)

    assert await timed(agenda) == (BY_CLOCK, 7)


async def test_a_moment_that_has_passed_meanwhile_is_due_at_once() -> None:
    agenda = await after_the_first()
    agenda.by(7)
    await asyncio.sleep(9)

    assert await timed(agenda) == (BY_CLOCK, 0)


@pytest.mark.parametrize("moments", [(7, 30), (30, 7), (7, 7, 30)])
async def test_the_earliest_moment_stays(moments: tuple[float, ...]) -> None:
    agenda = await after_the_first()
    for moment in moments:
        agenda.by(moment)

    assert await timed(agenda) == (BY_CLOCK, 7)


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 10), (0.5, 12.5), (1.0, 10 * (1 + JITTER))])
async def test_again_is_by_chance_a_little_later_and_never_sooner(
    chance: float, seconds: float
) -> None:
    agenda = await after_the_first(chance)
    agenda.again_in(10)

    assert await timed(agenda) == (BY_CLOCK, seconds)


async def test_whoever_asks_before_the_moment_takes_it_off_as_well() -> None:
    agenda = await after_the_first()
    agenda.by(7)
    agenda.ask_for_refresh()

    assert await timed(agenda) == (Due(refresh=True), 0)
    assert await is_empty(agenda)


async def test_a_wait_that_was_given_up_loses_nothing() -> None:
    agenda = await after_the_first()
    agenda.by(7)
    waiting = asyncio.create_task(agenda.next())
    await asyncio.sleep(1)
    waiting.cancel()
    await asyncio.wait((waiting,))

    assert await timed(agenda) == (BY_CLOCK, 6)
