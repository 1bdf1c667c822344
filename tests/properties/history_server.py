"""A small server with a history, which fails when it is told to.

Owns: one collection of ConfigMaps, its versions, and what a real server does with lists and
watches of them.  Is a ``Source``.  Must not know who mirrors it.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass

from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.meta import ListMeta, ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.watch_events import WatchEvent
from reflet.errors import (
    ConnectionRefused,
    DeadlineExceeded,
    DecodeError,
    Expired,
    Forbidden,
    InternalError,
    Timeout,
    TooManyRequests,
    TransportError,
)
from reflet.testing.scripted_source import added, bookmark, deleted, modified

NEVER = 10**9


class Trouble(enum.Enum):
    """What can go wrong with one request or stream."""

    NONE = enum.auto()
    CLOSE = enum.auto()
    BREAK = enum.auto()
    SILENCE = enum.auto()
    REFUSE = enum.auto()
    THROTTLE = enum.auto()
    FAIL = enum.auto()
    FORBID = enum.auto()
    EXPIRE = enum.auto()
    TOO_LARGE = enum.auto()
    UNREADABLE = enum.auto()
    COMPACT = enum.auto()
    """The history is cut off; whoever is behind finds his version expired, for good reason."""


@dataclass(frozen=True, slots=True)
class Fault:
    """Trouble with a request, or with its stream after *after* events."""

    trouble: Trouble
    after: int | None = None


HEALTHY = Fault(Trouble.NONE)


def error_of(trouble: Trouble) -> Exception | None:
    match trouble:
        case Trouble.NONE | Trouble.COMPACT | Trouble.CLOSE:
            return None
        case Trouble.BREAK:
            return TransportError("connection reset")
        case Trouble.SILENCE:
            return DeadlineExceeded("silent")
        case Trouble.REFUSE:
            return ConnectionRefused("refused")
        case Trouble.THROTTLE:
            return TooManyRequests("slow down", code=429, reason="TooManyRequests")
        case Trouble.FAIL:
            return InternalError("failed", code=500, reason="InternalError")
        case Trouble.FORBID:
            return Forbidden("forbidden", code=403, reason="Forbidden")
        case Trouble.EXPIRE:
            return expired()
        case Trouble.TOO_LARGE:
            return too_large()
        case Trouble.UNREADABLE:
            return DecodeError("not an event")


def expired() -> Expired:
    return Expired("too old resource version", code=410, reason="Expired")


def too_large() -> Timeout:
    return Timeout("Too large resource version", code=504, reason="Timeout")


class HistoryServer:
    """Serves the history so far; each request takes the next fault, and in the end none."""

    def __init__(self, faults: Iterable[Fault] = (), *, streaming: bool = True) -> None:
        self.objects: dict[str, ConfigMap] = {}
        self.version = 1
        self.requests = 0
        self.open_watches = 0
        self._faults = iter(faults)
        self._streaming = streaming
        self._log: list[tuple[int, WatchEvent[ConfigMap]]] = []
        self._oldest = 0
        self._snapshots: dict[str, tuple[list[ConfigMap], int]] = {}
        self._news = asyncio.Event()

    # What happens on the server

    def put(self, name: str) -> None:
        key = f"shop/{name}"
        item = self._next_state(name)
        self._happened(modified(item) if key in self.objects else added(item))
        self.objects[key] = item

    def delete(self, name: str) -> None:
        if self.objects.pop(f"shop/{name}", None) is not None:
            self._happened(deleted(self._next_state(name)))

    def compact(self) -> None:
        self._oldest = self.version

    def heal(self) -> None:
        """Give no request that comes from now on any trouble."""
        self._faults = iter(())

    def _next_state(self, name: str) -> ConfigMap:
        self.version += 1
        metadata = ObjectMeta(name=name, namespace="shop", resource_version=str(self.version))
        return ConfigMap(metadata=metadata)

    def _happened(self, event: WatchEvent[ConfigMap]) -> None:
        self._log.append((self.version, event))
        self._news.set()
        self._news = asyncio.Event()

    # What it answers

    gate = None

    async def page(self, options: ListOptions, /) -> Listing[ConfigMap]:
        self._refuse(self._next_fault(), NEVER)
        if options.continue_:
            items, version = self._snapshots[options.continue_]
            if version < self._oldest:
                raise expired()
        else:
            items, version = list(self.objects.values()), self.version
            if int(options.resource_version or 0) > version:
                raise too_large()
        size = options.limit or len(items)
        rest = items[size:]
        token = f"rest {self.requests}" if rest else ""
        self._snapshots[token] = (rest, version)
        metadata = ListMeta(resource_version=str(version), continue_=token)
        return Listing(items=tuple(items[:size]), metadata=metadata)

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[HistoryWatch]:
        fault = self._next_fault()
        if options.send_initial_events and not self._streaming:
            raise Forbidden("sendInitialEvents is forbidden", code=422, reason="Invalid")
        self._refuse(fault, None)
        since = int(options.resource_version or 0)
        if since > self.version:
            raise too_large()
        if since and since < self._oldest and not options.send_initial_events:
            raise expired()
        self.open_watches += 1
        try:
            initial = bool(options.send_initial_events)
            yield HistoryWatch(self, since, initial, fault, silence or NEVER)
        finally:
            self.open_watches -= 1

    def _next_fault(self) -> Fault:
        self.requests += 1
        fault = next(self._faults, HEALTHY)
        if fault.trouble is Trouble.COMPACT:
            self.compact()
            return HEALTHY
        return fault

    def _refuse(self, fault: Fault, whole_answer: int | None) -> None:
        """Raise the fault of the request itself; a whole answer has no stream to break later."""
        if fault.after is None or whole_answer is not None:
            error = error_of(fault.trouble)
            if error is not None:
                raise error

    # What its streams bring

    def initial(self) -> list[WatchEvent[ConfigMap]]:
        events = [added(item) for item in self.objects.values()]
        return [*events, bookmark(str(self.version), ends_initial_events=True)]

    def newer_than(self, version: int) -> list[WatchEvent[ConfigMap]]:
        return [event for happened, event in self._log if happened > version]

    async def news(self) -> None:
        await self._news.wait()


class HistoryWatch:
    """One stream: perhaps the present state, then what happens, in batches."""

    def __init__(
        self, server: HistoryServer, since: int, initial: bool, fault: Fault, silence: float
    ) -> None:
        self.received_bytes = 0
        self._server = server
        self._since = since
        self._initial = initial
        self._fault = fault
        self._silence = silence

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[ConfigMap]]]:
        left = NEVER if self._fault.after is None else self._fault.after
        if self._fault.trouble is Trouble.CLOSE and self._fault.after is None:
            left = 0
        events = self._server.initial() if self._initial else self._news()
        while True:
            self._since = self._server.version
            given = events[:left]
            left -= len(given)
            if given:
                yield given
            if left <= 0 or (self._fault.trouble is not Trouble.NONE and not events):
                await self._break_down()
                return
            while not (events := self._news()):
                await self._server.news()

    def _news(self) -> list[WatchEvent[ConfigMap]]:
        return self._server.newer_than(self._since)

    async def _break_down(self) -> None:
        if self._fault.trouble is Trouble.SILENCE:
            await asyncio.sleep(self._silence)
        error = error_of(self._fault.trouble)
        if error is not None:
            raise error
