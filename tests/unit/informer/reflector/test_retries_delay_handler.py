from __future__ import annotations

import pytest

from reflet.errors import TooManyRequests, TransportError
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.retries import LONGEST_ASKED_DELAY, DelayHandler
from reflet.runtime.backoff import Backoff
from reflet.runtime.metrics import MemoryMetrics
from reflet.testing.manual_clock import ManualClock


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

    await DelayHandler(clock, backoff, ReflectorMetrics(MemoryMetrics(), "test")).wait(error)

    assert clock.monotonic() == waited
