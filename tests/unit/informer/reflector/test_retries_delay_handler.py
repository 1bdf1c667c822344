from __future__ import annotations

import pytest

from reflet.errors import TooManyRequests, TransportError
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.retries import LONGEST_ASKED_DELAY, DelayHandler
from reflet.runtime.backoff import Backoff
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.virtual_time import ManualClock


@pytest.mark.parametrize(
    ("error", "waited"),
    [
        (None, 2),
        (TransportError("reset"), 2),
        (TooManyRequests("slow down", retry_after=1), 2),
        (TooManyRequests("slow down", retry_after=17), 17),
        (TooManyRequests("slow down", retry_after=86_400), LONGEST_ASKED_DELAY),
    ],
)
async def test_it_waits_as_long_as_the_back_off_or_the_server_says(
    error: Exception | None, waited: float
) -> None:
    clock = ManualClock()
    backoff = Backoff(first=2, jitter=0, clock=clock)

    await DelayHandler(clock, ReflectorMetrics(MemoryMetrics(), "test"), backoff=backoff).wait(
        error
    )

    assert clock.monotonic() == waited


async def test_a_series_of_its_own_begins_when_it_is_told_to() -> None:
    clock = ManualClock()
    delays = DelayHandler(clock, ReflectorMetrics(MemoryMetrics(), "test"), chance=lambda: 0.0)
    clock.advance(1000)
    delays.begin()
    waited = []

    for _ in range(8):
        began = clock.monotonic()
        await delays.wait()
        waited.append(round(clock.monotonic() - began, 1))
        clock.advance(10)

    # The reset comes when more than two minutes have passed since the beginning.
    assert waited == [0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30.0, 0.8]
