"""Managers and the agent with the rights of a node, on the development server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from reflet.api.core.small_kinds import ServiceAccount
from reflet.cluster import Cluster, connect
from reflet.errors import Forbidden
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import is_ready, registered
from tests.node_identity_scenes import SCENES
from tests.node_scenes import (
    NODE,
    PATIENCE,
    Scene,
    agent_process,
    config_map,
    is_running,
    pod_document,
    processes_below,
    running_agent,
    until,
)
from tests.patience import within

pytestmark = pytest.mark.time_limit(3 * PATIENCE)


def kubeconfig_of_node(server: RunningServer, folder: Path) -> Path:
    """The server's kubeconfig with two lines more, by which its user acts as the node."""
    config = json.loads(server.kubeconfig.read_text())
    config["users"][0]["user"] |= {"as": f"system:node:{NODE}", "as-groups": ["system:nodes"]}
    path = folder / "node.kubeconfig"
    path.write_text(json.dumps(config))
    return path


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_a_node_gets_what_its_pods_need(
    server: RunningServer,
    tmp_path: Path,
    scene: Callable[[Cluster, Cluster, str], Awaitable[None]],
) -> None:
    as_admin = connect(kubeconfig=str(server.kubeconfig))
    as_node = connect(kubeconfig=str(kubeconfig_of_node(server, tmp_path)))

    await scene(as_admin, as_node, "default")


@asynccontextmanager
async def agent_of_a_node(server: RunningServer, folder: Path) -> AsyncIterator[Scene]:
    async with (
        connect(kubeconfig=str(server.kubeconfig)) as admin,
        connect(kubeconfig=str(kubeconfig_of_node(server, folder))) as node,
        within(2 * PATIENCE),
        running_agent(node, folder) as agent,
    ):
        scene = Scene(admin, folder)
        scene.agent = agent
        yield scene


async def test_the_agent_registers_itself_and_renews_its_lease(
    server: RunningServer, tmp_path: Path
) -> None:
    async with agent_of_a_node(server, tmp_path) as scene:
        node, lease = await registered(scene)

    assert is_ready(node)
    assert lease.spec.holder_identity == NODE


async def test_a_pod_lives_its_whole_life_on_an_agent_with_the_rights_of_its_node(
    server: RunningServer, tmp_path: Path
) -> None:
    async with agent_of_a_node(server, tmp_path) as scene:
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web"}}
        await scene.cluster.resource(ServiceAccount, namespace="default").create(account)
        await scene.config_maps.create(config_map("settings", conf="1"))
        token = {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}
        mounts = [
            {"name": "conf", "mountPath": "/etc/app"},
            {"name": "token", "mountPath": "/token"},
        ]
        await scene.pods.create(
            pod_document(
                "web",
                serviceAccountName="web",
                container={"volumeMounts": mounts},
                volumes=[
                    {"name": "conf", "configMap": {"name": "settings"}},
                    {"name": "token", "projected": {"sources": [token]}},
                ],
            )
        )
        pod = await scene.pod("web", is_running)
        root = scene.container_root(pod)
        issued = (root / "token/token").read_text()
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: (root / "etc/app/conf").read_text() == "2")
        events = await scene.events("web", "Created", "Started")
        await scene.pods.delete("web")
        await scene.gone("web")

    assert issued.count(".") == 2
    assert {each.source.component for each in events} == {"reflet"}
    assert processes_below(tmp_path) == []


async def test_the_command_runs_with_the_kubeconfig_of_a_node(
    server: RunningServer, tmp_path: Path
) -> None:
    identity = kubeconfig_of_node(server, tmp_path)
    with agent_process(identity, tmp_path):
        async with connect(kubeconfig=str(server.kubeconfig)) as admin:
            scene = Scene(admin, tmp_path)
            await scene.pods.create(pod_document("web"))
            pod = await scene.pod("web", is_running)
            await scene.pods.delete("web")
            await scene.gone("web")
        async with connect(kubeconfig=str(identity)) as node:
            with pytest.raises(Forbidden) as refused:
                await node.resource("secrets", namespace="default").list()

    assert pod.spec.node_name == NODE
    assert str(refused.value).endswith("No Object name found")
