"""An event loop on which hours pass in milliseconds, and a clock that a test turns by hand.

The contract of the loop:

- Time starts at 0 and stands still while anything is ready to run.  When nothing is, it jumps
  to the next timer.  ``asyncio.sleep``, ``asyncio.timeout`` and ``loop.call_later`` all obey,
  because all ask the loop.
- Sockets and pipes are real.  What is readable or writable is served before time jumps.  While
  any are registered, the outside world gets ``socket_timeout`` real seconds to answer before each
  jump; where no timer is set, it gets as long as it takes.  So two ends in this process can
  talk, and a peer in another process should not be raced against a timer.
- Work in threads (``loop.run_in_executor``, ``asyncio.to_thread``, name look-ups) takes real
  time: while some is under way, virtual time passes as real time does.
- When nothing is ready, no timer is set and no socket is open, nothing can ever happen again:
  the loop raises ``Deadlock``, which names the waiting tasks and the lines they wait in,
  instead of hanging.  If other threads live they get ``THREAD_TIMEOUT`` real seconds first,
  since one may be about to call back.

``ManualClock`` is for code that asks the time and does not wait.

Upstream: k8s.io/utils/clock/testing, FakeClock
"""

from __future__ import annotations

import asyncio
import selectors
import threading
import time
from collections.abc import Callable, Coroutine
from concurrent.futures import Executor
from datetime import UTC, datetime, timedelta
from types import CoroutineType
from typing import Any, Final, TypeVar, TypeVarTuple

Result = TypeVar("Result")
Arguments = TypeVarTuple("Arguments")
Events = list[tuple[selectors.SelectorKey, int]]
Select = Callable[[float | None], Events]

THREAD_TIMEOUT: Final = 5.0
DIGITS: Final = 9
"""Time is kept to the nanosecond, so that 0.1 + 0.2 is 0.3 here."""
RESOLUTION: Final = 1e-6
"""Seconds by which a timer may be early.  Far from 0 a float cannot hold nanoseconds, and a
timer that is never quite due would stop virtual time for good."""

START: Final = datetime(2025, 1, 1, tzinfo=UTC)


class Deadlock(RuntimeError):
    """Nothing can ever happen again on the loop; ``waiting`` says who waits, and where.

    - *waiting*: each task that waits, and where
    """

    def __init__(self, waiting: tuple[str, ...]) -> None:
        self.waiting = waiting
        who = "; ".join(waiting) if waiting else "no task at all"
        super().__init__(f"nothing is ready, no timer is set, no socket is open; waiting: {who}")


class VirtualTimeLoop(asyncio.SelectorEventLoop):
    """An event loop with the contract of this module.

    - *socket_timeout*: real seconds that open sockets get before virtual time jumps
    """

    def __init__(self, *, socket_timeout: float = 0.001) -> None:
        self._virtual_now = 0.0
        self._jobs_in_threads = 0
        self._socket_timeout = socket_timeout
        selector = _SelectorThatAsksFirst(self._events_before_time_moves)
        super().__init__(selector)
        self._clock_resolution = RESOLUTION  # where asyncio keeps how early a timer may be
        # The loop's own wake-up pipe is registered for ever and brings nothing by itself.
        self._own_descriptors = len(selector.get_map())

    def time(self) -> float:
        """Return the virtual seconds since the loop was made."""
        return self._virtual_now

    def run_in_executor(
        self,
        executor: Executor | None,
        func: Callable[[*Arguments], Result],
        *args: *Arguments,
    ) -> asyncio.Future[Result]:
        """Run ``func`` in a thread, in real time.

        - *executor*: the threads; None is the loop's own
        - *func*: what is called
        - *args*: its arguments
        """
        future = super().run_in_executor(executor, func, *args)
        self._jobs_in_threads += 1
        future.add_done_callback(self._job_ended)
        return future

    async def shutdown_default_executor(self, *limits: Any) -> None:
        """Wait, in real time, for the threads to end.

        - *limits*: as for asyncio's own loops
        """
        self._jobs_in_threads += 1
        try:
            await super().shutdown_default_executor(*limits)
        finally:
            self._jobs_in_threads -= 1

    def _job_ended(self, _: asyncio.Future[Any]) -> None:
        self._jobs_in_threads -= 1

    def _events_before_time_moves(
        self, select: Select, timeout: float | None, registered: int
    ) -> Events:
        """Return what is ready, or move time by ``timeout`` and return nothing."""
        events = select(0)
        if events or (timeout is not None and timeout <= 0):
            return events
        if self._jobs_in_threads:
            return self._pass_really(select, timeout)
        others = registered > self._own_descriptors
        if timeout is None:
            return self._wait_for_the_outside(select, others=others)
        if others:
            events = select(self._socket_timeout)
            if events:
                return events
        self._move(timeout)
        return []

    def _pass_really(self, select: Select, timeout: float | None) -> Events:
        began = time.monotonic()
        events = select(timeout)
        elapsed = time.monotonic() - began
        self._move(elapsed if timeout is None or events else timeout)
        return events

    def _wait_for_the_outside(self, select: Select, *, others: bool) -> Events:
        if others:
            return select(None)
        if threading.active_count() > 1:
            events = select(THREAD_TIMEOUT)
            if events:
                return events
        raise Deadlock(tuple(sorted(map(_describe, asyncio.all_tasks(self)))))

    def _move(self, seconds: float) -> None:
        later = self._virtual_now + seconds
        rounded = round(later, DIGITS)
        # Less than a nanosecond is time too: who waits for it would wait again and again.
        self._virtual_now = rounded if rounded > self._virtual_now else later


