from __future__ import annotations

import asyncio

import pytest

from reflet.node.pods.pod_queue import JITTER, Due, PodQueue
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time

BY_CLOCK = Due(sync=True, by_clock=True)


def queue_with(chance: float) -> PodQueue:
    return PodQueue(VirtualClock(), lambda: chance, resync=60.0, retry=10.0)


async def after_the_first(chance: float = 0.0) -> PodQueue:
    """A queue from which the first sync was taken."""
    queue = queue_with(chance)
    await queue.next()
    return queue


async def timed(queue: PodQueue) -> tuple[Due, float]:
    """What is due next, and after how many seconds."""
    loop = asyncio.get_running_loop()
    began = loop.time()
    return await queue.next(), loop.time() - began


async def is_empty(queue: PodQueue) -> bool:
    """Whether nothing comes in a day."""
    try:
        async with asyncio.timeout(86400):
            await queue.next()
    except TimeoutError:
        return True
    return False


async def test_the_first_sync_is_due_at_once() -> None:
    queue = queue_with(0.0)

    assert await timed(queue) == (Due(sync=True), 0)


async def test_what_was_taken_is_not_due_again() -> None:
    assert await is_empty(await after_the_first())


async def test_asking_wakes_whoever_waits() -> None:
    queue = await after_the_first()
    asyncio.get_running_loop().call_later(5, queue.ask_for_refresh)

    assert await timed(queue) == (Due(refresh=True), 5)


async def test_what_was_asked_for_meanwhile_is_due_together_and_once() -> None:
    queue = await after_the_first()
    for _ in range(3):
        queue.ask_for_refresh()
        queue.ask_for_sync()

    assert await timed(queue) == (Due(sync=True, refresh=True), 0)
    assert await is_empty(queue)


async def test_a_moment_that_has_come_is_a_sync_by_the_clock() -> None:
    queue = await after_the_first()
    queue.by(7)

    assert await timed(queue) == (BY_CLOCK, 7)


async def test_a_moment_that_has_passed_meanwhile_is_due_at_once() -> None:
    queue = await after_the_first()
    queue.by(7)
    await asyncio.sleep(9)

    assert await timed(queue) == (BY_CLOCK, 0)


@pytest.mark.parametrize("moments", [(7, 30), (30, 7), (7, 7, 30)])
async def test_the_earliest_moment_stays(moments: tuple[float, ...]) -> None:
    queue = await after_the_first()
    for moment in moments:
        queue.by(moment)

    assert await timed(queue) == (BY_CLOCK, 7)


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 10), (0.5, 12.5), (1.0, 10 * (1 + JITTER))])
async def test_again_is_by_chance_a_little_later_and_never_sooner(
    chance: float, seconds: float
) -> None:
    queue = await after_the_first(chance)
    queue.again_in(10)

    assert await timed(queue) == (BY_CLOCK, seconds)


async def test_whoever_asks_before_the_moment_takes_it_off_as_well() -> None:
    queue = await after_the_first()
    queue.by(7)
    queue.ask_for_sync()

    assert await timed(queue) == (Due(sync=True), 0)
    assert await is_empty(queue)


async def test_a_refresh_leaves_the_moment_of_the_next_sync_as_it_is() -> None:
    queue = await after_the_first()
    queue.by(7)
    queue.ask_for_refresh()

    assert await timed(queue) == (Due(refresh=True), 0)
    assert await timed(queue) == (BY_CLOCK, 7)


async def test_a_wait_that_was_given_up_loses_nothing() -> None:
    queue = await after_the_first()
    queue.by(7)
    waiting = asyncio.create_task(queue.next())
    await asyncio.sleep(1)
    waiting.cancel()
    await asyncio.wait((waiting,))

    assert await timed(queue) == (BY_CLOCK, 6)


async def test_a_resync_and_a_retry_come_after_their_own_seconds() -> None:
    queue = await after_the_first()
    queue.resync()
    resynced = await timed(queue)
    queue.resync()
    queue.retry()

    assert (resynced, await timed(queue)) == ((BY_CLOCK, 60), (BY_CLOCK, 10))
