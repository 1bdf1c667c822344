from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import aiohttp
import pytest
from aiohttp.connector import Connection

from reflet.errors import TransportError
from reflet.transport.failures import ConnectionReplaced
from reflet.transport.http import http1
from reflet.transport.http.http1 import READ_BUFFER
from reflet.transport.interface import Request
from tests.unit.transport.dialling import http1_to
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

GET = Request(path="/")
POST = Request(method="POST", path="/", body=b"{}")


async def ok(peer: Http1Peer) -> None:
    while True:
        await peer.request()
        peer.answer(b"ok")


async def never(peer: Http1Peer) -> None:
    await peer.request()
    await peer.client_left()


async def quiet(peer: Http1Peer) -> None:
    await peer.request()
    peer.chunked()
    await peer.client_left()


# Answers


async def test_an_answer_is_whole_with_its_status_and_headers() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(b"gone", status="404 Not Found", headers=[("X-Kind", "Status")])

    async with Http1Server(script) as server, http1_to(server) as transport:
        response = await transport.send(GET)

    assert (response.status, response.body) == (404, b"gone")
    assert response.headers == {"content-length": "4", "x-kind": "Status"}


async def test_a_header_that_comes_twice_keeps_both_values() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(headers=[("Warning", '299 - "one"'), ("warning", '299 - "two"')])

    async with Http1Server(script) as server, http1_to(server) as transport:
        response = await transport.send(GET)

    assert response.headers["warning"] == '299 - "one", 299 - "two"'


async def test_a_stream_is_read_while_its_chunks_arrive() -> None:
    async def script(peer: Http1Peer) -> None:
        request = await peer.request()
        if request.target == "/next":
            return peer.answer()
        peer.chunked()
        peer.chunk(b"one ")
        await peer.server.until(lambda: len(server.requests) == 2)
        peer.chunk(b"two")
        return peer.chunk(b"")

    async with (
        Http1Server(script) as server,
        http1_to(server) as transport,
        transport.stream(GET) as stream,
    ):
        assert stream.status == 200
        assert stream.headers == {"transfer-encoding": "chunked"}
        assert await stream.read() == b"one "
        await transport.send(Request(path="/next"))
        assert await stream.read() == b"two"
        assert await stream.read() == b""


async def test_chunks_that_are_cut_anywhere_give_the_same_body() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.chunked()
        for byte in b"3\r\nabc\r\n03;extension\r\ndef\r\n0\r\ntrailer: yes\r\n\r\n":
            peer.write(bytes([byte]))
            await peer.writer.drain()

    async with Http1Server(script) as server, http1_to(server) as transport:
        assert (await transport.send(GET)).body == b"abcdef"


async def test_a_body_without_a_length_ends_with_its_connection() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(b"HTTP/1.1 200 OK\r\n\r\nabcdef")
        peer.close()

    async with Http1Server(script) as server, http1_to(server) as transport:
        assert (await transport.send(GET)).body == b"abcdef"


async def test_informational_heads_are_passed_over() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        peer.answer(b"ok")

    async with Http1Server(script) as server, http1_to(server) as transport:
        assert (await transport.send(GET)).body == b"ok"


async def test_a_redirect_is_an_answer_like_any_other() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(status="302 Found", headers=[("Location", "/elsewhere")])

    async with Http1Server(script) as server, http1_to(server) as transport:
        assert (await transport.send(GET)).status == 302
        assert len(server.requests) == 1


async def test_compression_is_left_to_the_layer_above() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(b"\x1f\x8b-not-touched", headers=[("Content-Encoding", "gzip")])

    async with Http1Server(script) as server, http1_to(server) as transport:
        assert (await transport.send(GET)).body == b"\x1f\x8b-not-touched"