class _SelectorThatAsksFirst(selectors.DefaultSelector):
    """A real selector that lets the loop decide what waiting means."""

    def __init__(self, decide: Callable[[Select, float | None, int], Events]) -> None:
        super().__init__()
        self._decide = decide

    def select(self, timeout: float | None = None) -> Events:
        return self._decide(super().select, timeout, len(self.get_map()))


class VirtualClock:
    """The clock of a virtual loop: wall time is ``start`` plus the running loop's time.

    - *start*: the wall time at the beginning
    """

    __slots__ = ("_start",)

    def __init__(self, start: datetime = START) -> None:
        self._start = start

    def now(self) -> datetime:
        """Return the start plus the loop's time."""
        return self._start + timedelta(seconds=self.monotonic())

    def monotonic(self) -> float:
        """Return the running loop's time; outside a loop there is none, and it raises."""
        return asyncio.get_running_loop().time()

    async def sleep(self, seconds: float, /) -> None:
        """Wait until the loop's time has grown by ``seconds``.

        - *seconds*: how long
        """
        await asyncio.sleep(seconds)


def run(coroutine: Coroutine[Any, Any, Result], /) -> Result:
    """Run to the end on a fresh virtual loop, as ``asyncio.run`` does on a real one.

    - *coroutine*: what to run
    """
    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        return runner.run(coroutine)


def _describe(task: asyncio.Task[Any]) -> str:
    """Name a task and the line that it waits in: the innermost that is not asyncio's own."""
    place = ""
    awaited: object = task.get_coro()
    while isinstance(awaited, CoroutineType):
        frame = awaited.cr_frame
        # Neither a coroutine that has ended nor the inside of asyncio tells who forgot whom.
        if frame is not None and not frame.f_globals["__name__"].startswith("asyncio."):
            code = frame.f_code
            place = f" in {code.co_qualname} ({code.co_filename}:{frame.f_lineno})"
        awaited = awaited.cr_await
    return task.get_name() + place


class ManualClock:
    """Stands still until ``advance`` is called.

    ``sleep`` advances the clock and returns at once: the sleeper is the one who turns it.

    - *start*: the wall time at the beginning
    """

    def __init__(self, start: datetime = START) -> None:
        self._start = start
        self._elapsed = 0.0

    def advance(self, seconds: float) -> None:
        """Let ``seconds`` pass.

        - *seconds*: how many
        """
        if seconds < 0:
            raise ValueError(f"time does not go back by {-seconds} seconds")
        self._elapsed += seconds

    def now(self) -> datetime:
        """Return the start plus all that has passed."""
        return self._start + timedelta(seconds=self._elapsed)

    def monotonic(self) -> float:
        """Return the seconds that have passed since the start."""
        return self._elapsed

    async def sleep(self, seconds: float, /) -> None:
        """Let ``seconds`` pass at once.

        - *seconds*: how many
        """
        self.advance(max(0.0, seconds))
