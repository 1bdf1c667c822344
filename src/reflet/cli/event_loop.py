"""The event loop of a command that asks a server."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Coroutine[Any, Any, T]) -> T:
    """Run *work* to its end on a loop of its own, as ``asyncio.run`` does, and give its result.

    ``asyncio.run`` ends by comparing the handler of SIGINT, which makes the repr of its task, which
    has the repr of the task's result in it: of ten thousand pods that is a third of the time of
    the command, and half of its memory.  So the task that it knows has no result.
    """
    results: list[T] = []

    async def keep() -> None:
        results.append(await work)

    asyncio.run(keep())
    return results[0]
