"""One call for all who want its result at the same time.

Owns the call's task: it ends at the latest when nobody waits for it any more.  Must not know what
is called.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Result = TypeVar("Result")


@dataclass(slots=True)
class _Shared(Generic[Result]):
    task: asyncio.Task[Result]
    waiting: int = 0


class SharedCalls(Generic[Key, Result]):
    """Makes calls, each once at a time for its key; used by one event loop."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._running: dict[Key, _Shared[Result]] = {}

    def __contains__(self, key: Key) -> bool:
        return key in self._running

    async def result(self, key: Key, call: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """Return, or raise, what the call does; *call* is made unless one is under way.

        Whoever is cancelled takes the call from nobody; the last one who waits takes it along.
        """
        shared = self._running.get(key)
        if shared is None:
            shared = self._running[key] = _Shared(asyncio.create_task(call(), name=self._name))
        shared.waiting += 1
        try:
            return await asyncio.shield(shared.task)
        finally:
            shared.waiting -= 1
            if shared.task.done() or not shared.waiting:
                self._forget(key, shared)
            if not shared.waiting and not shared.task.done():
                shared.task.cancel()
                await asyncio.wait((shared.task,))

    def _forget(self, key: Key, shared: _Shared[Result]) -> None:
        if self._running.get(key) is shared:
            del self._running[key]
