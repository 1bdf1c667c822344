"""One SPDY connection: its streams, their halves, resets, pings and limits."""

from __future__ import annotations

import asyncio
from typing import Self

import pytest

from reflet.errors import TransportError
from reflet.transport.upgrades.spdy import (
    LARGEST_PIECE,
    MOST_UNREAD,
    SpdySession,
    SpdyStream,
)
from reflet.transport.upgrades.spdy_frames import Ping, Reset, SpdyBroken, SpdyCodec, SynStream
from tests.byte_lines import FullLine, MemoryLine


class Both:
    """A client and a server, each read by a task; *opened* are the server's streams."""

    def __init__(self, *, most: int = 8) -> None:
        self.here, self.there = MemoryLine.pair()
        self.opened: asyncio.Queue[SpdyStream] = asyncio.Queue()
        self.client = SpdySession(self.here, is_client=True)
        self.server = SpdySession(
            self.there, is_client=False, on_stream=self.opened.put_nowait, most=most
        )

    async def __aenter__(self) -> Self:
        self.tasks = [asyncio.ensure_future(each.run()) for each in (self.client, self.server)]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


async def test_a_stream_carries_headers_and_both_directions_to_their_own_ends() -> None:
    async with Both() as both:
        ours = await both.client.open({"streamtype": "data"})
        await ours.write(bytes(100_000))
        await ours.finish()
        theirs = await both.opened.get()
        heard = b""
        while piece := await theirs.read():
            heard += piece
        await theirs.write(b"answer")
        await theirs.finish()

        assert (theirs.headers, len(heard)) == ({"streamtype": "data"}, 100_000)
        assert [await ours.read(), await ours.read()] == [b"answer", b""]


async def test_a_reset_ends_both_directions_with_an_error() -> None:
    async with Both() as both:
        ours = await both.client.open({})
        await (await both.opened.get()).reset()

        with pytest.raises(TransportError, match="reset"):
            await ours.read()
        with pytest.raises(TransportError, match="over"):
            await ours.write(b"x")


async def test_one_stream_too_many_is_refused_and_a_finished_one_makes_room() -> None:
    async with Both(most=1) as both:
        first = await both.client.open({})
        refused = await both.client.open({})
        with pytest.raises(TransportError, match="reset"):
            await refused.read()
        await first.finish()
        await (await both.opened.get()).finish()
        assert await first.read() == b""

        await (await both.client.open({})).write(b"room")
        assert await (await both.opened.get()).read() == b"room"


async def test_a_client_takes_no_streams() -> None:
    async with Both() as both:
        stream = await both.server.open({})

        with pytest.raises(TransportError, match="reset"):
            await stream.read()


async def test_the_other_sides_pings_are_sent_back_and_ours_are_not() -> None:
    here, there = MemoryLine.pair()
    codec = SpdyCodec()
    for number in (1, 2, 3):
        await there.write(codec.encode(Ping(number)))
    await there.close()

    await SpdySession(here, is_client=False).run()

    assert SpdyCodec().feed(b"".join(there.arrived())) == [Ping(1), Ping(3)]


async def test_the_end_of_the_line_is_an_error_for_whoever_waits() -> None:
    async with Both() as both:
        stream = await both.client.open({})
        await both.opened.get()
        await both.server.close()

        with pytest.raises(TransportError, match="closed"):
            await stream.read()
        with pytest.raises(TransportError, match="closed"):
            await both.client.open({})


@pytest.mark.parametrize("number", [2, 1])
async def test_a_stream_of_a_wrong_number_ends_the_connection(number: int) -> None:
    async with Both() as both:
        await both.client.open({})
        await both.opened.get()
        await both.client.send(SynStream(number, {}))

        with pytest.raises(SpdyBroken, match=f"number {number}"):
            await both.tasks[1]


async def test_what_comes_for_a_stream_that_nobody_has_is_dropped() -> None:
    async with Both() as both:
        await both.here.write(SpdyCodec().encode(Reset(99)))
        stream = await both.client.open({})
        await stream.write(b"x")

        assert await (await both.opened.get()).read() == b"x"


async def test_all_streams_together_keep_only_so_much() -> None:
    async with Both(most=100) as both:
        for _ in range(20):
            await (await both.client.open({})).write(bytes(100_000))
        for _ in range(200):  # turns of the loop: more than it takes until nothing moves
            await asyncio.sleep(0)
        streams = [both.opened.get_nowait() for _ in range(both.opened.qsize())]

        assert len(streams) < 20  # the others wait in the line
        kept = [len(await stream.read()) for stream in streams]
        assert sum(kept) <= MOST_UNREAD + LARGEST_PIECE


async def test_streams_can_be_refused_from_a_moment_on() -> None:
    async with Both() as both:
        first = await both.client.open({})
        taken = await both.opened.get()
        both.server.refuse_streams()

        with pytest.raises(TransportError, match="reset"):
            await (await both.client.open({})).read()
        await first.write(b"x")
        assert await taken.read() == b"x"


@pytest.mark.virtual_time
async def test_an_end_does_not_wait_for_who_reads_nothing() -> None:
    line = FullLine()

    await SpdySession(line, is_client=False).close()

    assert line.is_closed
