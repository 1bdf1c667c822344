"""Changes to iterate instead of being called; forgotten when nobody iterates any more.

client-go has none: a program there writes a handler that feeds a channel.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Sequence
from typing import Generic, Self, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.informer.handlers.changes import Change
from reflet.informer.handlers.registration import Registration
from reflet.informer.queues.delta_fifo import QueueClosed

T = TypeVar("T", bound=KubernetesObject)


class ChangeStream(Generic[T]):
    """The changes of one informer, one by one, until the informer stops.

    ::

        async for change in informer.changes():
            print(change.type, change.key)

    Leaving the loop is enough: the stream is closed when nothing refers to it any more, and at
    once where it is used as a context.  ``next_batch`` gives what waits in one go.  With
    *only_changes* it leaves out what comes again without having changed.

    - *registration*: the informer's side of the stream
    - *leave*: called when the stream is closed
    """

    def __init__(
        self,
        registration: Registration[T],
        leave: Callable[[Registration[T]], None],
        *,
        only_changes: bool,
    ) -> None:
        self._registration = registration
        self._leave = leave
        self._only_changes = only_changes
        self._taken: deque[Change[T]] = deque()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Change[T]:
        if not self._taken:
            try:
                self._taken.extend(await self.next_batch())
            except QueueClosed:
                raise StopAsyncIteration from None
        return self._taken.popleft()

    async def next_batch(self) -> Sequence[Change[T]]:
        """The next changes, at least one; QueueClosed when there will be none."""
        while True:
            changes = await self._registration.next()
            if self._only_changes:
                changes = [change for change in changes if not change.is_resync]
            if changes:
                return changes

    def close(self) -> None:
        """End the iteration; harmless when it has ended."""
        self._taken.clear()
        self._leave(self._registration)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __del__(self) -> None:
        self.close()
