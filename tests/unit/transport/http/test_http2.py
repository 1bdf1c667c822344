from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from types import SimpleNamespace
from typing import cast
from urllib.parse import parse_qsl, urlsplit

import pytest
from h2.errors import ErrorCodes
from h2.settings import SettingCodes

from reflet.errors import TransportError
from reflet.transport.failures import Unprocessed
from reflet.transport.http import http2
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.interface import Request
from tests.unit.transport.dialling import body_of, connection_to, exchange_on
from tests.unit.transport.scripted_servers import Http2Request, Http2Server

MEBIBYTE = 1024 * 1024


async def ok(request: Http2Request) -> None:
    await request.answer(body=b"ok")


async def echo(request: Http2Request) -> None:
    await request.whole.wait()
    await request.answer(body=request.body)


# Answers, however they are cut


async def one_frame(request: Http2Request) -> None:
    await request.answer(body=b"abcdef")


async def uncounted(request: Http2Request) -> None:
    await request.answer(body=b"abcdef", counted=False)


async def byte_by_byte(request: Http2Request) -> None:
    request.head()
    await request.data(b"abcdef", frame=1)
    await request.data(b"", end=True)


async def counted_byte_by_byte(request: Http2Request) -> None:
    request.head(headers=[("content-length", "6")])
    await request.data(b"abcdef", frame=1, end=True)


async def many_in_one_write(request: Http2Request) -> None:
    with request.peer.one_write():
        await byte_by_byte(request)


async def empty_frames(request: Http2Request) -> None:
    request.head()
    for piece in (b"", b"abc", b"", b"", b"def", b""):
        await request.data(piece)
    await request.data(b"", end=True)


async def padded(request: Http2Request) -> None:
    request.head()
    await request.data(b"ab", pad=0)
    await request.data(b"cd", pad=255)
    await request.data(b"", pad=7)
    await request.data(b"ef", pad=3, end=True)


async def with_trailers(request: Http2Request) -> None:
    request.head()
    await request.data(b"abcdef")
    request.trailers([("grpc-status", "0")])


async def counted_with_trailers(request: Http2Request) -> None:
    request.head(headers=[("content-length", "6")])
    await request.data(b"abcdef")
    request.trailers([("grpc-status", "0")])


async def after_informational_heads(request: Http2Request) -> None:
    request.head(100)
    request.head(103, [("link", "</style.css>")])
    await request.answer(body=b"abcdef")


async def then_reset_without_error(request: Http2Request) -> None:
    with request.peer.one_write():
        await request.answer(body=b"abcdef", counted=False)
        request.reset(ErrorCodes.NO_ERROR)


async def among_frames_nobody_knows(request: Http2Request) -> None:
    unknown = b"\x00\x00\x03\xee\x00" + request.stream_id.to_bytes(4, "big") + b"???"
    request.head()
    request.peer.write(unknown)
    await request.data(b"abc")
    request.peer.write(unknown)
    await request.data(b"def", end=True)


async def with_the_reserved_bit_set(request: Http2Request) -> None:
    request.head()
    stream_id = (request.stream_id | 1 << 31).to_bytes(4, "big")
    request.peer.write(b"\x00\x00\x06\x00\x00" + stream_id + b"abcdef")
    await request.data(b"", end=True)


@pytest.mark.parametrize(
    "script",
    [
        one_frame,
        uncounted,
        byte_by_byte,
        counted_byte_by_byte,
        many_in_one_write,
        empty_frames,
        padded,
        with_trailers,
        counted_with_trailers,
        after_informational_heads,
        then_reset_without_error,
        among_frames_nobody_knows,
        with_the_reserved_bit_set,
    ],
)
async def test_an_answer_is_the_same_however_it_is_cut(
    script: Callable[[Http2Request], Awaitable[None]],
) -> None:
    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection) == b"abcdef"


async def test_an_answer_of_many_mebibytes_arrives_whole() -> None:
    body = bytes(range(256)) * 20_000

    async def script(request: Http2Request) -> None:
        await request.answer(body=body, counted=request.path == "/counted")

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection, Request(path="/uncounted")) == body
        assert await body_of(connection, Request(path="/counted")) == body


async def test_a_head_without_a_body_is_a_whole_answer() -> None:
    async def script(request: Http2Request) -> None:
        request.head(204, end=True)

    async with (
        Http2Server(script) as server,
        connection_to(server) as connection,
        exchange_on(connection, Request(method="DELETE", path="/")) as exchange,
    ):
        assert (exchange.status, await exchange.read_all()) == (204, b"")


async def test_the_answer_to_head_may_name_a_length_that_it_does_not_have() -> None:
    async def script(request: Http2Request) -> None:
        request.head(headers=[("content-length", "6")], end=True)

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection, Request(method="HEAD", path="/")) == b""


