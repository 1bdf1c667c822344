"""Ways to wait: with an end, until something comes, and for a call that others want too.

- ``timeout_by``: a block, or a time by somebody's clock, whichever ends first.  Not
  ``asyncio.timeout``, which counts by the event loop: where a clock is given, that would pass at
  another pace than all that is measured by the clock.
- ``came_within``: the same for an event.
- ``Arrivals``: wakes whoever waits for something to come.
- ``SharedCalls``: one call for all who want its result at the same time.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from reflet.runtime.clock import Clock


@asynccontextmanager
async def timeout_by(clock: Clock, seconds: float | None) -> AsyncIterator[asyncio.Timeout]:
    """Raise TimeoutError in a block that takes longer, by *clock*.  None waits for ever.

    ``expired`` of what the block is given says whether a TimeoutError was this one.
    """
    if seconds is None:
        yield asyncio.timeout(None)
        return
    loop = asyncio.get_running_loop()
    is_open = True

    def end(timer: asyncio.Task[None]) -> None:
        if is_open and not timer.cancelled():
            limit.reschedule(loop.time())

    async with asyncio.timeout(None) as limit:
        timer = loop.create_task(clock.sleep(seconds), name="end of a wait")
        timer.add_done_callback(end)
        try:
            yield limit
        finally:
            is_open = False
            timer.cancel()


async def came_within(event: asyncio.Event, seconds: float | None, *, clock: Clock) -> bool:
    """Wait for an event, but not longer; whether it came.  None waits for ever.

    An event that is set already came, however short the time.
    """
    if event.is_set():
        return True
    try:
        async with timeout_by(clock, seconds):
            await event.wait()
    except TimeoutError:
        return event.is_set()
    return True


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


Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


@dataclass(slots=True)
class _Shared(Generic[Result]):
    task: asyncio.Task[Result]
    waiting: int = 0


class SharedCalls(Generic[Key, Result]):
    """Makes calls, each once at a time for its key; used by one event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._running: dict[Key, _Shared[Result]] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._running

    async def result(self, key: Key, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Return, or raise, what the call does; *call* is made unless one is under way.

        Whoever is cancelled takes the call from nobody; the last one who waits takes it along.
        """
        shared = self._running.get(key)
        if shared is None:
            shared = self._running[key] = _Shared(asyncio.create_task(call(), name=self._name))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if shared.task.done() or not shared.waiting:
                self._forget(key, shared)
            if not shared.waiting and not shared.task.done():
                shared.task.cancel()
                await asyncio.wait((shared.task,))

    def _forget(self, key: Key, shared: _Shared[Result]) -> None:
        if self._running.get(key) is shared:
            del self._running[key]
