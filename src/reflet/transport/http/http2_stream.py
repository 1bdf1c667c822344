"""One request on an HTTP/2 connection and its answer: an HTTP/2 stream.

Holds the answer's head, and the bytes of its body between arrival and reading.  What is not read
is not granted again, so a slow reader holds its own server back and nobody else's (flow control).
``limit_silence`` is the last resort against a server that keeps the connection alive and sends
nothing.  The connection (``http2``) tells it what arrived.

Upstream: golang.org/x/net/http2/transport.go, clientStream
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final, Protocol

from reflet.errors import DeadlineExceeded, TransportError
from reflet.transport.failures import ConnectionReplaced

STREAM_WINDOW: Final = 1024 * 1024
"""Bytes that a stream may have in flight: back-pressure on a server whose reader is slow."""


class StreamOwner(Protocol):
    """What a stream asks of its connection."""

    server: str
    loop: asyncio.AbstractEventLoop

    def send_window_update(self, stream_id: int, size: int) -> None:
        """Flow control: let the server send *size* more bytes."""
        ...

    def acknowledge(self, stream_id: int, size: int) -> None:
        """Bytes that the h2 library counted have been read: it may let the server send more."""
        ...

    def forget(self, stream: Http2Stream, *, reset: bool) -> None:
        """The stream is over; *reset* tells the server so."""
        ...


class Http2Stream:
    """One request and its answer, the body readable while it arrives.  Is a ``Stream``."""

    __slots__ = (
        "_chunks",
        "_connection",
        "_last_byte",
        "_silence",
        "_silence_timer",
        "_to_acknowledge",
        "_to_grant",
        "_waiter",
        "cut_here",
        "ended",
        "failure",
        "headers",
        "sent",
        "status",
        "stream_id",
    )

    def __init__(self, connection: StreamOwner, stream_id: int) -> None:
        self._connection = connection
        self.stream_id = stream_id
        self.status = 0  # 0 until the head of the answer has arrived
        self.headers: Mapping[str, str] = {}
        self.sent = False  # the whole request has left
        self.ended = False  # the whole answer has arrived
        self.failure: TransportError | None = None  # why it never will
        self.cut_here = False  # DATA frames skip the h2 library
        self._to_grant = 0  # bytes of cut frames read since the last window update
        self._to_acknowledge = 0  # bytes, padding included, that the library wants to hear of
        self._chunks: list[bytes] = []
        self._waiter: asyncio.Future[None] | None = None
        self._silence = 0.0
        self._last_byte = 0.0
        self._silence_timer: asyncio.TimerHandle | None = None

    async def head(self) -> None:
        """Wait for the status and the headers."""
        while not self.status:
            if self.failure is not None:
                raise self.failure
            await self._wait()

    async def read(self) -> bytes:
        """Everything that has arrived; ``b""`` at the end of the body."""
        while not self._chunks:
            if self.failure is not None:
                raise self.failure
            if self.ended:
                return b""
            await self._wait()
        chunks = self._chunks
        data = chunks[0] if len(chunks) == 1 else b"".join(chunks)
        chunks.clear()
        # Silence begins when everything that came is read: a server may have been held back by us.
        self._last_byte = self._connection.loop.time()
        if self._to_acknowledge:
            self._acknowledge()
        if not self.ended:
            self._to_grant += len(data)
            if self._to_grant >= STREAM_WINDOW // 2:
                self._connection.send_window_update(self.stream_id, self._to_grant)
                self._to_grant = 0
        return data

    async def read_all(self) -> bytes:
        """The whole rest of the body."""
        parts = []
        while part := await self.read():
            parts.append(part)
        return b"".join(parts)

    def limit_silence(self, seconds: float | None) -> None:
        """From now on, *seconds* without a byte fail the stream; None waits for ever."""
        if self._silence_timer is not None:
            self._silence_timer.cancel()
        self._silence = seconds or 0.0
        if seconds is None:
            return
        loop = asyncio.get_running_loop()
        self._last_byte = loop.time()
        self._silence_timer = loop.call_later(seconds, self._check_silence)

    def close(self) -> None:
        """Give the stream up; the server is told when it has not finished."""
        if self._silence_timer is not None:
            self._silence_timer.cancel()
        self._chunks.clear()
        if self._to_acknowledge:
            self._acknowledge()
        self._connection.forget(self, reset=not (self.sent and self.ended))
        self.take_failure(TransportError(f"{self._connection.server}: the stream was closed"))

    def give_way(self) -> None:
        """Let the reader have what has arrived, then ConnectionReplaced; the server is told."""
        self.take_failure(
            ConnectionReplaced(f"{self._connection.server}: the connection is replaced")
        )
        self._connection.forget(self, reset=not (self.sent and self.ended))

    # What the connection tells us.

    def take_head(self, status: int, headers: Mapping[str, str]) -> None:
        """The head of the answer is here."""
        self.status = status
        self.headers = headers
        # The library counts bytes against content-length, so it must see those bodies whole.
        self.cut_here = "content-length" not in headers
        self._wake()

    def take_data(self, data: bytes) -> None:
        """A piece of the body is here."""
        self._chunks.append(data)
        waiter = self._waiter
        if waiter is not None:
            self._waiter = None
            if not waiter.done():
                waiter.set_result(None)

    def take_counted_data(self, data: bytes, size: int) -> None:
        """A piece of the body is here that the library counted as *size* bytes."""
        self._to_acknowledge += size
        self._to_grant -= len(data)  # granted by the library, so not by us when it is read
        self.take_data(data)

    def take_trailers(self, trailers: Mapping[str, str]) -> None:
        """What the server says behind the body: more headers."""
        self.headers = {**self.headers, **trailers}

    def take_end(self) -> None:
        """The body is whole."""
        self.ended = True
        self.cut_here = False  # the library knows what to do with more
        self._wake()

    def take_failure(self, failure: TransportError) -> None:
        """The body will never be whole; what has arrived of it can still be read."""
        if not self.ended and self.failure is None:
            self.failure = failure
            self.cut_here = False  # nor is more of it worth a short cut
            self._wake()

    def _acknowledge(self) -> None:
        self._connection.acknowledge(self.stream_id, self._to_acknowledge)
        self._to_acknowledge = 0

    async def _wait(self) -> None:
        waiter = self._waiter = self._connection.loop.create_future()
        try:
            await waiter
        finally:
            self._waiter = None

    def _wake(self) -> None:
        waiter, self._waiter = self._waiter, None
        if waiter is not None and not waiter.done():
            waiter.set_result(None)

    def _check_silence(self) -> None:
        loop = self._connection.loop
        # Bytes that wait for a slow reader are not silence.
        since = loop.time() if self._chunks else self._last_byte
        left = since + self._silence - loop.time()
        if left > 0:
            self._silence_timer = loop.call_later(left, self._check_silence)
            return
        self.take_failure(
            DeadlineExceeded(
                f"{self._connection.server}: the stream was silent for {self._silence:g} seconds"
            )
        )
