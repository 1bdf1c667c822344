from __future__ import annotations

import asyncio
import random
from collections.abc import Awaitable, Callable

import pytest

from reflet.errors import ConnectionRefused, DeadlineExceeded, TLSFailure, TransportError
from reflet.transport.http import http1
from reflet.transport.http.http1 import Http1Transport
from reflet.transport.interface import Request, Stream
from tests.faults.harms import Harm
from tests.faults.proxy import FaultProxy
from tests.patience import overload, within
from tests.unit.transport.dialling import failure, http1_to, vacated_port
from tests.unit.transport.scripted_certificates import (
    OTHER_NAME,
    client_context,
    server_context,
)
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


async def read_to_the_end(stream: Stream) -> None:
    while await stream.read():
        pass


async def wait_in_vain(transport: Http1Transport, seconds: float) -> None:
    """Let some time pass, as another request sees it."""
    with pytest.raises(DeadlineExceeded):
        await transport.send(Request(path="/never", timeout=seconds))


# Time


async def test_an_answer_that_does_not_come_in_time_is_given_up() -> None:
    async with Http1Server(never) as server, http1_to(server) as transport:
        with pytest.raises(DeadlineExceeded):
            await transport.send(Request(path="/", timeout=0.05))


async def test_the_time_of_send_bounds_the_whole_body() -> None:
    async with Http1Server(quiet) as server, http1_to(server) as transport:
        with pytest.raises(DeadlineExceeded):
            await transport.send(Request(path="/", timeout=0.05))


async def test_an_answer_without_a_byte_is_not_waited_for_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(http1, "ANSWER_TIMEOUT", 0.05)
    async with Http1Server(never) as server, http1_to(server) as transport:
        with pytest.raises(DeadlineExceeded):
            await transport.send(GET)
        with pytest.raises(DeadlineExceeded):
            async with transport.stream(GET):
                pytest.fail("there was no head")


async def test_the_time_of_a_stream_bounds_its_whole_head() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(b"HTTP/1.1 200 OK\r\nx-more: and")
        leaving = asyncio.create_task(peer.client_left())
        while not (await asyncio.wait([leaving], timeout=0.01))[0]:
            peer.write(b" more")

    async with Http1Server(script) as server, http1_to(server) as transport:
        with pytest.raises(DeadlineExceeded):
            async with transport.stream(Request(path="/", timeout=0.05)):
                pytest.fail("there was no head")


async def test_the_time_of_a_stream_does_not_bound_its_body() -> None:
    async def script(peer: Http1Peer) -> None:
        request = await peer.request()
        if request.target == "/never":
            return await peer.client_left()
        peer.chunked()
        await server.until(time_has_passed.is_set)
        peer.chunk(b"late")
        return peer.chunk(b"")

    time_has_passed = asyncio.Event()
    seconds = 0.5 * overload()

    async with (
        Http1Server(script) as server,
        http1_to(server) as transport,
        transport.stream(Request(path="/", timeout=seconds)) as stream,
    ):
        await wait_in_vain(transport, seconds + 0.05)
        time_has_passed.set()
        server.tell()
        assert await stream.read() == b"late"


@pytest.mark.parametrize("patience", [None, 5.0])
async def test_a_stream_that_is_silent_from_its_head_on_fails(patience: float | None) -> None:
    async with (
        Http1Server(quiet) as server,
        http1_to(server) as transport,
        transport.stream(Request(path="/", timeout=patience), silence=0.05) as stream,
    ):
        with pytest.raises(DeadlineExceeded, match="silent"):
            await stream.read()


async def test_a_stream_that_falls_silent_fails() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.chunked()
        peer.chunk(b"abc")
        await peer.client_left()

    async with (
        Http1Server(script) as server,
        http1_to(server) as transport,
        transport.stream(GET, silence=0.05) as stream,
    ):
        assert await stream.read() == b"abc"
        with pytest.raises(DeadlineExceeded, match="silent"):
            await stream.read()


async def test_bytes_that_wait_for_a_slow_reader_are_not_silence() -> None:
    async def script(peer: Http1Peer) -> None:
        if (await peer.request()).target == "/":
            peer.chunked()
            peer.chunk(b"abc")
        await peer.client_left()

    async with (
        Http1Server(script) as server,
        http1_to(server) as transport,
        transport.stream(GET, silence=0.02) as stream,
    ):
        await wait_in_vain(transport, 0.1)
        assert await stream.read() == b"abc"


# Breaks


async def test_a_connection_that_ends_before_the_head_is_an_error() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.close()

    async with Http1Server(script) as server, http1_to(server) as transport:
        with pytest.raises(TransportError, match="the server closed the connection"):
            await transport.send(POST)


@pytest.mark.parametrize("end", ["close", "reset"])
async def test_a_connection_that_ends_inside_a_chunk_is_an_error(end: str) -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.chunked()
        peer.chunk(b"abc")
        peer.write(b"ff\r\nhalf")
        await peer.server.until(lambda: len(server.requests) > 1 or end == "close")
        getattr(peer, end)()

    async def script_or_ok(peer: Http1Peer) -> None:
        await (ok if len(server.connections) > 1 else script)(peer)

    async with (
        Http1Server(script_or_ok) as server,
        http1_to(server) as transport,
        transport.stream(GET) as stream,
    ):
        assert (await stream.read()).startswith(b"abc")
        await transport.send(GET)
        with pytest.raises(TransportError, match=r"broke in the middle|was reset"):
            await read_to_the_end(stream)


