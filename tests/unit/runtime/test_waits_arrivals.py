"""Waiting for something to come."""

from __future__ import annotations

import asyncio

import pytest

from reflet.runtime.waits import Arrivals


@pytest.mark.virtual_time
async def test_everybody_who_waits_is_woken() -> None:
    arrivals = Arrivals()
    waiting = [asyncio.create_task(arrivals.wait()) for _ in range(3)]
    await asyncio.sleep(0)

    arrivals.wake()

    await asyncio.gather(*waiting)


@pytest.mark.virtual_time
async def test_a_wake_before_anybody_waits_is_not_remembered() -> None:
    arrivals = Arrivals()
    arrivals.wake()

    with pytest.raises(TimeoutError):
        await asyncio.wait_for(arrivals.wait(), 10)


async def test_who_was_cancelled_is_forgotten() -> None:
    arrivals = Arrivals()
    waiting = asyncio.create_task(arrivals.wait())
    await asyncio.sleep(0)
    waiting.cancel()

    arrivals.wake()
    await asyncio.wait((waiting,))

    assert waiting.cancelled()
    assert not arrivals._waiting
