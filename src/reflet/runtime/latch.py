"""Something that happens once, and that many wait for: a one-way latch.

It may be set in one thread and waited for in the loops of others.
"""

from __future__ import annotations

import asyncio
import threading


class Latch:
    """Open at first, set once, never open again.

    ``is_set`` and ``set`` may be used from any thread.  Tasks of any number of event loops may
    wait; each wakes in its own loop, without polling.  A waiter that is cancelled, by
    ``asyncio.timeout`` for example, leaves nothing behind::

        async with asyncio.timeout(10):
            await synced.wait()
    """

    __slots__ = ("_lock", "_set", "_waiters")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._set = False
        # A dictionary, because waiters wake in the order in which they came.
        self._waiters: dict[asyncio.Future[None], None] = {}

    @property
    def is_set(self) -> bool:
        """Whether it has happened; once true, always true."""
        return self._set

    def set(self) -> bool:
        """Set the latch and wake waiters; false when it was set before."""
        with self._lock:
            if self._set:
                return False
            self._set = True
            waiters = list(self._waiters)
            self._waiters.clear()
        if not waiters:
            return True
        here = _running_loop()
        for waiter in waiters:
            loop = waiter.get_loop()
            if loop is here:
                _wake(waiter)
                continue
            try:
                loop.call_soon_threadsafe(_wake, waiter)
            except RuntimeError:
                # The only RuntimeError of call_soon_threadsafe is that the loop is closed;
                # then nobody is left in it to wake.
                if not loop.is_closed():
                    raise
        return True

    async def wait(self) -> None:
        """Return once the latch is set: at once, without yielding, when it is already."""
        with self._lock:
            if self._set:
                return
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._waiters[waiter] = None
        try:
            await waiter
        finally:
            with self._lock:
                self._waiters.pop(waiter, None)

    def __repr__(self) -> str:
        return f"<Latch {'set' if self._set else 'open'}, {len(self._waiters)} waiting>"


def _wake(waiter: asyncio.Future[None]) -> None:
    # Between the call from another thread and this moment the waiter may have been cancelled.
    if not waiter.done():
        waiter.set_result(None)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
