"""The agents of a fleet: real reflectors, on the model of the connection that they share.

Owns: the model connection, the source on it, and the two policies.  Must not know when the server
is away, nor what is made of the figures.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Self

from benchmarks.fleet_server import Answer, ModelServer
from reflet.api.codec import Listing
from reflet.api.core.config import ConfigMap
from reflet.api.meta import ListMeta, ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.api.status import error_from_response
from reflet.api.watch_events import WatchEvent
from reflet.errors import (
    ConnectionRefused,
    DeadlineExceeded,
    Expired,
    Forbidden,
    RefletError,
    TooManyRequests,
    TransportError,
)
from reflet.informer.reflector.reflector import Reflector
from reflet.informer.reflector.watch_list import INITIAL_EVENTS_END
from reflet.runtime.backoff import Backoff
from reflet.runtime.gate import FIRST_PROBE, LONGEST_PROBE, PROBE_JITTER, Gate
from reflet.store.deltas import Delta
from reflet.testing.virtual_time import VirtualClock
from reflet.transport.connection import CONNECT_TIMEOUT

GO_HANDSHAKE_TIMEOUT: Final = 10.0  # seconds
GO_RETRIES: Final = 10  # by client-go's REST client, of a request that is answered Retry-After
RETRY_AFTER: Final = 1.0  # seconds

# Parsed once, and not for each of some hundred thousand reflectors.
LABELS: Final = LabelSelector.everything()
FIELDS: Final = FieldSelector.everything()


@dataclass(frozen=True, slots=True, kw_only=True)
class Probing:
    """How a gate tries; as the product does it, unless told otherwise."""

    first: float = FIRST_PROBE
    longest: float = LONGEST_PROBE
    jitter: float = PROBE_JITTER


@dataclass(frozen=True, slots=True)
class _Dial:
    ends_at: float
    succeeds: bool


class Connection:
    """The one HTTP/2 connection of an agent.

    *together*: who needs it while it is being opened waits for it and shares its failure, as in our
    ``http2_pool``.  Else everybody dials, and all use what is open first, as in
    Go's ``net/http``.  Behind a *gateway* there is always a connection, but not always a server.
    """

    def __init__(self, server: ModelServer, *, together: bool, gateway: bool = False) -> None:
        self._server = server
        self._together = together
        self._dial_timeout = CONNECT_TIMEOUT if together else GO_HANDSHAKE_TIMEOUT
        self._gateway = gateway
        self._is_open = False
        self._dial: _Dial | None = None  # the first that will succeed, or the only one
        self._streams: dict[Stream, None] = {}

    async def request(self) -> Answer:
        """Send a request, and open the connection if need be."""
        if not self._is_open:
            await self._opened()
        answer, moment = self._server.request()
        await asyncio.sleep(moment - _now())
        return answer

    def add(self, stream: Stream) -> None:
        """From now on, *stream* ends when the connection does."""
        self._streams[stream] = None

    def remove(self, stream: Stream) -> None:
        """*stream* has ended."""
        self._streams.pop(stream, None)

    async def _opened(self) -> None:
        now = _now()
        if self._dial is None or not self._together:
            moment = self._server.handshake()
            if moment is None:
                raise ConnectionRefused("connection refused")
            dial = _Dial(min(moment, now + self._dial_timeout), moment <= now + self._dial_timeout)
            if self._dial is None or not self._dial.succeeds:
                self._dial = dial
        dial = self._dial
        await asyncio.sleep(dial.ends_at - now)
        if not self._is_open:
            if self._dial is dial:
                self._dial = None
            if not dial.succeeds:
                raise DeadlineExceeded("TLS handshake timeout")
            self._is_open = True
            self._server.connect(self._reset)

    def _reset(self) -> None:
        self._is_open = self._gateway
        if self._gateway:
            self._server.connect(self._reset)
        streams, self._streams = self._streams, {}
        for stream in streams:
            stream.end(TransportError("connection reset"))


class Stream:
    """A watch: what it brings at once, and silence until the connection ends."""

    __slots__ = ("_agent", "_at_once", "_ended", "_is_live")

    received_bytes = 0

    def __init__(self, agent: Agent, at_once: WatchEvent[ConfigMap] | Exception) -> None:
        self._agent = agent
        self._at_once: WatchEvent[ConfigMap] | Exception | None = at_once
        self._ended: asyncio.Future[None] | None = None
        self._is_live = False
        agent.connection.add(self)

    def batches(self) -> Self:
        return self

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> tuple[WatchEvent[ConfigMap]]:
        first, self._at_once = self._at_once, None
        if isinstance(first, Exception):
            raise first
        if first is None:
            self._ended = asyncio.get_running_loop().create_future()
            await self._ended
            raise AssertionError  # it ends with an error
        self._is_live = True
        self._agent.gained_a_stream()
        return (first,)

    def end(self, error: Exception) -> None:
        """The connection broke."""
        if self._ended is None:
            self._at_once = error
        elif not self._ended.done():
            self._ended.set_exception(error)

    def close(self) -> None:
        if self._is_live:
            self._is_live = False
            self._agent.lost_a_stream()
        self._agent.connection.remove(self)


class _Watch:
    """The context of a watch."""

    __slots__ = ("_options", "_source", "_stream")

    def __init__(self, source: ModelSource, options: WatchOptions) -> None:
        self._source = source
        self._options = options
        self._stream: Stream | None = None

    async def __aenter__(self) -> Stream:
        agent = self._source.agent
        await self._source.answered()
        version = agent.server.version
        known = self._options.send_initial_events or self._options.resource_version == version
        self._stream = Stream(agent, BOOKMARKS[version] if known else _expired())
        return self._stream

    async def __aexit__(self, *_: object) -> None:
        if self._stream is not None:
            self._stream.close()


class ModelSource:
    """A collection of the model server; *retries* is how often a 429 is asked again in here."""

    __slots__ = ("_retries", "agent", "gate")

    def __init__(self, agent: Agent, gate: Gate | None, *, retries: int = 0) -> None:
        self.agent = agent
        self.gate = gate
        self._retries = retries

    async def page(self, _: ListOptions, /) -> Listing[ConfigMap]:
        await self.answered()
        return Listing(metadata=ListMeta(resource_version=self.agent.server.version))

    def watch(self, options: WatchOptions, /, *, silence: float | None) -> _Watch:
        del silence  # streams of the model do not stall
        return _Watch(self, options)

    async def answered(self) -> None:
        """Send a request; raises what is no success."""
        for left in range(self._retries, -1, -1):
            answer = await self.agent.connection.request()
            match answer:
                case Answer.SERVED:
                    return
                case Answer.FORBIDDEN:
                    raise Forbidden("the rules are not loaded", code=403)
                case Answer.UNAVAILABLE:
                    raise error_from_response(503, None, b"<html>no server</html>")
                case Answer.THROTTLED if left:
                    await asyncio.sleep(RETRY_AFTER)
                case Answer.THROTTLED:
                    raise TooManyRequests("slow down", code=429, retry_after=RETRY_AFTER)


class Agent:
    """A process that follows *streams* collections; with *probing* through a gate.

    *changed* is called with True when all of them are live, and with False when they are not.
    """

    def __init__(
        self,
        server: ModelServer,
        *,
        streams: int,
        probing: Probing | None,
        gateway: bool,
        chance: Callable[[], float],
        changed: Callable[[bool], None],
    ) -> None:
        self.server = server
        self.connection = Connection(server, together=probing is not None, gateway=gateway)
        self._streams = streams
        self._live = 0
        self._chance = chance
        self._changed = changed
        self._probing = probing

    def gained_a_stream(self) -> None:
        self._live += 1
        if self._live == self._streams:
            self._changed(True)

    def lost_a_stream(self) -> None:
        if self._live == self._streams:
            self._changed(False)
        self._live -= 1

    def start(self) -> list[asyncio.Task[None]]:
        """Begin to follow; the tasks are the caller's to cancel."""
        gate = None
        if self._probing is not None:
            gate = Gate(
                first=self._probing.first,
                longest=self._probing.longest,
                jitter=self._probing.jitter,
                chance=self._chance,
            )
        return [asyncio.create_task(self._follow(gate)) for _ in range(self._streams)]

    async def _follow(self, gate: Gate | None) -> None:
        backoff = Backoff(clock=CLOCK, chance=self._chance)
        reflector = Reflector(
            ModelSource(self, gate, retries=0 if gate else GO_RETRIES),
            SINK,
            label_selector=LABELS,
            field_selector=FIELDS,
            clock=CLOCK,
            backoff=backoff,
            chance=self._chance,
        )
        if gate is not None:
            await reflector.run()
        # client-go's rule between two passes: the next delay whatever ended the last, a 410 too.
        while True:
            with contextlib.suppress(RefletError):
                await reflector.list_and_watch()
            await CLOCK.sleep(backoff.next_delay())


class _Sink:
    """Takes everything and keeps nothing."""

    def apply(self, _: Delta[ConfigMap], /) -> None:
        pass


def _bookmark(version: str) -> WatchEvent[ConfigMap]:
    """The end of the initial events of a collection without objects."""
    annotations = {INITIAL_EVENTS_END: "true"}
    metadata = ObjectMeta(resource_version=version, annotations=annotations)
    return WatchEvent(type="BOOKMARK", object=ConfigMap(metadata=metadata))


def _expired() -> Expired:
    return Expired("too old resource version", code=410, reason="Expired")


def _now() -> float:
    return asyncio.get_running_loop().time()


CLOCK: Final = VirtualClock()
SINK: Final = _Sink()
BOOKMARKS: Final = {version: _bookmark(version) for version in ("1", "2")}
