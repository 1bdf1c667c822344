"""How long a test waits for what must come: a time on a quiet machine, longer on a busy one.

A test that waits is never slower for having patience, and says nothing about the code when it has
too little: with four programs on each core everything takes four times as long.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, final

from tests.stalls import CHANCE

STALLED: Final = 10.0  # how much longer a test takes whose loop stands still now and then


def overload() -> float:
    """How many programs share a core, over the last minute; 1 when there are cores for all.

    Loops that were asked to stall count as so many programs.
    """
    return max(STALLED if CHANCE else 1.0, os.getloadavg()[0] / (os.cpu_count() or 1))


@final
class Deadline:
    """So many seconds from now, times the overload at the moment of asking."""

    def __init__(self, seconds: float) -> None:
        self._begun = time.monotonic()
        self._seconds = seconds

    @property
    def left(self) -> float:
        """Seconds that are left; none when it is over."""
        return max(0.0, self._begun + self._seconds * overload() - time.monotonic())

    @property
    def passed(self) -> bool:
        """Whether it has been too long."""
        return self.left == 0


@asynccontextmanager
async def within(seconds: float) -> AsyncIterator[None]:
    """``asyncio.timeout`` for what must come: so many seconds, times the overload."""
    loop, deadline = asyncio.get_running_loop(), Deadline(seconds)
    async with asyncio.timeout(None) as limit:
        timer: asyncio.TimerHandle

        def look() -> None:
            nonlocal timer
            if left := deadline.left:
                timer = loop.call_later(left, look)
            else:
                limit.reschedule(loop.time())

        timer = loop.call_later(seconds, look)
        try:
            yield
        finally:
            timer.cancel()
