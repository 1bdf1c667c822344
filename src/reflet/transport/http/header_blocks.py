"""The heads of requests as HTTP/2 sends them: HPACK, without its memory.

Takes the place of the h2 library's encoder.  That one compresses against what was sent before,
field by field; here each field stands for itself, and one that was sent before is not made again,
which is several times as fast.  A request is some two hundred bytes longer for it.

Upstream: RFC 7541, 6.2.2 and 6.2.3 (literals without indexing and never indexed), 6.3, appendix A
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

NEVER_INDEXED: Final = frozenset({b"authorization", b"proxy-authorization", b"cookie"})
"""What no proxy on the way may keep in a table of its own."""
CHANGES_EACH_TIME: Final = frozenset({b":path", b"content-length"})
MOST_KEPT: Final = 64  # fields: tokens are renewed, and a program may make up headers
STATIC_NAMES: Final[Mapping[bytes, int]] = {
    b":authority": 1,
    b":method": 2,
    b":path": 4,
    b":scheme": 6,
    b"accept-encoding": 16,
    b"accept": 19,
    b"authorization": 23,
    b"content-length": 28,
    b"content-type": 31,
    b"user-agent": 58,
}
"""Names that HPACK knows by a number."""
NO_TABLE: Final = b"\x20"
"""Sets the size of the table to 0, once: whatever size the server allows later is no less."""


class HeaderBlocks:
    """Encodes the header blocks of one connection.  Fits where h2 has an ``hpack.Encoder``."""

    def __init__(self) -> None:
        self.header_table_size = 0  # set by h2 when the server allows more or less; never used
        self._kept: dict[tuple[bytes, bytes], bytes] = {}
        self._has_begun = False

    def encode(self, headers: Iterable[tuple[bytes, bytes]]) -> bytes:
        """The block of a request; names are lower case."""
        kept = self._kept
        fields = [] if self._has_begun else [NO_TABLE]
        self._has_begun = True
        for header in headers:
            encoded = kept.get(header)
            if encoded is None:
                encoded = field(*header)
                if header[0] not in CHANGES_EACH_TIME:
                    if len(kept) >= MOST_KEPT:
                        kept.clear()
                    kept[header] = encoded
            fields.append(encoded)
        return b"".join(fields)


def header_texts(received: Iterable[tuple[bytes | str, bytes | str]]) -> dict[str, str]:
    """What the h2 library decoded, as texts; the values of a name that comes twice are joined."""
    headers: dict[str, str] = {}
    for header in received:
        # Names are ASCII; a value that is not UTF-8 is not worth the connection.
        name, value = (
            part if isinstance(part, str) else part.decode(errors="replace") for part in header
        )
        headers[name] = f"{headers[name]}, {value}" if name in headers else value
    return headers


def field(name: bytes, value: bytes) -> bytes:
    """One header, as a literal that does not change the other side's table."""
    first = 0x10 if name in NEVER_INDEXED else 0x00
    index = STATIC_NAMES.get(name)
    named = integer(index, 4, first) if index else bytes((first,)) + text(name)
    return named + text(value.strip())


def text(value: bytes) -> bytes:
    """A string, as it is."""
    return integer(len(value), 7) + value


def integer(value: int, bits: int, first: int = 0) -> bytes:
    """An integer whose first byte has *bits* for it, the others being those of *first*."""
    most = (1 << bits) - 1
    if value < most:
        return bytes((first | value,))
    encoded = bytearray((first | most,))
    value -= most
    while value >= 0x80:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    encoded.append(value)
    return bytes(encoded)