async def test_a_body_shorter_than_its_length_is_an_error() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc")
        peer.close()

    async with Http1Server(script) as server, http1_to(server) as transport:
        with pytest.raises(TransportError):
            await transport.send(GET)


@pytest.mark.parametrize(
    "garbage",
    [
        b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
        b"\x00\x00\x12\x04\x00\x00\x00\x00\x00" + b"\x00" * 18,
        b"HTTP/1.1 OK\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n",
        b"HTTP/1.1 200 OK\r\nX: " + b"x" * 100_000 + b"\r\n\r\n",
    ],
)
async def test_garbage_is_our_error(garbage: bytes) -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.write(garbage)
        peer.close()

    async with Http1Server(script) as server, http1_to(server) as transport:
        with pytest.raises(TransportError) as raised:
            await transport.send(GET)
        assert str(raised.value).startswith(server.url)
        assert "\n" not in str(raised.value)
        assert raised.value.__cause__ is not None


async def test_a_silent_tls_server_does_not_keep_its_socket_for_a_farewell() -> None:
    async with (
        Http1Server(quiet, context=server_context("http/1.1")) as server,
        FaultProxy(server.host, server.port, chance=random.Random(0)) as proxy,
        http1_to(f"https://127.0.0.1:{proxy.port}") as transport,
    ):
        async with transport.stream(GET, silence=0.05) as stream:
            proxy.strike(Harm.HALF_OPEN)
            with pytest.raises(DeadlineExceeded):
                await stream.read()

        async with within(5):  # and not the half minute that asyncio would wait
            while proxy.connections:  # noqa: ASYNC110 - nobody tells
                await asyncio.sleep(0.005)


# Servers that cannot be reached


async def test_a_server_signed_by_somebody_else_is_not_trusted() -> None:
    context = client_context("http/1.1", trusted="somebody else")
    async with (
        Http1Server(ok, context=server_context()) as server,
        http1_to(server, ssl_context=context) as transport,
    ):
        error = await failure(transport)

    assert isinstance(error, TLSFailure)
    assert "check certificate-authority" in str(error)


async def test_an_expired_certificate_is_not_trusted() -> None:
    async with (
        Http1Server(ok, context=server_context(expired=True)) as server,
        http1_to(server) as transport,
    ):
        error = await failure(transport)

    assert isinstance(error, TLSFailure)
    assert "expired" in str(error)


async def test_a_certificate_for_another_name_is_not_trusted_unless_that_name_is_asked_for() -> (
    None
):
    context = server_context(hosts=(OTHER_NAME,))
    async with Http1Server(ok, context=context) as server:
        async with http1_to(server) as transport:
            error = await failure(transport)
            assert isinstance(error, TLSFailure)
            assert "tls-server-name" in str(error)

        async with http1_to(server, server_hostname=OTHER_NAME) as transport:
            assert (await transport.send(GET)).body == b"ok"


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "[::1]"])
async def test_a_refused_connection_says_so(host: str) -> None:
    async with http1_to(f"http://{host}:{vacated_port()}") as transport:
        error = await failure(transport)

    assert isinstance(error, ConnectionRefused)


async def test_a_name_that_does_not_resolve_says_so() -> None:
    async with http1_to("http://no-such-host.invalid:80") as transport:
        assert "cannot be resolved" in str(await failure(transport))


async def test_tls_to_a_plain_port_asks_whether_the_server_speaks_it() -> None:
    async def script(peer: Http1Peer) -> None:
        peer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await peer.client_left()

    async with (
        Http1Server(script) as server,
        http1_to(f"https://{server.authority}") as transport,
    ):
        error = await failure(transport)

    assert isinstance(error, TLSFailure)
    assert "does the server speak https?" in str(error)


# The end


@pytest.mark.parametrize("script", [never, quiet])
async def test_closing_fails_what_is_being_sent(
    script: Callable[[Http1Peer], Awaitable[None]],
) -> None:
    async with Http1Server(script) as server, http1_to(server) as transport:
        sending = asyncio.create_task(transport.send(POST))
        await server.until(lambda: server.requests)
        await transport.close()

        with pytest.raises(TransportError):
            await sending


async def test_closing_wakes_the_reader() -> None:
    async with (
        Http1Server(quiet) as server,
        http1_to(server) as transport,
        transport.stream(GET) as stream,
    ):
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        await transport.close()

        with pytest.raises(TransportError):
            await reading


async def test_closing_fails_what_is_open_and_takes_nothing_new() -> None:
    async with (
        Http1Server(quiet) as server,
        http1_to(server) as transport,
    ):
        async with transport.stream(GET) as stream:
            await transport.close()

            with pytest.raises(TransportError):
                await stream.read()
        with pytest.raises(TransportError, match="the client is closed"):
            await transport.send(GET)
        with pytest.raises(TransportError, match="the client is closed"):
            async with transport.stream(GET):
                pytest.fail("it is closed")
