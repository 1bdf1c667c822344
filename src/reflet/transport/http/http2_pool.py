"""As many HTTP/2 connections to one server as its stream limit makes necessary.

Decides on which connection a stream runs, when another is opened, when an idle one is closed,
and what is sent again: what the server certainly did not act on (``Unprocessed``), and reads
that a kept connection lost when it turned out to be dead.

Upstream: golang.org/x/net/http2/client_conn_pool.go; golang.org/x/net/http2/transport.go,
    RoundTripOpt, shouldRetryRequest
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Final

from reflet.errors import TransportError
from reflet.transport.failures import Unprocessed, connection_failure, own_failure
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.http.http2_stream import Http2Stream
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response, Stream

IDLE_CONNECTION_LIFE: Final = 90.0
"""Seconds an unused connection is kept, as Go's client keeps it."""
ATTEMPTS: Final = 4
"""How often a request is sent that the server certainly did not act on."""

NEEDED_OF_A_STREAM: Final = frozenset({"content-encoding", "content-type"})
"""Headers that say how to read a stream; those of a refusal are all kept."""

Dial = Callable[[Callable[[], None]], Awaitable[Http2Connection]]
"""Opens a connection; the argument is called whenever it may have room again."""


class Http2Transport:
    """The seam over HTTP/2.  Connections are opened on demand and shared by all streams."""

    def __init__(self, server: str, dial: Dial) -> None:
        self._server = server
        self._dial = dial
        self._connections: list[Http2Connection] = []
        self._streams: set[Http2Stream] = set()  # whose bodies are being read
        self._dialling = asyncio.Lock()
        self._failed_dials = 0
        self._failed_dial: TransportError | None = None  # the last one
        self._closed = False
        self._reaper: asyncio.TimerHandle | None = None

    @property
    def connections(self) -> int:
        """How many connections are open."""
        return len(self._connections)

    def adopt(self, connection: Http2Connection) -> None:
        """Use a connection that is open already."""
        connection.on_room = self._schedule_reaping
        self._connections.append(connection)
        self._schedule_reaping()

    async def send(self, request: Request, /) -> Response:
        """Send and collect the whole answer."""
        try:
            async with asyncio.timeout(request.timeout):
                stream = await self._open(request)
                try:
                    body = await stream.read_all()
                    return Response(status=stream.status, headers=stream.headers, body=body)
                finally:
                    stream.close()
        except TimeoutError as error:
            raise connection_failure(error, self._server) from error

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        """Send, and hand out the answer's body while it arrives."""
        return _OpenStream(self, request, silence)

    async def begin(self, request: Request, silence: float | None) -> Http2Stream:
        """A stream whose body is about to be read, until ``end``."""
        try:
            async with asyncio.timeout(request.timeout):
                stream = await self._open(request)
        except TimeoutError as error:
            raise connection_failure(error, self._server) from error
        self._streams.add(stream)
        stream.limit_silence(silence)
        if stream.status == 200:
            # Each of thousands of quiet watches would keep half a kilobyte that nobody reads.
            wanted = NEEDED_OF_A_STREAM & stream.headers.keys()
            stream.headers = {name: stream.headers[name] for name in wanted}
        return stream

    def end(self, stream: Http2Stream) -> None:
        """The body of *stream* is read no more."""
        self._streams.discard(stream)
        stream.close()

    def retire(self) -> Sequence[Callable[[], None]]:
        """Close idle connections, and the others with their last stream; see ``Replaceable``."""
        for connection in self._connections:
            connection.retire()
        return [stream.give_way for stream in self._streams]

    @property
    def is_unused(self) -> bool:
        """No connection is open, and none is being opened."""
        return not self._dialling.locked() and all(each.lost for each in self._connections)

    async def close(self) -> None:
        """Close every connection; open streams fail."""
        self._closed = True
        if self._reaper is not None:
            self._reaper.cancel()
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.closed()

    async def _open(self, request: Request) -> Http2Stream:
        """A stream whose head has arrived; repeats only what cannot have had an effect."""
        for attempt in range(1, ATTEMPTS + 1):
            connection = await self._with_room()
            reused = connection.used
            stream: Http2Stream | None = None
            try:
                async with asyncio.timeout(ANSWER_TIMEOUT):  # it may never let a long body in
                    stream = await connection.open(request)
                stream.limit_silence(ANSWER_TIMEOUT)
                await stream.head()
            except Unprocessed:
                if stream is not None:
                    stream.close()
                if attempt == ATTEMPTS:
                    raise
            except TransportError:
                if stream is not None:
                    stream.close()
                # An idle connection may have died unnoticed; reading again is always safe.
                died = reused and connection.lost
                if not died or request.method not in ("GET", "HEAD") or attempt == ATTEMPTS:
                    raise
            except BaseException:
                if stream is not None:
                    stream.close()
                raise
            else:
                return stream
        raise AssertionError  # the loop returns or raises

    async def _with_room(self) -> Http2Connection:
        found = self._find_room()
        if found is not None:
            return found
        failed_dials = self._failed_dials
        async with self._dialling:
            # Whoever held the lock before us may have opened the connection we need, or have
            # found that nobody is there: then all who waited know.
            found = self._find_room()
            if found is not None:
                return found
            if self._failed_dial is not None and failed_dials != self._failed_dials:
                raise own_failure(self._failed_dial)
            try:
                connection = await self._dial(self._schedule_reaping)
            except (OSError, UnicodeError, TransportError) as error:
                # UnicodeError: a host name can be no name at all.
                self._failed_dials += 1
                failure = connection_failure(error, self._server)
                self._failed_dial = own_failure(failure)
                if failure is error:
                    raise
                raise failure from error
            self._failed_dial = None
            if self._closed:
                connection.abort()
                await connection.closed()
                raise TransportError(f"{self._server}: the client is closed")
            self._connections.append(connection)
            return connection

    def _find_room(self) -> Http2Connection | None:
        if self._closed:
            raise TransportError(f"{self._server}: the client is closed")
        lost = [connection for connection in self._connections if connection.lost]
        for connection in lost:
            self._connections.remove(connection)
        # The fullest connection first, so that the others can run empty and be let go.
        candidates = [connection for connection in self._connections if connection.room > 0]
        return min(candidates, key=lambda connection: connection.room, default=None)

    def _schedule_reaping(self) -> None:
        if self._reaper is None and not self._closed:
            self._reaper = asyncio.get_running_loop().call_later(IDLE_CONNECTION_LIFE, self._reap)

    def _reap(self) -> None:
        loop = asyncio.get_running_loop()
        now = loop.time()
        kept = []
        next_look: float | None = None
        for connection in self._connections:
            left = connection.idle_since + IDLE_CONNECTION_LIFE - now
            if connection.lost or (connection.idle and left <= 0):
                connection.abort()
                continue
            kept.append(connection)
            if connection.idle:
                next_look = min(left, next_look or left)
        self._connections = kept
        self._reaper = None if next_look is None else loop.call_later(next_look, self._reap)


class _OpenStream:
    """A stream of a pool while it is read.

    A class, as are the two around it: a suspended generator takes ten times the memory, and there
    may be thousands of quiet watches.
    """

    __slots__ = ("_pool", "_request", "_silence", "_stream")

    def __init__(self, pool: Http2Transport, request: Request, silence: float | None) -> None:
        self._pool = pool
        self._request: Request | None = request
        self._silence = silence
        self._stream: Http2Stream | None = None

    async def __aenter__(self) -> Stream:
        if self._request is None:
            raise RuntimeError("a stream can be opened once")
        request, self._request = self._request, None
        self._stream = await self._pool.begin(request, self._silence)
        return self._stream

    async def __aexit__(self, *_: object) -> None:
        if self._stream is not None:
            self._pool.end(self._stream)
