"""From changes to calls of a function, key by key, until the world is as it should be.

A controller is a work queue between mirrors and a function: changes add keys, workers call the
function with one key at a time, and what it returns or raises decides when the key comes again.
The function reads the present state from the mirrors; what led to the call it is not told, so that
one call makes up for any number of missed ones.

Upstream: controller-runtime/pkg/internal/controller/controller.go, reconcileHandler
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias, TypedDict, Unpack, cast

from reflet.controllers.triggers import Predicate, Trigger, itself, priority_of
from reflet.controllers.work_queue import QueueShutDown, WorkQueue
from reflet.errors import ConfigurationError, Conflict, MisuseError
from reflet.informer.handlers.changes import Change, is_asynchronous
from reflet.informer.mirror import Mirror
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.waits import timeout_by

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more to do until something changes; the same as None."""


@dataclass(frozen=True, slots=True)
class Requeue:
    """Call again in *after* seconds, or earlier if something changes."""

    after: float


class TerminalError(Exception):
    """Raised by a function for what no further attempt would mend: it is told, and not retried."""


Result: TypeAlias = Done | Requeue | None
Reconcile: TypeAlias = Callable[[str], Awaitable[Result] | Result]
"""A coroutine function, or a plain one, that is called with a key: ``namespace/name``."""


class Elected(Protocol):
    """Somebody who knows whether this process leads."""

    @property
    def is_leading(self) -> bool:
        """Whether it leads at this moment."""
        ...


class ControllerOptions(TypedDict, total=False):
    """How a controller works; ``Controller`` says what each means, and has the defaults."""

    watches: Sequence[Trigger[Any]]
    predicate: Predicate[Any] | None
    workers: int
    timeout: float | None
    queue: WorkQueue[str] | None
    elected: Elected | None
    executor: Executor | None
    name: str
    metrics: Metrics
    clock: Clock | None


