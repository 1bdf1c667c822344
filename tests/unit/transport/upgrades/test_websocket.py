"""One WebSocket: messages both ways, pings, and an orderly end."""

from __future__ import annotations

import pytest

from reflet.transport.upgrades.websocket import TunneledBytes, WebSocket
from reflet.transport.upgrades.websocket_frames import (
    Opcode,
    WebSocketBroken,
    WebSocketDecoder,
    WebSocketMessage,
    encode_frame,
)
from tests.byte_lines import FullLine, MemoryLine


def both() -> tuple[WebSocket, WebSocket]:
    here, there = MemoryLine.pair()
    return WebSocket(here, is_client=True), WebSocket(there, is_client=False)


async def test_messages_arrive_on_either_side() -> None:
    client, server = both()
    await client.send(b"question")
    await server.send(b"answer")

    assert await server.receive() == WebSocketMessage(Opcode.BINARY, b"question")
    assert await client.receive() == WebSocketMessage(Opcode.BINARY, b"answer")


async def test_an_end_is_answered_and_then_there_is_nothing() -> None:
    client, server = both()
    await client.close()

    assert await server.receive() is None
    assert await client.receive() is None


async def test_pings_are_answered_and_not_handed_out() -> None:
    here, there = MemoryLine.pair()
    await there.write(encode_frame(WebSocketMessage(Opcode.PING, b"p")))
    await there.write(encode_frame(WebSocketMessage(Opcode.BINARY, b"m")))

    message = await WebSocket(here, is_client=True).receive()
    assert message == WebSocketMessage(Opcode.BINARY, b"m")
    answered = WebSocketDecoder(expects_mask=True).feed(b"".join(there.arrived()))
    assert answered == [WebSocketMessage(Opcode.PONG, b"p")]


async def test_what_is_no_frame_is_raised_and_the_other_side_is_told() -> None:
    here, there = MemoryLine.pair()
    await there.write(b"HTTP/1.1 200 OK\r\n\r\n")
    socket = WebSocket(here, is_client=True)

    with pytest.raises(WebSocketBroken):
        await socket.receive()
    await socket.close()
    said = WebSocketDecoder(expects_mask=True).feed(b"".join(there.arrived()))
    assert said == [WebSocketMessage(Opcode.CLOSE, (1002).to_bytes(2))]


@pytest.mark.virtual_time
async def test_an_end_does_not_wait_for_who_reads_nothing() -> None:
    line = FullLine()

    await WebSocket(line, is_client=False).close()

    assert line.is_closed


async def test_bytes_are_tunneled_without_empty_ones() -> None:
    client, server = both()
    tunnel = TunneledBytes(server)
    await client.send(b"")
    await client.send(b"abc")
    await client.close()

    assert [await tunnel.read(), await tunnel.read()] == [b"abc", b""]
