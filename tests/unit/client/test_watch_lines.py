from __future__ import annotations

import asyncio
from collections.abc import Mapping

import pytest

from reflet.client.watch import line_runs
from reflet.errors import TransportError
from reflet.transport.failures import ConnectionReplaced


class Chunks:
    """A stream that arrives in these chunks, and ends or fails.  Is a ``Stream``."""

    status = 200
    headers: Mapping[str, str] = {}

    def __init__(self, *chunks: bytes, failure: TransportError | None = None) -> None:
        self._chunks = list(chunks)
        self._failure = failure

    async def read(self) -> bytes:
        if self._failure is not None and not self._chunks:
            raise self._failure
        return self._chunks.pop(0) if self._chunks else b""


def runs(*chunks: bytes, longest: int = 100) -> list[bytes]:
    async def collect() -> list[bytes]:
        return [run async for run in line_runs(Chunks(*chunks), longest=longest)]

    return asyncio.run(collect())


def test_whole_lines_are_handed_on_in_the_run_that_they_arrived_in() -> None:
    assert runs(b"one\ntwo\n", b"three\n") == [b"one\ntwo\n", b"three\n"]


def test_half_a_line_waits_for_its_other_half() -> None:
    assert runs(b"on", b"e\ntw", b"o", b"\n") == [b"one\n", b"two\n"]


def test_empty_lines_are_lines() -> None:
    assert runs(b"\n", b"a\n\n") == [b"\n", b"a\n\n"]


def test_an_empty_stream_has_no_lines() -> None:
    assert runs() == []


def test_a_stream_that_ends_inside_a_line_is_an_error_after_its_whole_lines() -> None:
    async def read() -> None:
        lines = line_runs(Chunks(b"one\ntw", b"o"))
        assert await anext(lines) == b"one\n"
        with pytest.raises(TransportError, match="ended inside a line, after 3 bytes"):
            await anext(lines)

    asyncio.run(read())


def test_a_stream_whose_connection_is_replaced_ends_after_its_whole_lines() -> None:
    async def collect() -> list[bytes]:
        replaced = Chunks(b"one\ntw", b"o", failure=ConnectionReplaced("replaced"))
        return [run async for run in line_runs(replaced)]

    assert asyncio.run(collect()) == [b"one\n"]


def test_a_line_of_exactly_the_longest_length_is_accepted() -> None:
    assert runs(b"x" * 10 + b"\n", longest=10) == [b"x" * 10 + b"\n"]
    assert runs(b"x" * 9, b"x", b"\n", longest=10) == [b"x" * 10 + b"\n"]


@pytest.mark.parametrize(
    "chunks",
    [
        (b"x" * 11 + b"\n",),
        (b"ok\n" + b"x" * 11 + b"\n",),
        (b"x" * 10, b"x\n"),
        (b"x" * 11,),
        (b"x" * 6, b"x" * 6),
        (b"ok\nx", b"x" * 10 + b"\nok\n"),
    ],
)
def test_a_longer_line_is_refused_however_it_arrives(chunks: tuple[bytes, ...]) -> None:
    with pytest.raises(TransportError, match="a line of more than 10 bytes"):
        runs(*chunks, longest=10)


def test_a_run_may_be_longer_than_its_longest_line() -> None:
    assert runs(b"12345\n" * 10, longest=5) == [b"12345\n" * 10]
