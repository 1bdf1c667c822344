"""WebSocket: bytes in, messages out, and back.  Pure.

A message is handed out in pieces, as its bytes arrive: some clients send all of a command's input
as one message, and nobody has to have room for it.  A frame that breaks the rules is a
``WebSocketBroken``.  Extensions are not negotiated, so no reserved bit may be set.

Upstream: RFC 6455, sections 1.3 and 5
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from reflet.errors import TransportError

LONGEST_CONTROL: Final = 125
MASK_BYTES: Final = 4
ACCEPT_SALT: Final = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"


class WebSocketBroken(TransportError):
    """The other side sent what is no WebSocket frame."""


class Opcode(IntEnum):
    """What a frame is."""

    CONTINUATION = 0
    TEXT = 1
    BINARY = 2
    CLOSE = 8
    PING = 9
    PONG = 10


@dataclass(frozen=True, slots=True)
class WebSocketMessage:
    """A message, or one control frame; of a message, as much as lies between two reads.

    *begins* and *ends* say whether it is the first piece, and the last.
    """

    opcode: Opcode
    payload: bytes = field(default=b"", repr=False)
    begins: bool = True
    ends: bool = True


def accept_key(key: str) -> str:
    """What a server answers to ``Sec-WebSocket-Key``."""
    digest = hashlib.sha1(key.encode() + ACCEPT_SALT, usedforsecurity=False).digest()
    return base64.b64encode(digest).decode()


def encode_frame(message: WebSocketMessage, mask: bytes = b"") -> bytes:
    """One frame; clients give a *mask* of four bytes, servers none."""
    length, masked = len(message.payload), 0x80 if mask else 0
    head = bytes((0x80 | message.opcode,))
    if length < 126:
        head += bytes((masked | length,))
    elif length < 2**16:
        head += bytes((masked | 126,)) + length.to_bytes(2)
    else:
        head += bytes((masked | 127,)) + length.to_bytes(8)
    return head + mask + (masking(message.payload, mask) if mask else message.payload)


def masking(payload: bytes, mask: bytes) -> bytes:
    """Mask or unmask a payload."""
    length = len(payload)
    key = (mask * (length // 4 + 1))[:length]
    return (int.from_bytes(payload) ^ int.from_bytes(key)).to_bytes(length)


@dataclass(slots=True)
class _Frame:
    """A frame whose payload is arriving."""

    opcode: Opcode
    is_last: bool
    left: int  # bytes
    mask: bytes


class WebSocketDecoder:
    """From bytes to messages.  *expects_mask*: the other side is a client, and must mask."""

    def __init__(self, *, expects_mask: bool) -> None:
        self._expects_mask = expects_mask
        self._buffer = bytearray()
        self._frame: _Frame | None = None
        self._opcode: Opcode | None = None  # of the message of which more frames come
        self._begins = True

    def feed(self, data: bytes) -> list[WebSocketMessage]:
        """Take bytes; the pieces of messages, and the control frames, that are in them."""
        self._buffer += data
        found = []
        while (piece := self._piece()) is not None:
            found.append(piece)
        return found

    def _piece(self) -> WebSocketMessage | None:
        frame = self._frame = self._frame or self._head()
        if frame is None:
            return None
        is_control = frame.opcode >= Opcode.CLOSE
        size = min(frame.left, len(self._buffer))
        if size < frame.left and (is_control or not size):
            return None
        payload = bytes(self._buffer[:size])
        del self._buffer[:size]
        if frame.mask:
            payload = masking(payload, frame.mask)
            turned = size % len(frame.mask)
            frame.mask = frame.mask[turned:] + frame.mask[:turned]
        frame.left -= size
        if not frame.left:
            self._frame = None
        if is_control:
            return WebSocketMessage(frame.opcode, payload)
        ends = frame.is_last and not frame.left
        piece = WebSocketMessage(frame.opcode, payload, self._begins, ends)
        self._begins = ends
        return piece

    def _head(self) -> _Frame | None:
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        first, second = buffer[0], buffer[1]
        if first & 0x70:
            raise WebSocketBroken("a WebSocket frame has reserved bits set")
        try:
            opcode = Opcode(first & 0x0F)
        except ValueError:
            raise WebSocketBroken(f"a WebSocket frame has opcode {first & 0x0F}") from None
        if bool(second & 0x80) != self._expects_mask:
            raise WebSocketBroken("a WebSocket frame is masked by the wrong side")
        is_last, start, length = bool(first & 0x80), 2, second & 0x7F
        if opcode >= Opcode.CLOSE and (length > LONGEST_CONTROL or not is_last):
            raise WebSocketBroken("a WebSocket control frame is too long or in parts")
        if length >= 126:
            start = 4 if length == 126 else 10
        whole = start + (MASK_BYTES if self._expects_mask else 0)
        if len(buffer) < whole:
            return None
        if start > 2:
            length = int.from_bytes(buffer[2:start])
        if length >= 2**63:
            raise WebSocketBroken("a WebSocket frame has no possible length")
        mask = bytes(buffer[start:whole])
        del buffer[:whole]
        return _Frame(self._message_opcode(opcode, is_last=is_last), is_last, length, mask)

    def _message_opcode(self, opcode: Opcode, *, is_last: bool) -> Opcode:
        """What the message is of which a frame is a part."""
        if opcode >= Opcode.CLOSE:
            return opcode
        if (opcode is Opcode.CONTINUATION) != (self._opcode is not None):
            raise WebSocketBroken("the parts of a WebSocket message are out of order")
        meant = self._opcode or opcode
        self._opcode = None if is_last else meant
        return meant
