"""One WebSocket over a line of bytes: messages both ways, pings answered, an orderly end."""

from __future__ import annotations

import contextlib
import secrets
from collections import deque
from typing import Final

from reflet.errors import TransportError
from reflet.transport.upgrades.byte_streams import ByteStream
from reflet.transport.upgrades.websocket_frames import (
    Opcode,
    WebSocketDecoder,
    WebSocketMessage,
    encode_frame,
)

NORMAL: Final = (1000).to_bytes(2)  # the status code of an orderly end
MASK_BYTES: Final = 4


class WebSocket:
    """Messages over *line*, where *is_client* says which side this is."""

    def __init__(self, line: ByteStream, *, is_client: bool) -> None:
        self._line = line
        self._is_client = is_client
        self._decoder = WebSocketDecoder(expects_mask=not is_client)
        self._arrived: deque[WebSocketMessage] = deque()
        self._farewell_sent = False

    async def receive(self) -> bytes | None:
        """The next message; None after the other side's farewell or the end of the line."""
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
                        return message.payload
            data = await self._line.read()
            if not data:
                return None
            self._arrived.extend(self._decoder.feed(data))

    async def send(self, payload: bytes) -> None:
        """Send one message."""
        await self._send(Opcode.BINARY, payload)

    async def close(self) -> None:
        """Say farewell and end the line."""
        try:
            with contextlib.suppress(TransportError):
                await self._say_farewell()
        finally:
            await self._line.close()

    async def _say_farewell(self) -> None:
        if not self._farewell_sent:
            self._farewell_sent = True
            await self._send(Opcode.CLOSE, NORMAL)

    async def _send(self, opcode: Opcode, payload: bytes) -> None:
        mask = secrets.token_bytes(MASK_BYTES) if self._is_client else b""
        await self._line.write(encode_frame(WebSocketMessage(opcode, payload), mask))


class TunneledBytes:
    """A line of bytes inside a WebSocket.  Is a ``ByteStream``."""

    def __init__(self, socket: WebSocket) -> None:
        self._socket = socket

    async def read(self) -> bytes:
        """The next message's bytes; ``b""`` at the end."""
        while (message := await self._socket.receive()) is not None:
            if message:
                return message
        return b""

    async def write(self, data: bytes, /) -> None:
        """Send as one message."""
        await self._socket.send(data)

    async def close(self) -> None:
        """Close the WebSocket."""
        await self._socket.close()
