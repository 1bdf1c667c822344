"""HTTP/1.1 through a proxy."""

from __future__ import annotations

from reflet.errors import ConnectionRefused
from reflet.transport.interface import Request
from tests.unit.transport.dialling import failure, http1_to, vacated_port
from tests.unit.transport.scripted_certificates import OTHER_NAME, server_context
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server, forward

GET = Request(path="/")


async def ok(peer: Http1Peer) -> None:
    while True:
        await peer.request()
        peer.answer(b"ok")


async def test_an_https_server_is_reached_through_a_tunnel() -> None:
    async with (
        Http1Server(ok, context=server_context(hosts=(OTHER_NAME,))) as server,
        Http1Server(forward) as proxy,
        http1_to(server, server_hostname=OTHER_NAME, proxy=proxy.url) as transport,
    ):
        assert (await transport.send(GET)).body == b"ok"

        assert [(r.method, r.target) for r in proxy.requests] == [("CONNECT", server.authority)]


async def test_a_plain_server_is_asked_for_through_the_proxy() -> None:
    async with Http1Server(ok) as proxy:
        async with http1_to("http://api.internal:8001", proxy=proxy.url) as transport:
            assert (await transport.send(Request(path="/version"))).body == b"ok"

        assert proxy.requests[0].target == "http://api.internal:8001/version"


async def test_the_proxys_user_is_said_to_the_proxy_only() -> None:
    async with (
        Http1Server(ok, context=server_context()) as server,
        Http1Server(forward) as proxy,
        http1_to(server, proxy=f"http://me:secret@{proxy.authority}") as transport,
    ):
        await transport.send(GET)

        assert dict(proxy.requests[0].headers)["Proxy-Authorization"] == "Basic bWU6c2VjcmV0"
        assert "Proxy-Authorization" not in dict(server.requests[0].headers)


async def test_a_proxy_that_refuses_is_named() -> None:
    proxy = f"http://127.0.0.1:{vacated_port()}"
    async with http1_to("https://api.internal:6443", proxy=proxy) as transport:
        error = await failure(transport)

    assert isinstance(error, ConnectionRefused)
    assert proxy in str(error)


async def test_a_proxy_that_forbids_is_quoted() -> None:
    async def script(peer: Http1Peer) -> None:
        await peer.request()
        peer.answer(status="407 Proxy Authentication Required")

    async with (
        Http1Server(script) as proxy,
        http1_to(
            "https://api.internal:6443", proxy=f"http://me:secret@{proxy.authority}"
        ) as transport,
    ):
        error = await failure(transport)

    assert "407 Proxy Authentication Required" in str(error)
    assert "secret" not in str(error)
