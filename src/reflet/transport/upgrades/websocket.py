"""One WebSocket over a line of bytes: messages both ways, pings answered, an orderly end."""

from __future__ import annotations

import asyncio
import contextlib
import secrets
from collections import deque
from typing import Final

from reflet.errors import TransportError
from reflet.transport.upgrades.byte_streams import FAREWELL, ByteStream
from reflet.transport.upgrades.websocket_frames import (
    MASK_BYTES,
    Opcode,
    WebSocketBroken,
    WebSocketDecoder,
    WebSocketMessage,
    encode_frame,
)

NORMAL: Final = 1000  # the status code of an orderly end
PROTOCOL_ERROR: Final = 1002


class WebSocket:
    """Messages over *line*, where *is_client* says which side this is."""

    def __init__(self, line: ByteStream, *, is_client: bool) -> None:
        self._line = line
        self._is_client = is_client
        self._decoder = WebSocketDecoder(expects_mask=not is_client)
        self._arrived: deque[WebSocketMessage] = deque()
        self._status = NORMAL
        self._farewell_sent = False

    async def receive(self) -> WebSocketMessage | None:
        """The next message, or as much as has arrived of it.

        None after the other side's farewell or the end of the line; TransportError for what is
        no WebSocket, which the farewell then tells the other side.
        """
        while True:
            while self._arrived:
                message = self._arrived.popleft()
                match message.opcode:
                    case Opcode.PING:
                        await self._send(Opcode.PONG, message.payload)
                    case Opcode.PONG:
                        pass
                    case Opcode.CLOSE:
                        await self._say_farewell()
                        return None
                    case _:
                        return message
            data = await self._line.read()
            if not data:
                return None
            try:
                self._arrived.extend(self._decoder.feed(data))
            except WebSocketBroken:
                self._status = PROTOCOL_ERROR
                raise

    async def send(self, payload: bytes) -> None:
        """Send one message."""
        await self._send(Opcode.BINARY, payload)

    async def finish(self) -> None:
        """Say farewell, and wait until the line has taken it."""
        await self._say_farewell()
        await self.flush()

    async def flush(self) -> None:
        """Wait until the line has taken all that was sent."""
        await self._line.flush()

    async def close(self) -> None:
        """Say farewell and end the line, whether the other side reads or not."""
        try:
            with contextlib.suppress(TransportError, TimeoutError):
                async with asyncio.timeout(FAREWELL):
                    await self._say_farewell()
        finally:
            await self._line.close()

    async def _say_farewell(self) -> None:
        if not self._farewell_sent:
            self._farewell_sent = True
            await self._send(Opcode.CLOSE, self._status.to_bytes(2))

    async def _send(self, opcode: Opcode, payload: bytes) -> None:
        mask = secrets.token_bytes(MASK_BYTES) if self._is_client else b""
        await self._line.write(encode_frame(WebSocketMessage(opcode, payload), mask))


class TunneledBytes:
    """A line of bytes inside a WebSocket.  Is a ``ByteStream``."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def read(self) -> bytes:
        """The next bytes, whichever message they are of; ``b""`` at the end."""
        while (message := await self._socket.receive()) is not None:
            if message.payload:
                return message.payload
        return b""

    async def write(self, data: bytes, /) -> None:
        """Send as one message."""
        await self._socket.send(data)

    async def flush(self) -> None:
        """Wait until the WebSocket's line has taken all."""
        await self._socket.flush()

    async def close(self) -> None:
        """Close the WebSocket."""
        await self._socket.close()
