"""One event loop on one thread, for callers that have none.

Owns: the thread, and the crossing from the caller's thread to it and back.  Must not know what
runs there.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine, Generator, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")

logger = logging.getLogger(__name__)


class LoopThread:
    """Runs coroutines for callers of any thread, until ``stop``.

    A caller that is interrupted (Ctrl-C) takes its coroutine along: it is cancelled, and has
    ended when the interruption goes on; only a second one does not wait for that.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._door = threading.Lock()  # whoever hands work over holds it, and so does stop
        self._closed = False
        self._entered: list[AbstractAsyncContextManager[Any]] = []  # changed on the loop only
        self._end: asyncio.Future[None] = self._loop.create_future()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    @property
    def closed(self) -> bool:
        """Whether ``stop`` was called: nothing more can run."""
        return self._closed

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run *coroutine* on the loop and return what it returns.

        Raises RuntimeError after ``stop``, when ``stop`` ends the coroutine, and on the thread
        of the loop, which would wait for itself.
        """
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError(f"{self._name} cannot wait for itself: use the asyncio face here")
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
            raise RuntimeError(f"{self._name} is closed")
        if self._closed and tasks[0].cancelled():
            raise RuntimeError(f"{self._name} was closed")
        # Not kept in a name: an error and the frame that raises it keep each other alive.
        return tasks.pop().result()

    @contextmanager
    def entered(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an asynchronous context, and leave it when the block ends, or at ``stop``."""
        value = self.run(self._enter(manager))
        try:
            yield value
        except BaseException as error:
            if self._closed or not self.run(self._leave(manager, error)):
                raise
        else:
            if not self._closed:
                self.run(self._leave(manager, None))

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
            if close is not None and not self._closed:
                self.run(_calling(close))

    def stop(self) -> None:
        """Cancel what runs, leave what was entered, end the thread; harmless when it has ended."""
        if threading.current_thread() is self._thread:
            raise RuntimeError(f"{self._name} cannot wait for its own end")
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
        self._entered.remove(manager)
        if error is None:
            return await manager.__aexit__(None, None, None)
        return await manager.__aexit__(type(error), error, error.__traceback__)


async def _next(iterator: AsyncIterator[T]) -> T:
    return await anext(iterator)


async def _calling(close: Callable[[], Awaitable[None]]) -> None:
    await close()
