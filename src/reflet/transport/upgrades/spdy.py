"""One SPDY/3.1 connection and its streams, over any line of bytes.

Neither side has flow control, as in Go's: a stream that nobody reads stops the connection once its
inbox is full, and so do all together: what one connection can make us keep is bounded.

Upstream: github.com/moby/spdystream/connection.go
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Mapping
from typing import Final

from reflet.errors import TransportError
from reflet.transport.upgrades.byte_streams import FAREWELL, ByteStream
from reflet.transport.upgrades.inbox import Inbox, Room
from reflet.transport.upgrades.spdy_frames import (
    CANCEL,
    REFUSED_STREAM,
    Data,
    Frame,
    GoAway,
    Ping,
    Reset,
    SpdyBroken,
    SpdyCodec,
    SynReply,
    SynStream,
)

MOST_STREAMS: Final = 256
MOST_UNREAD: Final = 512 * 1024  # bytes of all streams of a connection
LARGEST_PIECE: Final = 32 * 1024  # bytes of one data frame, as Go's io.Copy makes them


class SpdyStream:
    """One stream.  Is a ``Channel``."""

    can_finish: Final = True

    def __init__(
        self, session: SpdySession, number: int, headers: Mapping[str, str], room: Room
    ) -> None:
        self._session = session
        self.number = number
        self.headers = headers
        self.inbox = Inbox(room=room)
        self.sends = True
        self.hears = True

    @property
    def is_over(self) -> bool:
        """Whether both directions have ended."""
        return not self.sends and not self.hears

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end of what the other side sends."""
        return await self.inbox.read()

    async def write(self, data: bytes, /) -> None:
        """Send; TransportError when the stream is over."""
        for start in range(0, len(data), LARGEST_PIECE):
            if not self.sends:
                raise TransportError("the stream is over: the other side has reset it")
            await self._session.send(Data(self.number, data[start : start + LARGEST_PIECE]))

    async def finish(self) -> None:
        """End what we send; harmless when that is over."""
        if self.sends:
            self.sends = False
            self._session.forget_if_over(self)
            await self._session.send(Data(self.number, b"", is_last=True))

    async def reset(self) -> None:
        """End both directions at once; harmless when they are over."""
        self.inbox.drop()
        if not self.is_over:
            self.sends = self.hears = False
            self._session.forget_if_over(self)
            await self._session.send(Reset(self.number, CANCEL))


class SpdySession:
    """The streams over *line*; ``run`` reads it until its end.

    *on_stream* is given each stream that the other side opens, which is accepted already; without
    it they are refused.  At most *most* streams are open at a time.
    """

    def __init__(
        self,
        line: ByteStream,
        *,
        is_client: bool,
        on_stream: Callable[[SpdyStream], None] | None = None,
        most: int = MOST_STREAMS,
    ) -> None:
        self._line = line
        self._is_client = is_client
        self._on_stream = on_stream
        self._most = most
        self._codec = SpdyCodec()
        self._streams: dict[int, SpdyStream] = {}
        self._room = Room(MOST_UNREAD)
        self._next = 1 if is_client else 2
        self._last_heard = 0
        self.is_over = False

    async def run(self) -> None:
        """Hand out what arrives, until the other side ends; TransportError when it breaks off."""
        error: TransportError | None = None
        try:
            while data := await self._line.read():
                for frame in self._codec.feed(data):
                    await self._take(frame)
        except TransportError as problem:
            error = problem
            raise
        finally:
            self.is_over = True
            for stream in tuple(self._streams.values()):
                stream.sends = stream.hears = False
                stream.inbox.end(error or TransportError("the connection was closed"))
            self._streams.clear()

    async def open(self, headers: Mapping[str, str]) -> SpdyStream:
        """A new stream."""
        if self.is_over:
            raise TransportError("the connection was closed")
        stream = SpdyStream(self, self._next, headers, self._room)
        self._next += 2
        self._streams[stream.number] = stream
        await self.send(SynStream(stream.number, headers))
        return stream

    def refuse_streams(self) -> None:
        """Take no more streams; those that are open go on."""
        self._on_stream = None

    async def close(self) -> None:
        """Say farewell and end the line, whether the other side reads or not."""
        try:
            with contextlib.suppress(TransportError, TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    await self.send(GoAway(self._last_heard))
        finally:
            await self._line.close()

    async def send(self, frame: Frame) -> None:
        """Send one frame."""
        await self._line.write(self._codec.encode(frame))

    def forget_if_over(self, stream: SpdyStream) -> None:
        """Let go of a stream when both directions have ended."""
        if stream.is_over:
            self._streams.pop(stream.number, None)

    async def _take(self, frame: Frame) -> None:
        match frame:
            case SynStream():
                await self._accept(frame)
            case Data():
                stream = self._streams.get(frame.stream)
                if stream is not None and stream.hears:
                    await stream.inbox.put(frame.payload)
                    if frame.is_last:
                        self._heard_all(stream)
            case SynReply(stream=number, is_last=True):
                if number in self._streams:
                    self._heard_all(self._streams[number])
            case Reset(stream=number):
                stream = self._streams.pop(number, None)
                if stream is not None:
                    stream.sends = stream.hears = False
                    stream.inbox.end(TransportError("the other side has reset the stream"))
            case Ping(number=number):
                if bool(number % 2) != self._is_client:  # not an answer to one of ours
                    await self.send(frame)
            case SynReply() | GoAway():
                pass  # what was opened goes on to its end

    async def _accept(self, frame: SynStream) -> None:
        if frame.stream <= self._last_heard or bool(frame.stream % 2) == self._is_client:
            raise SpdyBroken(f"a SPDY stream has number {frame.stream}, which is not the next")
        self._last_heard = frame.stream
        if self._on_stream is None or len(self._streams) >= self._most:
            await self.send(Reset(frame.stream, REFUSED_STREAM))
            return
        stream = SpdyStream(self, frame.stream, frame.headers, self._room)
        self._streams[frame.stream] = stream
        await self.send(SynReply(frame.stream))
        if frame.is_last:
            self._heard_all(stream)
        self._on_stream(stream)

    def _heard_all(self, stream: SpdyStream) -> None:
        stream.hears = False
        stream.inbox.end()
        self.forget_if_over(stream)
