"""A server behind a gate: answers, fails as it is told, and remembers when it was asked."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from reflet.errors import (
    ConnectionRefused,
)
from reflet.runtime.gate import (
    Gate,
)

REFUSED = ConnectionRefused("https://api: connection refused")


def now() -> float:
    return asyncio.get_running_loop().time()


class Server:
    """Answers after *takes* seconds, or fails as it is told; remembers when it was asked."""

    def __init__(self) -> None:
        self.failure: Exception | None = None
        self.takes = 0.01
        self.asked: list[tuple[float, str]] = []
        self.at_once = 0
        self.most_at_once = 0

    def request(self, name: str = "") -> Callable[[], Awaitable[str]]:
        async def ask() -> str:
            self.asked.append((now(), name))
            self.at_once += 1
            self.most_at_once = max(self.at_once, self.most_at_once)
            try:
                await asyncio.sleep(self.takes)
            finally:
                self.at_once -= 1
            if self.failure is not None:
                raise self.failure
            return name

        return ask

    @property
    def names(self) -> list[str]:
        return [name for _, name in self.asked]

    async def fails(self, failure: Exception, *, seconds: float) -> None:
        self.failure = failure
        await asyncio.sleep(seconds)
        self.failure = None


@asynccontextmanager
async def sending(
    gate: Gate, server: Server, count: int, *, urgent: frozenset[str] = frozenset()
) -> AsyncIterator[list[asyncio.Task[str]]]:
    """Requests ``0`` to ``count - 1``, at once."""
    names = [str(number) for number in range(count)]
    async with asyncio.TaskGroup() as tasks:
        yield [
            tasks.create_task(
                gate.send(server.request(name), urgent=lambda name=name: name in urgent)  # type: ignore[misc]  # bound early
            )
            for name in names
        ]
