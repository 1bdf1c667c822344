"""Which wire a connection opens, how often, and what becomes of it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec
from h2.settings import SettingCodes

from reflet.errors import (
    ConfigurationError,
    ConnectionRefused,
    DeadlineExceeded,
    TLSFailure,
    TransportError,
)
from reflet.transport.certificates import ClientCertificate, Pem
from reflet.transport.connection import CONNECT_TIMEOUT, Connection
from reflet.transport.credentials import NO_HEADERS
from reflet.transport.interface import Request
from reflet.transport.settings import ConnectionSettings
from tests.unit.transport.dialling import vacated_port
from tests.unit.transport.scripted_certificates import (
    OTHER_NAME,
    TRUSTED,
    authority,
    authority_pem,
    server_context,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server, forward
from tests.unit.transport.scripted_servers import Http2Request, Http2Server, ScriptedServer

GET = Request(path="/api")
AUTHORITY = Pem("certificate-authority", data=authority_pem(TRUSTED).encode())
HTTP2_SETTINGS = b"\0\0\0\x04\0\0\0\0\0"  # an empty SETTINGS frame


async def ok1(peer: Http1Peer) -> None:
    while True:
        await peer.request()
        peer.answer(b"ok")


async def ok2(request: Http2Request) -> None:
    await request.answer(200, b"ok")


async def watch1(peer: Http1Peer) -> None:
    await peer.request()
    peer.chunked()
    await peer.client_left()


async def watch2(request: Http2Request) -> None:
    request.head()
    await request.for_ever()


async def mute(peer: Http1Peer) -> None:
    """Accepts the connection, and that is all; tells when the client has left it."""
    await peer.client_left()
    peer.close()


@asynccontextmanager
async def connection_to(server: ScriptedServer | str, **settings: Any) -> AsyncIterator[Connection]:
    url = server if isinstance(server, str) else server.url
    given = {"server": url, "certificate_authority": AUTHORITY, **settings}
    connection = Connection(ConnectionSettings(**given))
    try:
        yield connection
    finally:
        await connection.close()


async def body(connection: Connection, request: Request = GET) -> bytes:
    return (await connection.send(request)).body


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


# Client certificates


class Badges:
    """Credentials that are a certificate, which can be changed for another."""

    def __init__(self, name: str) -> None:
        self.certificate = badge(name)

    async def headers(self) -> Mapping[str, str]:
        return NO_HEADERS

    async def client_certificate(self) -> ClientCertificate | None:
        return self.certificate

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
        return False


def badge(name: str) -> ClientCertificate:
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = authority(TRUSTED).sign(key, hosts=(name,))
    return ClientCertificate(
        Pem("certificate", data=certificate.public_bytes(serialization.Encoding.PEM)),
        Pem(
            "key",
            data=key.private_bytes(
                serialization.Encoding.PEM,
                serialization.PrivateFormat.PKCS8,
                serialization.NoEncryption(),
            ),
        ),
    )


def shown(request: Http2Request) -> str:
    certificate = request.peer.transport.get_extra_info("ssl_object").getpeercert()
    name: str = dict(pair for part in certificate["subject"] for pair in part)["commonName"]
    return name


async def test_another_client_certificate_needs_another_wire() -> None:
    badges = Badges("alice")
    async with (
        Http2Server(watch2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, credentials=badges) as connection,
        connection.stream(GET) as stream,
        connection.stream(GET),
    ):
        badges.certificate = badge("bob")
        async with connection.stream(GET):
            assert [shown(request) for request in server.requests] == ["alice", "alice", "bob"]

        with pytest.raises(TransportError):
            await stream.read()
        await server.connections[0].gone.wait()
        assert len(server.connections) == 2


async def test_a_certificate_that_is_equal_needs_no_other_wire() -> None:
    badges = Badges("alice")
    async with (
        Http2Server(ok2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, credentials=badges) as connection,
    ):
        await body(connection)
        old = badges.certificate
        badges.certificate = ClientCertificate(old.certificate, old.key)
        await body(connection)

        assert len(server.connections) == 1


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
