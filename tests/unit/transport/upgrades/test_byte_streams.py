"""A connection as a line of bytes: both directions, and their ends."""

from __future__ import annotations

import asyncio
import socket

import pytest

from reflet.errors import TransportError
from reflet.transport.upgrades.byte_streams import SocketBytes


async def line() -> tuple[SocketBytes, socket.socket]:
    ours, theirs = socket.socketpair()
    theirs.setblocking(False)
    reader, writer = await asyncio.open_connection(sock=ours)
    return SocketBytes(reader, writer, "somebody"), theirs


async def test_bytes_pass_and_one_direction_ends_alone() -> None:
    stream, other = await line()
    loop = asyncio.get_running_loop()
    with other:
        await stream.write(b"question")
        await stream.finish()
        assert await loop.sock_recv(other, 100) == b"question"
        assert await loop.sock_recv(other, 100) == b""
        await loop.sock_sendall(other, b"answer")
        assert await stream.read() == b"answer"
        await stream.close()


async def test_a_line_that_breaks_is_told_by_its_name() -> None:
    stream, other = await line()
    other.close()

    with pytest.raises(TransportError, match="somebody: the connection broke"):  # noqa: PT012 - one write more may pass
        for _ in range(3):
            await stream.write(b"x" * 100_000)
            await asyncio.sleep(0)
    await stream.close()
