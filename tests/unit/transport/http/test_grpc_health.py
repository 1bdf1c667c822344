from __future__ import annotations

import asyncio
import ssl
from collections.abc import Awaitable, Callable
from typing import Self

import h2.errors
import pytest

from reflet.errors import TransportError
from reflet.transport.http.grpc_health import (
    METHOD,
    UNIMPLEMENTED,
    UNKNOWN_CODE,
    HealthAnswer,
    check_health,
    question,
    serving_status,
)
from tests.unit.transport.scripted_servers import Http2Peer, Http2Request, Http2Server

AGENT = "kube-probe/1.36"
SERVING = b"\0\0\0\0\2\x08\1"
Script = Callable[[Http2Request], Awaitable[None]]


class PlainServer(Http2Server):
    """The same without TLS, as most services that are probed are."""

    async def __aenter__(self) -> Self:
        loop = asyncio.get_running_loop()
        self._listener = await loop.create_server(lambda: Http2Peer(self), self.host, 0)
        self.port = self._listener.sockets[0].getsockname()[1]
        return self


async def serving(request: Http2Request) -> None:
    request.head(200, [("content-type", "application/grpc")])
    await request.data(SERVING)
    request.trailers([("grpc-status", "0")])


async def asked(script: Script, service: str = "") -> HealthAnswer:
    async with PlainServer(script) as server:
        return await check_health(server.host, server.port, service, agent=AGENT)


async def test_a_service_is_asked_how_it_is() -> None:
    async with PlainServer(serving) as server:
        answer = await check_health(server.host, server.port, "shop", agent=AGENT)
        (request,) = server.requests
        await request.whole.wait()

    headers = dict(request.headers)
    assert answer == HealthAnswer(0, status=1)
    assert (request.method, request.path, request.body) == ("POST", METHOD, b"\0\0\0\0\6\n\4shop")
    assert (headers["user-agent"], headers["content-type"]) == (AGENT, "application/grpc")


async def test_tls_is_spoken_where_it_is_asked_for() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])

    async with Http2Server(serving) as server:
        answer = await check_health(server.host, server.port, "", agent=AGENT, tls=context)

    assert answer.status == 1


async def test_an_error_of_the_call_is_told_with_its_message() -> None:
    async def unimplemented(request: Http2Request) -> None:
        request.head(200, [("grpc-status", "12"), ("grpc-message", "unknown%20service")], end=True)

    assert await asked(unimplemented) == HealthAnswer(UNIMPLEMENTED, "unknown service")


async def test_a_server_that_speaks_something_else_is_no_service() -> None:
    async def page(request: Http2Request) -> None:
        await request.answer(404)

    assert await asked(page) == HealthAnswer(UNKNOWN_CODE, "unexpected HTTP status code: 404")


async def test_a_call_that_is_given_up_by_the_server_has_no_answer() -> None:
    async def refuse(request: Http2Request) -> None:
        request.reset(h2.errors.ErrorCodes.REFUSED_STREAM)

    async def cut(request: Http2Request) -> None:
        request.peer.cut()

    for script in (refuse, cut):
        with pytest.raises((TransportError, ConnectionError)):
            await asked(script)


async def test_bytes_that_are_no_http2_are_no_answer() -> None:
    async def greet(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 ready\r\n" * 10)
        writer.close()

    server = await asyncio.start_server(greet, "127.0.0.1", 0)
    async with server:
        port = server.sockets[0].getsockname()[1]
        with pytest.raises((TransportError, ConnectionError)):
            await check_health("127.0.0.1", port, "", agent=AGENT)


def test_messages_are_written_and_read_as_protobuf_does() -> None:
    assert question("") == b"\0\0\0\0\0"
    assert question("x" * 200)[5:9] == b"\n\xc8\1x"
    assert [serving_status(b"\0\0\0\0\0"), serving_status(b"\0\0\0\0\2\x08\2")] == [0, 2]
