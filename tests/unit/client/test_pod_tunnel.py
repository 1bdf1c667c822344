"""A tunnel to a pod: connections to any of its ports, over one WebSocket."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reflet.client.pod_streams import PodStreams
from reflet.client.pod_tunnel import TUNNEL, PodTunnel
from reflet.errors import TransportError
from reflet.transport.interface import Response, Upgraded
from reflet.transport.upgrades.byte_streams import SocketBytes
from tests.byte_lines import MemoryLine
from tests.patience import within
from tests.unit.client.test_port_forward import Node
from tests.unit.client.upgrading_transport import UpgradingTransport


async def connection() -> tuple[SocketBytes, socket.socket]:
    """A local connection, and the other end of it."""
    ours, theirs = socket.socketpair()
    reader, writer = await asyncio.open_connection(sock=ours)
    return SocketBytes(reader, writer, "the local connection"), theirs


async def test_one_tunnel_carries_connections_to_several_ports() -> None:
    transport = UpgradingTransport(TUNNEL)
    ports: list[str] = []
    async with PodStreams(transport, namespace="shop").tunnel("web") as tunnel:
        await tunnel.open()
        node = Node(transport)
        async with node.answering():
            for port in (80, 81):
                local, far = await connection()
                with far:
                    carrying = asyncio.ensure_future(tunnel.carry(local, port))
                    errors, data = await node.pair()
                    ports.append(data.headers["port"])
                    await data.finish()
                    await errors.finish()
                    await carrying
                    await local.close()

    assert ports == ["80", "81"]
    assert [request.path for request in transport.requests] == [
        "/api/v1/namespaces/shop/pods/web/portforward"
    ]


async def test_what_the_node_says_is_raised() -> None:
    transport = UpgradingTransport(TUNNEL)
    async with PodStreams(transport, namespace="shop").tunnel("web") as tunnel:
        await tunnel.open()
        node = Node(transport)
        async with node.answering():
            local, far = await connection()
            with far:
                carrying = asyncio.ensure_future(tunnel.carry(local, 80))
                errors, _ = await node.pair()
                await errors.write(b"nobody listens")
                await errors.finish()

                with pytest.raises(TransportError, match="nobody listens"):
                    await carrying
                await local.close()


async def test_a_way_that_was_lost_is_left_although_nobody_comes_again() -> None:
    ours, theirs = MemoryLine.pair()
    left = asyncio.Event()

    @asynccontextmanager
    async def upgraded() -> AsyncIterator[Upgraded]:
        yield Upgraded(Response(status=101, headers={}, body=b""), ours)
        left.set()

    async with PodTunnel(upgraded) as tunnel:
        await tunnel.open()
        await theirs.close()

        async with within(10):
            await left.wait()
