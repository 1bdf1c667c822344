"""The line of events goes on whatever one of them does, and ends in time.

What is done about a server that is away is tested with the node's events, in
tests/unit/node/status/test_node_events.py.
"""

from __future__ import annotations

import asyncio
import logging

import pytest

from reflet.controllers.event_sender import LAST_WORDS, EventSender, Write
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import VirtualClock
from tests.faults.hurry import RATE, HurriedClock

pytestmark = pytest.mark.virtual_time


def sender(metrics: MemoryMetrics) -> EventSender:
    return EventSender("events", clock=VirtualClock(), metrics=metrics)


async def never_answered() -> None:
    await asyncio.sleep(1_000_000)


def given_up() -> None:
    pass


async def test_a_mistake_in_one_event_is_logged_and_the_others_are_sent(
    caplog: pytest.LogCaptureFixture,
) -> None:
    metrics, sent = MemoryMetrics(), []

    async def mistaken() -> None:
        raise TypeError("not a string")

    async def well() -> None:
        sent.append("well")

    async with sender(metrics) as sending:
        sending.put(Write(mistaken, given_up))
        sending.put(Write(well, given_up))

    assert sent == ["well"]
    assert metrics.counted("reflet_events_total", result="failed") == 1
    assert [each.levelno for each in caplog.records] == [logging.ERROR]


async def test_leaving_does_not_wait_for_a_server_that_answers_nothing() -> None:
    metrics, loop = MemoryMetrics(), asyncio.get_running_loop()
    async with sender(metrics) as sending:
        for _ in range(3):
            sending.put(Write(never_answered, given_up))
        await asyncio.sleep(1)

    assert loop.time() == 1 + LAST_WORDS
    assert metrics.counted("reflet_events_total", result="dropped") == 2


async def test_leaving_takes_so_long_by_the_clock_that_is_given() -> None:
    loop = asyncio.get_running_loop()
    async with EventSender("events", clock=HurriedClock(), metrics=MemoryMetrics()) as sending:
        sending.put(Write(never_answered, given_up))

    assert loop.time() == pytest.approx(LAST_WORDS / RATE)
