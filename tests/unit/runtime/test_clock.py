from __future__ import annotations

import asyncio
import time
from datetime import timedelta

import pytest

from reflet.runtime.clock import Clock, SystemClock


def test_wall_time_is_in_utc() -> None:
    assert SystemClock().now().utcoffset() == timedelta(0)


async def test_inside_a_loop_the_stopwatch_is_the_loops() -> None:
    before = asyncio.get_running_loop().time()

    reading = SystemClock().monotonic()

    assert before <= reading <= asyncio.get_running_loop().time()


def test_outside_a_loop_the_stopwatch_is_the_machines() -> None:
    before = time.monotonic()

    reading = SystemClock().monotonic()

    assert before <= reading <= time.monotonic()


@pytest.mark.virtual_time
async def test_on_a_virtual_loop_sleeping_and_measuring_agree() -> None:
    clock: Clock = SystemClock()

    await clock.sleep(3600)

    assert clock.monotonic() == 3600
