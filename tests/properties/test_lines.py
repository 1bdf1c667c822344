from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflet.client.watch import line_runs
from reflet.errors import TransportError

LONGEST = 12


class Chunks:
    """A stream that arrives in these chunks.  Is a ``Stream``."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, chunks: Sequence[bytes]) -> None:
        self._chunks = [chunk for chunk in chunks if chunk]

    async def read(self) -> bytes:
        return self._chunks.pop(0) if self._chunks else b""


async def _read(chunks: Sequence[bytes]) -> tuple[list[bytes], bool]:
    """The lines that were handed on, and whether the stream was whole."""
    lines: list[bytes] = []
    try:
        async for run in line_runs(Chunks(chunks), longest=LONGEST):
            assert run.endswith(b"\n")
            lines.extend(run[:-1].split(b"\n"))
    except TransportError:
        return lines, False
    return lines, True


def read(chunks: Sequence[bytes]) -> tuple[list[bytes], bool]:
    with pytest.raises(StopIteration) as ended:
        _read(chunks).send(None)  # nothing in it waits, so no event loop is needed
    result: tuple[list[bytes], bool] = ended.value.value
    return result


def split(body: bytes, cuts: Sequence[int]) -> list[bytes]:
    edges = sorted({0, len(body), *(cut % (len(body) + 1) for cut in cuts)})
    return [body[start:end] for start, end in pairwise(edges)]


bodies = st.lists(st.sampled_from([b"\n", b"a", b"\x00", b"\r", b"xyz", b"0123456789"])).map(
    b"".join
)
cuts = st.lists(st.integers(min_value=0, max_value=10_000))


@given(bodies, cuts)
def test_any_split_of_any_bytes_gives_the_same_lines(body: bytes, cuts: list[int]) -> None:
    *lines, rest = body.split(b"\n")
    sound = not rest and all(len(line) <= LONGEST for line in lines)

    given_lines, whole = read(split(body, cuts))

    assert whole is sound
    assert given_lines == lines[: len(given_lines)]
    if sound:
        assert given_lines == lines
    assert all(len(line) <= LONGEST for line in given_lines)
