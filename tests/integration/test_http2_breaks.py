from __future__ import annotations

import asyncio
from collections.abc import Callable

import hyperframe.frame
import pytest
from h2.errors import ErrorCodes
from h2.settings import SettingCodes

from reflet.errors import DeadlineExceeded, TransportError
from reflet.transport.failures import Unprocessed
from reflet.transport.http import http2
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.interface import Request
from tests.unit.transport.dialling import body_of, connection_to, dial_to, exchange_on
from tests.unit.transport.scripted_certificates import client_context, server_context
from tests.unit.transport.scripted_servers import Http2Request, Http2Server

MEBIBYTE = 1024 * 1024


async def ok(request: Http2Request) -> None:
    await request.answer(body=b"ok")


async def quiet(request: Http2Request) -> None:
    request.head()
    await request.for_ever()


# Streams that break


@pytest.mark.parametrize("code", [ErrorCodes.INTERNAL_ERROR, ErrorCodes.NO_ERROR, 0xBEEF])
async def test_a_reset_stream_gives_what_arrived_and_then_fails(code: ErrorCodes) -> None:
    async def script(request: Http2Request) -> None:
        request.head()
        await request.data(b"abc")
        request.reset(code)

    async with Http2Server(script) as server, connection_to(server) as connection:
        async with exchange_on(connection) as exchange:
            assert await exchange.read() == b"abc"
            with pytest.raises(TransportError, match="reset the stream"):
                await exchange.read()
        assert connection.room > 0


async def test_a_refused_stream_is_unprocessed() -> None:
    async def script(request: Http2Request) -> None:
        request.reset(ErrorCodes.REFUSED_STREAM)

    async with Http2Server(script) as server, connection_to(server) as connection:
        with pytest.raises(Unprocessed):
            await body_of(connection)
        assert connection.idle


async def test_closing_an_exchange_resets_its_stream_and_frees_its_place() -> None:
    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 1}
    async with Http2Server(quiet, settings=settings) as server, connection_to(server) as connection:
        for _ in range(3):
            assert connection.room == 1
            async with exchange_on(connection):
                assert connection.room == 0

        codes = [await request.reset_code for request in server.requests]
        assert codes == [ErrorCodes.CANCEL] * 3


async def test_bytes_that_were_under_way_when_a_stream_was_closed_do_no_harm() -> None:
    async def script(request: Http2Request) -> None:
        if request.path == "/after":
            return await request.answer(body=b"ok")
        request.head()
        await request.reset_code
        # The library would not send on a stream that it knows is reset: as if it did not know.
        for flags in (0, 1):
            head = b"\x00\x00\x02\x00" + bytes([flags]) + request.stream_id.to_bytes(4, "big")
            request.peer.write(head + b"hi")
        return None

    async with Http2Server(script) as server, connection_to(server) as connection:
        async with exchange_on(connection, Request(path="/closed")):
            pass
        await server.until(server.requests[0].reset_code.done)

        assert await body_of(connection, Request(path="/after")) == b"ok"


async def test_data_after_the_end_of_an_answer_is_not_part_of_it() -> None:
    async def script(request: Http2Request) -> None:
        with request.peer.one_write():
            await request.answer(body=b"abcdef", counted=False)
            head = b"\x00\x00\x02\x00\x00" + request.stream_id.to_bytes(4, "big")
            request.peer.write(head + b"hi")

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection) == b"abcdef"


# Connections that break


def oversized(request: Http2Request) -> bytes:
    return b"\xff\xff\xff\x00\x00" + request.stream_id.to_bytes(4, "big") + b"x" * 100_000


def http1_text(request: Http2Request) -> bytes:
    return b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"


def headers_that_are_not_hpack(request: Http2Request) -> bytes:
    return b"\x00\x00\x04\x01\x05" + request.stream_id.to_bytes(4, "big") + b"\xff\xff\xff\xff"


def a_pushed_stream(request: Http2Request) -> bytes:
    frame = hyperframe.frame.PushPromiseFrame(request.stream_id, promised_stream_id=2)
    frame.flags.add("END_HEADERS")
    return bytes(frame.serialize())


