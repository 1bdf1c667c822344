"""One request that becomes a line of bytes: what is sent, refusals whole, and proxies."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reflet.errors import ConnectionRefused, DeadlineExceeded, TransportError
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.interface import Request
from reflet.transport.upgrades.dialing import dial

SWITCHED = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
CHUNKED = b"HTTP/1.1 403 Forbidden\r\nTransfer-Encoding: chunked\r\n\r\n"
REQUEST = Request(path="/exec", query=(("command", "a b"), ("command", "c")), timeout=5.0)


@asynccontextmanager
async def server(
    *answers: bytes, echoes: bool = False, ends: bool = False
) -> AsyncIterator[tuple[str, list[bytes]]]:
    """A server that reads a head and gives the next answer, on one connection; its address.

    It waits for the client to end the connection, or *ends* it itself.
    """
    heads: list[bytes] = []
    tasks: list[asyncio.Task[None]] = []
    writers: list[asyncio.StreamWriter] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for answer in answers:
                heads.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(answer)
            if echoes:
                writer.write((await reader.read(100))[::-1])
            if not ends:
                await reader.read()
        finally:
            writer.close()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.append(writer)
        tasks.append(asyncio.create_task(serve(reader, writer)))

    async with await asyncio.start_server(accept, "127.0.0.1", 0) as listening:
        yield f"127.0.0.1:{listening.sockets[0].getsockname()[1]}", heads
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        for writer in writers:  # of one that was cancelled before it began too
            writer.close()
        await asyncio.gather(*(each.wait_closed() for each in writers), return_exceptions=True)


async def test_a_line_goes_on_where_http_ends() -> None:
    async with server(SWITCHED + b"first", echoes=True) as (place, heads):
        upgraded = await dial(ConnectionSettings(server=f"http://{place}"), None, REQUEST)
        first = await upgraded.line.read()
        await upgraded.line.write(b"abc")
        second = await upgraded.line.read()
        await upgraded.line.close()

    assert (upgraded.response.status, first, second) == (101, b"first", b"cba")
    assert heads[0].startswith(b"GET /exec?command=a%20b&command=c HTTP/1.1\r\nHost: ")


@pytest.mark.parametrize(
    "answer",
    [
        b"HTTP/1.1 403 Forbidden\r\nContent-Length: 5\r\n\r\nwhich",
        CHUNKED + b"2\r\nwh\r\n3\r\nich\r\n0\r\n\r\n",
        b"HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 403 No\r\nContent-Length: 5\r\n\r\nwhich",
    ],
)
async def test_a_refusal_is_read_whole(answer: bytes) -> None:
    async with server(answer) as (place, _):
        upgraded = await dial(ConnectionSettings(server=f"http://{place}"), None, REQUEST)
        await upgraded.line.close()

    assert (upgraded.response.status, upgraded.response.body) == (403, b"which")


async def test_a_length_that_nobody_has_is_as_long_as_what_comes() -> None:
    head = b"HTTP/1.1 403 Forbidden\r\nContent-Length: " + b"9" * 5000 + b"\r\n\r\n"
    async with server(head + b"which", ends=True) as (place, _):
        upgraded = await dial(ConnectionSettings(server=f"http://{place}"), None, REQUEST)
        await upgraded.line.close()

    assert upgraded.response.body == b"which"


@pytest.mark.parametrize(
    "answer", [b"nonsense\r\n\r\n", b"HTTP/1.1 403 No\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"]
)
async def test_what_is_no_http_is_an_error(answer: bytes) -> None:
    async with server(answer) as (place, _):
        with pytest.raises(TransportError, match=r"is no HTTP/1\.1"):
            await dial(ConnectionSettings(server=f"http://{place}"), None, REQUEST)


async def test_a_proxy_is_asked_first_with_its_password() -> None:
    ok = b"HTTP/1.1 200 OK\r\n\r\n"
    async with server(ok, SWITCHED) as (place, heads):
        settings = ConnectionSettings(
            server="http://api.example:6443", proxy_url=f"http://user:pa%20ss@{place}"
        )
        upgraded = await dial(settings, None, REQUEST)
        await upgraded.line.close()

    assert heads[0].startswith(b"CONNECT api.example:6443 HTTP/1.1\r\n")
    assert b"Proxy-Authorization: Basic dXNlcjpwYSBzcw==\r\n" in heads[0]
    assert b"Host: api.example:6443\r\n" in heads[1]


async def test_a_proxy_that_refuses_is_named_without_its_password() -> None:
    async with server(b"HTTP/1.1 407 Proxy Authentication Required\r\n\r\n") as (place, _):
        settings = ConnectionSettings(
            server="http://api.example:6443", proxy_url=f"http://user:secret@{place}"
        )
        with pytest.raises(TransportError, match=r"the proxy 127\.0\.0\.1 answered 407") as caught:
            await dial(settings, None, REQUEST)

    assert "secret" not in str(caught.value)


async def test_nobody_and_silence_are_told_as_for_any_request() -> None:
    async with server(b"") as (place, _):
        settings = ConnectionSettings(server=f"http://{place}")
        with pytest.raises(DeadlineExceeded):
            await dial(settings, None, Request(path="/", timeout=0.01))
    with pytest.raises(ConnectionRefused):
        await dial(settings, None, REQUEST)


async def test_a_connection_dresses_the_request_and_closes_what_is_open() -> None:
    async with server(SWITCHED) as (place, heads):
        connection = Connection(ConnectionSettings(server=f"http://{place}/prefix"))
        async with connection.upgrade(REQUEST) as upgraded:
            await connection.close()

            assert await upgraded.line.read() == b""

    assert heads[0].startswith(b"GET /prefix/exec?")
    assert b"user-agent: reflet/" in heads[0]


async def test_a_connection_that_is_closed_while_it_dials_keeps_no_line() -> None:
    async with server(SWITCHED) as (place, _):
        connection = Connection(ConnectionSettings(server=f"http://{place}"))
        opening = asyncio.create_task(connection.upgrade(REQUEST).__aenter__())
        await asyncio.sleep(0)
        await connection.close()

        with pytest.raises(TransportError, match="the client is closed"):
            await opening


async def test_a_connection_that_is_closed_opens_no_line() -> None:
    async with server(SWITCHED) as (place, heads):
        connection = Connection(ConnectionSettings(server=f"http://{place}"))
        await connection.close()

        with pytest.raises(TransportError, match="the client is closed"):
            await connection.upgrade(REQUEST).__aenter__()

    assert not heads
