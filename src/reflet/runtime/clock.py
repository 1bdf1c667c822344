"""The only door to time: what time it is, how much has passed, and how to wait.

Nobody above asks ``time`` or ``datetime`` directly, so a test can live through an hour in
milliseconds.

Upstream: k8s.io/utils/clock, Clock
"""

from __future__ import annotations

import asyncio
import time
from datetime import UTC, datetime
from typing import Protocol


class Clock(Protocol):
    """A wall clock to show to people and servers, and a stopwatch to measure with."""

    def now(self) -> datetime:
        """Return the wall time, aware and in UTC; it may jump when somebody sets the clock."""
        ...

    def monotonic(self) -> float:
        """Return seconds since some fixed moment; never goes back."""
        ...

    async def sleep(self, seconds: float, /) -> None:
        """Wait until ``monotonic()`` has grown by ``seconds``.

        - *seconds*: how long
        """
        ...


class SystemClock:
    """The clock of the machine, seen through the running event loop.

    Inside a loop the stopwatch is the loop's own, so sleeping, ``asyncio.timeout`` and
    ``monotonic()`` always agree, on a loop with virtual time too.  Outside any loop it is
    ``time.monotonic``, which is what the standard loops and uvloop count by; readings from
    inside a virtual loop must not be compared with those.
    """

    __slots__ = ()

    def now(self) -> datetime:
        """Return the machine's wall time in UTC."""
        return datetime.now(UTC)

    def monotonic(self) -> float:
        """Return the running loop's time, or the machine's where no loop runs."""
        try:
            loop = asyncio.get_running_loop()
        except RuntimeError:
            return time.monotonic()
        return loop.time()

    async def sleep(self, seconds: float, /) -> None:
        """Wait in the running loop; zero or less only lets the other tasks go first."""
        await asyncio.sleep(seconds)
