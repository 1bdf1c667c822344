"""``v5.channel.k8s.io`` and its elders: several channels over one WebSocket.

The first byte of a message is its channel's number.  Version 5 can end a channel, by a message on
channel 255 that names it: so a command sees the end of its input, and goes on to speak.  What the
channels of a command are is said here; for forwarded ports they are pairs.

Upstream: client-go/tools/remotecommand/websocket.go;
    streaming/pkg/httpstream/wsstream/conn.go
"""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from typing import Final, Protocol

from reflet.errors import TransportError
from reflet.transport.upgrades.inbox import Inbox
from reflet.transport.upgrades.websocket import WebSocket
from reflet.transport.upgrades.websocket_frames import WebSocketMessage

STDIN, STDOUT, STDERR, STATUS, RESIZE = range(5)
CLOSE: Final = 255
V5: Final = "v5.channel.k8s.io"
V4: Final = "v4.channel.k8s.io"
PROTOCOLS: Final = (V5, V4)
OF_A_COMMAND: Final = 5
MOST_CHANNELS: Final = CLOSE
LARGEST_PIECE: Final = 32 * 1024  # bytes of one message, as Go's io.Copy makes them


class Channel(Protocol):
    """One direction-less stream among several on a connection."""

    @property
    def can_finish(self) -> bool:
        """Whether the protocol has a word for the end of one of them."""
        ...

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end of the channel."""
        ...

    async def write(self, data: bytes, /) -> None:
        """Send on this channel."""
        ...

    async def finish(self) -> None:
        """End what we send on this channel, where there is a word for it."""
        ...

    async def reset(self) -> None:
        """End both directions, as far as the protocol has a word for it; nothing is read more."""
        ...


class WebSocketChannel:
    """One channel of a WebSocket.  Is a ``Channel``."""

    def __init__(self, socket: WebSocket, number: int, *, can_finish: bool) -> None:
        self._socket = socket
        self.number = number
        self.can_finish = can_finish
        self.inbox = Inbox()

    async def read(self) -> bytes:
        """Some bytes; ``b""`` at the end of the channel."""
        return await self.inbox.read()

    async def write(self, data: bytes, /) -> None:
        """Send in messages of a moderate size."""
        for start in range(0, len(data), LARGEST_PIECE):
            piece = data[start : start + LARGEST_PIECE]
            await self._socket.send(bytes((self.number,)) + piece)

    async def finish(self) -> None:
        """End what we send; nothing in version 4, which has no word for it."""
        if self.can_finish:
            await self._socket.send(bytes((CLOSE, self.number)))

    async def reset(self) -> None:
        """Drop what comes: there is no word by which the other side would hear of it."""
        self.inbox.drop()


class ChannelSocket:
    """The channels of one WebSocket, *count* of them; ``run`` reads it until its end.

    Each of *incoming* that has nothing to read any more gets its end, or the error that broke the
    line.  What comes on other channels is dropped.
    """

    def __init__(
        self,
        socket: WebSocket,
        protocol: str,
        *,
        incoming: Sequence[int],
        count: int = OF_A_COMMAND,
    ) -> None:
        self._socket = socket
        self._incoming = incoming
        self._can_finish = protocol == V5
        self._number: int | None = None  # of the message that is arriving, once it has said so
        self.channels = tuple(
            WebSocketChannel(socket, number, can_finish=self._can_finish) for number in range(count)
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

    async def _take(self, message: WebSocketMessage) -> None:
        payload = message.payload
        if message.begins:
            self._number = None
        if not payload:
            return
        if self._number is None:
            self._number, payload = payload[0], payload[1:]
        if self._number in self._incoming:
            await self.channels[self._number].inbox.put(payload)
        elif self._number == CLOSE and self._can_finish:
            for number in {*payload} & {*self._incoming}:
                self.channels[number].inbox.end()

    def drop(self) -> None:
        """Nobody reads any channel any more, and none that is full keeps the others waiting."""
        for channel in self.channels:
            channel.inbox.drop()

    async def close(self) -> None:
        """End the WebSocket."""
        with contextlib.suppress(TransportError):
            await self._socket.close()
