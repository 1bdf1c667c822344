from __future__ import annotations

import ssl
from collections.abc import Awaitable, Callable

import h2.errors
import pytest

from reflet.cri.wire import encode
from reflet.errors import RpcError, RpcUnavailable, RpcUnimplemented
from reflet.node.probes.grpc_health import (
    METHOD,
    HealthCheckRequest,
    ServingStatus,
    check_health,
)
from reflet.transport.http.grpc_channel import GrpcChannel
from tests.unit.transport.scripted_servers import Http2Request, Http2Server, PlainHttp2Server

AGENT = "kube-probe/1.36"
Script = Callable[[Http2Request], Awaitable[None]]


def answering(message: bytes) -> Script:
    async def answer(request: Http2Request) -> None:
        request.head(200, [("content-type", "application/grpc")])
        await request.data(len(message).to_bytes(5, "big") + message)
        request.trailers([("grpc-status", "0")])

    return answer


serving = answering(b"\x08\1")


async def asked(script: Script, service: str = "") -> int:
    async with (
        PlainHttp2Server(script) as server,
        GrpcChannel((server.host, server.port), agent=AGENT) as channel,
    ):
        return await check_health(channel, service)


async def test_a_service_is_asked_how_it_is() -> None:
    async with PlainHttp2Server(serving) as server:
        place = (server.host, server.port)
        async with GrpcChannel(place, agent=AGENT) as channel:
            answer = await check_health(channel, "shop")
        (request,) = server.requests

    headers = dict(request.headers)
    assert answer is ServingStatus.SERVING
    assert (request.method, request.path, request.body) == ("POST", METHOD, b"\0\0\0\0\6\n\4shop")
    assert (headers["user-agent"], headers["content-type"]) == (AGENT, "application/grpc")
    assert headers[":authority"] == f"{server.host}:{server.port}"


async def test_tls_is_spoken_where_it_is_asked_for() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    context.set_alpn_protocols(["h2"])

    async with (
        Http2Server(serving) as server,
        GrpcChannel((server.host, server.port), tls=context) as channel,
    ):
        assert await check_health(channel, "") is ServingStatus.SERVING


async def test_tls_without_http2_is_no_connection() -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE

    async with (
        Http2Server(serving) as server,
        GrpcChannel((server.host, server.port), tls=context) as channel,
    ):
        with pytest.raises(RpcUnavailable, match="did not choose HTTP/2"):
            await channel.connect()


async def test_an_answer_beyond_the_limit_is_not_read() -> None:
    async with (
        PlainHttp2Server(answering(bytes(101))) as server,
        GrpcChannel((server.host, server.port), largest_message=100) as channel,
    ):
        with pytest.raises(RpcError, match=r"larger than max \(101 vs. 100\)"):
            await check_health(channel, "")


async def test_an_error_of_the_call_is_told_with_its_message() -> None:
    async def unimplemented(request: Http2Request) -> None:
        request.head(200, [("grpc-status", "12"), ("grpc-message", "unknown%20service")], end=True)

    with pytest.raises(RpcUnimplemented, match="unknown service"):
        await asked(unimplemented)


async def test_a_server_that_speaks_something_else_does_not_have_the_method() -> None:
    async def page(request: Http2Request) -> None:
        await request.answer(404)

    with pytest.raises(RpcUnimplemented, match=r"unexpected HTTP status code .*: 404"):
        await asked(page)


async def test_a_call_that_is_given_up_by_the_server_has_no_answer() -> None:
    async def refuse(request: Http2Request) -> None:
        request.reset(h2.errors.ErrorCodes.REFUSED_STREAM)

    async def cut(request: Http2Request) -> None:
        request.peer.cut()

    for script in (refuse, cut):
        with pytest.raises(RpcUnavailable):
            await asked(script)


async def test_an_answer_that_is_no_message_is_an_error() -> None:
    with pytest.raises(RpcError, match="code = Internal desc = grpc: failed to unmarshal"):
        await asked(answering(b"\x08"))


@pytest.mark.parametrize(
    ("message", "status"),
    [(b"", ServingStatus.UNKNOWN), (b"\x08\2", ServingStatus.NOT_SERVING), (b"\x08\x09", 9)],
)
async def test_a_service_may_say_any_number(message: bytes, status: int) -> None:
    assert await asked(answering(message)) == status


def test_all_of_the_server_is_an_empty_question() -> None:
    assert encode(HealthCheckRequest()) == b""
