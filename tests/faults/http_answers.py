"""Cuts what an HTTP/1.1 server sends into heads, chunks and the rest.

Owns: the framing of answers, as far as it takes to harm one chunk and no other byte.  Pure: bytes
go in, pieces come out, together the same bytes.  Must not know sockets, nor what is done to a
piece.
"""

from __future__ import annotations

import enum
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, final

END_OF_LINE: Final = b"\r\n"
END_OF_HEAD: Final = b"\r\n\r\n"


@final
class Part(enum.Enum):
    """What a piece is."""

    HEAD = enum.auto()
    CHUNK = enum.auto()  # ``content`` is what is in it
    OTHER = enum.auto()


@dataclass(frozen=True, slots=True)
class Piece:
    """Some bytes as they came, and what they are."""

    part: Part
    raw: bytes
    content: bytes = b""


def framed(content: bytes) -> bytes:
    """One chunk with this in it."""
    return f"{len(content):x}".encode() + END_OF_LINE + content + END_OF_LINE


@final
class AnswerFraming:
    """The answers of one connection, one after the other.

    What is not HTTP/1.1, or has no end but the connection's, passes as ``OTHER``.
    """

    def __init__(self) -> None:
        self._held = b""
        self._read = self._read_head
        self._left = 0

    def feed(self, data: bytes) -> Iterator[Piece]:
        """Every piece that is whole now."""
        self._held += data
        while self._held:
            piece = self._read()
            if piece is None:
                return
            yield piece

    def rest(self) -> bytes:
        """What is held back because its end has not come."""
        rest, self._held = self._held, b""
        return rest

    def _take(self, size: int) -> bytes:
        taken, self._held = self._held[:size], self._held[size:]
        return taken

    def _read_head(self) -> Piece | None:
        if not self._held.startswith(b"HTTP/1."[: len(self._held)]):
            self._read = self._read_all
            return self._read()
        end = self._held.find(END_OF_HEAD)
        if end < 0:
            return None
        head = self._take(end + len(END_OF_HEAD))
        lines = head.lower().split(END_OF_LINE)
        fields = dict(line.split(b":", 1) for line in lines[1:] if b":" in line)
        status = lines[0].split()[1:2]
        if fields.get(b"transfer-encoding", b"").strip() == b"chunked":
            self._read = self._read_chunk
        elif b"content-length" in fields:
            self._left = int(fields[b"content-length"])
            self._read = self._read_body if self._left else self._read_head
        elif status and (status[0][:1] == b"1" or status[0] in {b"204", b"304"}):
            self._read = self._read_head
        else:
            self._read = self._read_all
        return Piece(Part.HEAD, head)

    def _read_body(self) -> Piece:
        body = self._take(self._left)
        self._left -= len(body)
        if not self._left:
            self._read = self._read_head
        return Piece(Part.OTHER, body)

    def _read_chunk(self) -> Piece | None:
        line = self._held.find(END_OF_LINE)
        if line < 0:
            return None
        size = int(self._held[:line].partition(b";")[0], 16)
        if size == 0:
            return self._read_last_chunk()
        begin = line + len(END_OF_LINE)
        whole = begin + size + len(END_OF_LINE)
        if len(self._held) < whole:
            return None
        raw = self._take(whole)
        return Piece(Part.CHUNK, raw, raw[begin : begin + size])

    def _read_last_chunk(self) -> Piece | None:
        end = self._held.find(END_OF_HEAD)
        if end < 0:
            return None
        self._read = self._read_head
        return Piece(Part.OTHER, self._take(end + len(END_OF_HEAD)))

    def _read_all(self) -> Piece:
        return Piece(Part.OTHER, self._take(len(self._held)))