async def test_a_body_shorter_than_its_length_is_an_error() -> None:
    async def script(request: Http2Request) -> None:
        request.head(headers=[("content-length", "6")])
        await request.data(b"abc", end=True)

    async with Http2Server(script) as server, connection_to(server) as connection:
        with pytest.raises(TransportError, match="broke HTTP/2"):
            await body_of(connection)


async def test_compression_is_left_to_the_layer_above() -> None:
    async def script(request: Http2Request) -> None:
        await request.answer(body=b"\x1f\x8b-not-touched", headers=[("content-encoding", "gzip")])

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection) == b"\x1f\x8b-not-touched"


# Heads


async def test_a_header_that_comes_twice_keeps_both_values() -> None:
    async def script(request: Http2Request) -> None:
        await request.answer(headers=[("warning", '299 - "one"'), ("warning", '299 - "two"')])

    async with (
        Http2Server(script) as server,
        connection_to(server) as connection,
        exchange_on(connection) as exchange,
    ):
        assert exchange.headers["warning"] == '299 - "one", 299 - "two"'


async def test_a_header_that_is_not_utf8_does_not_end_the_connection() -> None:
    async def script(request: Http2Request) -> None:
        latin = b"caf\xe9"
        request.peer.state.config.header_encoding = None
        request.peer.state.send_headers(request.stream_id, [(b":status", b"200"), (b"x", latin)])
        await request.data(b"ok", end=True)

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection) == b"ok"


@pytest.mark.parametrize("status", ["abc", "", "2 0", "-20"])
async def test_a_status_that_is_no_number_breaks_the_protocol(status: str) -> None:
    async def script(request: Http2Request) -> None:
        request.peer.state.send_headers(request.stream_id, [(":status", status)])
        request.peer.flush()
        await request.for_ever()

    async with Http2Server(script) as server, connection_to(server) as connection:
        with pytest.raises(TransportError, match="broke HTTP/2"):
            await body_of(connection)


async def test_a_head_as_large_as_we_announce_is_read() -> None:
    async def script(request: Http2Request) -> None:
        long = [(f"x-{number}", "v" * 8000) for number in range(25)]
        await request.answer(headers=long, body=b"ok")

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection) == b"ok"


async def test_a_request_says_what_it_was_told_to_say() -> None:
    async with Http2Server(ok) as server, connection_to(server) as connection:
        request = Request(
            method="PATCH",
            path="/api/v1/namespaces/a%2Fb",
            headers=(
                ("Accept", "text/plain"),
                ("Impersonate-Group", "a"),
                ("Impersonate-Group", "b"),
            ),
            body=b"{}",
        )

        await body_of(connection, request)

        assert server.requests[0].headers == [
            (":method", "PATCH"),
            (":scheme", "https"),
            (":authority", server.authority),
            (":path", "/api/v1/namespaces/a%2Fb"),
            ("accept", "text/plain"),
            ("impersonate-group", "a"),
            ("impersonate-group", "b"),
            ("content-length", "2"),
        ]
        assert server.requests[0].body == b"{}"


async def test_a_query_means_the_same_to_the_server() -> None:
    query = (
        ("labelSelector", "app in (a, b),tier=web,ü!=ß"),
        ("fieldSelector", "metadata.name=x&y#z?+%41"),
        ("watch", "true"),
        ("watch", ""),
    )
    async with Http2Server(ok) as server, connection_to(server) as connection:
        await body_of(connection, Request(path="/api", query=query))

        target = urlsplit(server.requests[0].path)
        assert target.path == "/api"
        assert parse_qsl(target.query, keep_blank_values=True) == list(query)
        assert target.query.isascii()


async def test_an_ipv6_server_is_named_in_brackets() -> None:
    async with Http2Server(ok, host="::1") as server, connection_to(server) as connection:
        await body_of(connection)

        assert (":authority", f"[::1]:{server.port}") in server.requests[0].headers


# Bodies of requests


async def test_a_large_request_body_waits_for_the_servers_windows() -> None:
    body = bytes(range(256)) * 8192
    settings = {SettingCodes.INITIAL_WINDOW_SIZE: 5000}
    async with Http2Server(echo, settings=settings) as server, connection_to(server) as connection:
        assert await body_of(connection, Request(method="POST", path="/", body=body)) == body


async def test_two_request_bodies_share_the_connections_window() -> None:
    body = b"x" * 300_000
    async with Http2Server(echo) as server, connection_to(server) as connection:
        requests = [Request(method="POST", path=f"/{n}", body=body) for n in range(5)]

        assert await asyncio.gather(*(body_of(connection, r) for r in requests)) == [body] * 5


async def test_a_window_opened_by_new_settings_lets_a_body_go_on() -> None:
    settings = {SettingCodes.INITIAL_WINDOW_SIZE: 0}
    async with Http2Server(echo, settings=settings) as server, connection_to(server) as connection:
        sending = asyncio.create_task(
            body_of(connection, Request(method="POST", path="/", body=b"abc"))
        )
        await server.until(lambda: server.requests)
        server.connections[0].change({SettingCodes.INITIAL_WINDOW_SIZE: 10})

        assert await sending == b"abc"


