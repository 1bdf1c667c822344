"""How a connection goes on when certificates, keys and authorities are replaced."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import ec

from reflet.client.watch import line_runs
from reflet.transport.auth.certificates import ClientCertificate, Pem
from reflet.transport.auth.credentials import NO_HEADERS
from reflet.transport.config.in_cluster import SERVICE_ACCOUNT_DIRECTORY, in_cluster_settings
from reflet.transport.connection import Connection
from reflet.transport.http.cert_rotation import SETTLE_DELAY, SPREAD
from reflet.transport.interface import Stream
from tests.integration.connection_scenes import GET, body, connection_to, ok2, watch2
from tests.unit.transport.scripted_certificates import (
    TRUSTED,
    authority,
    authority_pem,
    server_context,
)
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server
from tests.unit.transport.scripted_servers import (
    Http2Peer,
    Http2Request,
    Http2Server,
)

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
