"""SPDY/3.1: bytes in, frames out, and back.  Pure.

As much of it as kubelets and API servers speak: streams with headers, data, resets, pings and a
farewell.  What they never act on (settings, windows) is read and left out; headers that come later
are read too, since their compression depends on all before.  Data is handed out as it arrives,
however long its frame.  A frame that breaks the rules, or is another one and longer than agreed, is
a ``SpdyBroken``.

Upstream: github.com/moby/spdystream/spdy; draft-mbelshe-httpbis-spdy-00
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from struct import Struct
from struct import error as TooShort  # noqa: N812 - it is raised for nothing else here
from typing import Final, assert_never

from reflet.errors import TransportError

VERSION: Final = 3
LONGEST_FRAME: Final = 16 * 1024  # bytes of one that is no data
LONGEST_HEADERS: Final = 4 * 1024  # bytes, decompressed; those of Kubernetes have about fifty
FIN: Final = 0x01

SYN_STREAM, SYN_REPLY, RST_STREAM, SETTINGS, PING, GOAWAY, HEADERS, WINDOW_UPDATE = (
    *range(1, 5),
    *range(6, 10),
)
REFUSED_STREAM: Final = 3
CANCEL: Final = 5

_WORD: Final = Struct(">I")
_TWO_WORDS: Final = Struct(">II")
_NEW_STREAM: Final = Struct(">IIBB")


class SpdyBroken(TransportError):
    """The other side sent what is no SPDY/3.1 frame."""


@dataclass(frozen=True, slots=True)
class SynStream:
    """A new stream."""

    stream: int
    headers: Mapping[str, str]
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class SynReply:
    """A new stream is accepted."""

    stream: int
    headers: Mapping[str, str] = field(default_factory=dict)
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Data:
    """Bytes of a stream; read, as many of a frame as have arrived."""

    stream: int
    payload: bytes = field(repr=False)
    is_last: bool = False


@dataclass(frozen=True, slots=True)
class Reset:
    """A stream is over, in both directions."""

    stream: int
    status: int = CANCEL


@dataclass(frozen=True, slots=True)
class Ping:
    """To be sent back by whoever did not send it first."""

    number: int


@dataclass(frozen=True, slots=True)
class GoAway:
    """No stream after the last one is looked at."""

    last: int
    status: int = 0


Frame = SynStream | SynReply | Data | Reset | Ping | GoAway


class _LeftOut:
    """A frame that nobody acts on."""


class SpdyCodec:
    """Both directions of one connection, whose headers are compressed over its whole life."""

    def __init__(self, *, longest: int = LONGEST_FRAME) -> None:
        self._longest = longest
        self._buffer = bytearray()
        self._data: tuple[int, int, bool] | None = None  # stream, bytes to come, is the last
        self._compressor = zlib.compressobj(zdict=DICTIONARY)
        self._decompressor = zlib.decompressobj(zdict=DICTIONARY)

    def feed(self, data: bytes) -> list[Frame]:
        """Take bytes; the frames that they complete, and the data that is in them."""
        self._buffer += data
        found: list[Frame] = []
        while (frame := self._arrived()) is not None:
            if not isinstance(frame, _LeftOut):
                found.append(frame)
        return found

    def _arrived(self) -> Frame | _LeftOut | None:
        """The next frame, or piece of data; None when it is not there yet."""
        if self._data is not None:
            return self._piece(*self._data)
        if len(self._buffer) < _TWO_WORDS.size:
            return None
        first, second = _TWO_WORDS.unpack_from(self._buffer)
        flags, length = second >> 24, second & 0xFFFFFF
        if not first >> 31:
            del self._buffer[: _TWO_WORDS.size]
            return self._piece(_stream(first), length, bool(flags & FIN))
        if length > self._longest:
            raise SpdyBroken(f"a SPDY frame of {length} bytes is too long")
        end = _TWO_WORDS.size + length
        if len(self._buffer) < end:
            return None
        payload = bytes(self._buffer[_TWO_WORDS.size : end])
        del self._buffer[:end]
        return self._frame(first, flags, payload)

    def _piece(self, stream: int, left: int, is_last: bool) -> Data | None:
        payload = bytes(self._buffer[:left])
        del self._buffer[:left]
        left -= len(payload)
        self._data = (stream, left, is_last) if left else None
        if left and not payload:
            return None
        return Data(stream, payload, is_last and not left)

    def encode(self, frame: Frame) -> bytes:
        """One frame as bytes; those with headers in the order in which they are sent."""
        match frame:
            case SynStream():
                block = _NEW_STREAM.pack(frame.stream, 0, 0, 0) + self._packed(frame.headers)
                return _control(SYN_STREAM, block, frame.is_last)
            case SynReply():
                block = _WORD.pack(frame.stream) + self._packed(frame.headers)
                return _control(SYN_REPLY, block, frame.is_last)
            case Data():
                size = len(frame.payload) | (FIN << 24 if frame.is_last else 0)
                return _TWO_WORDS.pack(frame.stream, size) + frame.payload
            case Reset():
                return _control(RST_STREAM, _TWO_WORDS.pack(frame.stream, frame.status))
            case Ping():
                return _control(PING, _WORD.pack(frame.number))
            case GoAway():
                return _control(GOAWAY, _TWO_WORDS.pack(frame.last, frame.status))
            case _:
                assert_never(frame)

    def _frame(self, first: int, flags: int, payload: bytes) -> Frame | _LeftOut:
        is_last = bool(flags & FIN)
        if first >> 16 & 0x7FFF != VERSION:
            raise SpdyBroken(f"a SPDY frame is of version {first >> 16 & 0x7FFF}")
        try:
            match first & 0xFFFF:
                case kind if kind == SYN_STREAM:
                    stream = _stream(_NEW_STREAM.unpack_from(payload)[0])
                    return SynStream(stream, self._unpacked(payload[10:]), is_last)
                case kind if kind == SYN_REPLY:
                    stream = _stream(_WORD.unpack_from(payload)[0])
                    return SynReply(stream, self._unpacked(payload[4:]), is_last)
                case kind if kind == HEADERS:
                    self._unpacked(payload[4:])
                case kind if kind == RST_STREAM:
                    stream, status = _TWO_WORDS.unpack_from(payload)
                    return Reset(_stream(stream), status)
                case kind if kind == PING:
                    return Ping(_WORD.unpack_from(payload)[0])
                case kind if kind == GOAWAY:
                    last, status = _TWO_WORDS.unpack_from(payload)
                    return GoAway(last & 0x7FFFFFFF, status)
                case kind if kind not in {SETTINGS, WINDOW_UPDATE}:
                    raise SpdyBroken(f"a SPDY frame is of type {kind}")
        except TooShort:
            raise SpdyBroken("a SPDY frame is too short") from None
        return _LeftOut()

    def _packed(self, headers: Mapping[str, str]) -> bytes:
        block = _WORD.pack(len(headers))
        for name, value in headers.items():
            for text in (name.lower().encode(), value.encode()):
                block += _WORD.pack(len(text)) + text
        return self._compressor.compress(block) + self._compressor.flush(zlib.Z_SYNC_FLUSH)

    def _unpacked(self, packed: bytes) -> Mapping[str, str]:
        try:
            block = self._decompressor.decompress(packed, LONGEST_HEADERS)
        except zlib.error as error:
            raise SpdyBroken(f"the headers of a SPDY stream cannot be read: {error}") from error
        if self._decompressor.unconsumed_tail:
            raise SpdyBroken("the headers of a SPDY stream are too long")
        headers: dict[str, str] = {}
        count, place = _WORD.unpack_from(block)[0], _WORD.size
        for _ in range(count):  # a count that is too large ends with what there is
            name, place = _text(block, place)
            headers[name.lower()], place = _text(block, place)
        return headers


def _control(kind: int, payload: bytes, is_last: bool = False) -> bytes:
    size = len(payload) | (FIN << 24 if is_last else 0)
    return _TWO_WORDS.pack(1 << 31 | VERSION << 16 | kind, size) + payload


def _stream(number: int) -> int:
    number &= 0x7FFFFFFF
    if not number:
        raise SpdyBroken("a SPDY frame is of stream 0")
    return number


def _text(block: bytes, place: int) -> tuple[str, int]:
    start = place + _WORD.size
    end = start + int(_WORD.unpack_from(block, place)[0])
    if end > len(block):
        raise SpdyBroken("the headers of a SPDY stream are cut off")
    return block[start:end].decode(errors="replace"), end


_WORDS: Final = (
    "options|head|post|put|delete|trace|accept|accept-charset|accept-encoding|accept-language|"
    "accept-ranges|age|allow|authorization|cache-control|connection|content-base|"
    "content-encoding|content-language|content-length|content-location|content-md5|content-range|"
    "content-type|date|etag|expect|expires|from|host|if-match|if-modified-since|if-none-match|"
    "if-range|if-unmodified-since|last-modified|location|max-forwards|pragma|proxy-authenticate|"
    "proxy-authorization|range|referer|retry-after|server|te|trailer|transfer-encoding|upgrade|"
    "user-agent|vary|via|warning|www-authenticate|method|get|status|200 OK|version|HTTP/1.1|url|"
    "public|set-cookie|keep-alive|origin"
)
_TAIL: Final = (
    "100101201202205206300302303304305306307402405406407408409410411412413414415416417502504505"
    "203 Non-Authoritative Information204 No Content301 Moved Permanently400 Bad Request"
    "401 Unauthorized403 Forbidden404 Not Found500 Internal Server Error501 Not Implemented"
    "503 Service UnavailableJan Feb Mar Apr May Jun Jul Aug Sept Oct Nov Dec 00:00:00 Mon, Tue, "
    "Wed, Thu, Fri, Sat, Sun, GMTchunked,text/html,image/png,image/jpg,image/gif,"
    "application/xml,application/xhtml+xml,text/plain,text/javascript,publicprivatemax-age=gzip,"
    "deflate,sdchcharset=utf-8charset=iso-8859-1,utf-,*,enq=0."
)
DICTIONARY: Final = (
    b"".join(_WORD.pack(len(word)) + word.encode() for word in _WORDS.split("|")) + _TAIL.encode()
)
"""What both sides have compressed before the first header: section 2.6.10.1 of the protocol."""
