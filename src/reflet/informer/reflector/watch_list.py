"""WatchList: the whole collection as the beginning of a watch (``sendInitialEvents``).

The initial events are collected until the bookmark that says they are complete.  Until then
nothing is known: a stream that ends early leaves nothing behind.

Upstream: client-go/tools/cache/reflector.go, watchList, handleListWatch,
initialEventsEndBookmarkTicker
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import DeadlineExceeded
from reflet.informer.reflector.requests import OpenWatch
from reflet.runtime.clock import Clock
from reflet.store.keys import key_of
from reflet.store.sharing import Sharing

T = TypeVar("T", bound=KubernetesObject)

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"
"""The annotation of the bookmark after the last initial event; its value is ``true``."""

COMPLAIN_EVERY: Final = 10.0  # seconds
LONGEST_SILENCE: Final = 90.0
"""Seconds without a byte before the initial state is complete.

Unlike that of an open watch, this silence is a fault: the server has something to say.
"""

logger = logging.getLogger(__name__)


class InitialEvents(Generic[T]):
    """The state that a stream begins with, on its way.

    ``version`` is set when it is complete.
    """

    def __init__(self) -> None:
        self._items: dict[str, T] = {}
        self._sharing = Sharing()
        self.version = ""

    @property
    def items(self) -> list[T]:
        """The objects so far."""
        return list(self._items.values())

    def take(self, events: Sequence[WatchEvent[T]]) -> Sequence[WatchEvent[T]] | None:
        """Take events; the answer is None until the state is complete, then what came after."""
        items = self._items
        # Now, and not when all are there: memory that is given back now serves the next object.
        share = self._sharing.share
        for number, event in enumerate(events, 1):
            match event.type:
                case "ADDED" | "MODIFIED":
                    share(event.object.metadata)
                    items[key_of(event.object)] = event.object
                case "DELETED":
                    items.pop(key_of(event.object), None)
                case "BOOKMARK" if _ends_the_initial_events(event):
                    self.version = event.object.metadata.resource_version
                    return events[number:]
                case _:
                    pass  # an ordinary bookmark, or a type that nobody knows: no object
        return None


def _ends_the_initial_events(bookmark: WatchEvent[T]) -> bool:
    return bookmark.object.metadata.annotations.get(INITIAL_EVENTS_END) == "true"


async def read_initial_events(
    watch: OpenWatch[T],
    *,
    accept: Callable[[Sequence[WatchEvent[T]]], Sequence[WatchEvent[T]]],
    progressed: Callable[[], None],
    name: str,
    clock: Clock,
) -> InitialEvents[T] | None:
    """Read *watch* until its initial state is complete; None when it is closed before.

    Then the watch stands right behind the initial state.  *accept* gives the events that count;
    *progressed* is called for every batch.  Raises what reading raises, and DeadlineExceeded when
    nothing comes for too long.
    """
    initial = InitialEvents[T]()
    async with _complaints(watch, name, clock) as came:
        while (batch := await _next_batch(watch)) is not None:
            events = accept(batch)
            came()
            progressed()
            watch.events += len(events)
            rest = initial.take(events)
            if rest is not None:
                watch.hand_over(rest, version=initial.version)
                return initial
    return None


async def _next_batch(watch: OpenWatch[T]) -> Sequence[WatchEvent[T]] | None:
    try:
        async with asyncio.timeout(LONGEST_SILENCE):
            return await watch.next_batch()
    except TimeoutError as error:
        raise DeadlineExceeded(
            f"the initial events did not come: nothing for {LONGEST_SILENCE:g} seconds"
        ) from error


@asynccontextmanager
async def _complaints(
    watch: OpenWatch[T], name: str, clock: Clock
) -> AsyncIterator[Callable[[], None]]:
    """Complain regularly while the block lasts; what it gets is to be called for every batch."""
    last: float | None = None

    def came() -> None:
        nonlocal last
        last = clock.monotonic()

    async def complain() -> None:
        while True:
            await clock.sleep(COMPLAIN_EVERY)
            now = clock.monotonic()
            if last is None:
                logger.warning(
                    "%s: awaiting required bookmark event for initial events stream, "
                    "no events received for %.0fs",
                    name,
                    now - watch.since,
                )
            else:
                logger.warning(
                    "%s: hasn't received required bookmark event marking the end of initial "
                    "events stream, received last event %.0fs ago",
                    name,
                    now - last,
                )

    complaining = asyncio.create_task(complain(), name=f"complaints of {name}")
    try:
        yield came
    finally:
        complaining.cancel()
        await asyncio.wait((complaining,))
