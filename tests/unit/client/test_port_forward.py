"""A forwarded port: its connections, what the node says, and a tunnel that is lost."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from reflet.client.pod_streams import PodStreams
from reflet.client.pod_tunnel import LONGEST_COMPLAINT, TUNNEL
from reflet.client.port_forward import ForwardedPort
from reflet.errors import ConfigurationError
from reflet.transport.upgrades.spdy import SpdySession, SpdyStream
from reflet.transport.upgrades.websocket import TunneledBytes
from tests.crowds import harm_done
from tests.unit.client.upgrading_transport import UpgradingTransport


class Node:
    """The other end of the tunnel; *opened* are its streams, in pairs of error and data."""

    def __init__(self, transport: UpgradingTransport) -> None:
        self.opened: asyncio.Queue[SpdyStream] = asyncio.Queue()
        self.session = SpdySession(
            TunneledBytes(transport.server), is_client=False, on_stream=self.opened.put_nowait
        )

    @asynccontextmanager
    async def answering(self) -> AsyncIterator[None]:
        running = asyncio.ensure_future(self.session.run())
        try:
            yield
        finally:
            running.cancel()
            await asyncio.gather(running, return_exceptions=True)

    async def pair(self) -> tuple[SpdyStream, SpdyStream]:
        return await self.opened.get(), await self.opened.get()


def forwarding() -> tuple[UpgradingTransport, PodStreams]:
    transport = UpgradingTransport(TUNNEL)
    return transport, PodStreams(transport, namespace="shop")


async def asked(port: ForwardedPort) -> bytes:
    reader, writer = await asyncio.open_connection(port.host, port.port)
    try:
        writer.write(b"abc")
        writer.write_eof()
        return await reader.read()
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_a_connection_is_two_streams_and_each_half_ends_alone() -> None:
    transport, streams = forwarding()
    async with streams.port_forward("web", 80) as port:
        node = Node(transport)
        async with node.answering():
            asking = asyncio.ensure_future(asked(port))
            errors, data = await node.pair()
            heard = [await data.read(), await data.read()]
            await data.write(b"answer")
            await data.finish()
            await errors.finish()

            assert await asking == b"answer"
    assert heard == [b"abc", b""]
    assert data.headers == {"streamtype": "data", "port": "80", "requestid": "0"}
    assert errors.headers == {"streamtype": "error", "port": "80", "requestid": "0"}


async def test_what_the_node_says_is_told_and_the_connection_reset() -> None:
    transport, streams = forwarding()
    told: list[str] = []
    async with streams.port_forward("web", 80, on_error=lambda e: told.append(str(e))) as port:
        node = Node(transport)
        async with node.answering():
            asking = asyncio.ensure_future(asked(port))
            errors, data = await node.pair()
            await errors.write(b"nobody listens")
            await data.finish()
            await errors.finish()

            with pytest.raises(ConnectionResetError):
                await asking
    assert told == ["nobody listens"]


async def test_a_node_that_has_no_end_of_complaints_is_cut_short() -> None:
    transport, streams = forwarding()
    told: list[str] = []
    async with streams.port_forward("web", 80, on_error=lambda e: told.append(str(e))) as port:
        node = Node(transport)
        async with node.answering():
            asking = asyncio.ensure_future(asked(port))
            errors, _ = await node.pair()
            await errors.write(b"no " * 10_000)

            with pytest.raises(ConnectionResetError):
                await asking
    assert told == [("no " * 10_000)[:LONGEST_COMPLAINT].strip()]


async def test_without_a_listener_it_is_logged(caplog: pytest.LogCaptureFixture) -> None:
    transport, streams = forwarding()
    async with streams.port_forward("web", 80) as port:
        node = Node(transport)
        async with node.answering():
            asking = asyncio.ensure_future(asked(port))
            errors, _ = await node.pair()
            await errors.write(b"nobody listens")
            await errors.finish()
            with pytest.raises(ConnectionResetError):
                await asking

    assert "port 80 was not forwarded: nobody listens" in caplog.text


async def test_a_tunnel_that_was_lost_is_made_again_for_the_next_connection() -> None:
    transport, streams = forwarding()
    async with streams.port_forward("web", 80) as port:
        await transport.server.close()
        while len(transport.requests) < 2:
            # One that comes before the loss is known is let go; the next asks for a new tunnel.
            asking = asyncio.ensure_future(asked(port))
            while not asking.done() and len(transport.requests) < 2:
                await asyncio.wait((asking,), timeout=0.01)
            if asking.done():
                await asyncio.gather(asking, return_exceptions=True)
        node = Node(transport)
        async with node.answering():
            errors, data = await node.pair()
            await data.write(b"again")
            await data.finish()
            await errors.finish()

            assert await asking == b"again"


async def test_leaving_ends_what_is_open() -> None:
    transport, streams = forwarding()
    async with streams.port_forward("web", 80) as port:
        asking = asyncio.ensure_future(asked(port))
        node = Node(transport)
        async with node.answering():
            await node.pair()

    await asyncio.gather(asking, return_exceptions=True)
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection(port.host, port.port)


@pytest.mark.parametrize("rounds", range(6))
async def test_whoever_comes_while_it_ends_does_no_harm(rounds: int) -> None:
    _, streams = forwarding()
    port = streams.port_forward("web", 80)

    assert await harm_done(port, lambda it: (it.host, it.port), rounds=rounds) == []


async def test_a_port_that_is_taken_is_said_and_nothing_stays_open() -> None:
    transport, streams = forwarding()
    with (
        socket.create_server(("127.0.0.1", 0)) as taken,
        pytest.raises(ConfigurationError, match=r"cannot listen on 127\.0\.0\.1 port"),
    ):
        async with streams.port_forward("web", 80, local_port=taken.getsockname()[1]):
            pass

    said = [await transport.heard() for _ in range(2)]
    assert said[-1] is None  # after the farewell of SPDY


def test_an_address_is_written_as_in_urls() -> None:
    assert str(ForwardedPort("127.0.0.1", 80)) == "127.0.0.1:80"
    assert str(ForwardedPort("::1", 80)) == "[::1]:80"
