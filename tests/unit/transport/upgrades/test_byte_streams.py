"""A connection as a line of bytes: both directions, and their ends."""

from __future__ import annotations

import asyncio
import socket
import ssl
from pathlib import Path

import pytest

from reflet.errors import TransportError
from reflet.transport.upgrades import byte_streams
from reflet.transport.upgrades.byte_streams import SocketBytes
from tests.unit.transport.pem_material import make_pair, server_context


async def line() -> tuple[SocketBytes, socket.socket]:
    ours, theirs = socket.socketpair()
    ours.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4096)
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


async def test_all_that_was_written_has_been_taken_after_a_flush() -> None:
    stream, other = await line()
    with other:
        await stream.write(b"x" * 60_000)  # which may wait here
        flushing = asyncio.ensure_future(stream.flush())
        for _ in range(10):
            await asyncio.sleep(0)
        assert not flushing.done()
        heard = 0
        while heard < 60_000:
            heard += len(await asyncio.get_running_loop().sock_recv(other, 1000))
        await flushing
        await stream.close()


async def test_an_end_waits_for_nobody_and_can_come_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "FAREWELL", 0.01)
    stream, other = await line()
    with other:
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.05):
                await stream.write(b"x" * 10_000_000)
        await stream.close()
        await stream.close()

        with pytest.raises(TransportError):
            await stream.write(b"more")


async def test_who_takes_nothing_sees_a_reset_and_no_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(byte_streams, "FAREWELL", 0.01)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        reader, writer = await asyncio.open_connection(*listening.getsockname())
        stream, other = SocketBytes(reader, writer, "somebody"), listening.accept()[0]
        with other:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.2):
                    await stream.write(b"x" * 50_000_000)
            await stream.close()

            with pytest.raises(ConnectionResetError):  # noqa: PT012 - after what has arrived
                while other.recv(2**20):
                    pass


async def test_what_moved_is_counted_both_ways() -> None:
    stream, other = await line()
    with other:
        await stream.write(b"four")
        await asyncio.get_running_loop().sock_sendall(other, b"three")
        await stream.read()
        await stream.close()

    assert stream.moved == len(b"four") + len(b"three")


async def test_with_tls_an_end_can_come_twice_too(tmp_path: Path) -> None:
    context = server_context(make_pair(), tmp_path)
    trusting = ssl.create_default_context()
    trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.read()
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0, ssl=context) as server:
        place = server.sockets[0].getsockname()
        stream = SocketBytes(*await asyncio.open_connection(*place, ssl=trusting), "somebody")
        await stream.write(b"x")
        await stream.close()
        await stream.close()
