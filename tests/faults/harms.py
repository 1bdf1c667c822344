"""What a fault proxy can do wrong, as data.

Owns: the names of the harms and of the weather.  Must not know sockets.
"""

from __future__ import annotations

import enum
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, final


@final
class Harm(enum.StrEnum):
    """What happens to one connection.

    The last three are about HTTP/1.1 and happen only where the proxy understands it: it is told
    so, and nothing is encrypted or it speaks TLS itself.
    """

    HALF_OPEN = "half-open"  # nothing is forwarded any more, either way; it stays open
    VANISH = "vanish"  # nor is anything acknowledged: the machine at the other end is gone
    RESET = "reset"  # both ends get a TCP reset
    HANG_UP = "hang-up"  # it ends; over TLS without the farewell that TLS asks for
    FAREWELL = "farewell"  # it ends; over TLS that the proxy itself speaks, with a farewell
    CUT = "cut"  # the next bytes of the server come in part, then it ends: inside a TLS record
    REPEAT = "repeat"  # the next bytes of the server come twice: over TLS that is garbage
    CUT_CHUNK = "cut-chunk"  # the next chunk of an answer comes in part, then it ends
    SHORTEN_CHUNK = "shorten-chunk"  # the next chunk loses its end, and HTTP does not show it
    REPEAT_CHUNK = "repeat-chunk"  # the next chunk of an answer comes twice


IMMEDIATE: Final = frozenset({Harm.HALF_OPEN, Harm.VANISH, Harm.RESET, Harm.HANG_UP, Harm.FAREWELL})
"""Happens at once; the others wait for the server's next bytes."""

OF_CHUNKS: Final = frozenset({Harm.CUT_CHUNK, Harm.SHORTEN_CHUNK, Harm.REPEAT_CHUNK})


@dataclass(frozen=True, slots=True, kw_only=True)
class Weather:
    """What it is like for everybody's bytes.

    ``latency`` seconds each way for whatever is read at once, up to ``jitter`` more;
    ``bytes_per_second`` of one direction of a connection, 0 for no limit; ``first_byte`` is how
    many seconds the server's first byte is held back.
    """

    latency: float = 0.0
    jitter: float = 0.0
    bytes_per_second: int = 0
    first_byte: float = 0.0


FAIR: Final = Weather()


ChunkChoice = Callable[[bytes], bool]
"""Which chunk a harm of chunks strikes, by what is in it."""


def any_chunk(chunk: bytes) -> bool:
    """Let a harm of chunks strike the first that comes."""
    return True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ambush:
    """Waits for connections that are to come: harms each once the server sent ``after`` bytes.

    It strikes ``times`` connections and is used up.  With ``after=0`` it strikes as soon as the
    connection is made, before TLS.  ``chooses`` tells which chunk, where the harm is one of
    chunks.
    """

    harm: Harm
    after: int = 0
    times: int = 1
    chooses: ChunkChoice = any_chunk
