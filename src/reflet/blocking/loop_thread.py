"""One event loop on one thread, for callers that have none.

Owns: the thread, and the crossing from the caller's thread to it and back.  Must not know what
runs there.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import AbstractAsyncContextManager, contextmanager
from typing import Any, TypeVar

T = TypeVar("T")


class LoopThread:
    """Runs coroutines for callers of any thread, until ``stop``.

    A caller that is interrupted (Ctrl-C) takes its coroutine along: it is cancelled.
    """

    def __init__(self, name: str) -> None:
        self._name = name
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run *coroutine* on the loop and return what it returns."""
        if not self._thread.is_alive() or self._loop.is_closed():
            coroutine.close()
            raise RuntimeError(f"{self._name} is closed")
        if threading.current_thread() is self._thread:
            coroutine.close()
            raise RuntimeError(f"{self._name} cannot wait for itself: use the asyncio face here")
        future = asyncio.run_coroutine_threadsafe(coroutine, self._loop)
        try:
            return future.result()
        finally:
            future.cancel()  # only has an effect when the waiting was interrupted

    @contextmanager
    def entered(self, manager: AbstractAsyncContextManager[T]) -> Iterator[T]:
        """Enter an asynchronous context, and leave it when the block ends."""
        value = self.run(_entering(manager))
        try:
            yield value
        except BaseException as error:
            if not self.run(_leaving(manager, error)):
                raise
        else:
            self.run(_leaving(manager, None))

    def iterated(self, iterator: AsyncIterator[T]) -> Iterator[T]:
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
                self.run(_calling(close()))

    def stop(self) -> None:
        """Cancel what still runs and end the thread; harmless when it has ended."""
        if not self._thread.is_alive():
            return
        with contextlib.suppress(RuntimeError):  # the loop ended in between
            self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            left = asyncio.all_tasks(self._loop)
            for task in left:
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
        finally:
            asyncio.set_event_loop(None)
            self._loop.close()


async def _entering(manager: AbstractAsyncContextManager[T]) -> T:
    return await manager.__aenter__()


async def _leaving(
    manager: AbstractAsyncContextManager[Any], error: BaseException | None
) -> bool | None:
    if error is None:
        return await manager.__aexit__(None, None, None)
    return await manager.__aexit__(type(error), error, error.__traceback__)


async def _next(iterator: AsyncIterator[T]) -> T:
    return await anext(iterator)


async def _calling(awaitable: Any) -> None:
    await awaitable
