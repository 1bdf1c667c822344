"""Servers and connections for the tests of a connection over real sockets."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from reflet.transport.auth.certificates import Pem
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.interface import Request
from tests.unit.transport.scripted_certificates import (
    TRUSTED,
    authority_pem,
)
from tests.unit.transport.scripted_http1 import Http1Peer
from tests.unit.transport.scripted_servers import (
    Http2Request,
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
