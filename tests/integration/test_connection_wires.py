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

from reflet.client.watch import line_runs
from reflet.errors import (
    ConfigurationError,
    ConnectionRefused,
    DeadlineExceeded,
    TLSFailure,
    TransportError,
)
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.auth.credentials import NO_HEADERS
from reflet.transport.config.in_cluster import SERVICE_ACCOUNT_DIRECTORY, in_cluster_settings
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import CONNECT_TIMEOUT, Connection
from reflet.transport.http.cert_rotation import SETTLE_DELAY, SPREAD
from reflet.transport.interface import Request, Stream
from tests.unit.transport.dialling import vacated_port
from tests.unit.transport.scripted_certificates import (
    OTHER_NAME,
    TRUSTED,
    authority,
    authority_pem,
    server_context,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server, forward
from tests.unit.transport.scripted_servers import (
    Http2Peer,
    Http2Request,
    Http2Server,
    ScriptedServer,
)

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


@pytest.mark.virtual_time
async def test_another_client_certificate_needs_another_wire() -> None:
    badges = Badges("alice")
    async with (
        Http2Server(watch2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, credentials=badges) as connection,
        connection.stream(GET) as stream,
        connection.stream(GET) as other,
    ):
        badges.certificate = badge("bob")
        async with connection.stream(GET):
            assert [shown(request) for request in server.requests] == ["alice", "alice", "bob"]

        assert [*await asyncio.gather(lines(stream), lines(other))] == [[], []]
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


# Certificates in files


class Files:
    """A client certificate, its key and an authority, where others may write them."""

    def __init__(self, folder: Path) -> None:
        self.authority, self.certificate, self.key = (folder / name for name in ("a", "c", "k"))
        self.authority.write_text(authority_pem(TRUSTED))
        self.issue("alice")

    def issue(self, name: str) -> None:
        issued = badge(name)
        self.certificate.write_bytes(issued.certificate.data)
        self.key.write_bytes(issued.key.data)

    @property
    def settings(self) -> dict[str, Any]:
        pair = (Pem("certificate", path=self.certificate), Pem("key", path=self.key))
        return {
            "certificate_authority": Pem("authority", path=self.authority),
            "client_certificate": ClientCertificate(*pair),
        }


async def a_second() -> None:
    """Let so much time pass that files are looked at again."""
    await asyncio.sleep(1.0)


async def lines(stream: Stream) -> list[bytes]:
    return [run async for run in line_runs(stream)]


async def events2(request: Http2Request) -> None:
    request.head()
    await request.data(b"event\nhalf an ev")
    await request.for_ever()


async def events1(peer: Http1Peer) -> None:
    await peer.request()
    peer.chunked()
    peer.chunk(b"event\nhalf an ev")
    await peer.client_left()


def serving(modern: bool) -> Http1Server | Http2Server:
    protocol = "h2" if modern else "http/1.1"
    context = server_context(protocol, demanding=True)
    return (
        Http2Server(events2, context=context) if modern else Http1Server(events1, context=context)
    )


def users(server: Http1Server | Http2Server) -> list[str]:
    """Who made each of the connections so far."""
    found = []
    for peer in server.connections:
        transport = peer.transport if isinstance(peer, Http2Peer) else peer.writer.transport
        certificate = transport.get_extra_info("ssl_object").getpeercert()
        found.append(dict(pair for part in certificate["subject"] for pair in part)["commonName"])
    return found


@pytest.mark.virtual_time
@pytest.mark.parametrize("modern", [False, True], ids=["HTTP/1.1", "HTTP/2"])
async def test_a_pair_that_is_replaced_is_shown_from_then_on_and_open_streams_move_over(
    modern: bool, tmp_path: Path
) -> None:
    files = Files(tmp_path)
    async with (
        serving(modern) as server,
        connection_to(server, **files.settings) as connection,
        connection.stream(GET) as one,
        connection.stream(GET) as other,
    ):
        reading = asyncio.gather(lines(one), lines(other))
        files.issue("bob")
        await a_second()
        began = asyncio.get_running_loop().time()
        async with connection.stream(GET) as new:
            assert await new.read() == b"event\nhalf an ev"
            assert [*await reading] == [[b"event\n"], [b"event\n"]]
            took = asyncio.get_running_loop().time() - began
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(60.0):
                    await new.read()

        assert SETTLE_DELAY <= took <= SETTLE_DELAY + SPREAD
        # A server that may speak HTTP/2 is asked with a connection of its own.
        old, new_ones = (1, 1) if modern else (3, 2)
        assert users(server) == ["alice"] * old + ["bob"] * new_ones


@pytest.mark.virtual_time
async def test_an_idle_connection_of_the_old_pair_is_closed_at_once(tmp_path: Path) -> None:
    files = Files(tmp_path)
    async with (
        Http2Server(ok2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, **files.settings) as connection,
    ):
        await body(connection)
        files.issue("bob")
        await a_second()
        began = asyncio.get_running_loop().time()
        await body(connection)
        await server.connections[0].gone.wait()

        assert asyncio.get_running_loop().time() - began < SETTLE_DELAY
        assert users(server) == ["alice", "bob"]


@pytest.mark.virtual_time
async def test_half_of_a_new_pair_changes_nothing(tmp_path: Path) -> None:
    files = Files(tmp_path)
    async with (
        Http2Server(ok2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, **files.settings) as connection,
    ):
        await body(connection)
        files.certificate.write_bytes(badge("bob").certificate.data)
        await a_second()
        await body(connection)

        assert users(server) == ["alice"]


@pytest.mark.virtual_time
async def test_another_authority_is_trusted_from_then_on_by_new_connections(tmp_path: Path) -> None:
    files = Files(tmp_path)
    async with (
        Http2Server(watch2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, **files.settings) as connection,
        connection.stream(GET) as stream,
    ):
        files.authority.write_text(authority_pem("another") + authority_pem(TRUSTED))
        await a_second()
        async with connection.stream(GET):
            assert await lines(stream) == []

        assert len(server.connections) == 2


@pytest.mark.virtual_time
async def test_an_authority_that_the_server_is_not_of_yet_leaves_open_connections_in_use(
    tmp_path: Path,
) -> None:
    files = Files(tmp_path)
    async with (
        Http2Server(ok2, context=server_context("h2", demanding=True)) as server,
        connection_to(server, **files.settings) as connection,
    ):
        await body(connection)
        files.authority.write_text(authority_pem("another"))
        await a_second()

        assert await body(connection) == b"ok"
        assert server.open_connections == 1


@pytest.mark.virtual_time
async def test_the_authority_of_a_service_account_rotates_as_the_kubelet_swaps_its_volume(
    tmp_path: Path,
) -> None:
    folder = tmp_path / SERVICE_ACCOUNT_DIRECTORY
    folder.mkdir(parents=True)

    def swap(version: str, *authorities: str) -> None:
        (folder / version).mkdir()
        (folder / version / "ca.crt").write_text("".join(map(authority_pem, authorities)))
        (folder / version / "token").write_text(version)
        (folder / "..data_tmp").symlink_to(version)
        (folder / "..data_tmp").rename(folder / "..data")

    for name in ("ca.crt", "token"):
        (folder / name).symlink_to(f"..data/{name}")
    swap("one", TRUSTED)
    async with Http2Server(ok2) as server:
        environ = {
            "KUBERNETES_SERVICE_HOST": server.host,
            "KUBERNETES_SERVICE_PORT": str(server.port),
        }
        connection = Connection(in_cluster_settings(environ, root=tmp_path))
        seen = []
        for version, authorities in (("two", [TRUSTED]), ("three", ["another", TRUSTED])):
            await body(connection)
            swap(version, *authorities)
            await a_second()
            await body(connection)
            seen.append(len(server.connections))
        await connection.close()

    assert seen == [1, 2]
    said = [dict(request.headers)["authorization"] for request in server.requests]
    assert said == ["Bearer one", "Bearer two", "Bearer two", "Bearer three"]


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
