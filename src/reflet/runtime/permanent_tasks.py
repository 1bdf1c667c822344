"""Tasks that are never to end, and what is done when one ends all the same.

Which errors can pass, starting a task again after one of those, and remembering what ended for
good, for whoever asks after the service's health or waits for its end.  Whose tasks they are is
``TaskOwner``'s.

Upstream: apimachinery/pkg/util/wait, BackoffUntil; apimachinery/pkg/util/runtime, HandleCrash
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Mapping
from typing import Any, Final, NoReturn

from reflet.errors import MisuseError, RefletError
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import TaskOwner

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 30.0
LIVED_WELL: Final = 60.0
"""Seconds of life after which the next failure is the first of another streak."""

NO_THREAD: Final = "can't start new thread"
"""What ``threading`` says, with a plain RuntimeError, where the machine has no more of them."""

Work = Callable[[], Coroutine[Any, Any, object]]
"""Begins the work of a task from wherever the life before left it."""

logger = logging.getLogger(__name__)


class TaskEnded(RefletError):
    """A task without which a service is none has ended: ``task`` is its name, ``why`` the reason.

    The reason is a kind of error and not its text, which may hold anything that the program had in
    hand; the log has the text.
    """

    def __init__(self, task: str, why: str) -> None:
        self.task = task
        self.why = why
        super().__init__(f"the task {task!r} has ended for good: {why}; the log says where")


def can_pass(error: BaseException) -> bool:
    """Whether an error may be gone at the next try: the machine's or the server's, not our own.

    Descriptors, memory, threads and disk run out and come back.
    """
    match error:
        case BaseExceptionGroup():
            return all(map(can_pass, error.exceptions))
        case MisuseError():
            return False
        case OSError() | MemoryError() | RefletError():
            return True
        case RuntimeError():
            return str(error) == NO_THREAD
        case _:
            return False


def words_of(error: BaseException) -> str:
    """What an error says: of a group each one, and where there are no words its kind."""
    if isinstance(error, BaseExceptionGroup):
        return "; ".join(map(words_of, error.exceptions))
    return str(error) or type(error).__name__


class PermanentTasks:
    """Keeps tasks alive, and knows of those that could not be.

    ::

        permanent = PermanentTasks()
        async with TaskOwner("service") as tasks:
            permanent.keep(tasks, lease.run, name="lease")
            await permanent.ended()

    A task that fails with an error that can pass is started again after one second, then two, up
    to half a minute; a streak of failures is logged once.  One that fails otherwise, or returns,
    has ended for good: that is logged with its traceback, ``ended`` raises it, ``problems`` tells,
    and *on_end* is called, for whoever waits for something else.  The siblings go on.  Used by one
    event loop.
    """

    def __init__(
        self, *, clock: Clock | None = None, on_end: Callable[[], None] = lambda: None
    ) -> None:
        self._clock = clock or SystemClock()
        self._on_end = on_end
        self._problems: dict[str, str | None] = {}
        self._troubles: dict[str, str] = {}
        self._ends: asyncio.Queue[TaskEnded] = asyncio.Queue()

    @property
    def problems(self) -> Mapping[str, str | None]:
        """Every task that is kept, and why it has ended; None while it lives."""
        return dict(self._problems)

    @property
    def troubles(self) -> Mapping[str, str]:
        """The tasks that have failed and wait to be started again, and why they failed."""
        return dict(self._troubles)

    async def ended(self) -> NoReturn:
        """Wait for ever, or raise the TaskEnded of a task that has ended for good."""
        raise await self._ends.get()

    def keep(self, tasks: TaskOwner, work: Work, /, *, name: str) -> asyncio.Task[None]:
        """Have *work* done until *tasks* is left, by a task that belongs to it."""
        self._problems[name] = None
        return tasks.start(self._live(work, name), name=name)

    async def _live(self, work: Work, name: str) -> None:
        backoff = Backoff(
            first=FIRST_PAUSE,
            ceiling=LONGEST_PAUSE,
            jitter=0.0,
            reset_after=None,
            clock=self._clock,
        )
        complained = False
        while True:
            began = self._clock.monotonic()
            try:
                await _one_life(work)
            except Exception as error:
                if not can_pass(error):
                    self._note_end(name, error)
                    raise
                if self._clock.monotonic() - began >= LIVED_WELL:
                    backoff.reset()
                    complained = False
                if not complained:
                    logger.warning("task %s failed and is started again: %s", name, words_of(error))
                complained = True
                self._troubles[name] = type(error).__name__
            await self._clock.sleep(backoff.next_delay())
            self._troubles.pop(name, None)

    def _note_end(self, name: str, error: Exception) -> None:
        why = str(error) if isinstance(error, _Ended) else type(error).__name__
        self._problems[name] = why
        self._ends.put_nowait(TaskEnded(name, why))
        self._on_end()


class _Ended(Exception):
    """A task ended without an error, which it never should."""


async def _one_life(work: Work) -> NoReturn:
    try:
        await work()
    except asyncio.CancelledError:
        task = asyncio.current_task()
        if task is None or task.cancelling():
            raise
        # Something that it waited for was cancelled: nobody told the task itself to end.
        raise _Ended("was cancelled from within") from None
    raise _Ended("returned")
