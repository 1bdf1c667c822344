"""WebSocket: bytes in, messages out, and back.  Pure.

Messages that come in parts are put together; a frame that breaks the rules, or is longer than
agreed, is a ``WebSocketBroken``.  Extensions are not negotiated, so no reserved bit may be set.

Upstream: RFC 6455, sections 1.3 and 5
"""

from __future__ import annotations

import base64
import hashlib
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final

from reflet.errors import TransportError

LONGEST_MESSAGE: Final = 2**20  # bytes; servers and kubectl send 32 KiB at a time
LONGEST_CONTROL: Final = 125
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
    """A whole message, or one control frame."""

    opcode: Opcode
    payload: bytes = field(default=b"", repr=False)


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


class WebSocketDecoder:
    """From bytes to messages.  *expects_mask*: the other side is a client, and must mask."""

    def __init__(self, *, expects_mask: bool, longest: int = LONGEST_MESSAGE) -> None:
        self._expects_mask = expects_mask
        self._longest = longest
        self._buffer = bytearray()
        self._parts: list[bytes] = []
        self._size = 0  # of the parts
        self._opcode: Opcode | None = None  # of the message that comes in parts

    def feed(self, data: bytes) -> list[WebSocketMessage]:
        """Take bytes; the messages that they complete."""
        self._buffer += data
        found = []
        while (frame := self._frame()) is not None:
            message = self._message(*frame)
            if message is not None:
                found.append(message)
        return found

    def _frame(self) -> tuple[bool, Opcode, bytes] | None:
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
        start, length = 2, second & 0x7F
        if length >= 126:
            start = 4 if length == 126 else 10
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[2:start])
        self._check(opcode, length, is_last=bool(first & 0x80))
        mask = b""
        if self._expects_mask:
            mask = bytes(buffer[start : start + 4])
            start += 4
        if len(buffer) < start + length:
            return None
        payload = bytes(buffer[start : start + length])
        del buffer[: start + length]
        return bool(first & 0x80), opcode, masking(payload, mask) if mask else payload

    def _check(self, opcode: Opcode, length: int, *, is_last: bool) -> None:
        if opcode >= Opcode.CLOSE:
            if length > LONGEST_CONTROL or not is_last:
                raise WebSocketBroken("a WebSocket control frame is too long or in parts")
        elif self._size + length > self._longest:
            raise WebSocketBroken(f"a WebSocket message is longer than {self._longest} bytes")

    def _message(self, is_last: bool, opcode: Opcode, payload: bytes) -> WebSocketMessage | None:
        if opcode >= Opcode.CLOSE:
            return WebSocketMessage(opcode, payload)
        if (opcode is Opcode.CONTINUATION) != (self._opcode is not None):
            raise WebSocketBroken("the parts of a WebSocket message are out of order")
        if self._opcode is None:
            if is_last:
                return WebSocketMessage(opcode, payload)
            self._opcode = opcode
        self._parts.append(payload)
        self._size += len(payload)
        if len(self._parts) > self._longest // 16:
            raise WebSocketBroken("a WebSocket message is in too many parts")
        if not is_last:
            return None
        message = WebSocketMessage(self._opcode, b"".join(self._parts))
        self._parts, self._size, self._opcode = [], 0, None
        return message
