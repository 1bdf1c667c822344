from __future__ import annotations

import asyncio
from datetime import datetime

import pytest

from reflet.runtime.clock import SystemClock
from reflet.runtime.waits import came_within, timeout_by
from reflet.testing.virtual_time import START

pytestmark = pytest.mark.virtual_time


class SlowClock:
    """A clock that has counted one second where the loop has counted ten."""

    def now(self) -> datetime:
        return START

    def monotonic(self) -> float:
        return asyncio.get_running_loop().time() / 10

    async def sleep(self, seconds: float, /) -> None:
        await asyncio.sleep(seconds * 10)


async def test_an_event_comes_in_time_or_not() -> None:
    event, clock = asyncio.Event(), SystemClock()
    asyncio.get_running_loop().call_later(5, event.set)

    came = await came_within(event, 1, clock=clock), await came_within(event, 10, clock=clock)

    assert came == (False, True)


async def test_the_wait_ends_when_the_clock_that_is_given_says_so() -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()

    came = await came_within(asyncio.Event(), 3, clock=SlowClock())

    assert (came, loop.time() - began) == (False, 30)


async def test_an_event_that_is_set_came_without_any_wait() -> None:
    event = asyncio.Event()
    event.set()

    assert await came_within(event, 0, clock=SystemClock())


async def test_an_event_of_the_last_moment_came() -> None:
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(3, event.set)

    assert await came_within(event, 3, clock=SystemClock())


async def test_without_a_limit_the_wait_is_as_long_as_it_takes() -> None:
    event = asyncio.Event()
    asyncio.get_running_loop().call_later(10**6, event.set)

    assert await came_within(event, None, clock=SystemClock())


async def test_whoever_is_cancelled_while_waiting_leaves_no_timer() -> None:
    task = asyncio.create_task(came_within(asyncio.Event(), 3600, clock=SystemClock()))
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait((task,))
    await asyncio.sleep(0)

    assert (task.cancelled(), asyncio.all_tasks()) == (True, {asyncio.current_task()})


async def test_a_block_that_takes_too_long_by_the_clock_that_is_given_is_ended() -> None:
    loop = asyncio.get_running_loop()

    with pytest.raises(TimeoutError):
        async with timeout_by(SlowClock(), 3):
            await asyncio.sleep(1000)

    assert loop.time() == 30


async def test_a_block_that_ends_in_time_leaves_no_timer() -> None:
    async with timeout_by(SystemClock(), 3600):
        await asyncio.sleep(1)
    await asyncio.sleep(0)

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_block_without_a_limit_takes_as_long_as_it_takes() -> None:
    async with timeout_by(SystemClock(), None):
        await asyncio.sleep(10**6)

    assert asyncio.get_running_loop().time() == 10**6


async def test_being_cancelled_in_the_block_is_no_timeout() -> None:
    async def wait() -> None:
        async with timeout_by(SystemClock(), 3600):
            await asyncio.sleep(1000)

    task = asyncio.create_task(wait())
    await asyncio.sleep(1)
    task.cancel()
    await asyncio.wait((task,))

    assert task.cancelled()
