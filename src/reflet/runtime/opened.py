"""An asynchronous context that is opened by a function, and small while it is open.

``@asynccontextmanager`` keeps a suspended generator, its frame and its registration with the event
loop for as long as the block lasts: two kilobytes for each of the three layers of a watch, and a
manager may have thousands of quiet watches open.
"""

from __future__ import annotations

import sys
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Generic, TypeVar

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

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool | None:
        if self._context is None:
            return None
        return await self._context.__aexit__(kind, error, traceback)


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
