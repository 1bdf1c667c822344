"""A line of bytes in both directions, once HTTP has done its part."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import Final, Protocol

from reflet.errors import TransportError

AT_ONCE: Final = 64 * 1024  # bytes
FAREWELL: Final = 1.0  # seconds in which a last word is sent, to whoever still reads
KEEPALIVE: Final = (
    (socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1),
    (socket.IPPROTO_TCP, socket.TCP_KEEPIDLE, 20),
    (socket.IPPROTO_TCP, socket.TCP_KEEPINTVL, 10),
    (socket.IPPROTO_TCP, socket.TCP_KEEPCNT, 3),
)
"""Socket options: a peer whose machine vanished is noticed after 50 quiet seconds."""


class ByteStream(Protocol):
    """Bytes both ways; what is written is on its way when ``write`` returns."""

    async def read(self) -> bytes:
        """Some bytes, ``b""`` at the end; TransportError when the line breaks."""
        ...

    async def write(self, data: bytes, /) -> None:
        """Send, and wait while the other side is slow; TransportError when it is gone."""
        ...

    async def close(self) -> None:
        """End both directions; what reads ends."""
        ...


class SocketBytes:
    """A connection's reader and writer.  Is a ``ByteStream``.

    *peer* is what errors begin with.
    """

    def __init__(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, peer: str
    ) -> None:
        self._reader = reader
        self._writer = writer
        self._peer = peer

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end."""
        try:
            return await self._reader.read(AT_ONCE)
        except OSError as error:
            raise TransportError(f"{self._peer}: the connection broke: {error}") from error

    async def write(self, data: bytes, /) -> None:
        """Send, and wait while much is unsent."""
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise TransportError(f"{self._peer}: the connection broke: {error}") from error

    async def finish(self) -> None:
        """End our direction alone."""
        with contextlib.suppress(OSError, RuntimeError):
            if self._writer.can_write_eof():
                self._writer.write_eof()

    async def close(self) -> None:
        """Close, without waiting for the other side's farewell."""
        self._writer.close()
        try:
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(FAREWELL):  # what was written may still be on its way
                    await self._writer.wait_closed()
        finally:
            self._writer.transport.abort()
