"""What strangers can take from an agent by connecting to it, and what it keeps for itself."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import re
import resource
import socket
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path

import pytest

import reflet
from reflet.api.core.nodes import Node
from reflet.errors import NotFound
from reflet.node.descriptor_budget import budget
from reflet.node.server import review
from reflet.node.server.review import BURST, PeerBuckets
from reflet.node.shim import protocol
from reflet.node.shim.service import LARGEST
from reflet.node.shim.shim_socket import socket_path
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import fetched, is_ready, scene_on
from tests.node_scenes import (
    NODE,
    PATIENCE,
    AgentProcess,
    Scene,
    end_of,
    is_running,
    pod_document,
    until,
    until_async,
)
from tests.patience import within
from tests.real.certificates import Authority, CertificateFiles

pytestmark = pytest.mark.time_limit(3 * PATIENCE)

LIMIT = 160  # descriptors, of which an agent needs about forty


@contextlib.contextmanager
def limited_agent(server: RunningServer, root: Path, *arguments: str) -> Iterator[AgentProcess]:
    """An agent in a process of its own that may have few descriptors, at first still fewer."""
    agent = AgentProcess(server.kubeconfig, root, *arguments)
    limits = f"ulimit -Sn {LIMIT // 2}; ulimit -Hn {LIMIT}"
    agent.command[:0] = ["sh", "-c", f'{limits}; exec "$@"', "sh"]
    agent.start()
    try:
        yield agent
    finally:
        agent.stop()


async def told(agent: AgentProcess, pattern: str) -> str:
    """What the agent says of itself."""
    await until(lambda: re.search(pattern, agent.said))
    found = re.search(pattern, agent.said)
    assert found is not None
    return found[1]


async def test_agent_and_shim_raise_their_limits_and_the_node_tells_what_fits(
    server: RunningServer, tmp_path: Path
) -> None:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        with limited_agent(server, tmp_path) as agent:
            await told(agent, r"(health) at")
            limits = [
                resource.prlimit(pid, resource.RLIMIT_NOFILE)
                for pid in (agent.pid, shim_of(agent.pid))
            ]
            node = await ready_node(cluster)

    assert limits == [(LIMIT, LIMIT)] * 2
    assert node.status.capacity["pods"] == str(budget(LIMIT, LIMIT).pods)


async def test_silent_connections_exhaust_nothing(server: RunningServer, tmp_path: Path) -> None:
    files = CertificateFiles(tmp_path / "node.crt", tmp_path / "node.key")
    Authority("nodes").issue_server(files, hosts=["127.0.0.1"])
    arguments = [
        *("--tls-cert-file", str(files.certificate_file)),
        *("--tls-private-key-file", str(files.key_file)),
        *("--secure-address", "127.0.0.1:0"),
    ]
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        with limited_agent(server, tmp_path, *arguments) as agent:
            health = await told(agent, r"health at (http://[^/]+)")
            port = int(await told(agent, r"logs over TLS at https://127\.0\.0\.1:(\d+)"))
            await ready_node(cluster)
            with contextlib.ExitStack() as flood:
                for _ in range(3 * LIMIT):
                    flood.enter_context(connected(port))
                    await asyncio.sleep(0)
                live = await fetched(f"{health}/livez")
                scene = Scene(cluster, tmp_path)
                await scene.pods.create(pod_document("web"))
                await scene.pod("web", is_running)
                open_now = len(list(Path(f"/proc/{agent.pid}/fd").iterdir()))

    assert live == (200, "ok\n")
    assert open_now < LIMIT
    assert "Traceback" not in agent.said


async def test_what_a_container_said_is_not_for_everybody(
    server: RunningServer, tmp_path: Path
) -> None:
    command = ["sh", "-c", "echo my password is fish; exit 3"]
    fall_back = {"terminationMessagePolicy": "FallbackToLogsOnError"}
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(
            pod_document("web", command, container=fall_back, restartPolicy="Never")
        )
        failed = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        url = f"{scene.agent.health_url}/pods"
        await until_async(lambda: says(url, '"phase":"Failed"'))
        _, page = await fetched(url)
        stranger = await with_token(url, "eve")

    assert end_of(failed).message == "my password is fish\n"
    assert "fish" not in page
    assert stranger[0] == 401


async def test_tokens_of_strangers_are_not_all_reviewed(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow = functools.partial(PeerBuckets, every=3600.0)  # however slow this machine is
    monkeypatch.setattr(review, "PeerBuckets", slow)
    async with scene_on(server, tmp_path) as scene:
        url = f"{scene.agent.health_url}/containerLogs/default/web/main"
        answers = [await with_token(url, f"token-{number}") for number in range(BURST + 3)]

    assert [status for status, _ in answers] == [401] * BURST + [429] * 3


async def with_token(url: str, token: str) -> tuple[int, str]:
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {token}"})
    return await fetched(request)


async def says(url: str, words: str) -> bool:
    return words in (await fetched(url))[1]


async def is_served(folder: Path) -> bool:
    try:
        _, writer = await asyncio.open_unix_connection(socket_path(folder))
    except (FileNotFoundError, ConnectionRefusedError):
        return False
    writer.close()
    await writer.wait_closed()
    return True


async def test_a_shim_turns_over_what_it_has_said(tmp_path: Path) -> None:
    journal = tmp_path / protocol.JOURNAL
    journal.write_bytes(bytes(LARGEST))
    with journal.open("ab") as said:
        shim = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "reflet.node.shim.service", str(tmp_path)),
            stderr=said,
        )
    await until_async(lambda: is_served(tmp_path))
    reader, writer = await asyncio.open_unix_connection(socket_path(tmp_path))
    writer.write(b"nonsense\n")
    await reader.read()
    writer.close()
    shim.terminate()
    await shim.wait()

    assert (tmp_path / f"{protocol.JOURNAL}.1").stat().st_size == LARGEST
    assert "an agent is no longer heard" in journal.read_text()


def connected(port: int) -> socket.socket:
    """A connection that says nothing, taken into the queue at the latest."""
    silent = socket.socket()
    silent.setblocking(False)
    with contextlib.suppress(BlockingIOError):
        silent.connect(("127.0.0.1", port))
    return silent


def shim_of(pid: int) -> int:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    (shim,) = [
        int(each)
        for each in children
        if b"reflet.node.shim.service" in Path(f"/proc/{each}/cmdline").read_bytes()
    ]
    return shim


async def ready_node(cluster: reflet.Cluster) -> Node:
    async with within(PATIENCE):
        while True:
            with contextlib.suppress(NotFound):
                node = await cluster.resource(Node).get(NODE)
                if is_ready(node):
                    return node
            await asyncio.sleep(0.05)
