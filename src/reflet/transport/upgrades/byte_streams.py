"""A line of bytes in both directions, once HTTP has done its part."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import struct
from typing import Final, Protocol

from reflet.errors import TransportError
from reflet.runtime.sockets import abort, keepalive

AT_ONCE: Final = 64 * 1024  # bytes
FAREWELL: Final = 1.0  # seconds in which a last word is sent, to whoever still reads
KEEPALIVE: Final = keepalive(idle=20, interval=10, count=3)
"""Socket options: a peer whose machine vanished is noticed after 50 quiet seconds."""


class ByteStream(Protocol):
    """Bytes both ways; what is written is on its way when ``write`` returns."""

    async def read(self) -> bytes:
        """Some bytes, ``b""`` at the end; TransportError when the line breaks."""
        ...

    async def write(self, data: bytes, /) -> None:
        """Send, and wait while the other side is slow; TransportError when it is gone."""
        ...

    async def flush(self) -> None:
        """Wait until nothing that was written waits here, however slow the other side is."""
        ...

    async def close(self) -> None:
        """End both directions, within a moment; what reads ends, what is not sent is lost."""
        ...


class SocketBytes:
    """A connection's reader and writer.  Is a ``ByteStream``.

    *peer* is what errors begin with.  ``moved`` counts the bytes that went either way.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._peer = peer
        self._socket = writer.get_extra_info("socket")  # which a closed one of TLS has no more
        self.moved = 0

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end."""
        try:
            data = await self._reader.read(AT_ONCE)
        except OSError as error:
            raise TransportError(f"{self._peer}: the connection broke: {error}") from error
        self.moved += len(data)
        return data

    async def write(self, data: bytes, /) -> None:
        """Send, and wait while much is unsent."""
        self._writer.write(data)
        await self._drained()
        self.moved += len(data)

    async def flush(self) -> None:
        """Wait until the system has all that was written."""
        self._writer.transport.set_write_buffer_limits(0)
        await self._drained()

    async def _drained(self) -> None:
        try:
            await self._writer.drain()
        except OSError as error:
            raise TransportError(f"{self._peer}: the connection broke: {error}") from error

    async def finish(self) -> None:
        """End our direction alone."""
        with contextlib.suppress(OSError, RuntimeError):
            if self._writer.can_write_eof():
                self._writer.write_eof()

    async def close(self) -> None:
        """Close, without waiting for the other side's farewell; reset when it takes nothing.

        Behind what it does not take, it would not see the end either.
        """
        self._writer.close()
        # In a task: a wait that is cancelled breaks every later one for the same connection.
        closing = asyncio.create_task(self._writer.wait_closed(), name="end of a connection")
        try:
            # What was written may still be on its way.
            await asyncio.wait((closing,), timeout=FAREWELL)
        finally:
            self.reset()
            await asyncio.gather(closing, return_exceptions=True)

    def reset(self) -> None:
        """Break the connection off, which nobody takes for the end of what was said."""
        with contextlib.suppress(OSError):  # it is closed already
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        abort(self._writer.transport)
