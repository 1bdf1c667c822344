"""One watch on one connection, and what faults do to it.

Lines go straight to the transport; while no fault is due they are not looked at.
"""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import Final, final

from reflet.devserver.faults import Action, SeenRequest
from reflet.devserver.watches.event_lines import http_chunk
from reflet.devserver.watches.watch_feed import WatchFeed
from reflet.devserver.watches.watchers import transport_writer

CORRUPTION: Final = b'{"type":"MODIFIED","object":{"kind":"ConfigMap","metadata":{"name":\n'
BROKEN_START: Final = b'{"type":"MODIFIED","object":{"kind":"Co'
_LINGER: Final = struct.pack("ii", 1, 0)


def reset(transport: asyncio.WriteTransport) -> None:
    """Break a connection so that the other side sees a reset, not an end.

    One that is broken already stays as it is.
    """
    if transport.is_closing():
        return  # its socket may be gone
    connection = transport.get_extra_info("socket")
    if connection is not None:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _LINGER)
    transport.abort()


@final
class WatchConnection:
    """A feed, the connection it is written to, and the fault that is due, if any."""

    __slots__ = ("_due", "_silent", "_stalled", "_transport", "_write", "feed", "request")

    def __init__(self, feed: WatchFeed, transport: asyncio.Transport, request: SeenRequest) -> None:
        self.feed = feed
        self.request = request
        self._transport = transport
        self._write = transport_writer(transport)
        self._due: Action | None = None
        self._silent = False
        self._stalled = False

    @property
    def is_stalled(self) -> bool:
        """Whether nothing may be sent any more, not even the end."""
        return self._stalled

    def strike_next_line(self, action: Action) -> None:
        """Let a fault happen to the next line; closing and stalling need not wait for one."""
        match action:
            case Action.CLOSE:
                self.feed.end()
            case Action.STALL:
                self._silent = self._stalled = True
            case _:
                self._due = action

    def strike_now(self, action: Action) -> None:
        """Let a fault happen at once; lines that are cut or corrupted are the next to come."""
        if action is Action.RESET:
            self._break_off(BROKEN_START)
        else:
            self.strike_next_line(action)

    def write(self, content: bytes) -> bool:
        """Write lines; say whether there is room for more."""
        if self._due is None and not self._silent:
            return self._write(content)
        if self._silent:
            return True
        action, self._due = self._due, None
        line, rest = _first_line(content)
        if action is Action.RESET:
            self._break_off(line)
            return True
        if action is Action.TRUNCATE:
            self._silent = True
            self.feed.end()
            return self._write(http_chunk(line[: max(1, len(line) // 2)]))
        return self._write(http_chunk(CORRUPTION) + rest)

    def _break_off(self, line: bytes) -> None:
        """Break the connection in the middle of a line."""
        # One that ends already takes no bytes, and asyncio's over TLS would fail.
        if not self._transport.is_closing():
            self._transport.write(_cut_chunk(line))
            reset(self._transport)


def _cut_chunk(line: bytes) -> bytes:
    """Begin a chunk with a whole line in it, and stop in the middle of the line."""
    return b"%x\r\n%b" % (len(line), line[: max(1, len(line) // 2)])


def _first_line(content: bytes) -> tuple[bytes, bytes]:
    """Take the first line out of its chunk; also give the chunks after it."""
    size, _, rest = content.partition(b"\r\n")
    length = int(size, 16)
    return rest[:length], rest[length + 2 :]