def data_before_the_head(request: Http2Request) -> bytes:
    return b"\x00\x00\x02\x00\x00" + request.stream_id.to_bytes(4, "big") + b"hi"


def more_padding_than_frame(request: Http2Request) -> bytes:
    return b"\x00\x00\x02\x00\x08" + request.stream_id.to_bytes(4, "big") + b"\xff!"


def a_farewell_without_words(request: Http2Request) -> bytes:
    return b"\x00\x00\x02\x07\x00\x00\x00\x00\x00\x00\x00"


@pytest.mark.parametrize(
    "garbage",
    [
        oversized,
        http1_text,
        headers_that_are_not_hpack,
        a_pushed_stream,
        data_before_the_head,
        more_padding_than_frame,
        a_farewell_without_words,
    ],
)
async def test_garbage_ends_the_connection(garbage: Callable[[Http2Request], bytes]) -> None:
    async def script(request: Http2Request) -> None:
        request.peer.write(garbage(request))

    async with Http2Server(script) as server, connection_to(server) as connection:
        with pytest.raises(TransportError, match="broke HTTP/2") as raised:
            await body_of(connection)

        assert not isinstance(raised.value, Unprocessed)
        await server.connections[0].gone.wait()
        assert connection.lost


@pytest.mark.parametrize("garbage", [headers_that_are_not_hpack, a_farewell_without_words])
async def test_nothing_is_believed_after_garbage(
    garbage: Callable[[Http2Request], bytes],
) -> None:
    async def script(request: Http2Request) -> None:
        request.head()
        await request.peer.server.until(lambda: request.peer.pings)
        with request.peer.one_write():
            await request.data(b"good")
            request.peer.write(garbage(request))
            await request.data(b"bad")
            await request.data(b"worse", end=True)

    async with (
        Http2Server(script) as server,
        connection_to(server) as connection,
        exchange_on(connection) as exchange,
    ):
        connection._state.ping(b"go ahead")
        connection._flush()

        assert await exchange.read() == b"good"
        with pytest.raises(TransportError):
            await exchange.read()


@pytest.mark.parametrize("end", ["close", "cut", "reset"])
async def test_a_connection_that_ends_inside_a_frame_fails_its_exchanges(end: str) -> None:
    async def script(request: Http2Request) -> None:
        request.head()
        await request.data(b"abc")
        request.peer.write(b"\x00\x10\x00\x00\x00" + request.stream_id.to_bytes(4, "big") + b"half")
        await request.peer.server.until(lambda: request.peer.pings)
        getattr(request.peer, end)()

    async with Http2Server(script) as server, connection_to(server) as connection:
        async with exchange_on(connection) as exchange:
            assert await exchange.read() == b"abc"
            connection._state.ping(b"go ahead")
            connection._flush()
            with pytest.raises(TransportError, match=r"closed the connection|was reset"):
                await exchange.read()
        await connection.closed()


async def test_every_exchange_of_a_lost_connection_gets_an_error_of_its_own() -> None:
    async with (
        Http2Server(quiet) as server,
        connection_to(server) as connection,
        exchange_on(connection) as one,
        exchange_on(connection) as two,
    ):
        server.connections[0].reset()
        errors = await asyncio.gather(one.read(), two.read(), return_exceptions=True)

        assert [type(error) for error in errors] == [TransportError, TransportError]
        assert errors[0] is not errors[1]


async def test_aborting_fails_everything_and_forgets_nothing() -> None:
    async with Http2Server(quiet) as server, connection_to(server) as connection:
        exchange = await connection.open(Request(path="/"))
        await exchange.head()
        connection.abort()

        with pytest.raises(TransportError, match="the connection was closed"):
            await exchange.read()
        with pytest.raises(Unprocessed):
            await connection.open(Request(path="/"))
        exchange.close()
        assert connection.idle
        await connection.closed()


async def test_a_server_that_does_not_choose_http2_is_noticed() -> None:
    async def script(request: Http2Request) -> None: ...

    async with Http2Server(script, context=server_context("http/1.1")) as server:
        loop = asyncio.get_running_loop()
        _, connection = await loop.create_connection(
            lambda: Http2Connection(server.url, server.authority),
            server.host,
            server.port,
            ssl=client_context("h2", "http/1.1"),
        )
        assert not connection.offered
        connection.abort()
        await connection.closed()


