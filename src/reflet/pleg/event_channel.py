"""Events on their way from the one who sees to the one who acts.

Owns: the order and the limit of what waits.  Must not know what events mean.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from typing import Self

from reflet.pleg.pod_events import PodEvent


class EventChannel:
    """Events to iterate, at most *capacity* of them waiting.

    ::

        async for event in channel:
            workers[event.uid].wake()

    ``put`` never waits: what does not fit is dropped and counted, so whoever acts on events
    also looks by himself from time to time.  Several tasks that iterate share the events: each
    event comes to one of them.  After ``close``, the iteration ends with the last event that
    waited.  Used by one event loop.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a channel for {capacity} events can carry none")
        self._capacity = capacity
        self._waiting: deque[PodEvent] = deque()
        self._closed = False
        self._dropped = 0
        # Set while something waits, and once when nothing more will.
        self._ready = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def dropped(self) -> int:
        """How many events did not fit."""
        return self._dropped

    def put(self, event: PodEvent) -> bool:
        """Let *event* wait behind the others; False when it is dropped."""
        if self._closed or len(self._waiting) >= self._capacity:
            self._dropped += 1
            return False
        self._waiting.append(event)
        self._ready.set()
        return True

    def take_all(self) -> Sequence[PodEvent]:
        """Take what waits, in order, without waiting for more."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        self._rest()
        return taken

    def close(self) -> None:
        """Say that nothing more comes; harmless when it was said before."""
        self._closed = True
        self._ready.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PodEvent:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            await self._ready.wait()
        event = self._waiting.popleft()
        self._rest()
        return event

    def _rest(self) -> None:
        if not self._waiting:
            self._ready.clear()
