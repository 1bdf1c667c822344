"""One event loop on one thread, for callers that have none; and what a fork leaves of it.

``LoopThread`` takes a coroutine from any thread to the loop and its result back.  In the child of
a fork there is no such thread: calls are refused there, and readers registered with
``refuse_in_child`` find a ``LeftBehind`` in the place of a memory that nobody keeps fresh.  That
costs reads in the parent nothing.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, Final, NoReturn, TypeVar
from weakref import WeakKeyDictionary

from reflet.errors import MisuseError

T = TypeVar("T")

logger = logging.getLogger(__name__)


class LoopThread:
    """Runs coroutines for callers of any thread, until ``stop``.

    A caller that is interrupted (Ctrl-C) takes its coroutine along: it is cancelled, and has
    ended when the interruption goes on; only a second one does not wait for that.

    The child of a fork has no such thread: there it is closed, and stays as it was.  Closing
    anything would reach into the parent, with which the child shares its sockets and epoll.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._process = os.getpid()
        self._loop = asyncio.new_event_loop()
        self._door = threading.Lock()  # whoever hands work over holds it, and so does stop
        self._closed = False
        # Changed on the loop only.  Must hold whatever has connections: in the child of a fork
        # this object is never destroyed, as the frames of the lost thread refer to it, and what it
        # holds is safe from destructors, which would close the parent's connections.
        self._entered: list[AbstractAsyncContextManager[Any]] = []
        self._calls_for: dict[int, object] = {}  # by thread: whose end waits for what it does
        self._end: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether nothing more can run: ``stop`` was called, or this is the child of a fork."""
        return self._closed or self.left_behind

    @property
    def left_behind(self) -> bool:
        """Whether this is the child of a fork, and the thread is the parent's."""
        # Asked, not remembered by os.register_at_fork: a server in C, as uWSGI is, may fork
        # without telling Python.
        return os.getpid() != self._process

    def fork_error(self) -> MisuseError:
        """What to say to whoever uses it in the child of a fork."""
        return MisuseError(
            f"{self._name} was opened in process {self._process}, before a fork, and does not run "
            f"in this one, {os.getpid()}: open it in the worker itself "
            "(gunicorn: post_fork or post_worker_init)"
        )

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run *coroutine* on the loop and return what it returns.

        Raises MisuseError after ``stop``, when ``stop`` ends the coroutine, after a fork, and on
        the thread of the loop, which would wait for itself.
        """
        if self.left_behind:
            coroutine.close()
            raise self.fork_error()
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise MisuseError(f"{self._name} cannot wait for itself: use the asyncio face here")
        tasks: list[asyncio.Task[T]] = []
        ended = threading.Event()

        def start() -> None:
            task = self._loop.create_task(coroutine, name=self._name)
            task.add_done_callback(lambda _: ended.set())
            tasks.append(task)

        def take_back() -> None:
            if tasks:
                tasks[0].cancel()
            else:  # interrupted in the middle of handing it over
                coroutine.close()
                ended.set()

        try:
            accepted = self._hand_over(start)
            if accepted:
                ended.wait()
        except BaseException:
            with contextlib.suppress(RuntimeError):  # the loop has ended, and all tasks with it
                self._loop.call_soon_threadsafe(take_back)
                ended.wait()
            raise
        if not accepted:
            coroutine.close()
            raise MisuseError(f"{self._name} is closed")
        if self._closed and tasks[0].cancelled():
            raise MisuseError(f"{self._name} was closed")
        # Not kept in a name: an error and the frame that raises it keep each other alive.
        return tasks.pop().result()

    def tidy(self, coroutine: Coroutine[Any, Any, T]) -> T | None:
        """``run`` for what tidies up: after ``stop`` or a fork there is nothing left to tidy."""
        try:
            return self.run(coroutine)
        except MisuseError:
            if self.closed:
                return None
            raise

    def enter(self, manager: AbstractAsyncContextManager[T]) -> T:
        """Enter an asynchronous context, until ``leave`` or ``stop``."""
        return self.run(self._enter(manager))

    def leave(
        self, manager: AbstractAsyncContextManager[Any], error: BaseException | None
    ) -> bool | None:
        """Leave what was entered; harmless when it was left already."""
        return self.tidy(self._leave(manager, error))

    @contextmanager
    def entered(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an asynchronous context, and leave it when the block ends, or at ``stop``."""
        value = self.enter(manager)
        try:
            yield value
        except BaseException as error:
            if not self.leave(manager, error):
                raise
        else:
            self.leave(manager, None)

    def iterated(self, iterator: AsyncIterator[T]) -> Generator[T, None, None]:
        """Iterate an asynchronous iterator; closing the generator closes it too."""
        try:
            while True:
                try:
                    yield self.run(_next(iterator))
                except StopAsyncIteration:
                    return
        finally:
            close = getattr(iterator, "aclose", None)
            if close is not None:
                self.tidy(_calling(close))

    def call_for(self, owner: object, function: Callable[[], T]) -> T:
        """Call *function* in this thread, while the end of *owner* and ``stop`` wait for it."""
        thread = threading.get_ident()
        self._calls_for[thread] = owner
        try:
            return function()
        finally:
            del self._calls_for[thread]

    def refuse_in_call(self, owner: object = None) -> None:
        """Raise MisuseError where the end of *owner*, or ``stop``, would wait for its caller."""
        called_for = self._calls_for.get(threading.get_ident())
        if called_for is not None and (owner is None or owner is called_for):
            raise MisuseError(
                f"a handler of {called_for!r} cannot close it or its cluster, which would wait for "
                "the handler: set an event for another thread to close it, and return"
            )

    def stop(self) -> None:
        """Cancel what runs, leave what was entered, end the thread; harmless when it has ended.

        Does nothing in the child of a fork.  Raises MisuseError on the thread of the loop and in
        a call that ``stop`` waits for.
        """
        if self.left_behind:
            return
        if threading.current_thread() is self._thread:
            raise MisuseError(f"{self._name} cannot wait for its own end")
        self.refuse_in_call()
        with self._door:
            if not self._closed:
                self._closed = True
                self._loop.call_soon_threadsafe(self._end.set_result, None)
        self._thread.join()

    def _hand_over(self, start: Callable[[], None]) -> bool:
        """Have *start* called on the loop; False after ``stop``."""
        # Under the lock, so that everything handed over comes before the loop's end: what came
        # after it would never start, and its caller wait for ever.
        with self._door:
            if not self._closed:
                self._loop.call_soon_threadsafe(start)
            return not self._closed

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            while not self._end.done():
                # asyncio also raises these out of the loop; the caller of the task gets them.
                with contextlib.suppress(SystemExit, KeyboardInterrupt):
                    self._loop.run_until_complete(self._end)
            self._loop.run_until_complete(self._tidy_up())
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()

    async def _tidy_up(self) -> None:
        running = asyncio.all_tasks() - {asyncio.current_task()}
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)  # the callers get the errors
        # In order: asyncio would close the generators behind them all at once, and complain.
        for manager in reversed(tuple(self._entered)):
            try:
                await self._leave(manager, None)
            except Exception:
                logger.exception("%s could not leave %r when it was closed", self._name, manager)

    async def _enter(self, manager: AbstractAsyncContextManager[T]) -> T:
        value = await manager.__aenter__()
        self._entered.append(manager)
        return value

    async def _leave(
        self, manager: AbstractAsyncContextManager[Any], error: BaseException | None
    ) -> bool | None:
        if manager not in self._entered:
            return None
        self._entered.remove(manager)
        if error is None:
            return await manager.__aexit__(None, None, None)
        return await manager.__aexit__(type(error), error, error.__traceback__)


