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
from typing import Any, Final, Protocol, TypeAlias, TypedDict, Unpack, cast

from reflet.controllers.triggers import Predicate, Trigger, itself, priority_of
from reflet.controllers.work_queue import QueueFull, QueueShutDown, WorkQueue
from reflet.errors import ConfigurationError, Conflict, MisuseError
from reflet.informer.handlers.changes import Change, is_asynchronous
from reflet.informer.mirror import Mirror
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.waits import timeout_by

LOG_AGAIN_AFTER: Final = 600.0
"""Seconds after which a key that still fails for the same reason is logged again."""
LONGEST_TURN: Final = 0.01
"""Seconds that workers may take from the event loop: calls that wait for nothing let nobody else
run, and thousands of them in a row would cost a leader its Lease."""
LOOK_AGAIN_AFTER: Final = 1.0  # seconds between two looks at whether this process leads by now

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Done:
    """Nothing more to do until something changes; the same as None."""


@dataclass(frozen=True, slots=True)
class Requeue:
    """Call again in *after* seconds, or earlier if something changes."""

    after: float


class TerminalError(Exception):
    """Raised by a function for what no retry would fix: it is reported, and not retried."""


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

    A key is never worked on twice at the same time.  After an error the key comes again, later each
    time; a ``TerminalError`` is not tried again.  *timeout* seconds after its start a call is
    cancelled, which is an error as any other.  A plain function runs in *executor*, by default one
    with a thread for each worker; it cannot be cancelled, so it can have no timeout.

    An error is one line of log, a warning; the traceback is logged at DEBUG.  While the key
    fails for the same reason the line comes again every ten minutes, not at every attempt; another
    reason is logged at once, and so is the end of it.  A ``Conflict`` is no warning: it is how one
    hears that the mirror was a moment behind.

    *predicate* leaves out changes of *source* itself.  With *elected* no call begins when it does
    not lead: the keys wait, and are worked on within a second when it does.  Work begins when
    *source* and all *watches* that are not optional are synced.

    - *workers*: how many calls may be under way at the same time
    - *queue*: the work queue; None makes one of its own
    - *name*: what logs and metrics call it; the resource of *source* unless given
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
        self._syncing: asyncio.Timeout | None = None
        self._active: dict[str, float] = {}
        self._failing: dict[str, _Failing] = {}

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
        if self._syncing is not None:
            self._syncing.reschedule(0.0)
            self._syncing = None

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

    def _handler(self, trigger: Trigger[Any]) -> Callable[[Change[Any]], Awaitable[None] | None]:
        add = self.queue.add

        def enqueue(change: Change[Any]) -> Awaitable[None] | None:
            keys, priority = trigger.keys(change), priority_of(change)
            for number, key in enumerate(keys):
                try:
                    add(key, priority=priority)
                except QueueFull:
                    return self._put(keys[number:], priority)
            return None

        return enqueue

    async def _put(self, keys: Sequence[str], priority: int) -> None:
        for key in keys:
            await self.queue.put(key, priority=priority)

    def _open_executor(self, closing: ExitStack) -> None:
        if not self._is_asynchronous and self._executor is None:
            self._executor = closing.enter_context(
                ThreadPoolExecutor(self._workers, thread_name_prefix=self.name)
            )

    async def _until_synced(self) -> None:
        """Wait until the mirrors are, or until ``stop``."""
        if self.queue.is_shut_down:
            return
        try:
            async with asyncio.timeout(None) as self._syncing:
                for trigger in self._triggers:
                    if not trigger.optional:
                        await trigger.mirror.synced()
        except TimeoutError:
            if not self.queue.is_shut_down:
                raise
        finally:
            self._syncing = None

    async def _work(self) -> None:
        turn = LONGEST_TURN / self._workers
        turn_ends = self._clock.monotonic() + turn
        while True:
            try:
                key = await self.queue.get()
            except QueueShutDown:
                return
            try:
                if self._elected is not None:
                    await self._until_leading(self._elected)
                if self.queue.is_shut_down:
                    continue  # what has not begun need not: the next life begins with a list
                ended = await self._reconcile(key)
            finally:
                self.queue.done(key)
            if ended >= turn_ends:
                await asyncio.sleep(0)
                turn_ends = self._clock.monotonic() + turn

    async def _until_leading(self, elected: Elected) -> None:
        while not elected.is_leading and not self.queue.is_shut_down:
            await self._clock.sleep(LOOK_AGAIN_AFTER)

    async def _reconcile(self, key: str) -> float:
        """Call the function, and decide when the key comes again; return when it ended."""
        self._active[key] = began = self._clock.monotonic()
        try:
            result = await self._call(key)
        except TerminalError as error:
            self.queue.forget(key)
            self._failing.pop(key, None)
            self._log(logging.WARNING, key, error, "not tried again")
            self._count("terminal_error")
        except (Exception, asyncio.CancelledError) as error:
            task = asyncio.current_task()
            if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
                raise  # it is the worker that is meant, not something that the function waited for
            self._failed(key, error, self.queue.add_rate_limited(key))
        else:
            self._succeeded(key, result)
        finally:
            del self._active[key]
            ended = self._clock.monotonic()
            self._metrics.observe(
                "reflet_reconcile_duration_seconds", ended - began, controller=self.name
            )
        return ended

    async def _call(self, key: str) -> Result:
        if not self._is_asynchronous:
            return await self._call_in_thread(key)
        call = cast("Callable[[str], Awaitable[Result]]", self._function)
        if self._timeout is None:
            return await call(key)
        try:
            async with timeout_by(self._clock, self._timeout) as limit:
                return await call(key)
        except TimeoutError as error:
            if not limit.expired():
                raise  # one of the function's own
            raise TimeoutError(f"no end after {self._timeout:g} s") from error

    async def _call_in_thread(self, key: str) -> Result:
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

    def _succeeded(self, key: str, result: Result) -> None:
        self.queue.forget(key)
        if self._failing and (failing := self._failing.pop(key, None)) is not None:
            logger.info("%s: %s works again, failed %s", self.name, key, _times(failing.times))
        if isinstance(result, Requeue):
            self.queue.add_after(key, result.after)
            self._count("requeue_after")
        else:
            self._count("success")

    def _failed(self, key: str, error: BaseException, delay: float) -> None:
        self._count("error")
        if isinstance(error, Conflict):
            self._log(logging.INFO, key, error, f"again in {delay:.3g} s")
            return
        now, words = self._clock.monotonic(), _words(error)
        failing = self._failing.setdefault(key, _Failing())
        failing.times += 1
        is_news = failing.words != words or now >= failing.logged + LOG_AGAIN_AFTER
        if is_news:
            failing.words, failing.logged = words, now
        how_often = f"{_times(failing.times)}, " if failing.times > 1 else ""
        level = logging.WARNING if is_news else logging.DEBUG
        self._log(level, key, error, f"{how_often}again in {delay:.3g} s")

    def _log(self, level: int, key: str, error: BaseException, what_next: str) -> None:
        logger.log(level, "%s: %s failed, %s: %s", self.name, key, what_next, _words(error))
        logger.debug("%s: %s failed", self.name, key, exc_info=error)

    def _count(self, result: str) -> None:
        self._metrics.count("reflet_reconcile_total", controller=self.name, result=result)


@dataclass(slots=True)
class _Failing:
    """A key that fails: how often it has, for which reason, and when that was logged."""

    times: int = 0
    words: str = ""
    logged: float = 0.0


def _words(error: BaseException) -> str:
    return f"{type(error).__name__}: {error}"


def _times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


async def reconcile(
    source: Mirror[Any], function: Reconcile, **options: Unpack[ControllerOptions]
) -> None:
    """Run a ``Controller`` until it is cancelled; *options* are those of ``Controller``."""
    await Controller(source, function, **options).run()