async def test_cookies_are_not_kept() -> None:
    async def script(peer: Http1Peer) -> None:
        while True:
            await peer.request()
            peer.answer(headers=[("Set-Cookie", "who=me; path=/")])

    # By name, because cookies are never kept for addresses.
    async with (
        Http1Server(script) as server,
        http1_to(f"http://localhost:{server.port}") as transport,
    ):
        await transport.send(GET)
        await transport.send(GET)

        assert "Cookie" not in dict(server.requests[1].headers)


# Requests


@pytest.mark.parametrize("dying", [1, 3])
async def test_a_write_of_which_nothing_left_is_sent_over_another_connection(
    dying: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    write = aiohttp.ClientRequest.write_bytes
    written: list[Connection] = []

    async def counted(
        request: aiohttp.ClientRequest, writer: Any, connection: Connection, *rest: Any
    ) -> None:
        written.append(connection)
        await write(request, writer, connection, *rest)

    class Restarting(http1._Request):
        async def write_bytes(self, writer: Any, conn: Connection, *rest: Any) -> None:
            if len(written) < dying and conn.transport is not None:
                conn.transport.close()
            await super().write_bytes(writer, conn, *rest)

    monkeypatch.setattr(aiohttp.ClientRequest, "write_bytes", counted)
    monkeypatch.setattr(http1, "_Request", Restarting)
    async with Http1Server(ok) as server, http1_to(server) as transport:
        await asyncio.gather(*(transport.send(GET) for _ in range(dying)))
        answer = await transport.send(POST)

    assert answer.status == 200
    assert len(written) == dying + 1
    assert [each.method for each in server.requests].count("POST") == 1


async def test_a_write_over_a_new_connection_that_dies_is_not_sent_again(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Dying(http1._Request):
        async def write_bytes(self, writer: Any, conn: Connection, *rest: Any) -> None:
            assert conn.transport is not None
            conn.transport.close()
            await super().write_bytes(writer, conn, *rest)

    monkeypatch.setattr(http1, "_Request", Dying)
    async with Http1Server(ok) as server, http1_to(server) as transport:
        with pytest.raises(TransportError):
            await transport.send(POST)

    assert server.requests == []


async def test_a_request_says_what_it_was_told_to_say() -> None:
    async with Http1Server(ok) as server, http1_to(server) as transport:
        request = Request(
            method="PATCH",
            path="/api/v1/namespaces/a%2Fb",
            headers=(("Impersonate-Group", "a"), ("Impersonate-Group", "b")),
            body=b"{}",
        )

        await transport.send(request)

        assert server.requests[0].target == "/api/v1/namespaces/a%2Fb"
        assert server.requests[0].method == "PATCH"
        assert server.requests[0].body == b"{}"
        assert sorted(server.requests[0].headers) == [
            ("Accept", "*/*"),
            ("Content-Length", "2"),
            ("Host", server.authority),
            ("Impersonate-Group", "a"),
            ("Impersonate-Group", "b"),
        ]


async def test_a_query_means_the_same_to_the_server() -> None:
    query = (
        ("labelSelector", "app in (a, b),tier=web,ü!=ß"),
        ("fieldSelector", "metadata.name=x&y#z?+%41"),
        ("watch", "true"),
        ("watch", ""),
    )
    async with Http1Server(ok) as server, http1_to(server) as transport:
        await transport.send(Request(path="/api", query=query))

        target = urlsplit(server.requests[0].target)
        assert target.path == "/api"
        assert parse_qsl(target.query, keep_blank_values=True) == list(query)
        assert target.query.isascii()


async def test_a_large_body_arrives_whole() -> None:
    async def script(peer: Http1Peer) -> None:
        peer.answer((await peer.request()).body)

    body = bytes(range(256)) * 8192
    async with Http1Server(script) as server, http1_to(server) as transport:
        assert (await transport.send(Request(method="PUT", path="/", body=body))).body == body


async def test_an_ipv6_server_is_reached() -> None:
    async with Http1Server(ok, host="::1") as server, http1_to(server) as transport:
        assert (await transport.send(GET)).body == b"ok"
        assert ("Host", f"[::1]:{server.port}") in server.requests[0].headers


# Connections


async def test_requests_one_after_another_share_a_connection() -> None:
    async with Http1Server(ok) as server, http1_to(server) as transport:
        for _ in range(5):
            await transport.send(GET)

        assert len(server.connections) == 1


async def test_every_stream_has_a_connection_and_there_is_no_limit() -> None:
    async with (
        Http1Server(quiet) as server,
        http1_to(server) as transport,
        AsyncExitStack() as stack,
    ):
        streams = [transport.stream(GET) for _ in range(150)]
        await asyncio.gather(*(stack.enter_async_context(stream) for stream in streams))

        assert len(server.connections) == 150


async def test_leaving_a_stream_closes_its_connection_at_once() -> None:
    left = asyncio.Event()

    async def script(peer: Http1Peer) -> None:
        await quiet(peer)
        left.set()

    async with Http1Server(script) as server, http1_to(server) as transport:
        async with transport.stream(GET):
            assert not left.is_set()
        await left.wait()


@pytest.mark.parametrize("script", [never, quiet])
async def test_cancelling_send_closes_its_connection_at_once(
    script: Callable[[Http1Peer], Awaitable[None]],
) -> None:
    left = asyncio.Event()

    async def watched(peer: Http1Peer) -> None:
        await script(peer)
        left.set()

    async with Http1Server(watched) as server, http1_to(server) as transport:
        sending = asyncio.create_task(transport.send(GET))
        await server.until(lambda: server.requests)
        sending.cancel()

        await left.wait()
        with pytest.raises(asyncio.CancelledError):
            await sending


async def test_a_read_on_an_idle_connection_that_died_is_repeated() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(b"ok")
        if len(server.connections) == 1:
            await peer.request()
            peer.reset()

    async with Http1Server(script) as server, http1_to(server) as transport:
        await transport.send(GET)

        assert (await transport.send(GET)).body == b"ok"
        assert len(server.connections) == 2


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE"])
async def test_a_write_on_an_idle_connection_that_died_is_not_repeated(method: str) -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(b"ok")
        await peer.request()
        peer.reset()

    async with Http1Server(script) as server, http1_to(server) as transport:
        await transport.send(GET)

        with pytest.raises(TransportError):
            await transport.send(Request(method=method, path="/", body=b"{}"))
        assert len(server.requests) == 2


async def test_a_reader_that_does_not_read_stops_its_server() -> None:
    stopped = asyncio.Event()

    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.chunked()
        sent = 0
        while sent < 200 * READ_BUFFER:
            peer.chunk(b"x" * 65536)
            sent += 65536
            try:
                async with asyncio.timeout(0.3):
                    await peer.writer.drain()
            except TimeoutError:
                stopped.set()
                await peer.client_left()
                return

    async with (
        Http1Server(script) as server,
        http1_to(server) as transport,
        transport.stream(GET),
    ):
        await stopped.wait()


# Giving way


async def test_streams_of_a_retired_transport_give_way_and_requests_end_as_they_would_have() -> (
    None
):
    async def script(peer: Http1Peer) -> None:
        request = await peer.request()
        if request.target == "/watch":
            peer.chunked()
            peer.chunk(b"event\n")
            await peer.client_left()
        else:
            await asked.wait()
            peer.answer(b"late")

    asked = asyncio.Event()
    async with Http1Server(script) as server, http1_to(server) as transport:
        async with transport.stream(Request(path="/watch")) as stream:
            event = await stream.read()
            reading = asyncio.create_task(stream.read())
            sending = asyncio.create_task(transport.send(GET))
            await server.until(lambda: len(server.requests) == 2)
            (end,) = transport.retire()
            end()
            with pytest.raises(ConnectionReplaced):
                await reading
        was_unused = transport.is_unused
        asked.set()
        answer = await sending

        assert (event, answer.body) == (b"event\n", b"late")
        assert (was_unused, transport.is_unused) == (False, True)
