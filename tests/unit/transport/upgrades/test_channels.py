"""Channels over one WebSocket: who gets what, the end of one, the end of all."""

from __future__ import annotations

import asyncio
from typing import Self

import pytest

from reflet.errors import TransportError
from reflet.transport.upgrades.channels import STDERR, STDIN, STDOUT, V4, V5, ChannelSocket
from reflet.transport.upgrades.websocket import WebSocket
from reflet.transport.upgrades.websocket_frames import Opcode, WebSocketMessage, encode_frame
from tests.byte_lines import MemoryLine


class Both:
    """Two sides, each read by a task."""

    def __init__(self, protocol: str = V5) -> None:
        self.here, self.there = MemoryLine.pair()
        self.raw = WebSocket(self.here, is_client=True)
        self.client = ChannelSocket(self.raw, protocol, incoming=(STDOUT, STDERR))
        server = WebSocket(self.there, is_client=False)
        self.server = ChannelSocket(server, protocol, incoming=(STDIN,))

    async def __aenter__(self) -> Self:
        self._tasks = [asyncio.ensure_future(each.run()) for each in (self.client, self.server)]
        self.server_reads = self._tasks[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.wait(self._tasks)


async def test_each_channel_gets_its_own() -> None:
    async with Both() as both:
        await both.server.channels[STDERR].write(b"e")
        await both.server.channels[STDOUT].write(b"o")

        assert await both.client.channels[STDOUT].read() == b"o"
        assert await both.client.channels[STDERR].read() == b"e"


async def test_large_pieces_arrive_whole() -> None:
    data = bytes(100_000)
    async with Both() as both:
        await both.client.channels[STDIN].write(data)

        assert await both.server.channels[STDIN].read() == data


async def test_one_channel_ends_and_the_others_go_on() -> None:
    async with Both() as both:
        await both.client.channels[STDIN].write(b"all")
        await both.client.channels[STDIN].finish()

        assert await both.server.channels[STDIN].read() == b"all"
        assert await both.server.channels[STDIN].read() == b""
        await both.server.channels[STDOUT].write(b"still here")
        assert await both.client.channels[STDOUT].read() == b"still here"


async def test_version_4_has_no_word_for_the_end_of_one() -> None:
    async with Both(V4) as both:
        await both.client.channels[STDIN].finish()
        await both.client.channels[STDIN].write(b"more")

        assert not both.client.channels[STDIN].can_finish
        assert await both.server.channels[STDIN].read() == b"more"


async def test_what_comes_on_a_channel_that_nobody_reads_is_dropped() -> None:
    async with Both() as both:
        for message in (b"", bytes((STDOUT,)) + b"x", b"\x09x", b"\xff", b"\xff\x09"):
            await both.raw.send(message)
        await both.client.channels[STDIN].write(b"in")

        assert await both.server.channels[STDIN].read() == b"in"


async def test_every_channel_ends_with_the_socket() -> None:
    async with Both() as both:
        await both.server.close()

        assert await both.client.channels[STDOUT].read() == b""


async def test_a_line_that_breaks_is_an_error_and_no_end() -> None:
    async with Both() as both:
        await both.there.write(b"no frame at all")

        with pytest.raises(TransportError):
            await both.client.channels[STDOUT].read()


async def test_a_message_that_arrives_in_pieces_is_its_channels() -> None:
    async with Both() as both:
        mask = b"\1\2\3\4"
        for payload in (bytes((STDIN,)) + b"abc", bytes((255, STDIN))):
            for byte in encode_frame(WebSocketMessage(Opcode.BINARY, payload), mask):
                await both.here.write(bytes((byte,)))

        heard = b""
        while piece := await both.server.channels[STDIN].read():
            heard += piece
        assert heard == b"abc"


async def test_what_is_full_keeps_nobody_waiting_once_nobody_reads() -> None:
    async with Both() as both:
        for _ in range(20):
            await both.client.channels[STDIN].write(bytes(32 * 1024))
        await both.client.close()
        await asyncio.sleep(0)

        assert not both.server_reads.done()
        both.server.drop()
        await both.server_reads


async def test_version_4_has_no_channel_that_ends_others() -> None:
    async with Both(V4) as both:
        await both.raw.send(bytes((255, STDIN)))
        await both.client.channels[STDIN].write(b"still open")

        assert await both.server.channels[STDIN].read() == b"still open"
