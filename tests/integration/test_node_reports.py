"""What the agent tells of itself and of its pods: the Node, its lease, health, numbers and logs."""

from __future__ import annotations

import asyncio
import logging
from pathlib import Path

import pytest

import reflet
from reflet.api.core.nodes import Node
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import fetched, is_ready, registered, scene_on
from tests.node_chaos import shims_of
from tests.node_scenes import (
    NODE,
    end_of,
    is_running,
    pod_document,
    until,
    until_async,
)


async def is_well(url: str) -> bool:
    return (await fetched(url))[0] == 200


# The node itself


async def test_the_agent_is_a_node_with_a_lease(server: RunningServer, tmp_path: Path) -> None:
    async with scene_on(server, tmp_path) as scene:
        node, lease = await registered(scene)

    assert is_ready(node)
    assert "reflet.dev/process-runtime" in {taint.key for taint in node.spec.taints}
    assert (lease.spec.holder_identity, lease.spec.lease_duration_seconds) == (NODE, 40)


async def test_a_node_whose_agent_stops_is_not_ready(server: RunningServer, tmp_path: Path) -> None:
    async with scene_on(server, tmp_path) as scene:
        await until(lambda: scene.agent.node is not None and scene.agent.node.status.conditions)

    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        node = await cluster.resource(Node).get(NODE)
    assert {each.type: each.status for each in node.status.conditions}["Ready"] == "False"


async def test_an_agent_that_stops_asks_nobody_who_is_gone(
    server: RunningServer, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with scene_on(server, tmp_path, relist=0.01) as scene:
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)

    complaints = [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]
    assert complaints == []
    assert shims_of(tmp_path / "node") == []


# The server goes away


async def test_what_happens_while_the_server_is_away_is_told_when_it_is_back(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(
            pod_document(
                "job",
                ["sh", "-c", "sleep 1"],
                restartPolicy="Never",
            )
        )
        await scene.pods.create(pod_document("web"))
        await scene.pod("job", is_running)
        web = await scene.pod("web", is_running)
        await asyncio.to_thread(server.restart, 2.5)
        done = await scene.pod("job", lambda pod: pod.status.phase == "Succeeded")
        after = await scene.pod("web", is_running)

    assert end_of(done).exit_code == 0
    before = web.status.container_statuses[0]
    assert after.status.container_statuses[0].container_id == before.container_id


# Health


async def test_health_and_numbers_are_answered(server: RunningServer, tmp_path: Path) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        url = scene.agent.health_url
        await until_async(lambda: is_well(f"{url}/readyz"))
        live, ready = await fetched(f"{url}/livez"), await fetched(f"{url}/readyz?verbose")
        metrics = await fetched(f"{url}/metrics")
        unknown, root = await fetched(f"{url}/nothing"), await fetched(f"{url}/")

    assert live == (200, "ok\n")
    assert "[+]worker/default/web ok" in ready[1]
    assert ready[1].endswith("readyz check passed\n")
    assert "reflet_node_pods 1\n" in metrics[1]
    assert 'reflet_node_container_starts_total{result="started"} 1' in metrics[1]
    assert (unknown[0], root[0]) == (401, 404)  # only what is said to be for everybody is


async def test_logs_are_for_those_whom_the_server_knows(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("web", ["sh", "-c", "echo hello; exec sleep 60"]))
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod))
        url = f"{scene.agent.health_url}/containerLogs/default/web/main"
        stranger = await fetched(url)
        through = await fetched(
            f"{server.url}/api/v1/namespaces/default/pods/web/log?timestamps=false"
        )

    assert stranger[0] == 401
    assert through == (200, "hello\n")
