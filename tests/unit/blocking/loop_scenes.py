"""A loop on its thread, and what happens there."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType


class Happenings:
    """What happened on the loop, told to the test's own thread."""

    def __init__(self) -> None:
        self.told: list[str] = []
        self._news = threading.Condition()

    def tell(self, what: str) -> None:
        with self._news:
            self.told.append(what)
            self._news.notify_all()

    def wait_for(self, what: str) -> None:
        with self._news:
            assert self._news.wait_for(lambda: what in self.told, timeout=30)


async def double(number: int) -> int:
    await asyncio.sleep(0)
    return 2 * number


def fail(after: Callable[[], None] = lambda: None) -> None:
    after()
    raise LookupError


def interrupt_the_main_thread() -> None:
    signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)


# Contexts


class Room(AbstractAsyncContextManager[str]):
    """Tells who enters and who leaves, and why."""

    def __init__(self, happenings: Happenings, *, forgiving: bool = False) -> None:
        self._happenings = happenings
        self._forgiving = forgiving

    async def __aenter__(self) -> str:
        self._happenings.tell("entered")
        return "the key"

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        self._happenings.tell(f"left {error!r}")
        return self._forgiving


# Iterators


async def count(happenings: Happenings, until: int = 3) -> AsyncIterator[int]:
    try:
        for number in range(until):
            await asyncio.sleep(0)
            yield number
    finally:
        await asyncio.sleep(0)
        happenings.tell("closed")
