"""The line of events on their way to the API server: bounded, patient, and never in anybody's way.

What does not fit in the line is dropped and counted.  A write is tried twelve times, ten seconds
apart, as by client-go, while the server is away; what the server refuses is given up.

Upstream: client-go/tools/record/event.go, recordToSink;
client-go/tools/events/event_broadcaster.go, attemptRecording
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Self

from reflet.errors import (
    CredentialsError,
    DecodeError,
    RefletError,
    ServerTimeout,
    ServiceUnavailable,
    TooManyRequests,
    TransportError,
)
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import Metrics, guarded
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import came_within, timeout_by

MOST_WAITING: Final = 1000
TRIES: Final = 12
PAUSE: Final = 10.0  # seconds between two tries
LAST_WORDS: Final = 5.0  # seconds that leaving may take: a leader that lost is to be gone soon
_PASSING: Final = (
    CredentialsError,
    DecodeError,  # of an answer that came garbled: its name shows whether the event is there
    TransportError,
    TooManyRequests,
    ServerTimeout,
    ServiceUnavailable,
    OSError,  # descriptors or memory ran out on the way to the server
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Write:
    """How an event is written, and what is done when it cannot be."""

    send: Callable[[], Awaitable[None]]
    give_up: Callable[[], None]


class EventSender:
    """Sends one write of *component* after the other while its block, or ``run``, lasts.

    Leaving the block gives what waits ``LAST_WORDS`` seconds; what is left then is dropped.
    """

    def __init__(
        self, component: str, *, clock: Clock | None, metrics: Metrics, pause: float = PAUSE
    ) -> None:
        self.clock = clock or SystemClock()
        self._name = f"events of {component}"
        self._metrics = guarded(metrics)
        self._pause = pause
        self._waiting: asyncio.Queue[Write] = asyncio.Queue(MOST_WAITING)
        self._last_call = asyncio.Event()
        self._tasks = TaskOwner(self._name)

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._tasks.start(self.run(), name=self._name)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            async with timeout_by(self.clock, LAST_WORDS):
                await self.sent()
        except TimeoutError:
            logger.warning("%s: not all were sent before the end", self._name)
            while not self._waiting.empty():
                self._waiting.get_nowait()
                self.count("dropped")
        finally:
            await self._tasks.__aexit__(*failure)

    def put(self, write: Write) -> None:
        """Let a write wait for its turn, unless too many do."""
        try:
            self._waiting.put_nowait(write)
        except asyncio.QueueFull:
            self.count("dropped")

    def count(self, result: str) -> None:
        """Count what became of an event."""
        self._metrics.count("reflet_events_total", result=result)

    async def run(self) -> None:
        """Send what waits until cancelled."""
        while True:
            write = await self._waiting.get()
            try:
                await self._send(write)
            finally:
                self._waiting.task_done()

    async def sent(self) -> None:
        """Return when nothing waits any more; for the end, when there is no time for retries.

        What waits for a server that was away is tried once more, at once, and then given up.
        """
        self._last_call.set()
        try:
            await self._waiting.join()
        finally:
            self._last_call.clear()

    async def _send(self, write: Write) -> None:
        for attempt in range(TRIES):
            is_last = self._last_call.is_set()
            try:
                await write.send()
            except _PASSING as error:
                if attempt == 0:
                    logger.info("an event waits for the server: %s", error)
                if is_last:
                    break
                await came_within(self._last_call, self._pause, clock=self.clock)
            except RefletError as error:
                logger.warning("an event is refused: %s", error)
                break
            except Exception:
                # A mistake of ours, about one event: the others are still to be sent.
                logger.exception("an event cannot be sent")
                break
            else:
                self.count("sent")
                return
        write.give_up()
        self.count("failed")
