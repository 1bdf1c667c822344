"""``v5.channel.k8s.io`` and its elders: several channels over one WebSocket.

The first byte of a message is its channel's number.  Version 5 can end a channel, by a message on
channel 255 that names it: so a command sees the end of its input, and goes on to speak.

Upstream: client-go/tools/remotecommand/websocket.go;
    streaming/pkg/httpstream/wsstream/conn.go
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final, Protocol

from reflet.errors import MisuseError, TransportError
from reflet.transport.upgrades.inbox import Inbox
from reflet.transport.upgrades.websocket import WebSocket

STDIN, STDOUT, STDERR, STATUS, RESIZE = range(5)
CLOSE: Final = 255
V5: Final = "v5.channel.k8s.io"
V4: Final = "v4.channel.k8s.io"
PROTOCOLS: Final = (V5, V4)
LARGEST_PIECE: Final = 32 * 1024  # bytes of one message, as Go's io.Copy makes them


class Channel(Protocol):
    """One direction-less stream among several on a connection."""

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end of the channel."""
        ...

    async def write(self, data: bytes, /) -> None:
        """Send on this channel."""
        ...

    async def finish(self) -> None:
        """End what we send on this channel."""
        ...


class WebSocketChannel:
    """One channel of a WebSocket.  Is a ``Channel``."""

    def __init__(self, socket: WebSocket, number: int, *, can_finish: bool) -> None:
        self._socket = socket
        self._number = number
        self._can_finish = can_finish
        self.inbox = Inbox()

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end of the channel."""
        return await self.inbox.read()

    async def write(self, data: bytes, /) -> None:
        """Send in messages of a moderate size."""
        for start in range(0, len(data), LARGEST_PIECE):
            piece = data[start : start + LARGEST_PIECE]
            await self._socket.send(bytes((self._number,)) + piece)

    async def finish(self) -> None:
        """End what we send; MisuseError where the protocol has no word for it."""
        if not self._can_finish:
            raise MisuseError(
                f"the server speaks {V4}, which cannot end the input alone: leave the block instead"
            )
        await self._socket.send(bytes((CLOSE, self._number)))


class ChannelSocket:
    """The channels of one WebSocket; ``run`` reads it until its end.

    Each of *incoming* that has nothing to read any more gets its end, or the error that broke the
    line.  What comes on other channels is dropped.
    """

    def __init__(self, socket: WebSocket, protocol: str, *, incoming: Sequence[int]) -> None:
        self._socket = socket
        self._incoming = incoming
        self.channels = tuple(
            WebSocketChannel(socket, number, can_finish=protocol == V5) for number in range(5)
        )

    async def run(self) -> None:
        """Hand out what arrives, until the other side ends."""
        error: TransportError | None = None
        try:
            while (message := await self._socket.receive()) is not None:
                await self._take(message)
        except TransportError as problem:
            error = problem
        finally:
            for channel in self.channels:
                channel.inbox.end(error)

    async def _take(self, message: bytes) -> None:
        if not message:
            return
        number = message[0]
        if number == CLOSE and len(message) > 1 and message[1] in self._incoming:
            self.channels[message[1]].inbox.end()
        elif number in self._incoming:
            await self.channels[number].inbox.put(message[1:])

    async def close(self) -> None:
        """End the WebSocket."""
        with contextlib.suppress(TransportError):
            await self._socket.close()
