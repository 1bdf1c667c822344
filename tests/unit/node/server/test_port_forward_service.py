"""Forwarding on the node: pairs of streams, what is refused, and how much fits."""

from __future__ import annotations

import asyncio
import gc
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace
from typing import Any

import pytest

from reflet.api.core.containers import Container, ContainerPort
from reflet.api.core.pods import Pod, PodSpec
from reflet.api.meta import ObjectMeta
from reflet.errors import TransportError
from reflet.node.server.port_forward_service import PortForwardService
from reflet.pleg.runtime_status import RuntimeState
from reflet.transport.serving.http_answers import Question, Upgrade
from reflet.transport.upgrades.spdy import MOST_UNREAD, SpdySession, SpdyStream
from tests.byte_lines import MemoryLine

PORT = ContainerPort(container_port=80, protocol="TCP")
POD = Pod(
    metadata=ObjectMeta(name="web", namespace="shop", uid="u1"),
    spec=PodSpec(containers=(Container(name="web", ports=(PORT,)),)),
)
HEADERS = {"upgrade": "SPDY/3.1", "x-stream-protocol-version": "portforward.k8s.io"}


@asynccontextmanager
async def forwarding(
    state: RuntimeState = RuntimeState.RUNNING, *, most: int = 4
) -> AsyncIterator[SpdySession]:
    """A client of a service whose pod's one container is in that state."""

    async def records(_: str) -> Any:
        return [SimpleNamespace(state=state)]

    service = PortForwardService(find_pod=lambda *_: POD, records=records, most=most)
    answer = await service.answer(Question(("portForward", "shop", "web"), {}, HEADERS))
    assert isinstance(answer, Upgrade)
    here, there = MemoryLine.pair()
    client = SpdySession(here, is_client=True)
    tasks = [asyncio.ensure_future(answer.serve(there)), asyncio.ensure_future(client.run())]
    try:
        yield client
    finally:
        await client.close()
        await asyncio.gather(*tasks, return_exceptions=True)


async def complaint(client: SpdySession, port: str) -> str:
    """What the service says about a connection to that port."""
    about = {"port": port, "requestid": "last"}
    errors = await client.open({"streamtype": "error", **about})
    data = await client.open({"streamtype": "data", **about})
    assert await data.read() == b""
    return (await errors.read()).decode()


@pytest.mark.parametrize("port", ["0", "65536", "http", "-1", "", "٨٠"])
async def test_what_is_no_port_is_refused(port: str) -> None:
    async with forwarding() as client:
        said = await complaint(client, port)

    assert said == f"error forwarding port {port} to pod web, uid u1: this is no port"


async def test_a_pod_that_does_not_run_has_no_ports() -> None:
    async with forwarding(RuntimeState.EXITED) as client:
        assert (await complaint(client, "80")).endswith("the pod does not run")


async def test_a_port_that_the_pod_does_not_declare_is_another_programs() -> None:
    async with forwarding() as client:
        said = await complaint(client, "8080")

    assert "it is no containerPort of the pod" in said


async def test_only_so_many_connections_fit() -> None:
    async with forwarding(most=0) as client:
        said = await complaint(client, "80")

    assert said.endswith("0 connections are forwarded, and no more fit")


@pytest.mark.parametrize("kinds", [("data", "data"), ("stdin",)])
async def test_streams_that_are_no_pair_are_reset(kinds: tuple[str, ...]) -> None:
    async with forwarding() as client:
        for kind in kinds:
            stream = await client.open({"streamtype": kind, "port": "80", "requestid": "0"})

        with pytest.raises(TransportError, match="reset"):
            await stream.read()


async def test_thousands_of_streams_without_their_pair_fill_no_memory() -> None:
    async with forwarding() as client:
        for number in range(3000):
            about = {"streamtype": "data", "port": "80", "requestid": str(number)}
            stream = await client.open(about)
            await stream.write(b"x" * 100)
            await stream.reset()
            await asyncio.sleep(0)
        said = await complaint(client, "0")

        assert said.endswith("this is no port")
        assert sum(isinstance(each, SpdyStream) for each in gc.get_objects()) < 20


async def test_what_a_client_says_where_errors_are_told_stops_nothing() -> None:
    async with forwarding() as client:
        about = {"port": "0", "requestid": "first"}
        errors = await client.open({"streamtype": "error", **about})
        await client.open({"streamtype": "data", **about})
        await errors.write(bytes(2 * MOST_UNREAD))

        assert (await complaint(client, "0")).endswith("this is no port")
