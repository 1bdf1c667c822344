"""Spreads every change to the watches that it concerns; no watcher can hold up a writer.

Changes of one moment go out together.  A change is offered to the watches of its resource in four
groups: those of everything, of its namespace, of its name, and of exactly its object.  So
thousands of watches of one object each cost a change nothing but the look-up of one group.

Upstream: apiserver/pkg/storage/cacher/cacher.go, dispatchEvents and indexedWatchers
"""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Callable
from typing import Final, final

from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import StoredChange
from reflet.devserver.watches.event_lines import Sightings, WatchRequest
from reflet.devserver.watches.watch_feed import WatchBacklog, WatchFeed, Write

SHORTEST_DEFAULT: Final = 1800.0  # seconds; a watch without a time limit gets up to twice this
OFFERED_AT_ONCE: Final = 256
"""Changes that are offered before other work gets its turn."""
FLUSHED_AT_ONCE: Final = 256
"""Watches that are written to before other work gets its turn."""

Group = tuple[str, str | None, str | None]


@final
class Watchers:
    """All watches of a storage.

    A write only notes its change here.  When the work at hand is done, the changes noted are
    offered and each watch that has news is written to once.
    """

    def __init__(
        self,
        storage: Storage,
        *,
        backlog: WatchBacklog | None = None,
        chance: Callable[[], float] = random.random,
    ) -> None:
        self.storage = storage
        self._backlog = backlog or WatchBacklog()
        self._chance = chance
        self._groups: dict[Group, dict[WatchFeed, None]] = {}
        self._changes: deque[StoredChange] = deque()
        self._with_news: deque[WatchFeed] = deque()
        self._turn: asyncio.Handle | None = None
        self._closed = False
        self._unsubscribe = storage.subscribe(self._note)

    def __len__(self) -> int:
        """Count the watches that are running."""
        return sum(map(len, self._groups.values()))

    def open(self, request: WatchRequest) -> WatchFeed:
        """Make a watch, which begins when it is run."""
        seconds = request.timeout or SHORTEST_DEFAULT * (1 + self._chance())
        return WatchFeed(self, request, seconds=seconds, backlog=self._backlog)

    def close(self) -> None:
        """End all watches properly, and those that come later at once."""
        self._closed = True
        self._unsubscribe()
        self.catch_up()
        for group in self._groups.values():
            for feed in group:
                feed.end()

    # For the watches

    def join(self, feed: WatchFeed) -> None:
        """Offer every change of the feed's resource, namespace and name from now on."""
        self._groups.setdefault(_group(feed.request), {})[feed] = None
        if self._closed:
            feed.end()

    def leave(self, feed: WatchFeed) -> None:
        """Offer nothing more; harmless for a feed that has not joined."""
        group = self._groups.get(_group(feed.request))
        if group is None:
            return
        group.pop(feed, None)
        if not group:
            del self._groups[_group(feed.request)]

    def flush_soon(self, feed: WatchFeed) -> None:
        """Call the feed's ``flush`` when the current work is done."""
        self._with_news.append(feed)
        self._take_turn()

    def catch_up(self) -> None:
        """Offer now all changes that were not offered yet."""
        while self._changes:
            self._offer(self._changes.popleft())

    def _note(self, change: StoredChange) -> None:
        if self._groups:
            self._changes.append(change)
            self._take_turn()

    def _take_turn(self) -> None:
        if self._turn is None:
            self._turn = asyncio.get_running_loop().call_soon(self._spread)

    def _spread(self) -> None:
        self._turn = None
        if not self._with_news:
            for _ in range(min(OFFERED_AT_ONCE, len(self._changes))):
                self._offer(self._changes.popleft())
        for _ in range(min(FLUSHED_AT_ONCE, len(self._with_news))):
            self._with_news.popleft().flush()
        if self._with_news or self._changes:
            self._take_turn()

    def _offer(self, change: StoredChange) -> None:
        resource, namespace, name = change.key
        sightings = Sightings(change)
        for key in (
            (resource, None, None),
            (resource, namespace, None),
            (resource, None, name),
            (resource, namespace, name),
        ):
            for feed in self._groups.get(key, ()):
                feed.offer(sightings)


def _group(request: WatchRequest) -> Group:
    return request.resource, request.namespace, request.name


def transport_writer(transport: asyncio.WriteTransport) -> Write:
    """Make the function that writes a watch straight to a connection.

    It reports no room at the moment when the transport asks its protocol to pause, so whoever
    waits for the protocol's permission waits for the same thing.
    """
    _, high = transport.get_write_buffer_limits()

    def write(content: bytes) -> bool:
        if transport.is_closing():
            raise ConnectionResetError("the client has closed the connection")
        transport.write(content)
        return transport.get_write_buffer_size() <= high

    return write
