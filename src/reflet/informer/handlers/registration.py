"""A handler's place at an informer: how it is told, and when it has heard everything.

client-go calls it processorListener.  A slow handler holds back nobody but itself: what waits for
it is in ``handler_queue``, which is bounded where client-go's buffer grows.

Upstream: client-go/tools/cache/shared_informer.go, processorListener,
ResourceEventHandlerRegistration
"""

from __future__ import annotations

import asyncio
import contextlib
import inspect
import logging
from collections.abc import Sequence
from concurrent.futures import Executor
from typing import Final, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.informer.handlers.changes import Change, Handler, is_asynchronous
from reflet.informer.handlers.handler_queue import BACKLOG_LIMIT, HandlerQueue
from reflet.informer.queues.delta_fifo import QueueClosed
from reflet.runtime.clock import Clock
from reflet.runtime.latch import Latch
from reflet.runtime.metrics import Metrics

T = TypeVar("T", bound=KubernetesObject)

PAUSE_AFTER_FAILURE: Final = 1.0
"""Seconds; client-go's pause, which keeps a broken handler from filling the log."""

logger = logging.getLogger(__name__)


class Registration(Generic[T]):
    """One handler and what waits for it.  ``tell`` never waits; ``run`` delivers until ``stop``.

    ``synced`` is set when the handler has been called, and has finished, with every object that
    was there when it began.  A handler that fails at one of those never counts as synced.
    Plain functions run on the event loop, or in *executor* when there is one.  Once ``run`` has
    ended the handler does not run any more, in no thread.

    - *handler*: what is called with each change
    - *name*: what logs and metrics call the handler
    - *backlog_limit*: changes that may wait before those of one key merge
    """

    def __init__(
        self,
        handler: Handler[T],
        *,
        name: str,
        clock: Clock,
        metrics: Metrics,
        executor: Executor | None = None,
        backlog_limit: int = BACKLOG_LIMIT,
    ) -> None:
        self.name = name
        self.synced = Latch()
        self._queue: HandlerQueue[T] = HandlerQueue(name, limit=backlog_limit)
        self._handler = handler
        self._executor = None if is_asynchronous(handler) else executor
        self._clock = clock
        self._metrics = metrics
        self._behind_since: float | None = None
        self._merged = 0
        self._initial_left = 0
        self._initial_complete = False

    def __repr__(self) -> str:
        return f"<Registration {self.name}, {self.waiting} waiting>"

    @property
    def waiting(self) -> int:
        """How many changes wait for the handler."""
        return len(self._queue)

    @property
    def merged(self) -> int:
        """How many changes the handler was spared because later ones made them needless."""
        return self._queue.merged

    def tell(self, changes: Sequence[Change[T]]) -> None:
        """Let *changes* wait for the handler."""
        if self._behind_since is None:
            self._behind_since = self._clock.monotonic()
        self._queue.put(changes)

    def tell_initial(self, changes: Sequence[Change[T]]) -> None:
        """The same for objects that were there when the handler began: it syncs after these.

        - *changes*: one for each object
        """
        self._initial_left += sum(change.initial for change in changes)
        self.tell(changes)

    def initial_complete(self) -> None:
        """There are no more initial objects than those given so far."""
        self._initial_complete = True
        self._check_synced()

    def stop(self) -> None:
        """Do not call the handler any more; what waits is dropped.  ``run`` ends soon."""
        self._queue.close()

    async def next(self) -> Sequence[Change[T]]:
        """What waits, for readers instead of handlers; QueueClosed after ``stop``."""
        changes = await self._queue.get()
        self._note_pace()
        return changes

    async def run(self) -> None:
        """Call the handler with what waits, in order, until ``stop``."""
        while True:
            try:
                changes = await self._queue.get()
            except QueueClosed:
                return
            await self._deliver(changes)
            self._note_pace()
            # A handler that is never idle must not keep the loop from the others.
            await asyncio.sleep(0)

    async def _deliver(self, changes: Sequence[Change[T]]) -> None:
        while changes:
            told, failure = await self._attempt(changes)
            if not self.synced.is_set:
                self._initial_left -= sum(change.initial for change in changes[:told])
                self._check_synced()
            if failure is None:
                return
            failed = changes[told]
            logger.error(
                "handler %s failed at %s %s: %r",
                self.name,
                failed.type,
                failed.key,
                failure,
                exc_info=failure,
            )
            self._metrics.count("reflet_handler_failures_total", handler=self.name)
            await self._clock.sleep(PAUSE_AFTER_FAILURE)
            changes = changes[told + 1 :]

    async def _attempt(self, changes: Sequence[Change[T]]) -> tuple[int, BaseException | None]:
        """Tell *changes*; how many were told, and what stopped it."""
        if self._executor is None:
            return await self._tell_here(changes)
        loop = asyncio.get_running_loop()
        telling = loop.run_in_executor(self._executor, self._tell_in_thread, changes)
        try:
            return await asyncio.shield(telling)
        except asyncio.CancelledError:
            # A thread cannot be cancelled, and nothing of ours runs once we have ended: not even
            # where whoever waits for our end is cancelled too, and cancels us once more.
            self.stop()
            while not telling.done():
                with contextlib.suppress(asyncio.CancelledError):
                    await asyncio.wait((telling,))
            raise

    async def _tell_here(self, changes: Sequence[Change[T]]) -> tuple[int, BaseException | None]:
        handler = self._handler
        queue = self._queue
        for position, change in enumerate(changes):
            if queue.closed:
                return position, None
            try:
                outcome = handler(change)
                if outcome is not None and inspect.isawaitable(outcome):
                    await outcome
            except asyncio.CancelledError as error:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise
                return position, error  # of something that the handler waited for
            except Exception as error:  # noqa: BLE001 - a handler may fail as it likes
                return position, error
        return len(changes), None

    def _tell_in_thread(self, changes: Sequence[Change[T]]) -> tuple[int, BaseException | None]:
        for position, change in enumerate(changes):
            if self._queue.closed:
                return position, None
            try:
                outcome = self._handler(change)
                if inspect.iscoroutine(outcome):
                    outcome.close()
                    raise TypeError(f"handler {self.name} in an executor must be a plain function")
            except Exception as error:  # noqa: BLE001 - a handler may fail as it likes
                return position, error
        return len(changes), None

    def _note_pace(self) -> None:
        now = self._clock.monotonic()
        behind_since = now if self._behind_since is None else self._behind_since
        if not self.waiting:
            self._behind_since = None
        gauge = self._metrics.gauge
        gauge("reflet_handler_waiting", self.waiting, handler=self.name)
        gauge("reflet_handler_behind_seconds", now - behind_since, handler=self.name)
        merged = self.merged
        if merged != self._merged:
            count = merged - self._merged
            self._metrics.count("reflet_handler_merged_total", count, handler=self.name)
            self._merged = merged

    def _check_synced(self) -> None:
        if self._initial_complete and self._initial_left <= 0:
            self.synced.set()
