"""Which HTTP a connection speaks, how it is opened, and what becomes of it at the end."""

from __future__ import annotations

import asyncio
import ssl
from pathlib import Path

import pytest
from h2.settings import SettingCodes

from reflet.errors import (
    ConfigurationError,
    ConnectionRefused,
    DeadlineExceeded,
    TLSFailure,
    TransportError,
)
from reflet.transport.auth.certificates import Pem
from reflet.transport.connection import CONNECT_TIMEOUT
from tests.integration.connection_scenes import (
    GET,
    HTTP2_SETTINGS,
    body,
    connection_to,
    mute,
    ok1,
    ok2,
    watch1,
    watch2,
)
from tests.unit.transport.dialling import vacated_port
from tests.unit.transport.scripted_certificates import (
    OTHER_NAME,
    TRUSTED,
    authority_pem,
    server_context,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server, forward
from tests.unit.transport.scripted_servers import (
    Http2Server,
)

# The choice


async def test_http2_is_spoken_where_the_server_chooses_it() -> None:
    async with (
        Http2Server(ok2, context=server_context("h2", "http/1.1")) as server,
        connection_to(server) as connection,
    ):
        assert await body(connection) == b"ok"
        async with connection.stream(GET) as stream:
            assert await stream.read() == b"ok"

        assert server.paths == ["GET /api", "GET /api"]
        assert len(server.connections) == 1


@pytest.mark.parametrize("protocols", [("http/1.1",), ()], ids=["chosen", "no ALPN"])
async def test_http1_is_spoken_where_the_server_does_not_choose_http2(
    protocols: tuple[str, ...],
) -> None:
    async with (
        Http1Server(ok1, context=server_context(*protocols)) as server,
        connection_to(server) as connection,
    ):
        assert await body(connection) == b"ok"
        assert await body(connection) == b"ok"

        assert [request.target for request in server.requests] == ["/api", "/api"]


async def test_plain_http_is_http1() -> None:
    async with Http1Server(ok1) as server, connection_to(server) as connection:
        assert await body(connection) == b"ok"

        assert len(server.connections) == 1


async def test_a_proxy_carries_http1_even_to_a_server_with_http2() -> None:
    async with (
        Http1Server(ok1, context=server_context("h2", "http/1.1")) as server,
        Http1Server(forward) as proxy,
        connection_to(server, proxy_url=proxy.url) as connection,
    ):
        assert await body(connection) == b"ok"

        assert [(r.method, r.target) for r in proxy.requests] == [("CONNECT", server.authority)]
        assert [request.target for request in server.requests] == ["/api"]


async def test_a_proxy_gets_the_whole_address_of_a_plain_server() -> None:
    async with (
        Http1Server(ok1) as proxy,
        connection_to("http://api.invalid:8080", proxy_url=proxy.url) as connection,
    ):
        assert await body(connection) == b"ok"

        assert proxy.requests[0].target == "http://api.invalid:8080/api"


@pytest.mark.parametrize(
    ("prefix", "path"),
    [("/k8s/clusters/c-1", "/k8s/clusters/c-1/api"), ("/a b/é%20c", "/a%20b/%C3%A9%20c/api")],
)
async def test_the_path_of_the_server_goes_before_every_path(prefix: str, path: str) -> None:
    async with Http1Server(ok1) as plain, Http2Server(ok2) as modern:
        for server in (plain, modern):
            async with connection_to(server.url + prefix) as connection:
                assert await body(connection) == b"ok"

        assert plain.requests[0].target == path
        assert modern.requests[0].path == path


async def test_an_ipv6_address_can_be_the_server() -> None:
    async with Http1Server(ok1, host="::1") as plain, Http2Server(ok2, host="::1") as modern:
        for server in (plain, modern):
            async with connection_to(server) as connection:
                assert await body(connection) == b"ok"

        assert ("Host", plain.authority) in plain.requests[0].headers
        assert (":authority", modern.authority) in modern.requests[0].headers


@pytest.mark.parametrize("modern", [False, True], ids=["HTTP/1.1", "HTTP/2"])
async def test_another_name_can_be_expected_in_the_certificate(modern: bool) -> None:
    context = server_context("h2" if modern else "http/1.1", hosts=(OTHER_NAME,))
    server: Http1Server | Http2Server = Http1Server(ok1, context=context)
    if modern:
        server = Http2Server(ok2, context=context)
    async with (
        server,
        connection_to(server, tls_server_name=OTHER_NAME) as trusting,
        connection_to(server) as doubting,
    ):
        assert await body(trusting) == b"ok"
        with pytest.raises(TLSFailure, match="tls-server-name"):
            await body(doubting)


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("host", ["a..b", ".a", "x" * 64])
async def test_a_host_that_cannot_be_one_is_named(scheme: str, host: str) -> None:
    async with connection_to(f"{scheme}://{host}:6443") as connection:
        with pytest.raises(ConfigurationError, match=r"server: .* is not a host name"):
            await body(connection)


@pytest.mark.parametrize(
    ("setting", "value"), [("tls_server_name", "a..b"), ("proxy_url", "http://a..b:3128")]
)
async def test_other_hosts_that_cannot_be_ones_are_named(setting: str, value: str) -> None:
    async with connection_to("https://127.0.0.1:1", **{setting: value}) as connection:
        with pytest.raises(ConfigurationError, match=setting.replace("_", "-")):
            await body(connection)


# Opening


async def test_nothing_is_opened_before_the_first_request() -> None:
    async with Http2Server(ok2) as server, connection_to(server):
        assert server.connections == []


async def test_first_requests_at_once_share_one_wire() -> None:
    async with Http2Server(ok2) as server, connection_to(server) as connection:
        bodies = await asyncio.gather(*(body(connection) for _ in range(10)))

        assert bodies == [b"ok"] * 10
        assert len(server.connections) == 1


async def test_a_dial_that_failed_is_tried_anew_by_the_next_request(tmp_path: Path) -> None:
    file = tmp_path / "ca.crt"
    file.write_text(authority_pem("somebody else"))
    async with (
        Http2Server(ok2) as server,
        connection_to(server, certificate_authority=Pem("ca", path=file)) as connection,
    ):
        with pytest.raises(TLSFailure, match="not trusted"):
            await body(connection)
        file.write_text(authority_pem(TRUSTED))

        assert await body(connection) == b"ok"


async def test_nobody_listens() -> None:
    async with connection_to(f"https://127.0.0.1:{vacated_port()}") as connection:
        with pytest.raises(ConnectionRefused):
            await body(connection)


@pytest.mark.virtual_time
@pytest.mark.parametrize("context", [None, server_context("h2")], ids=["TLS", "HTTP/2"])
@pytest.mark.parametrize(("limit", "seconds"), [(None, CONNECT_TIMEOUT), (5, 5)])
async def test_a_server_that_greets_nobody_is_given_up_in_time(
    context: ssl.SSLContext | None, limit: float | None, seconds: float
) -> None:
    async with (
        Http1Server(mute, context=context) as server,
        connection_to(f"https://{server.authority}", request_timeout=limit) as connection,
    ):
        with pytest.raises(DeadlineExceeded, match="no answer in time"):
            await body(connection)

        assert asyncio.get_running_loop().time() == pytest.approx(seconds, abs=0.5)


async def test_a_server_that_hangs_up_instead_of_greeting() -> None:
    async def hang_up(peer: Http1Peer) -> None:
        peer.close()

    async with (
        Http1Server(hang_up, context=server_context("h2")) as server,
        connection_to(server) as connection,
    ):
        with pytest.raises(TransportError, match="closed the connection"):
            await body(connection)


@pytest.mark.parametrize("context", [None, server_context("h2")], ids=["TLS", "HTTP/2"])
async def test_whoever_is_cancelled_while_dialling_leaves_nothing(
    context: ssl.SSLContext | None,
) -> None:
    async def script(peer: Http1Peer) -> None:
        greeted.set()
        await peer.client_left()
        left.set()

    greeted, left = asyncio.Event(), asyncio.Event()
    async with (
        Http1Server(script, context=context) as server,
        connection_to(f"https://{server.authority}") as connection,
    ):
        dialling = asyncio.create_task(connection.send(GET))
        await greeted.wait()
        dialling.cancel()

        with pytest.raises(asyncio.CancelledError):
            await dialling
        await left.wait()


async def test_the_next_in_line_dials_when_the_first_is_cancelled() -> None:
    async def script(peer: Http1Peer) -> None:
        if len(server.connections) > 1:
            peer.close()
        greeted.set()
        await peer.client_left()

    greeted = asyncio.Event()
    async with (
        Http1Server(script, context=server_context("h2")) as server,
        connection_to(server) as connection,
    ):
        first = asyncio.create_task(connection.send(GET))
        second = asyncio.create_task(connection.send(GET))
        await greeted.wait()
        first.cancel()

        with pytest.raises(TransportError, match="closed the connection"):
            await second
        assert first.cancelled()
        assert len(server.connections) == 2


async def test_a_server_that_gives_http2_up_is_told_of() -> None:
    context = server_context.__wrapped__("h2")  # one that no other test shares
    async with (
        Http2Server(
            watch2, context=context, settings={SettingCodes.MAX_CONCURRENT_STREAMS: 1}
        ) as server,
        connection_to(server) as connection,
        connection.stream(GET),
    ):
        context.set_alpn_protocols(["http/1.1"])

        with pytest.raises(TransportError, match="offers HTTP/2 no longer"):
            await body(connection)


# The end


@pytest.mark.parametrize("modern", [False, True], ids=["HTTP/1.1", "HTTP/2"])
async def test_closing_ends_what_is_open_and_refuses_what_comes(modern: bool) -> None:
    server: Http1Server | Http2Server = Http2Server(watch2) if modern else Http1Server(watch1)
    async with server, connection_to(server) as connection, connection.stream(GET) as stream:
        reading = asyncio.create_task(stream.read())
        await asyncio.sleep(0)
        await connection.close()

        with pytest.raises(TransportError):
            await reading
        with pytest.raises(TransportError, match="the client is closed"):
            await connection.send(GET)
        with pytest.raises(TransportError, match="the client is closed"):
            async with connection.stream(GET):
                pytest.fail("there is no connection")
        await connection.close()


async def test_a_wire_that_is_ready_after_the_close_is_closed_as_well() -> None:
    async def greet_late(peer: Http1Peer) -> None:
        greeted.set()
        await closed.wait()
        peer.write(HTTP2_SETTINGS)
        await peer.client_left()
        left.set()

    greeted, closed, left = asyncio.Event(), asyncio.Event(), asyncio.Event()
    async with (
        Http1Server(greet_late, context=server_context("h2")) as server,
        connection_to(server) as connection,
    ):
        asking = asyncio.create_task(connection.send(GET))
        await greeted.wait()
        await connection.close()
        closed.set()

        with pytest.raises(TransportError, match="the client is closed"):
            await asking
        await left.wait()
