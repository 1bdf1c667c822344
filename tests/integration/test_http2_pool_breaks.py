from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Callable

import pytest
from h2.errors import ErrorCodes

from reflet.errors import ConnectionRefused, TLSFailure, TransportError
from reflet.transport.failures import Unprocessed
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.http.http2_pool import ATTEMPTS, Http2Transport
from reflet.transport.interface import Request
from tests.unit.transport.dialling import dial_to, failure, transport_to, vacated_port
from tests.unit.transport.scripted_certificates import (
    OTHER_NAME,
    client_context,
    server_context,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server, shake_hands
from tests.unit.transport.scripted_servers import Http2Request, Http2Server, ScriptedServer

GET = Request(path="/")
POST = Request(method="POST", path="/", body=b"{}")


async def ok(request: Http2Request) -> None:
    await request.answer(body=b"ok")


async def quiet(request: Http2Request) -> None:
    request.head()
    await request.for_ever()


# Requests that are sent again


@pytest.mark.parametrize("end", ["close", "cut", "reset"])
async def test_a_read_on_an_idle_connection_that_died_is_repeated(end: str) -> None:
    async def script(request: Http2Request) -> None:
        if len(server.requests) == 2:
            getattr(request.peer, end)()
        else:
            await request.answer(body=b"ok")

    async with Http2Server(script) as server, transport_to(server) as transport:
        await transport.send(GET)

        assert (await transport.send(GET)).body == b"ok"
        assert len(server.connections) == 2


async def test_a_write_on_an_idle_connection_that_died_is_not_repeated() -> None:
    async def script(request: Http2Request) -> None:
        if len(server.requests) == 2:
            await request.whole.wait()
            request.peer.reset()
        else:
            await request.answer(body=b"ok")

    async with Http2Server(script) as server, transport_to(server) as transport:
        await transport.send(GET)

        with pytest.raises(TransportError):
            await transport.send(POST)
        assert server.paths == ["GET /", "POST /"]


async def test_a_read_on_a_new_connection_that_breaks_is_not_repeated() -> None:
    async def script(request: Http2Request) -> None:
        request.peer.reset()

    async with Http2Server(script) as server, transport_to(server) as transport:
        with pytest.raises(TransportError):
            await transport.send(GET)

        assert server.paths == ["GET /"]


async def test_a_reset_on_a_living_connection_is_not_repeated() -> None:
    async def script(request: Http2Request) -> None:
        if len(server.requests) == 1:
            await request.answer(body=b"ok")
        else:
            request.reset(ErrorCodes.INTERNAL_ERROR)

    async with Http2Server(script) as server, transport_to(server) as transport:
        await transport.send(GET)

        with pytest.raises(TransportError, match="INTERNAL_ERROR"):
            await transport.send(GET)
        assert len(server.requests) == 2


async def test_a_write_that_the_server_refused_is_repeated() -> None:
    async def script(request: Http2Request) -> None:
        if len(server.requests) < ATTEMPTS:
            request.reset(ErrorCodes.REFUSED_STREAM)
        else:
            await request.whole.wait()
            await request.answer(body=request.body)

    async with Http2Server(script) as server, transport_to(server) as transport:
        assert (await transport.send(POST)).body == b"{}"


async def test_a_server_that_always_refuses_is_left_alone_in_the_end() -> None:
    async def script(request: Http2Request) -> None:
        request.reset(ErrorCodes.REFUSED_STREAM)

    async with Http2Server(script) as server, transport_to(server) as transport:
        with pytest.raises(Unprocessed):
            await transport.send(POST)

        assert len(server.requests) == ATTEMPTS


async def test_a_write_that_a_farewell_crossed_is_repeated_elsewhere() -> None:
    async def script(request: Http2Request) -> None:
        if len(server.requests) == 1:
            request.peer.goaway(0)
        else:
            await request.answer(201)

    async with Http2Server(script) as server, transport_to(server) as transport:
        assert (await transport.send(POST)).status == 201
        assert len(server.connections) == 2


async def test_an_answer_that_breaks_after_its_head_is_not_repeated() -> None:
    async def script(request: Http2Request) -> None:
        if len(server.requests) == 1:
            return await request.answer(body=b"ok")
        request.head()
        await request.data(b"half")
        return request.peer.reset()

    async with Http2Server(script) as server, transport_to(server) as transport:
        await transport.send(GET)

        with pytest.raises(TransportError):
            await transport.send(GET)
        assert len(server.requests) == 2


# The end


async def test_closing_fails_what_is_open_and_takes_nothing_new() -> None:
    async with Http2Server(quiet) as server:
        transport = Http2Transport(server.url, dial_to(server))
        async with transport.stream(GET) as stream:
            await transport.close()

            with pytest.raises(TransportError):
                await stream.read()
        with pytest.raises(TransportError, match="the client is closed"):
            await transport.send(GET)
        await server.until(lambda: server.open_connections == 0)
        await transport.close()


async def test_closing_wakes_the_reader() -> None:
    async with (
        Http2Server(quiet) as server,
        transport_to(server) as transport,
        transport.stream(GET) as stream,
    ):
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        await transport.close()

        with pytest.raises(TransportError):
            await reading


async def test_closing_while_a_connection_is_being_made_leaves_none() -> None:
    async with Http2Server(ok) as server:
        real = dial_to(server)
        connected, closed = asyncio.Event(), asyncio.Event()

        async def dial(on_room: Callable[[], None]) -> Http2Connection:
            connection = await real(on_room)
            connected.set()
            await closed.wait()
            return connection

        transport = Http2Transport(server.url, dial)
        sending = asyncio.create_task(transport.send(GET))
        await connected.wait()
        await transport.close()
        closed.set()

        with pytest.raises(TransportError, match="the client is closed"):
            await sending
        await server.until(lambda: server.open_connections == 0)
        assert transport.connections == 0


# Servers that cannot be reached


async def fails(server: ScriptedServer, *, context: ssl.SSLContext | None = None) -> TransportError:
    async with transport_to(server, dial_to(server, context=context)) as transport:
        error = await failure(transport)
    assert str(error).startswith(server.url)
    assert error.__cause__ is not None
    return error


async def test_a_server_signed_by_somebody_else_is_not_trusted() -> None:
    async with Http2Server(ok) as server:
        error = await fails(server, context=client_context("h2", trusted="somebody else"))

    assert isinstance(error, TLSFailure)
    assert "check certificate-authority" in str(error)


async def test_an_expired_certificate_is_not_trusted() -> None:
    async with Http2Server(ok, context=server_context("h2", expired=True)) as server:
        error = await fails(server)

    assert isinstance(error, TLSFailure)
    assert "expired" in str(error)


async def test_a_certificate_for_another_name_is_not_trusted_unless_that_name_is_asked_for() -> (
    None
):
    context = server_context("h2", hosts=(OTHER_NAME,))
    async with Http2Server(ok, context=context) as server:
        error = await fails(server)
        assert isinstance(error, TLSFailure)
        assert "tls-server-name" in str(error)

        dial = dial_to(server, server_hostname=OTHER_NAME)
        async with transport_to(server, dial) as transport:
            assert (await transport.send(GET)).body == b"ok"


async def test_a_server_that_wants_a_client_certificate_says_so() -> None:
    async def script(peer: Http1Peer) -> None:
        await shake_hands(peer, server_context("h2", demanding=True))

    async with Http1Server(script) as server:
        error = await fails(server)

    assert isinstance(error, TLSFailure)
    assert "did not accept our client certificate" in str(error)


class Nobody(ScriptedServer):
    """An address where nobody listens."""

    scheme = "https"

    def __init__(self, host: str) -> None:
        super().__init__()
        self.host = host
        self.port = vacated_port()


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost"])
async def test_a_refused_connection_says_so(host: str) -> None:
    error = await fails(Nobody(host))

    assert isinstance(error, ConnectionRefused)


async def test_a_refused_connection_says_so_at_both_addresses_of_localhost(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    nobody = Nobody("localhost")
    both = [
        (socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("::1", nobody.port, 0, 0)),
        (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", nobody.port)),
    ]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: both)

    error = await fails(nobody)

    assert isinstance(error, ConnectionRefused)
    assert "Multiple exceptions" in str(error.__cause__)


async def test_a_name_that_does_not_resolve_says_so() -> None:
    error = await fails(Nobody("no-such-host.invalid"))

    assert "cannot be resolved" in str(error)


async def test_a_name_that_can_be_no_name_is_our_error_too() -> None:
    await fails(Nobody("a." + "b" * 64 + ".invalid"))


async def test_tls_to_a_plain_port_asks_whether_the_server_speaks_it() -> None:
    async def script(peer: Http1Peer) -> None:
        peer.write(b"HTTP/1.1 400 Bad Request\r\n\r\n")
        await peer.client_left()

    async with Http1Server(script) as server:
        error = await fails(server)

    assert isinstance(error, TLSFailure)
    assert "does the server speak https?" in str(error)


async def test_a_failed_dial_does_not_spoil_the_next() -> None:
    calls = 0
    async with Http2Server(ok) as server:
        real = dial_to(server)

        async def dial(on_room: Callable[[], None]) -> Http2Connection:
            nonlocal calls
            calls += 1
            if calls == 1:
                raise ConnectionRefusedError
            return await real(on_room)

        async with transport_to(server, dial) as transport:
            with pytest.raises(ConnectionRefused):
                await transport.send(GET)
            assert (await transport.send(GET)).body == b"ok"


async def test_an_ipv6_server_is_reached() -> None:
    async with Http2Server(ok, host="::1") as server, transport_to(server) as transport:
        assert (await transport.send(GET)).body == b"ok"
