"""Ports of pods: our client, a development server and an agent."""

from __future__ import annotations

import asyncio
import socket
from pathlib import Path

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on, web_on
from tests.node_scenes import PATIENCE, declared, free_port, is_running, pod_document, until

pytestmark = pytest.mark.time_limit(2 * PATIENCE)

LISTEN = """
import socket
import sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[1])))
print("listens", flush=True)
while True:
    connection, _ = listening.accept()
    data = b""
    while piece := connection.recv(65536):
        data += piece
    connection.sendall(data[::-1])
    connection.close()
"""


async def test_a_port_is_forwarded_with_half_closed_connections(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        port = free_port()
        command = ["python3", "-c", LISTEN, str(port)]
        await scene.pods.create(pod_document("echo", command, container=declared(port)))
        pod = await scene.pod("echo", is_running)
        await until(lambda: scene.log(pod))
        async with scene.cluster.port_forward("echo", port) as forwarded:
            answers = [await reversed_at(forwarded.host, forwarded.port) for _ in range(3)]

    assert answers == [b"cba"] * 3


async def reversed_at(host: str, port: int) -> bytes:
    reader, writer = await asyncio.open_connection(host, port)
    writer.write(b"abc")
    writer.write_eof()
    answer = await reader.read()
    writer.close()
    await writer.wait_closed()
    return answer


async def test_a_port_that_nobody_has_is_told_and_the_connection_reset(
    server: RunningServer, tmp_path: Path
) -> None:
    errors: list[Exception] = []
    async with (
        web_on(server, tmp_path) as scene,
        scene.cluster.port_forward("web", 1, on_error=errors.append) as forwarded,
    ):
        with pytest.raises(ConnectionResetError):
            await reversed_at(forwarded.host, forwarded.port)

    assert "failed to connect to localhost:1: connection refused" in str(errors[0])


async def test_what_else_listens_on_the_machine_is_not_reached_through_a_pod(
    server: RunningServer, tmp_path: Path
) -> None:
    errors: list[Exception] = []
    with socket.create_server(("127.0.0.1", 0)) as listening:
        port = listening.getsockname()[1]
        async with (
            web_on(server, tmp_path) as scene,
            scene.cluster.port_forward("web", port, on_error=errors.append) as forwarded,
        ):
            with pytest.raises(ConnectionResetError):
                await reversed_at(forwarded.host, forwarded.port)

    assert "it is no containerPort of the pod" in str(errors[0])


async def test_a_port_of_a_pod_that_is_gone_is_nobodys(
    server: RunningServer, tmp_path: Path
) -> None:
    errors: list[Exception] = []
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    with listening:
        async with (
            web_on(server, tmp_path) as scene,
            scene.cluster.port_forward("web", port, on_error=errors.append) as forwarded,
        ):
            await scene.pods.delete("web")
            await scene.gone("web")
            with pytest.raises(ConnectionResetError):
                await reversed_at(forwarded.host, forwarded.port)

    assert str(errors[0]).endswith("the pod does not run")
