"""Other people's clients on pods: through a development server, to an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.foreign_streams import UPPER, OfficialStreams, asyncio_exec
from tests.integration.node_agents import scene_on
from tests.node_scenes import PATIENCE, declared, free_port, is_running, pod_document, until

pytestmark = pytest.mark.time_limit(2 * PATIENCE)


@asynccontextmanager
async def web(server: RunningServer, root: Path, *command: str, port: int) -> AsyncIterator[None]:
    """An agent with one pod, which has said something, has an input and declares a port."""
    async with scene_on(server, root) as scene:
        settings = {"stdin": True, **declared(port)}
        await scene.pods.create(pod_document("web", command, container=settings))
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod))
        yield


async def test_the_official_client_runs_a_command(server: RunningServer, tmp_path: Path) -> None:
    client = OfficialStreams(server.kubeconfig)
    script = "read line; echo got $line; echo wrong >&2; exit 3"
    async with web(server, tmp_path, "sh", "-c", "echo ready; exec sleep 60", port=1):
        said = await asyncio.to_thread(client.exec, "web", script, "it\n")

    assert said == ("got it\n", "wrong\n", 3)


async def test_the_official_client_attaches(server: RunningServer, tmp_path: Path) -> None:
    client = OfficialStreams(server.kubeconfig)
    command = ("sh", "-c", "echo ready; while read line; do echo got $line; done")
    async with web(server, tmp_path, *command, port=1):
        said = await asyncio.to_thread(client.attach, "web", "it\n", "got it\n")

    assert said == "got it\n"


async def test_the_official_client_forwards_several_ports_and_hears_of_one_that_is_not_there(
    server: RunningServer, tmp_path: Path
) -> None:
    client = OfficialStreams(server.kubeconfig)
    port = free_port()
    async with web(server, tmp_path, "python3", "-c", UPPER, str(port), port=port):
        answers = await asyncio.to_thread(client.port_forward, "web", port, 1, said=b"abc")

    assert answers[port] == (b"ABC", "")
    assert answers[1][0] == b""
    assert answers[1][1].startswith("error forwarding port 1 to pod web, uid ")


async def test_kubernetes_asyncio_runs_a_command(server: RunningServer, tmp_path: Path) -> None:
    async with web(server, tmp_path, "sh", "-c", "echo ready; exec sleep 60", port=1):
        said = await asyncio_exec(server.kubeconfig, "web", "echo out; echo wrong >&2")

    assert sorted(said.splitlines()) == ["out", "wrong"]
