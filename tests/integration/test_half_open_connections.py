"""A server whose machine is gone is noticed by the connection, and a quiet one is not mistaken.

Over both protocols, through a proxy that no longer acknowledges anything, as a machine without
power does.  Waits are those of production made shorter.
"""

from __future__ import annotations

import asyncio
import random

import pytest

from reflet.errors import TransportError
from reflet.informer.reflector.health import CONNECTIONS_ARE_CHECKED_WITHIN
from reflet.runtime.sockets import keepalive
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.connection import Connection
from reflet.transport.http import http1, http2
from reflet.transport.interface import Request
from tests.faults.harms import Harm
from tests.faults.proxy import FaultProxy
from tests.unit.transport.scripted_certificates import server_context
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server
from tests.unit.transport.scripted_servers import Http2Request, Http2Server


async def quiet_http1(peer: Http1Peer) -> None:
    await peer.request()
    peer.chunked()
    peer.chunk(b"first\n")
    await peer.client_left()


async def quiet_http2(request: Http2Request) -> None:
    request.head()
    await request.data(b"first\n")
    await request.for_ever()


def quiet_server(protocol: str) -> Http1Server | Http2Server:
    if protocol == "HTTP/2":
        return Http2Server(quiet_http2)
    context = server_context("http/1.1") if "TLS" in protocol else None
    return Http1Server(quiet_http1, context=context)


@pytest.fixture
def soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(http1, "KEEPALIVE", keepalive(idle=1, interval=1, count=1))
    monkeypatch.setattr(http2, "READ_IDLE_TIMEOUT", 0.2)
    monkeypatch.setattr(http2, "PING_TIMEOUT", 2.0)


def test_the_waits_of_production_add_up_to_less_than_a_minute() -> None:
    _, (*_, idle), (*_, interval), (*_, count) = http1.KEEPALIVE

    assert idle + interval * count <= CONNECTIONS_ARE_CHECKED_WITHIN
    assert http2.READ_IDLE_TIMEOUT + http2.PING_TIMEOUT <= CONNECTIONS_ARE_CHECKED_WITHIN


@pytest.mark.usefixtures("soon")
@pytest.mark.parametrize("protocol", ["HTTP/1.1", "HTTP/1.1 over TLS", "HTTP/2"])
async def test_a_stream_ends_when_the_machine_at_the_other_end_is_gone(protocol: str) -> None:
    async with (
        quiet_server(protocol) as server,
        FaultProxy(server.host, server.port, chance=random.Random(0)) as proxy,
    ):
        address = f"{'https' if protocol != 'HTTP/1.1' else 'http'}://127.0.0.1:{proxy.port}"
        settings = ConnectionSettings(server=address, insecure=address.startswith("https"))
        connection = Connection(settings)
        try:
            async with connection.stream(Request(path="/"), silence=None) as stream:
                assert await stream.read() == b"first\n"
                # Quiet for longer than a dead connection lives.
                with pytest.raises(TimeoutError):
                    async with asyncio.timeout(2.5):
                        await stream.read()
                proxy.strike(Harm.VANISH)

                with pytest.raises(TransportError):
                    await stream.read()
        finally:
            await connection.close()