async def test_an_answer_to_half_a_body_is_taken_and_gives_the_stream_back() -> None:
    async def too_large(request: Http2Request) -> None:
        await request.answer(413, b"too large")
        await request.for_ever()

    async with Http2Server(too_large, stingy=True) as server, connection_to(server) as connection:
        request = Request(method="POST", path="/", body=b"x" * MEBIBYTE)

        async with exchange_on(connection, request) as exchange:
            assert (exchange.status, await exchange.read_all()) == (413, b"too large")

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL
        assert connection._state.open_outbound_streams == 0


@pytest.mark.parametrize(
    ("code", "error"),
    [(ErrorCodes.REFUSED_STREAM, Unprocessed), (ErrorCodes.INTERNAL_ERROR, TransportError)],
)
async def test_a_stream_reset_during_the_body_fails_the_request(
    code: ErrorCodes, error: type[TransportError]
) -> None:
    async def script(request: Http2Request) -> None:
        await request.peer.server.until(lambda: len(request.body) == 65535)
        request.reset(code)

    async with Http2Server(script, stingy=True) as server, connection_to(server) as connection:
        with pytest.raises(error) as raised:
            await connection.open(Request(method="POST", path="/", body=b"x" * MEBIBYTE))

        assert type(raised.value) is error
        assert connection.idle


async def test_a_farewell_during_the_body_fails_what_the_server_did_not_see() -> None:
    async def script(request: Http2Request) -> None:
        await request.peer.server.until(lambda: len(request.body) == 65535)
        request.peer.goaway(0)

    async with Http2Server(script, stingy=True) as server, connection_to(server) as connection:
        with pytest.raises(Unprocessed):
            await connection.open(Request(method="POST", path="/", body=b"x" * MEBIBYTE))


async def test_a_connection_lost_during_the_body_fails_the_request() -> None:
    async def script(request: Http2Request) -> None:
        await request.peer.server.until(lambda: len(request.body) == 65535)
        request.peer.reset()

    async with Http2Server(script, stingy=True) as server, connection_to(server) as connection:
        with pytest.raises(TransportError):
            await connection.open(Request(method="POST", path="/", body=b"x" * MEBIBYTE))


async def test_cancelling_a_body_that_waits_resets_its_stream() -> None:
    async def script(request: Http2Request) -> None:
        await request.for_ever()

    async with Http2Server(script, stingy=True) as server, connection_to(server) as connection:
        request = Request(method="POST", path="/", body=b"x" * MEBIBYTE)
        sending = asyncio.create_task(connection.open(request))
        await server.until(lambda: server.requests and len(server.requests[0].body) == 65535)
        sending.cancel()

        assert await server.requests[0].reset_code == ErrorCodes.CANCEL
        assert connection.idle


# The connection itself


class ShapeOfATransport:
    """What a loop other than asyncio's own may hand over: no ``asyncio.Transport`` by class."""

    def __init__(self) -> None:
        self.written = b""
        self.writes = 0

    def get_extra_info(self, name: str) -> object:
        return SimpleNamespace(selected_alpn_protocol=lambda: "h2")

    def is_closing(self) -> bool:
        return False

    def write(self, data: bytes) -> None:
        self.written += data
        self.writes += 1

    def abort(self) -> None: ...


async def test_a_transport_needs_only_the_shape_of_one() -> None:
    connection, transport = Http2Connection("https://server", "server"), ShapeOfATransport()

    connection.connection_made(cast("asyncio.Transport", transport))

    assert transport.written.startswith(b"PRI * HTTP/2.0")
    connection.abort()


async def test_the_head_and_the_body_of_a_request_are_one_write() -> None:
    connection, transport = Http2Connection("https://server", "server"), ShapeOfATransport()
    connection.connection_made(cast("asyncio.Transport", transport))
    before = transport.writes

    await connection.open(Request(method="POST", path="/", body=b"{}"))

    assert transport.writes == before + 1
    connection.abort()


# Windows of the connection


async def test_the_connections_window_is_given_back_whoever_read_the_frames(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http2, "CONNECTION_WINDOW", MEBIBYTE)
    body = b"x" * (3 * MEBIBYTE)

    async def script(request: Http2Request) -> None:
        request.head(headers=[("content-length", str(len(body)))] * (request.path == "/counted"))
        pad = 9 if request.path == "/padded" else None
        await request.data(body, pad=pad, frame=16_000, end=True)

    async with Http2Server(script) as server, connection_to(server) as connection:
        for path in ("/counted", "/uncounted", "/padded", "/given up"):
            async with exchange_on(connection, Request(path=path)) as exchange:
                if path != "/given up":
                    assert len(await exchange.read_all()) == len(body)
        assert await body_of(connection, Request(path="/uncounted")) == body
