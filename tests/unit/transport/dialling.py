"""How the tests reach a scripted server.

Owns: connections made with the tests' own certificates, in the place of those that production
makes from a kubeconfig.  Must not know what the server's script does.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager

import pytest

from reflet.errors import TransportError
from reflet.transport.http.http1 import Http1Transport
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.http.http2_pool import Dial, Http2Transport
from reflet.transport.http.http2_stream import Http2Stream
from reflet.transport.interface import Request, Transport
from tests.unit.transport.scripted_certificates import client_context
from tests.unit.transport.scripted_servers import ScriptedServer


def dial_to(
    server: ScriptedServer,
    *,
    host: str | None = None,
    context: ssl.SSLContext | None = None,
    server_hostname: str | None = None,
) -> Dial:
    """Opens connections to *server*, raising whatever asyncio raises."""

    async def dial(on_room: Callable[[], None]) -> Http2Connection:
        _, connection = await asyncio.get_running_loop().create_connection(
            lambda: Http2Connection(server.url, server.authority, on_room=on_room),
            host or server.host,
            server.port,
            ssl=context or client_context("h2"),
            server_hostname=server_hostname,
        )
        try:
            await connection.ready
        except BaseException:
            connection.abort()
            await connection.closed()
            raise
        return connection

    return dial


@asynccontextmanager
async def connection_to(server: ScriptedServer) -> AsyncIterator[Http2Connection]:
    """One connection, and nothing left of it afterwards."""
    connection = await dial_to(server)(lambda: None)
    try:
        yield connection
    finally:
        connection.abort()
        await connection.closed()


@asynccontextmanager
async def transport_to(
    server: ScriptedServer, dial: Dial | None = None
) -> AsyncIterator[Http2Transport]:
    """A pool, and nothing left of it afterwards."""
    transport = Http2Transport(server.url, dial or dial_to(server))
    try:
        yield transport
    finally:
        await transport.close()


@asynccontextmanager
async def exchange_on(
    connection: Http2Connection, request: Request | None = None
) -> AsyncIterator[Http2Stream]:
    """An exchange whose head has arrived."""
    exchange = await connection.open(request or Request(path="/"))
    try:
        await exchange.head()
        yield exchange
    finally:
        exchange.close()


async def body_of(connection: Http2Connection, request: Request | None = None) -> bytes:
    """The whole body of the answer."""
    async with exchange_on(connection, request) as exchange:
        return await exchange.read_all()


@asynccontextmanager
async def http1_to(
    server: ScriptedServer | str,
    *,
    ssl_context: ssl.SSLContext | None = None,
    server_hostname: str | None = None,
    proxy: str | None = None,
) -> AsyncIterator[Http1Transport]:
    """A transport, and nothing left of it afterwards."""
    transport = Http1Transport(
        server if isinstance(server, str) else server.url,
        ssl_context=ssl_context or client_context("http/1.1"),
        server_hostname=server_hostname,
        proxy=proxy,
    )
    try:
        yield transport
    finally:
        await transport.close()


async def failure(transport: Transport) -> TransportError:
    """How sending fails; a stream fails likewise."""
    with pytest.raises(TransportError) as raised:
        await transport.send(Request(path="/"))
    with pytest.raises(type(raised.value)):
        async with transport.stream(Request(path="/")):
            pytest.fail("there was no answer")
    return raised.value


def vacated_port() -> int:
    """A port of loopback where nobody listens."""
    with socket.create_server(("127.0.0.1", 0)) as vacated:
        port: int = vacated.getsockname()[1]
    return port