# Settings and farewells


async def test_the_servers_limit_is_obeyed_when_it_changes() -> None:
    settings = {SettingCodes.MAX_CONCURRENT_STREAMS: 5}
    async with (
        Http2Server(quiet, settings=settings) as server,
        connection_to(server) as connection,
        exchange_on(connection),
        exchange_on(connection),
    ):
        assert connection.room == 3
        changed = asyncio.Event()
        connection.on_room = changed.set
        server.connections[0].change({SettingCodes.MAX_CONCURRENT_STREAMS: 1})
        await changed.wait()

        assert connection.room < 0
        with pytest.raises(Unprocessed):
            await connection.open(Request(path="/third"))


async def test_a_graceful_farewell_lets_open_streams_go_on_to_their_end() -> None:
    async def script(request: Http2Request) -> None:
        request.head()
        request.peer.goaway(2**31 - 1)
        await request.data(b"one ")
        request.peer.goaway(request.stream_id)
        await request.data(b"two", end=True)

    async with Http2Server(script) as server, connection_to(server) as connection:
        async with exchange_on(connection) as exchange:
            assert await exchange.read_all() == b"one two"
            assert connection.room == 0
            assert not connection.lost
            with pytest.raises(Unprocessed):
                await connection.open(Request(path="/new"))

        await server.connections[0].gone.wait()
        assert connection.lost


async def test_a_farewell_fails_only_what_the_server_did_not_see() -> None:
    async def script(request: Http2Request) -> None:
        if request.path == "/second":
            request.peer.goaway(1, ErrorCodes.ENHANCE_YOUR_CALM)
            await server.requests[0].answer(body=b"seen")

    async with Http2Server(script) as server, connection_to(server) as connection:
        first = asyncio.create_task(body_of(connection, Request(path="/first")))
        await server.until(lambda: server.requests)

        with pytest.raises(Unprocessed):
            await body_of(connection, Request(method="POST", path="/second", body=b"x"))
        assert await first == b"seen"


async def test_a_farewell_to_an_idle_connection_closes_it() -> None:
    async with Http2Server(ok) as server, connection_to(server) as connection:
        server.connections[0].goaway(0)

        await connection.closed()
        assert connection.lost


async def test_a_connection_without_stream_numbers_left_takes_no_more() -> None:
    async with Http2Server(ok) as server, connection_to(server) as connection:
        connection._state.highest_outbound_stream_id = 2**31 - 1

        with pytest.raises(Unprocessed):
            await connection.open(Request(path="/"))
        assert connection.room == 0


# Liveness


async def test_a_dead_connection_is_noticed_by_its_pings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http2, "READ_IDLE_TIMEOUT", 0.05)
    monkeypatch.setattr(http2, "PING_TIMEOUT", 0.05)
    async with (
        Http2Server(quiet) as server,
        connection_to(server) as connection,
        exchange_on(connection) as exchange,
    ):
        server.connections[0].deaf = True

        with pytest.raises(DeadlineExceeded, match="ping"):
            await exchange.read()


async def test_a_quiet_connection_lives_as_long_as_its_pings_are_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http2, "READ_IDLE_TIMEOUT", 0.02)
    monkeypatch.setattr(http2, "PING_TIMEOUT", 1.0)

    async def script(request: Http2Request) -> None:
        request.head()
        await request.peer.server.until(lambda: request.peer.pings == 3)
        await request.data(b"still here", end=True)

    async with Http2Server(script) as server, connection_to(server) as connection:
        assert await body_of(connection) == b"still here"


async def test_a_server_that_never_says_its_settings_is_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http2, "READ_IDLE_TIMEOUT", 0.02)
    monkeypatch.setattr(http2, "PING_TIMEOUT", 0.02)
    monkeypatch.setattr("tests.unit.transport.scripted_servers.Http2Peer.flush", lambda peer: None)
    async with Http2Server(ok) as server:
        with pytest.raises(DeadlineExceeded):
            await dial_to(server)(lambda: None)
