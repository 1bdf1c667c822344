"""One watch: where it begins, what it still has to say, and when it ends.

The initial events of a WatchList, catching up, the backlog and its bounds, bookmarks, the time
limit.  Which changes concern a watch is decided in watchers.py, how they look in event_lines.py.
Knows no HTTP: it is given a function that writes and one that waits.

Upstream: apiserver/pkg/storage/cacher/cache_watcher.go
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Final, Protocol, final

from reflet.devserver.storage.storage import Storage, wait_until_fresh
from reflet.devserver.watches.event_lines import (
    ServedEvent,
    Sightings,
    WatchRequest,
    addition,
    bookmark,
    refusal,
)
from reflet.errors import ApiError

BOOKMARK_INTERVAL: Final = 60.0  # seconds
BOOKMARK_LEAD: Final = 2.0  # seconds before the time limit at which the last bookmark is sent
SLICE_BYTES: Final = 64 * 1024
"""What is written at once while catching up: a long list must not fill the memory with copies."""
SLICE_OBJECTS: Final = 500
"""What is looked at at once while catching up: a long list must not stop everybody else."""

Write = Callable[[bytes], bool]
Drain = Callable[[], Awaitable[None]]


@final
class WatchEnding(enum.Enum):
    """How a watch ended, and so how its stream is to be closed."""

    COMPLETE = "all that was due was written: the stream ends properly"
    ABANDONED = "the client did not keep up: what is still buffered will never be read"


class FanOut(Protocol):
    """Where a feed hears of changes."""

    @property
    def storage(self) -> Storage:
        """The storage that is watched."""
        ...

    def join(self, feed: WatchFeed, /) -> None:
        """Offer every change of the feed's resource, namespace and name from now on."""
        ...

    def leave(self, feed: WatchFeed, /) -> None:
        """Offer nothing more; harmless for a feed that has not joined."""
        ...

    def flush_soon(self, feed: WatchFeed, /) -> None:
        """Call the feed's ``flush`` when the current work is done."""
        ...

    def catch_up(self) -> None:
        """Offer now all changes that were not offered yet."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchBacklog:
    """How far a client may fall behind before it is given up."""

    events: int = 4096
    content: int = 8 * 2**20  # bytes


@final
class WatchFeed:
    """The events of one watch, handed to whoever runs it.

    ::

        ending = await feed.run(write, drain)

    ``write`` takes bytes at once and says whether there is room for more; ``drain`` returns
    when there is room again.  While there is room, changes are written from where they happen,
    without waking the task in ``run``.
    """

    __slots__ = (
        "_backlog",
        "_bookmarks",
        "_catching_up",
        "_content",
        "_deadline",
        "_draining",
        "_ending",
        "_failure",
        "_has_room",
        "_idle",
        "_is_listed",
        "_matches",
        "_pending",
        "_render_first",
        "_representation",
        "_seconds",
        "_source",
        "_start",
        "_timer",
        "_told",
        "_write",
        "request",
    )

    def __init__(
        self, source: FanOut, request: WatchRequest, *, seconds: float, backlog: WatchBacklog
    ) -> None:
        self.request = request
        self._source = source
        self._seconds = seconds
        self._backlog = backlog
        self._matches = request.matches
        self._representation = request.representation
        self._render_first = request.representation.render_first
        self._start = 0  # where the watch begins
        self._told = 0  # what catching up tells of; changes after it are offered
        self._pending: list[bytes] = []
        self._content = 0
        self._catching_up: Iterator[bytes] | None = None
        self._is_listed = False
        self._has_room = True
        self._write: Write = _not_running
        self._idle: asyncio.Future[None] | None = None
        self._draining: asyncio.Timeout | None = None
        self._ending: WatchEnding | None = None
        self._failure: Exception | None = None
        self._deadline = 0.0
        self._timer: asyncio.TimerHandle | None = None

    # For whoever sends the events

    async def run(self, write: Write, drain: Drain) -> WatchEnding:
        """Write the events of the watch until it ends.

        A version that is no longer known, or not reached in time, is written as an ERROR event,
        as the real server does.  What ``write``, ``drain`` or the selector raise is raised.
        """
        if self._seconds < 0:
            return WatchEnding.COMPLETE
        self._write = write
        self._deadline = asyncio.get_running_loop().time() + self._seconds
        try:
            await self._begin()
            return await self._hand_over(write, drain)
        finally:
            self._source.leave(self)
            if self._timer is not None:
                self._timer.cancel()

    # For whoever spreads the changes

    def offer(self, sightings: Sightings) -> None:
        """Take a change if the watch is to show it."""
        if sightings.revision <= self._told or self._ending is not None:
            return
        try:
            event_type = sightings.type_for(self._matches)
            if event_type is None:
                return
            if self._render_first is not None:
                self._add(self._own(sightings.event(event_type)))
            else:
                self._add(sightings.rendered(event_type, self._representation))
        except Exception as error:  # noqa: BLE001 - raised in run(); the writer is not to blame
            self._fail(error)

    def flush(self) -> None:
        """Write what is pending, unless the task in ``run`` is at it."""
        self._is_listed = False
        if self._idle is not None and self._has_room and self._pending:
            self._write_pending()

    def end(self, ending: WatchEnding = WatchEnding.COMPLETE) -> None:
        """End the watch; what is pending is still written if that needs no waiting."""
        if self._ending is not None:
            return
        # Nobody knows when, or whether, a client that has to be waited for will read on.
        self._ending = ending if self._has_room else WatchEnding.ABANDONED
        if self._catching_up is not None or not self._has_room:
            self._discard()
        if self._draining is not None:
            self._draining.reschedule(asyncio.get_running_loop().time())
        self._wake()

    # Beginning

    async def _begin(self) -> None:
        """Find what the watch has missed, and join in the same moment."""
        request, storage = self.request, self._source.storage
        try:
            if request.wants_initial_events:
                await wait_until_fresh(storage, request.resource_version)
                self._start = storage.revision
                events = self._initial_events()
            else:
                self._start = request.resource_version or storage.revision
                events = self._missed_events()
        except ApiError as error:
            self._pending.append(self._own(refusal(error)))
            self._ending = WatchEnding.COMPLETE
            return
        if self._render_first is not None:
            # Only now is it known whether the first event is one of these or the next change.
            events = chain([next(filter(None, events), b"")], events)
        self._catching_up = events
        self._told = max(self._start, storage.revision)
        self._source.join(self)
        self._schedule(asyncio.get_running_loop().time())

    def _initial_events(self) -> Iterator[bytes]:
        request, storage = self.request, self._source.storage
        if request.key is None:
            objects = storage.list(request.resource, request.namespace)
        else:
            stored = storage.get(request.key)
            objects = () if stored is None else (stored,)
        end = None
        if request.bookmarks:
            end = bookmark(request.blank, self._start, ends_initial_events=True)

        def events() -> Iterator[bytes]:
            for stored in objects:
                named = request.name is None or request.name == stored.key.name
                seen = named and (self._matches is None or self._matches(stored.object))
                yield self._own(addition(stored)) if seen else b""
            if end is not None:
                yield self._own(end)

        return events()

    def _missed_events(self) -> Iterator[bytes]:
        request = self.request
        changes = self._source.storage.changes_since(request.resource, self._start, key=request.key)

        def events() -> Iterator[bytes]:
            for change in changes:
                if request.namespace is not None and request.namespace != change.key.namespace:
                    continue
                if request.name is not None and request.name != change.key.name:
                    continue
                sightings = Sightings(change)
                event_type = sightings.type_for(self._matches)
                yield b"" if event_type is None else self._own(sightings.event(event_type))

        return events()

    # Handing over

    async def _hand_over(self, write: Write, drain: Drain) -> WatchEnding:
        while True:
            if self._failure is not None:
                raise self._failure
            if not self._has_room:
                await self._wait_for_room(drain)
                continue
            content = self._take()
            if content:
                self._has_room = write(content)
            if self._catching_up is not None:
                await asyncio.sleep(0)
            elif not content:
                if self._ending is not None:
                    return self._ending
                await self._rest()

    def _write_pending(self) -> None:
        try:
            self._has_room = self._write(self._take())
        except Exception as error:  # noqa: BLE001 - raised in run(); other watchers go on
            self._fail(error)
        if not self._has_room:
            self._wake()

    def _take(self) -> bytes:
        """Give the next bytes to write, perhaps none."""
        if self._catching_up is None:
            content = self._pending[0] if len(self._pending) == 1 else b"".join(self._pending)
            self._discard()
            return content
        parts: list[bytes] = []
        size = 0
        for part in self._catching_up:
            parts.append(part)
            size += len(part)
            if size >= SLICE_BYTES or len(parts) >= SLICE_OBJECTS:
                break
        else:
            self._catching_up = None
        return b"".join(parts)

    async def _wait_for_room(self, drain: Drain) -> None:
        try:
            async with asyncio.timeout(None) as self._draining:
                await drain()
                await asyncio.sleep(0)  # whatever drain does, others get their turn
        except TimeoutError:
            if self._ending is None:
                raise  # drain's own
        finally:
            self._draining = None
            self._has_room = True

    async def _rest(self) -> None:
        self._idle = asyncio.get_running_loop().create_future()
        try:
            await self._idle
        finally:
            self._idle = None

    def _wake(self) -> None:
        if self._idle is not None and not self._idle.done():
            self._idle.set_result(None)

    def _add(self, content: bytes) -> None:
        self._pending.append(content)
        self._content += len(content)
        if len(self._pending) > self._backlog.events or self._content > self._backlog.content:
            if self._idle is not None and self._has_room:
                # Many changes of one moment: the client had no chance to fall behind.
                self._write_pending()
            else:
                self.end(WatchEnding.ABANDONED)
                self._discard()
        elif not self._is_listed:
            self._is_listed = True
            self._source.flush_soon(self)

    def _discard(self) -> None:
        self._pending.clear()
        self._content = 0
        if self._ending is not None:
            self._catching_up = None

    def _fail(self, error: Exception) -> None:
        self._failure = error
        self.end()

    def _own(self, event: ServedEvent) -> bytes:
        """Put an event into bytes for this watch alone."""
        render = self._render_first or self._representation.render
        self._render_first = None
        return render(event)

    # Time

    def _schedule(self, now: float) -> None:
        loop = asyncio.get_running_loop()
        if self.request.bookmarks:
            moment = min(now + BOOKMARK_INTERVAL, self._deadline - BOOKMARK_LEAD)
            if moment > now:
                self._timer = loop.call_at(moment, self._mark)
                return
        self._timer = loop.call_at(self._deadline, self.end)

    def _mark(self) -> None:
        # A bookmark says that everything before it was told, so everything is told first.
        self._source.catch_up()
        revision = self._source.storage.revision
        # The real server, too, says nothing before there is something new.
        if self._catching_up is None and self._ending is None and revision > self._start:
            self._add(self._own(bookmark(self.request.blank, revision)))
        if self._timer is not None:
            # A timer may be early by a hair: the last bookmark would be sent again and again.
            self._schedule(max(self._timer.when(), asyncio.get_running_loop().time()))


def _not_running(_: bytes) -> bool:
    raise RuntimeError("the watch is not running")