async def _next(iterator: AsyncIterator[T]) -> T:
    return await anext(iterator)


async def _calling(close: Callable[[], Awaitable[None]]) -> None:
    await close()


class LeftBehind:
    """Stands in the child of a fork for what only the parent keeps fresh: any use is refused."""

    def __init__(self, kept: object, error: Callable[[], MisuseError]) -> None:
        self._kept = kept
        self._error = error

    def __repr__(self) -> str:
        return f"{repr(self._kept)[:-1]}, left behind by a fork>"

    def _refuse(self, *_: object) -> NoReturn:
        raise self._error()

    __getattr__ = __getitem__ = __contains__ = __len__ = __iter__ = _refuse


_READERS: Final[WeakKeyDictionary[object, tuple[str, Callable[[], MisuseError]]]] = (
    WeakKeyDictionary()
)


def refuse_in_child(reader: object, attribute: str, error: Callable[[], MisuseError]) -> None:
    """Let *reader* find a LeftBehind in its *attribute* after a fork; reads raise *error* there."""
    _READERS[reader] = (attribute, error)


def _leave_behind() -> None:
    for reader, (attribute, error) in list(_READERS.items()):
        setattr(reader, attribute, LeftBehind(getattr(reader, attribute), error))
    _READERS.clear()  # a fork of this process finds nothing to do for them


if hasattr(os, "register_at_fork"):  # Windows has no fork
    os.register_at_fork(after_in_child=_leave_behind)
