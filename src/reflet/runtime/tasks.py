"""Who owns a task, and what becomes of it; and contexts that are small while they are open.

No task outlives the object that started it, and no error of a task is lost.

Why ``TaskOwner`` and not ``asyncio.TaskGroup``: a group is one job in pieces, so the first piece
that fails cancels the others and leaving the block waits for all to finish.  A service is not one
job.  Its streams and workers run until they are told to stop, and one that dies of a bug must not
take ten healthy ones with it.  So here a failure is told at once, in the log, with the task's
name; the siblings go on; leaving the block cancels what still runs and then raises what failed.
Where the pieces do belong together, ``asyncio.TaskGroup`` is the right tool.

Why ``Opened`` and not ``@asynccontextmanager``: that keeps a suspended generator, its frame and its
registration with the event loop for as long as the block lasts: two kilobytes for each of the three
layers of a watch, and a manager may have thousands of quiet watches open.
"""

from __future__ import annotations

import asyncio
import logging
import sys
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Final, Generic, Self, TypeAlias, TypeVar

Result = TypeVar("Result")

ERRORS_KEPT: Final = 16
"""A service that fails for months must not fill memory with tracebacks: the first few tell."""

COMPLAIN_EVERY: Final = 10.0
"""Seconds between two complaints about tasks that do not end although they were cancelled."""

Failure: TypeAlias = tuple[type[BaseException] | None, BaseException | None, TracebackType | None]
"""What ended a ``with`` block, as ``__aexit__`` is told: three times None for nothing."""

logger = logging.getLogger(__name__)


class TaskOwner:
    """Starts named tasks and outlives them all.

    ::

        async with TaskOwner("informer configmaps") as tasks:
            tasks.start(reflector.run(), name="reflector configmaps")
            await until_told_to_stop()

    Leaving the block cancels every task that still runs and waits until all have ended.  A
    task that failed is logged the moment it fails, and leaving the block raises an exception
    group of the failures.  When the block itself ends with an error or is cancelled, that
    passes through unchanged, with the tasks' failures as notes.  A task's failure belongs to
    its owner, also when somebody else awaited the task and handled it.

    Being cancelled while leaving does not leave tasks behind: the cancellation is passed on to
    them once more, and raised when they have ended.

    Used by one event loop.  Can be entered once.

    - *name*: what logs and errors call it
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self._tasks: set[asyncio.Task[Any]] = set()
        self._open = False
        self._entered = False
        self._failures = 0
        self._errors: list[BaseException] = []

    @property
    def running(self) -> frozenset[str]:
        """The names of the tasks that have not ended yet."""
        return frozenset(task.get_name() for task in self._tasks)

    @property
    def failures(self) -> int:
        """How many tasks have failed so far: a service that wants to be well reports zero."""
        return self._failures

    def start(
        self, coroutine: Coroutine[Any, Any, Result], /, *, name: str
    ) -> asyncio.Task[Result]:
        """Start a task that ends at the latest when the block is left.

        - *coroutine*: what the task runs
        - *name*: name of the task, for logs
        """
        if not self._open:
            coroutine.close()
            raise RuntimeError(f"task {name!r} cannot start: {self.name!r} is not open to own it")
        task = asyncio.get_running_loop().create_task(coroutine, name=name)
        self._tasks.add(task)
        task.add_done_callback(self._ended)
        return task

    async def stop(self, task: asyncio.Task[Any], /) -> None:
        """Cancel one task and return when it has ended, however it ended.

        - *task*: a task that ``start`` returned
        """
        if task is asyncio.current_task():
            raise RuntimeError(f"task {task.get_name()!r} cannot wait for its own end")
        task.cancel()
        if not task.done():
            # Unlike awaiting the task, this cannot confuse its cancellation with ours.
            await asyncio.wait((task,))

    async def __aenter__(self) -> Self:
        if self._entered:
            raise RuntimeError(f"{self.name!r} was entered before; a new life needs a new owner")
        self._entered = self._open = True
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open = False
        cancellation = await self._end_all()
        errors, self._errors = self._errors, []
        try:
            passing = error if error is not None else cancellation
            if passing is None:
                if errors:
                    raise BaseExceptionGroup(
                        f"{self._failures} of the tasks of {self.name!r} failed", errors
                    )
                return
            for failure in errors:
                passing.add_note(f"a task of {self.name!r} failed too: {failure!r}")
            if cancellation is not None and not isinstance(error, asyncio.CancelledError):
                # Cancelled while leaving because of an error: whoever cancelled must see it.
                raise cancellation
        finally:
            # An exception and the frame that raises it keep each other alive.
            del errors, cancellation

    async def _end_all(self) -> asyncio.CancelledError | None:
        """Cancel until nothing runs; return our own cancellation if there was one meanwhile."""
        cancellation: asyncio.CancelledError | None = None
        self._cancel_all()
        while self._tasks:
            try:
                _, stubborn = await asyncio.wait(self._tasks, timeout=COMPLAIN_EVERY)
            except asyncio.CancelledError as caught:
                cancellation = caught
                self._cancel_all()
                continue
            if stubborn:
                logger.warning(
                    "%s still waits for cancelled tasks to end: %s",
                    self.name,
                    ", ".join(sorted(task.get_name() for task in stubborn)),
                )
        return cancellation

    def _cancel_all(self) -> None:
        for task in self._tasks:
            task.cancel()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._tasks.discard(task)
        if task.cancelled():
            return
        error = task.exception()
        if error is None:
            return
        self._failures += 1
        if len(self._errors) < ERRORS_KEPT:
            self._errors.append(error)
        logger.error("task %s of %s failed: %r", task.get_name(), self.name, error, exc_info=error)


Inner = TypeVar("Inner")
Value = TypeVar("Value")


class Opened(Generic[Value]):
    """Gives what *opens* gave; leaving leaves the context that *opens* gave with it.

    Can be entered once.
    """

    __slots__ = ("_context", "_opens")

    def __init__(
        self, opens: Callable[[], Awaitable[tuple[Value, AbstractAsyncContextManager[Any]]]]
    ) -> None:
        self._opens: Callable[..., Any] | None = opens
        self._context: AbstractAsyncContextManager[Any] | None = None

    async def __aenter__(self) -> Value:
        if self._opens is None:
            raise RuntimeError("it was opened before")
        opens, self._opens = self._opens, None
        value: Value
        value, self._context = await opens()
        return value

    async def __aexit__(self, *failure: *Failure) -> bool | None:
        if self._context is None:
            return None
        return await self._context.__aexit__(*failure)


async def entered(
    context: AbstractAsyncContextManager[Inner], then: Callable[[Inner], Awaitable[Value]]
) -> Value:
    """Enter *context* and go on with what it gave; when that fails the context is left."""
    inner = await context.__aenter__()
    try:
        return await then(inner)
    except BaseException:
        await context.__aexit__(*sys.exc_info())
        raise
