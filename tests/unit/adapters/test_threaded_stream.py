from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Mapping
from typing import Final

import pytest

from reflet.adapters.threaded_stream import MOST_WAITING, ThreadedStream
from reflet.errors import ConnectionRefused, DeadlineExceeded, TransportError

INTERRUPTED: Final = TransportError("interrupted")


class ScriptedBody:
    """A blocking body that gives out what a test puts in."""

    status = 200

    def __init__(self, *pieces: bytes | Exception) -> None:
        self.headers: Mapping[str, str] = {"content-type": "application/json"}
        self.closed = threading.Event()
        self.reading = threading.Event()
        self.reads = 0
        self._pieces: queue.SimpleQueue[bytes | Exception] = queue.SimpleQueue()
        for piece in pieces:
            self._pieces.put(piece)

    def read(self) -> bytes:
        self.reads += 1
        self.reading.set()
        piece = self._pieces.get()
        if isinstance(piece, Exception):
            raise piece
        return piece

    def interrupt(self) -> None:
        self._pieces.put(INTERRUPTED)

    def close(self) -> None:
        self.closed.set()


def stream_of(
    body: ScriptedBody, *, head_timeout: float | None = None, silence: float | None = None
) -> ThreadedStream:
    return ThreadedStream(lambda: body, server="server", head_timeout=head_timeout, silence=silence)


async def everything(stream: ThreadedStream) -> bytes:
    parts = []
    while part := await stream.read():
        parts.append(part)
    return b"".join(parts)


async def test_everything_arrives_in_order_until_the_end() -> None:
    body = ScriptedBody(b"one ", b"two ", b"three", b"")

    async with stream_of(body) as stream:
        assert await everything(stream) == b"one two three"
        assert await stream.read() == b""

    assert body.closed.is_set()


async def test_the_head_is_there_when_it_is_entered() -> None:
    async with stream_of(ScriptedBody(b"")) as stream:
        assert (stream.status, dict(stream.headers)) == (
            200,
            {"content-type": "application/json"},
        )


async def test_what_broke_is_raised_behind_what_came_before() -> None:
    async with stream_of(ScriptedBody(b"good", TransportError("broken"))) as stream:
        assert await stream.read() == b"good"
        with pytest.raises(TransportError, match="broken"):
            await stream.read()


async def test_an_answer_that_never_begins_is_raised_on_entering() -> None:
    def refused() -> ScriptedBody:
        raise ConnectionRefused("refused")

    with pytest.raises(ConnectionRefused):
        async with ThreadedStream(refused, server="server", head_timeout=None, silence=None):
            pytest.fail("it must not be entered")


async def test_leaving_interrupts_the_thread_and_waits_for_its_end() -> None:
    body = ScriptedBody()

    async with stream_of(body):
        pass

    assert body.closed.is_set()


async def test_a_reader_that_is_cancelled_leaves_nothing_behind() -> None:
    body = ScriptedBody()

    async def read() -> None:
        async with stream_of(body) as stream:
            await stream.read()

    reading = asyncio.create_task(read())
    await asyncio.to_thread(body.reading.wait)
    reading.cancel()
    await asyncio.wait((reading,))

    assert reading.cancelled()
    assert body.closed.is_set()


async def test_silence_is_a_missed_deadline() -> None:
    async with stream_of(ScriptedBody(), silence=0.05) as stream:
        with pytest.raises(DeadlineExceeded, match=r"silent for 0\.05 seconds"):
            await stream.read()


def test_an_answer_that_comes_when_nobody_waits_is_closed() -> None:
    body = ScriptedBody()
    answer = threading.Event()

    def slow() -> ScriptedBody:
        answer.wait()
        return body

    async def give_up() -> None:
        with pytest.raises(DeadlineExceeded, match="no answer in time"):
            async with ThreadedStream(slow, server="server", head_timeout=0.01, silence=None):
                pytest.fail("it must not be entered")

    asyncio.run(give_up())
    answer.set()  # the loop is closed by now

    assert body.closed.wait(10)
    assert body.reads == 0


async def test_a_slow_reader_is_waited_for() -> None:
    piece = bytes(MOST_WAITING // 4)
    body = ScriptedBody(*[piece] * 40, b"")

    async with stream_of(body) as stream:
        largest = 0
        while part := await stream.read():
            largest = max(largest, len(part))

    assert largest <= MOST_WAITING
