"""Work that blocks, done in a thread so that the event loop goes on.

Whoever waits for such work never goes on, not even cancelled, while it is still being done: a
thread cannot be stopped, and what comes next may take away the files that it writes.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from concurrent.futures import Executor
from importlib import import_module
from typing import TypeVar, cast

Result = TypeVar("Result")


async def in_thread(work: Callable[[], Result], *, executor: Executor | None = None) -> Result:
    """Do the work in a thread of *executor*, or of the loop's own.

    Cancelled before a thread was free, the work is not begun; cancelled later, it is waited for
    and the cancellation is raised when it has ended.
    """
    is_wanted = True

    def unless_given_up() -> Result | None:
        return work() if is_wanted else None

    doing = asyncio.get_running_loop().run_in_executor(executor, unless_given_up)
    try:
        # None only when it was given up, and then nobody gets it.
        return cast("Result", await asyncio.shield(doing))
    except asyncio.CancelledError:
        is_wanted = False
        await _until_done(doing)
        raise


async def import_beside(*names: str) -> None:
    """Import modules so that the loop goes on meanwhile; at no cost when they are there already."""
    missing = [name for name in names if name not in sys.modules]
    if missing:
        await in_thread(lambda: [import_module(name) for name in missing])


async def _until_done(doing: asyncio.Future[Result | None]) -> None:
    while not doing.done():
        try:
            await asyncio.wait({doing})
        except asyncio.CancelledError:
            continue  # the first one is raised when the work has ended
    if not doing.cancelled():
        doing.exception()  # whoever was cancelled does not mind, and nobody else will look
