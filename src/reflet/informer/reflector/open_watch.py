"""One watch, from its opening to its end.

Owns: closing it, the stopwatch beside it, and what it has brought.  Must not know why it was
opened, nor what its events do.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Generic, Self, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.informer.reflector.source import WatchStream
from reflet.informer.reflector.versions import StreamPosition

T = TypeVar("T", bound=KubernetesObject)

logger = logging.getLogger(__name__)


class OpenWatch(Generic[T]):
    """A stream that somebody reads and closes, perhaps not the one who opened it.

    ``opened_at`` is the version asked for, ``since`` the moment before the request was sent,
    ``events`` how many counted so far.  Belongs to one task.
    """

    __slots__ = (
        "_batches",
        "_context",
        "_put_back",
        "_seen_bytes",
        "_stream",
        "events",
        "opened_at",
        "position",
        "since",
    )

    def __init__(
        self,
        context: AbstractAsyncContextManager[WatchStream[T]],
        stream: WatchStream[T],
        *,
        opened_at: str,
        since: float,
    ) -> None:
        self.opened_at = opened_at
        self.since = since
        self.events = 0
        self.position = StreamPosition(opened_at)
        self._stream = stream
        self._batches = stream.batches()
        self._seen_bytes = 0
        self._put_back: Sequence[WatchEvent[T]] = ()
        self._context: AbstractAsyncContextManager[WatchStream[T]] | None = context

    @classmethod
    async def open(
        cls,
        context: AbstractAsyncContextManager[WatchStream[T]],
        *,
        opened_at: str,
        since: float,
    ) -> Self:
        """Enter *context*; what it raises is the server's refusal."""
        stream = await context.__aenter__()
        return cls(context, stream, opened_at=opened_at, since=since)

    def new_bytes(self) -> int:
        """How many bytes have come since this was last asked."""
        seen, self._seen_bytes = self._seen_bytes, self._stream.received_bytes
        return self._seen_bytes - seen

    async def next_batch(self) -> Sequence[WatchEvent[T]] | None:
        """The events that come next, at least one; None when the server has closed the stream."""
        if self._put_back:
            events, self._put_back = self._put_back, ()
            return events
        return await anext(self._batches, None)

    def hand_over(self, rest: Sequence[WatchEvent[T]], *, version: str) -> None:
        """Begin anew as a watch from *version*: *rest* was read already and comes first."""
        self._put_back = rest
        self.opened_at = version
        self.events = 0
        self.position.ordered = True

    async def close(self) -> None:
        """Close the stream; once it is closed, closing changes nothing."""
        context, self._context = self._context, None
        if context is None:
            return
        try:
            try:
                # One that is left in the middle must end before what it reads from.
                if isinstance(self._batches, AsyncGenerator):
                    await self._batches.aclose()
            finally:
                await context.__aexit__(None, None, None)
        except Exception:
            # All that it had to bring has come: how it closes changes nothing.
            logger.warning("a watch did not close cleanly", exc_info=True)
