from __future__ import annotations

import asyncio

import pytest

from reflet.play.controller import KeyQueue
from reflet.testing.virtual_time import VirtualClock

pytestmark = pytest.mark.virtual_time


async def test_a_key_that_is_added_often_is_looked_at_once() -> None:
    queue = KeyQueue(VirtualClock())
    for key in ("a", "b", "a"):
        queue.add(key)

    assert [await queue.take(), await queue.take()] == ["a", "b"]
    with pytest.raises(TimeoutError):
        await asyncio.wait_for(queue.take(), 1)


async def test_a_key_that_changes_while_it_is_looked_at_comes_again_afterwards() -> None:
    queue = KeyQueue(VirtualClock())
    queue.add("a")
    key = await queue.take()
    queue.add("a")

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(queue.take(), 1)
    queue.done(key)

    assert await queue.take() == "a"


async def test_a_key_comes_when_its_time_has_come() -> None:
    queue = KeyQueue(VirtualClock())
    queue.add_after("late", 60)
    queue.add_after("soon", 5)

    assert [await queue.take(), asyncio.get_running_loop().time()] == ["soon", 5.0]
    assert [await queue.take(), asyncio.get_running_loop().time()] == ["late", 60.0]


async def test_a_key_that_fails_waits_longer_each_time_until_it_succeeds() -> None:
    queue = KeyQueue(VirtualClock())
    times = []

    for _ in range(3):
        queue.failed("a")
        queue.done(await queue.take())
        times.append(asyncio.get_running_loop().time())
    queue.succeeded("a")
    queue.failed("a")
    await queue.take()

    assert times == pytest.approx([0.02, 0.06, 0.14])
    assert asyncio.get_running_loop().time() == pytest.approx(0.16)
