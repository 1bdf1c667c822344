"""The node agent with the identity of a node, on a real API server."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.small_kinds import ServiceAccount
from reflet.cluster import Cluster, settings_from
from reflet.transport.config.kubeconfig import Overrides
from tests.integration.node_agents import is_ready, registered
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
    waits_for,
)
from tests.patience import within
from tests.real.access_rules import Role
from tests.real.kube_server import KubeServer

pytestmark = pytest.mark.time_limit(4 * PATIENCE)


@asynccontextmanager
async def scene_on(
    kube: KubeServer, namespace: str, folder: Path, **changes: Any
) -> AsyncIterator[Scene]:
    async with (
        cluster_of(kube, "admin", namespace, folder) as admin,
        cluster_of(kube, "node", namespace, folder) as node,
        within(3 * PATIENCE),
        running_agent(node, folder, namespaces=frozenset({namespace}), **changes) as agent,
    ):
        scene = Scene(admin, folder, namespace)
        scene.agent = agent
        yield scene


def cluster_of(kube: KubeServer, role: Role, namespace: str, folder: Path) -> Cluster:
    path = kube.write_kubeconfig(folder / f"{role}.config", role, namespace=namespace)
    return Cluster(dataclasses.replace(settings_from(Overrides(kubeconfig=str(path))), qps=0))


async def test_the_agent_registers_itself_and_renews_its_lease(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    async with scene_on(kube, namespace, tmp_path) as scene:
        node, lease = await registered(scene)

    assert is_ready(node)
    assert "reflet.dev/process-runtime" in {taint.key for taint in node.spec.taints}
    assert lease.spec.holder_identity == NODE


async def test_a_pod_lives_its_whole_life(kube: KubeServer, namespace: str, tmp_path: Path) -> None:
    async with scene_on(kube, namespace, tmp_path) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                initContainers=[{"name": "first", "image": "none", "command": ["true"]}],
                container={
                    "envFrom": [{"configMapRef": {"name": "settings"}}],
                    "volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}],
                },
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)
        file = scene.container_root(pod) / "etc/app/conf"
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: file.read_text() == "2")
        await scene.pods.delete("web")
        await scene.gone("web")
        events = await scene.events("web", "Created", "Started", "Killing")

        assert not scene.folder(pod).exists()
    conditions = {each.type: each.status for each in pod.status.conditions}
    assert (pod.status.phase, conditions["Ready"]) == ("Running", "True")
    assert {each.source.component for each in events} == {"reflet"}
    assert processes_below(tmp_path) == []


async def test_a_missing_key_is_told_as_the_kubelet_tells_it_and_mends_itself(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    async with scene_on(kube, namespace, tmp_path) as scene:
        await scene.config_maps.create(config_map("settings", other="x"))
        reference = {"configMapKeyRef": {"name": "settings", "key": "color"}}
        await scene.pods.create(
            pod_document("web", container={"env": [{"name": "COLOR", "valueFrom": reference}]})
        )
        await scene.pod("web", waits_for("CreateContainerConfigError"))
        events = await scene.events("web", "Failed")
        await scene.config_maps.patch("settings", {"data": {"color": "red"}})
        await scene.pod("web", is_running)

    message = f"Error: couldn't find key color in ConfigMap {namespace}/settings"
    assert message in {each.message for each in events}


async def test_a_crash_is_counted_and_a_refusal_is_told(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    async with scene_on(kube, namespace, tmp_path) as scene:
        await scene.pods.create(pod_document("crash", ["sh", "-c", "exit 3"]))
        await scene.pods.create(pod_document("network", hostNetwork=True))
        crashed = await scene.pod("crash", waits_for("CrashLoopBackOff"))
        refused = await scene.pod("network", lambda pod: pod.status.phase == "Failed")

    ended = crashed.status.container_statuses[0].last_state.terminated
    assert ended is not None
    assert ended.exit_code == 3
    assert refused.status.reason == "ProcessRuntimeRefused"


async def test_a_pod_gets_a_token_of_its_service_account(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    async with scene_on(kube, namespace, tmp_path) as scene:
        accounts = scene.cluster.resource(ServiceAccount, namespace=namespace)
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "web"}}
        await accounts.create(account)
        source = {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}
        await scene.pods.create(
            pod_document(
                "web",
                serviceAccountName="web",
                container={"volumeMounts": [{"name": "token", "mountPath": "/token"}]},
                volumes=[{"name": "token", "projected": {"sources": [source]}}],
            )
        )
        pod = await scene.pod("web", is_running)
        token = (scene.container_root(pod) / "token/token").read_text()

    assert token.count(".") == 2


async def test_the_next_agent_goes_on_with_what_a_killed_one_left(
    kube: KubeServer, namespace: str, tmp_path: Path
) -> None:
    identity = kube.write_kubeconfig(tmp_path / "node.config", "node", namespace=namespace)
    with agent_process(identity, tmp_path, "--namespace", namespace) as agent:
        async with cluster_of(kube, "admin", namespace, tmp_path) as admin:
            scene = Scene(admin, tmp_path, namespace)
            await scene.pods.create(pod_document("web"))
            before = await scene.pod("web", is_running)
            agent.kill()
            left = processes_below(tmp_path)
            agent.start()
            await until(lambda: agent.said.count("health at") == 2)
            after = await scene.pod("web", is_running)
            await scene.pods.delete("web")
            await scene.gone("web")

    ids = [each.status.container_statuses[0].container_id for each in (before, after)]
    assert left
    assert ids[0] == ids[1]
    assert processes_below(tmp_path) == []
