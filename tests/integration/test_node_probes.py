"""Probes and hooks of real processes, and what a development server hears of them."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.core.pods import Pod
from reflet.api.meta import Condition
from reflet.api.options import DeleteOptions
from reflet.processes.crash_backoff import CEILING, FIRST
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import fetched, scene_on
from tests.node_scenes import (
    PATIENCE,
    Scene,
    agent_process,
    can_isolate,
    free_port,
    is_running,
    pod_document,
    until,
)
from tests.patience import within

HERE = "127.0.0.1"
OURS = (sys.prefix, sys.base_prefix)  # the interpreter, for containers that need one
PAGE = """
import http.server, sys

class Page(http.server.BaseHTTPRequestHandler):
    status = 200

    def do_GET(self):
        status = Page.status
        if self.path.startswith("/say/"):
            status, Page.status = 200, int(self.path[5:])
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass

http.server.HTTPServer(("127.0.0.1", int(sys.argv[1])), Page).serve_forever()
"""
"""Answers with 200, or with what it was told at /say/NUMBER."""

QUICKLY = {"periodSeconds": 1, "timeoutSeconds": 5}


def page(name: str, port: int, **container: Any) -> dict[str, Any]:
    """A pod whose container answers at *port*, where it is probed by name."""
    return pod_document(
        name,
        [sys.executable, "-c", PAGE, str(port)],
        container={"ports": [{"name": "web", "containerPort": port}], **container},
    )


def condition(pod: Pod, kind: str = "Ready") -> Condition:
    found = (each for each in pod.status.conditions if each.type == kind)
    return next(found, Condition(type=kind, status="Unknown"))


def is_ready(pod: Pod) -> bool:
    return condition(pod).status == "True"


def is_unready(pod: Pod) -> bool:
    return is_running(pod) and condition(pod).status == "False"


def restarts(count: int) -> Callable[[Pod], bool]:
    return lambda pod: is_ready(pod) and pod.status.container_statuses[0].restart_count == count


async def say(port: int, status: int) -> None:
    """Have the page answer with another status from now on."""
    assert (await fetched(f"http://{HERE}:{port}/say/{status}"))[0] == 200


async def messages(scene: Scene, name: str, reason: str) -> list[str]:
    return [each.message for each in await scene.events(name, reason) if each.reason == reason]


@asynccontextmanager
async def listener(asked: list[str]) -> AsyncIterator[int]:
    """A server of the test's own, for hooks; it keeps the heads of requests."""

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readuntil(b"\r\n\r\n")).decode())
        writer.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        writer.close()

    server = await asyncio.start_server(answer, HERE, 0)
    async with server:
        yield server.sockets[0].getsockname()[1]


# Probes


async def test_a_pod_is_ready_while_its_page_says_so(server: RunningServer, tmp_path: Path) -> None:
    port = free_port()
    probe = QUICKLY | {"httpGet": {"port": "web", "path": "/ready"}, "failureThreshold": 1}
    async with scene_on(server, tmp_path, share=OURS) as scene:
        await scene.pods.create(page("web", port, readinessProbe=probe))
        await scene.pod("web", is_ready)
        await say(port, 500)
        unready = await scene.pod("web", is_unready)
        said = await messages(scene, "web", "Unhealthy")
        await say(port, 200)
        ready = await scene.pod("web", is_ready)

    assert (condition(unready).reason, condition(unready).message) == (
        "ContainersNotReady",
        "containers with unready status: [main]",
    )
    assert condition(unready, "ContainersReady").status == "False"
    assert "Readiness probe failed: HTTP probe failed with statuscode: 500" in said
    assert (condition(ready).reason, condition(ready).message) == ("", "")
    status = ready.status.container_statuses[0]
    assert (status.restart_count, status.started, status.ready) == (0, True, True)


async def test_a_container_that_is_no_longer_alive_is_restarted(
    server: RunningServer, tmp_path: Path
) -> None:
    port = free_port()
    probe = QUICKLY | {"httpGet": {"port": port}, "failureThreshold": 2}
    started = QUICKLY | {"tcpSocket": {"port": "web"}, "failureThreshold": 60}
    async with scene_on(server, tmp_path, share=OURS) as scene:
        await scene.pods.create(page("web", port, livenessProbe=probe, startupProbe=started))
        await scene.pod("web", restarts(0))
        await say(port, 503)
        again = await scene.pod("web", restarts(1))
        killed = await messages(scene, "web", "Killing")
        said = await messages(scene, "web", "Unhealthy")

    assert killed == ["Container main failed liveness probe, will be restarted"]
    assert "Liveness probe failed: HTTP probe failed with statuscode: 503" in said
    ended = again.status.container_statuses[0].last_state.terminated
    assert ended is not None
    assert ended.exit_code == 143


async def test_a_port_that_nobody_listens_on_is_told_in_the_kubelets_words(
    server: RunningServer, tmp_path: Path
) -> None:
    port = free_port()
    async with scene_on(server, tmp_path, share=OURS) as scene:
        document = pod_document(
            "web", container={"readinessProbe": QUICKLY | {"tcpSocket": {"port": port}}}
        )
        await scene.pods.create(document)
        said = await messages(scene, "web", "Unhealthy")
        pod = await scene.pod("web", is_unready)

    refused = f"dial tcp {HERE}:{port}: connect: connection refused"
    assert said == [f"Readiness probe failed: {refused}"]
    assert pod.status.container_statuses[0].started