class Controller:
    """Calls *function* for every object of *source*, whenever it or what it depends on changes.

    ::

        async with cluster.mirror(Deployment) as deployments, cluster.mirror(Pod) as pods:
            await Controller(deployments, work_on, watches=[owned(pods, DEPLOYMENTS)]).run()

    A key is never worked on twice at the same time.  What the function raises is told in one line,
    with the traceback for those who log DEBUG, and the key comes again after a back-off; a
    ``TerminalError`` is not tried again.  *timeout* seconds after its start a call is cancelled,
    which is an error as any other.  A plain function runs in *executor*, by default one with a
    thread for each worker; it cannot be cancelled, so it can have no timeout.

    *predicate* leaves out changes of *source* itself.  With *elected* no call begins when it does
    not lead.  Work begins when *source* and all *watches* that are not optional are synced.
    """

    def __init__(
        self,
        source: Mirror[Any],
        function: Reconcile,
        *,
        watches: Sequence[Trigger[Any]] = (),
        predicate: Predicate[Any] | None = None,
        workers: int = 1,
        timeout: float | None = None,
        queue: WorkQueue[str] | None = None,
        elected: Elected | None = None,
        executor: Executor | None = None,
        name: str = "",
        metrics: Metrics = NO_METRICS,
        clock: Clock | None = None,
    ) -> None:
        if workers < 1:
            raise ConfigurationError(f"workers must be at least 1, not {workers}")
        self._is_asynchronous = is_asynchronous(cast("Any", function))
        if timeout is not None and not self._is_asynchronous:
            raise ConfigurationError(
                "a plain function cannot be cancelled, so it can have no timeout: make it async"
            )
        self.name = name or source.resource.full_name
        self._clock = clock or SystemClock()
        self._metrics = guarded(metrics)
        if queue is None:  # one that is empty is false
            queue = WorkQueue(self.name, metrics=self._metrics, clock=self._clock)
        self.queue = queue
        self._triggers = (itself(source, predicate=predicate), *watches)
        self._function = function
        self._workers = workers
        self._timeout = timeout
        self._elected = elected
        self._executor = executor
        self._is_working = False
        self._has_run = False
        self._active: dict[str, float] = {}

    @property
    def is_ready(self) -> bool:
        """Whether everything is synced and the workers work: what a readiness probe asks."""
        return self._is_working and all(
            trigger.optional or trigger.mirror.is_synced for trigger in self._triggers
        )

    def longest_call(self) -> float:
        """For how many seconds the call that has been under way longest has been: 0 for none."""
        now = self._clock.monotonic()
        return max((now - began for began in self._active.values()), default=0.0)

    def stop(self) -> None:
        """Begin no more calls; ``run`` returns when those that are under way have ended."""
        self.queue.shut_down()

    async def run(self) -> None:
        """Work until ``stop``, or until cancelled, which cancels the calls that are under way."""
        if self._has_run:
            raise MisuseError("a controller runs once")
        self._has_run = True
        registrations = [
            (each.mirror, each.mirror.add_handler(self._handler(each), name=f"{self.name} queue"))
            for each in self._triggers
        ]
        try:
            with ExitStack() as closing:
                self._open_executor(closing)
                await self._until_synced()
                async with asyncio.TaskGroup() as group:
                    for number in range(self._workers):
                        group.create_task(self._work(), name=f"{self.name} worker {number}")
                    self._is_working = True
        finally:
            self._is_working = False
            self.queue.shut_down()
            for mirror, registration in registrations:
                mirror.remove_handler(registration)

    # inside

    def _handler(self, trigger: Trigger[Any]) -> Callable[[Change[Any]], Awaitable[None]]:
        async def enqueue(change: Change[Any]) -> None:
            for key in trigger.keys(change):
                await self.queue.put(key, priority=priority_of(change))

        return enqueue

    def _open_executor(self, closing: ExitStack) -> None:
        if not self._is_asynchronous and self._executor is None:
            self._executor = closing.enter_context(
                ThreadPoolExecutor(self._workers, thread_name_prefix=self.name)
            )

    async def _until_synced(self) -> None:
        for trigger in self._triggers:
            if not trigger.optional:
                await trigger.mirror.synced()

    async def _work(self) -> None:
        while True:
            try:
                key = await self.queue.get()
            except QueueShutDown:
                return
            try:
                if self.queue.is_shut_down:
                    continue  # what has not begun need not: the next life begins with a list
                await self._reconcile(key)
            finally:
                self.queue.done(key)

    async def _reconcile(self, key: str) -> None:
        if self._elected is not None and not self._elected.is_leading:
            self.queue.add_rate_limited(key)
            return
        self._active[key] = began = self._clock.monotonic()
        try:
            async with timeout_by(self._clock, self._timeout):
                result = await self._call(key)
        except TerminalError as error:
            self._tell(key, error, "terminal_error", "not tried again")
            self.queue.forget(key)
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # it is the worker that is meant, not something that the function waited for
            delay = self.queue.add_rate_limited(key)
            self._tell(key, error, "error", f"again in {delay:.3g} s")
        else:
            self.queue.forget(key)
            if isinstance(result, Requeue):
                self.queue.add_after(key, result.after)
            self._count("requeue_after" if isinstance(result, Requeue) else "success")
        finally:
            del self._active[key]
            took = self._clock.monotonic() - began
            self._metrics.observe("reflet_reconcile_duration_seconds", took, controller=self.name)

    async def _call(self, key: str) -> Result:
        if self._is_asynchronous:
            return await cast("Awaitable[Result]", self._function(key))
        loop = asyncio.get_running_loop()
        call = cast("Callable[[str], Result]", self._function)
        calling = loop.run_in_executor(self._executor, call, key)
        try:
            return await asyncio.shield(calling)
        except asyncio.CancelledError:
            # A thread cannot be cancelled, and the key must not be given to another meanwhile.
            while not calling.done():
                try:
                    await asyncio.wait((calling,))
                except asyncio.CancelledError:
                    continue
            raise

    def _tell(self, key: str, error: BaseException, result: str, what_next: str) -> None:
        words = f"{type(error).__name__}: {error}"
        if isinstance(error, TimeoutError) and not str(error):
            words = f"no end after {self._timeout:g} s"
        # A conflict is how one hears that the mirror was a moment behind: nothing to look after.
        level = logging.INFO if isinstance(error, Conflict) else logging.WARNING
        logger.log(level, "%s: %s failed, %s: %s", self.name, key, what_next, words)
        logger.debug("%s: %s failed", self.name, key, exc_info=error)
        self._count(result)

    def _count(self, result: str) -> None:
        self._metrics.count("reflet_reconcile_total", controller=self.name, result=result)


async def reconcile(
    source: Mirror[Any], function: Reconcile, **options: Unpack[ControllerOptions]
) -> None:
    """Run a ``Controller`` until it is cancelled; *options* are those of ``Controller``."""
    await Controller(source, function, **options).run()
