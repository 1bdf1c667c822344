"""Forwarding by ``v4.channel.k8s.io``: pairs of channels, one connection for each port."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from reflet.api.core.containers import Container, ContainerPort
from reflet.api.core.pods import Pod, PodSpec
from reflet.api.meta import ObjectMeta
from reflet.node.server.port_forward_service import PortForwardService, asked_ports
from reflet.pleg.runtime_status import RuntimeState
from reflet.transport.serving.http_answers import Answer, Question, Upgrade
from reflet.transport.upgrades.websocket import WebSocket
from tests.byte_lines import MemoryLine

HEADERS = {
    "upgrade": "websocket",
    "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==",
    "sec-websocket-version": "13",
    "sec-websocket-protocol": "v5.channel.k8s.io,v4.channel.k8s.io",
}


class PodScene:
    """A pod with one port, at which each connection is handed to the test."""

    def __init__(self) -> None:
        self.connections: asyncio.Queue[tuple[asyncio.StreamReader, asyncio.StreamWriter]]
        self.connections = asyncio.Queue()
        self.port = 0
        self._writers: list[asyncio.StreamWriter] = []

    @asynccontextmanager
    async def listening(self) -> AsyncIterator[None]:
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            yield
            for writer in self._writers:
                writer.transport.abort()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.append(writer)
        self.connections.put_nowait((reader, writer))

    async def answer(self, *ports: str, headers: dict[str, str] = HEADERS) -> Answer | Upgrade:
        """What a request for these values of ``port`` is answered."""
        declared = ContainerPort(container_port=self.port, protocol="TCP")
        pod = Pod(
            metadata=ObjectMeta(name="web", namespace="shop", uid="u1"),
            spec=PodSpec(containers=(Container(name="web", ports=(declared,)),)),
        )

        async def records(_: str) -> Any:
            return [SimpleNamespace(state=RuntimeState.RUNNING)]

        service = PortForwardService(find_pod=lambda *_: pod, records=records)
        return await service.answer(
            Question(("portForward", "shop", "web"), {}, headers, ports=ports)
        )

    @asynccontextmanager
    async def client(self, *ports: str) -> AsyncIterator[WebSocket]:
        """A client of the service, which has asked for these ports."""
        answer = await self.answer(*ports)
        assert isinstance(answer, Upgrade)
        assert ("Sec-WebSocket-Protocol", "v4.channel.k8s.io") in answer.headers
        here, there = MemoryLine.pair()
        serving = asyncio.ensure_future(answer.serve(there))
        client = WebSocket(here, is_client=True)
        try:
            yield client
        finally:
            await client.close()
            await serving


async def heard(client: WebSocket) -> bytes | None:
    message = await client.receive()
    return None if message is None else message.payload


async def test_each_pair_begins_with_its_ports_number_and_carries_both_ways() -> None:
    scene = PodScene()
    async with scene.listening(), scene.client(f"{scene.port},{scene.port}") as client:
        number = scene.port.to_bytes(2, "little")
        first = [await heard(client) for _ in range(4)]
        pods = [await scene.connections.get() for _ in range(2)]
        await client.send(b"\x00ab")
        await client.send(b"\x02cd")
        asked = {await reader.read(10) for reader, _ in pods}
        pods[0][1].write(b"answer")
        answer = await heard(client)

    assert first == [bytes((channel,)) + number for channel in range(4)]
    assert asked == {b"ab", b"cd"}
    assert answer in (b"\x00answer", b"\x02answer")


async def test_what_is_wrong_is_said_on_the_channel_of_errors_and_others_go_on() -> None:
    scene = PodScene()
    async with scene.listening(), scene.client("1", str(scene.port)) as client:
        first = [await heard(client) for _ in range(4)]
        said = await heard(client)
        await client.send(b"\x02still here")
        reader, _ = await scene.connections.get()

        assert await reader.read(100) == b"still here"
    assert first[:2] == [b"\x00\x01\x00", b"\x01\x01\x00"]
    assert said is not None
    assert said.startswith(
        b"\x01error forwarding port 1 to pod web, uid u1: it is no containerPort"
    )


async def test_the_connection_ends_when_all_of_the_pods_have_after_their_last_words() -> None:
    scene = PodScene()
    async with scene.listening(), scene.client(str(scene.port)) as client:
        _, writer = await scene.connections.get()
        writer.write(b"bye")
        writer.close()
        said = [await heard(client) for _ in range(4)]

    assert said[2:] == [b"\x00bye", None]


async def test_the_last_words_of_a_client_that_leaves_reach_the_pod() -> None:
    scene = PodScene()
    async with scene.listening():
        async with scene.client(str(scene.port)) as client:
            await client.send(b"\x00" + b"x" * 100_000)
        reader, _ = await scene.connections.get()

        assert len(await reader.read()) == 100_000


async def test_a_pod_that_breaks_off_is_said_so() -> None:
    scene = PodScene()
    async with scene.listening(), scene.client(str(scene.port)) as client:
        _, writer = await scene.connections.get()
        writer.get_extra_info("socket").setsockopt(1, 13, bytes((1, *[0] * 7)))  # SO_LINGER of 0
        writer.transport.abort()
        said = [await heard(client) for _ in range(4)]

    assert said[2] is not None
    assert said[2].startswith(b"\x01error forwarding port ")
    assert said[3] is None


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ((), 'query parameter "port" is required'),
        (("",), 'unable to parse "" as a port'),
        (("80,http",), 'unable to parse "80,http" as a port'),
        (("0",), 'unable to parse "0" as a port'),
        (("65536",), 'unable to parse "65536" as a port'),
        ((",".join(["80"] * 128),), "more than one WebSocket has channels for"),
    ],
)
async def test_what_names_no_ports_is_refused(values: tuple[str, ...], words: str) -> None:
    answer = await PodScene().answer(*values)

    assert isinstance(answer, Answer)
    assert isinstance(answer.body, bytes)
    assert (answer.status, words in answer.body.decode()) == (400, True)


def test_ports_come_in_one_value_or_in_several() -> None:
    assert asked_ports(("80,81", "82")) == (80, 81, 82)


async def test_a_websocket_that_names_no_protocol_is_answered_too() -> None:
    headers = {name: value for name, value in HEADERS.items() if "protocol" not in name}

    answer = await PodScene().answer("80", headers=headers)

    assert isinstance(answer, Upgrade)
    assert "Sec-WebSocket-Protocol" not in dict(answer.headers)