@pytest.mark.parametrize("isolation", sorted({can_isolate(), False}))
async def test_a_command_in_the_container_decides_as_well(
    server: RunningServer, tmp_path: Path, isolation: bool
) -> None:
    check = "test -e $REFLET_ROOT/data/ready || { echo not yet, $(LEVEL) $WORD; exit 1; }"
    probe = QUICKLY | {"exec": {"command": ["sh", "-c", check]}}
    variables = [{"name": "LEVEL", "value": "high"}, {"name": "WORD", "value": "hello"}]
    mounts = [{"name": "data", "mountPath": "/data"}]
    async with scene_on(server, tmp_path, isolation=isolation) as scene:
        document = pod_document(
            "web",
            container={"readinessProbe": probe, "env": variables, "volumeMounts": mounts},
            volumes=[{"name": "data", "emptyDir": {}}],
        )
        await scene.pods.create(document)
        said = await messages(scene, "web", "Unhealthy")
        pod = await scene.pod("web", is_unready)
        (scene.container_root(pod) / "data/ready").touch()
        await scene.pod("web", is_ready)

    assert said == ["Readiness probe failed: not yet, high hello\n"]


async def test_the_others_start_when_a_sidecar_is_started(
    server: RunningServer, tmp_path: Path
) -> None:
    port = free_port()
    sidecar = {
        "name": "proxy",
        "image": "none",
        "command": ["sh", "-c", "while :; do sleep 0.05; done"],
        "restartPolicy": "Always",
        "startupProbe": QUICKLY | {"tcpSocket": {"port": port}, "failureThreshold": 60},
    }
    async with scene_on(server, tmp_path, share=OURS) as scene:
        await scene.pods.create(pod_document("web", initContainers=[sidecar]))
        await messages(scene, "web", "Unhealthy")
        before = await scene.pods.get("web")
        with socket.create_server((HERE, port)):
            after = await scene.pod("web", is_ready)

    assert before.status.phase == "Pending"
    assert condition(before, "Initialized").message == "containers with incomplete status: [proxy]"
    assert after.status.init_container_statuses[0].started


async def test_an_agent_that_is_killed_leaves_healthy_pods_ready(
    server: RunningServer, tmp_path: Path
) -> None:
    port = free_port()
    probe = QUICKLY | {"httpGet": {"port": port}}
    open_port = QUICKLY | {"tcpSocket": {"port": port}, "failureThreshold": 60}
    document = page(
        "web", port, readinessProbe=probe, livenessProbe=open_port, startupProbe=open_port
    )
    shares = [word for path in OURS for word in ("--share", path)]
    with agent_process(server.kubeconfig, tmp_path, *shares) as agent:
        async with (
            within(2 * PATIENCE),
            reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        ):
            scene = Scene(cluster, tmp_path)
            await scene.pods.create(document)
            before = await scene.pod("web", is_ready)
            agent.kill()
            agent.start()
            told: set[str] = set()
            await scene.pods.create(pod_document("other"))
            while not is_ready(await scene.pods.get("other")):
                told.add(condition(await scene.pods.get("web")).status)
            await say(port, 500)  # and the new agent has to notice
            await scene.pod("web", is_unready)
            await say(port, 200)
            after = await scene.pod("web", is_ready)

    assert told == {"True"}
    status, earlier = after.status.container_statuses[0], before.status.container_statuses[0]
    assert (status.container_id, status.restart_count) == (earlier.container_id, 0)


# Hooks


async def test_a_hook_is_asked_before_the_container_is_told_to_end(
    server: RunningServer, tmp_path: Path
) -> None:
    asked: list[str] = []
    script = "trap 'exit 7' TERM; echo ready; while :; do sleep 0.05; done"
    async with listener(asked) as port, scene_on(server, tmp_path, share=OURS) as scene:
        hook = {"preStop": {"httpGet": {"port": port, "path": "/bye"}}}
        document = pod_document("web", ["sh", "-c", script], container={"lifecycle": hook})
        await scene.pods.create(document)
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod))
        await scene.pods.delete("web", DeleteOptions(grace_period_seconds=20))
        await scene.gone("web")

    assert asked[0].startswith("GET /bye HTTP/1.1\r\n")
    assert "User-Agent: kube-lifecycle/1.36" in asked[0]


async def test_a_hook_that_fails_after_the_start_is_a_crash(
    server: RunningServer, tmp_path: Path
) -> None:
    hook = {"postStart": {"httpGet": {"port": free_port()}}}
    # The kubelet's own: a short one forgives a crash that a busy machine makes late.
    own = {"backoff_first": FIRST, "backoff_ceiling": CEILING}
    async with scene_on(server, tmp_path, share=OURS, **own) as scene:
        await scene.pods.create(pod_document("web", container={"lifecycle": hook}))
        told = await messages(scene, "web", "FailedPostStartHook")
        await scene.events("web", "BackOff")
        killed = await messages(scene, "web", "Killing")

    assert told == ["PostStartHook failed"]
    assert killed == ["FailedPostStartHook"]


async def test_commands_are_hooks_as_well(server: RunningServer, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    hooks = {
        "postStart": {"exec": {"command": ["sh", "-c", "echo begun > $REFLET_ROOT/data/begun"]}},
        "preStop": {"exec": {"command": ["sh", "-c", "cd $REFLET_ROOT/data && mv begun ended"]}},
    }
    async with scene_on(server, tmp_path, host_paths=(str(shared),)) as scene:
        document = pod_document(
            "web",
            container={
                "lifecycle": hooks,
                "volumeMounts": [{"name": "data", "mountPath": "/data"}],
            },
            volumes=[{"name": "data", "hostPath": {"path": str(shared)}}],
        )
        await scene.pods.create(document)
        await scene.pod("web", is_ready)
        before = (shared / "begun").read_text()
        await scene.pods.delete("web")
        await scene.gone("web")

    assert (before, (shared / "ended").read_text()) == ("begun\n", "begun\n")
