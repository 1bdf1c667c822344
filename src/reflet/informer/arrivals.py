"""Waiting for something to come.

Owns: who waits, and waking them.  Must not know what comes, nor who takes it.
"""

from __future__ import annotations

import asyncio


class Arrivals:
    """Wakes whoever waits; each looks again whether there is something left to take.

    Used by one event loop; any number of tasks may wait.  One that is cancelled leaves nothing
    behind.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: set[asyncio.Future[None]] = set()

    async def wait(self) -> None:
        """Return after the next ``wake``."""
        waiter = asyncio.get_running_loop().create_future()
        self._waiting.add(waiter)
        try:
            await waiter
        finally:
            self._waiting.discard(waiter)

    def wake(self) -> None:
        """Something came, or nothing more will."""
        for waiter in self._waiting:
            if not waiter.done():
                waiter.set_result(None)
