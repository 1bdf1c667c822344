"""The node agent on a development server, with real processes and real sockets."""

from __future__ import annotations

import asyncio
import logging
import os
import urllib.error
import urllib.request
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.leases import Lease
from reflet.api.nodes import Node
from reflet.api.options import DeleteOptions
from reflet.client.resource_client import ResourceClient
from reflet.node.security import RunAs
from reflet.testing.pytest_plugin import RunningServer
from tests.node_chaos import keepers_of
from tests.node_scenes import (
    NODE,
    PATIENCE,
    SLEEP,
    Scene,
    config_map,
    end_of,
    is_running,
    pod_document,
    processes_below,
    running_agent,
    until,
    until_async,
    waiting_of,
    waits_for,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path


@asynccontextmanager
async def scene_on(server: RunningServer, root: Path, **changes: Any) -> AsyncIterator[Scene]:
    async with (
        reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        asyncio.timeout(2 * PATIENCE),
        running_agent(cluster, root, **changes) as agent,
    ):
        await agent.ready()
        scene = Scene(cluster, root)
        scene.agent = agent
        yield scene


def page(url: str) -> tuple[int, str]:
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.read().decode()


async def fetched(url: str) -> tuple[int, str]:
    return await asyncio.to_thread(page, url)


async def is_well(url: str) -> bool:
    return (await fetched(url))[0] == 200


async def has_items(leases: ResourceClient[Lease]) -> bool:
    return bool((await leases.list()).items)


# The node itself


async def test_the_agent_is_a_node_with_a_lease(server: RunningServer, root: Path) -> None:
    async with scene_on(server, root) as scene:
        leases = scene.cluster.resource(Lease, namespace="kube-node-lease")
        nodes = scene.cluster.resource(Node)
        await until(lambda: scene.agent.node is not None and scene.agent.node.status.conditions)
        node = await nodes.get(NODE)
        await until_async(lambda: has_items(leases))
        lease = await leases.get(NODE)

    ready = {each.type: each.status for each in node.status.conditions}
    assert ready["Ready"] == "True"
    assert "reflet.dev/process-runtime" in {taint.key for taint in node.spec.taints}
    assert (lease.spec.holder_identity, lease.spec.lease_duration_seconds) == (NODE, 40)


async def test_a_node_whose_agent_stops_is_not_ready(server: RunningServer, root: Path) -> None:
    async with scene_on(server, root) as scene:
        await until(lambda: scene.agent.node is not None and scene.agent.node.status.conditions)

    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        node = await cluster.resource(Node).get(NODE)
    assert {each.type: each.status for each in node.status.conditions}["Ready"] == "False"


async def test_an_agent_that_stops_asks_nobody_who_is_gone(
    server: RunningServer, root: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with scene_on(server, root, relist=0.01) as scene:
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)

    complaints = [each.getMessage() for each in caplog.records if each.levelno >= logging.ERROR]
    assert complaints == []
    assert keepers_of(root / "node") == []


# Starting


async def test_a_pod_runs_with_its_variables_and_files(server: RunningServer, root: Path) -> None:
    script = 'echo "$COLOR $POD_IP"; cat "$REFLET_ROOT/etc/app/conf"; exec sleep 60'
    async with scene_on(server, root) as scene:
        await scene.config_maps.create(config_map("settings", color="red", conf="level=1\n"))
        document = pod_document(
            "web",
            ["sh", "-c", script],
            container={
                "env": [
                    {
                        "name": "COLOR",
                        "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}},
                    },
                    {
                        "name": "POD_IP",
                        "valueFrom": {"fieldRef": {"fieldPath": "status.podIP"}},
                    },
                ],
                "volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}],
            },
            volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
        )
        await scene.pods.create(document)
        pod = await scene.pod("web", is_running)
        await until(lambda: "level=1" in scene.log(pod))
        log = scene.log(pod)

    assert log == "red 127.0.0.1\nlevel=1\n"
    conditions = {each.type: each.status for each in pod.status.conditions}
    assert (pod.status.phase, conditions["Ready"], pod.status.pod_ip) == (
        "Running",
        "True",
        "127.0.0.1",
    )


async def test_init_containers_run_in_order_and_before_the_others(
    server: RunningServer, root: Path
) -> None:
    mounts = [{"name": "work", "mountPath": "/scratch"}]

    def step(name: str) -> dict[str, Any]:
        script = f"echo {name} >> $REFLET_ROOT/scratch/order"
        return {
            "name": name,
            "image": "none",
            "command": ["sh", "-c", script],
            "volumeMounts": mounts,
        }

    async with scene_on(server, root) as scene:
        script = "cat $REFLET_ROOT/scratch/order; exec sleep 60"
        await scene.pods.create(
            pod_document(
                "web",
                ["sh", "-c", script],
                container={"volumeMounts": mounts},
                initContainers=[step("one"), step("two"), step("three")],
                volumes=[{"name": "work", "emptyDir": {}}],
            )
        )
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod).count("\n") == 3)

        assert scene.log(pod).split() == ["one", "two", "three"]
    ended = [each.state.terminated for each in pod.status.init_container_statuses]
    assert [each.reason for each in ended if each is not None] == ["Completed"] * 3


async def test_a_sidecar_runs_beside_and_ends_after_the_others(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(
            pod_document(
                "job",
                ["sh", "-c", "sleep 0.2"],
                restartPolicy="Never",
                initContainers=[
                    {
                        "name": "proxy",
                        "image": "none",
                        "command": list(SLEEP),
                        "restartPolicy": "Always",
                    }
                ],
            )
        )
        pod = await scene.pod("job", lambda pod: pod.status.phase == "Succeeded")

    assert pod.status.init_container_statuses[0].state.terminated is not None


# Ends and restarts


async def test_a_container_that_crashes_starts_again_with_a_back_off(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(
            pod_document(
                "crash",
                ["sh", "-c", "echo boom; exit 3"],
                container={"terminationMessagePolicy": "FallbackToLogsOnError"},
            )
        )
        pod = await scene.pod("crash", waits_for("CrashLoopBackOff"))
        again = await scene.pod(
            "crash", lambda pod: pod.status.container_statuses[0].restart_count >= 3
        )
        events = await scene.events("crash", "BackOff", "Started")

    ended, why = end_of(pod), waiting_of(pod).message
    assert (ended.exit_code, ended.reason, ended.message) == (3, "Error", "boom\n")
    assert why.startswith("back-off ")
    assert "restarting failed container=main pod=crash_default(" in why
    assert again.status.phase == "Running"
    assert {each.reason for each in events} >= {"Created", "Started", "BackOff"}


@pytest.mark.parametrize(("code", "phase"), [(0, "Succeeded"), (7, "Failed")])
async def test_a_pod_that_never_restarts_ends_as_its_container_does(
    server: RunningServer, root: Path, code: int, phase: str
) -> None:
    script = f"printf bye > $REFLET_ROOT/dev/termination-log; exit {code}"
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("job", ["sh", "-c", script], restartPolicy="Never"))
        pod = await scene.pod("job", lambda pod: pod.status.phase in {"Succeeded", "Failed"})

    ended = end_of(pod)
    assert (pod.status.phase, ended.exit_code, ended.message) == (phase, code, "bye")


async def test_a_command_that_is_not_there_is_told_as_the_start_that_failed(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("web", ["/no/such/program"], restartPolicy="Never"))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        events = await scene.events("web", "Failed")

    ended = end_of(pod)
    assert (ended.exit_code, ended.reason) == (128, "StartError")
    assert any("failed to start container" in each.message for each in events)


async def test_a_deleted_pod_ends_within_its_grace_period_and_leaves_nothing(
    server: RunningServer, root: Path
) -> None:
    script = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done"
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("web", ["sh", "-c", script]))
        pod = await scene.pod("web", is_running)
        await scene.pods.delete("web")
        await scene.gone("web")
        events = await scene.events("web", "Killing")
        left = processes_below(root)
        folder_is_there = scene.folder(pod).exists()

    assert (left, folder_is_there) == ([], False)
    assert [each.message for each in events if each.reason == "Killing"] == [
        "Stopping container main"
    ]


async def test_what_does_not_hear_is_killed_after_the_grace_period(
    server: RunningServer, root: Path
) -> None:
    script = "trap '' TERM; while :; do sleep 0.05; done"
    async with scene_on(server, root) as scene:
        document = pod_document("deaf", ["sh", "-c", script], terminationGracePeriodSeconds=1)
        await scene.pods.create(document)
        await scene.pod("deaf", is_running)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await scene.pods.delete("deaf")
        await scene.gone("deaf")
        took = loop.time() - began

    assert 1 <= took < 10
    assert processes_below(root) == []


async def test_a_shorter_grace_period_is_heard_while_a_pod_ends(
    server: RunningServer, root: Path
) -> None:
    script = "trap '' TERM; while :; do sleep 0.05; done"
    async with scene_on(server, root) as scene:
        document = pod_document("deaf", ["sh", "-c", script], terminationGracePeriodSeconds=600)
        await scene.pods.create(document)
        await scene.pod("deaf", is_running)
        await scene.pods.delete("deaf")
        await scene.events("deaf", "Killing")
        await scene.pods.delete("deaf", DeleteOptions(grace_period_seconds=1))
        await scene.gone("deaf")

    assert processes_below(root) == []


async def test_a_pod_that_is_deleted_by_force_is_ended_all_the_same(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("web"))
        pod = await scene.pod("web", is_running)
        await scene.pods.delete("web", DeleteOptions(grace_period_seconds=0))
        await until(lambda: not processes_below(root) and not scene.folder(pod).exists())


async def test_processes_that_leave_their_group_end_with_their_container(
    server: RunningServer, root: Path
) -> None:
    script = "setsid sh -c 'while :; do sleep 0.05; done' & sleep 0.3; exit 0"
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("job", ["sh", "-c", script], restartPolicy="Never"))
        await scene.pod("job", lambda pod: pod.status.phase == "Succeeded")

        assert processes_below(root) == []


async def test_a_pod_ends_when_its_time_is_over(server: RunningServer, root: Path) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("job", activeDeadlineSeconds=1))
        pod = await scene.pod("job", lambda pod: pod.status.phase == "Failed")
        await until(lambda: not processes_below(root))

    assert pod.status.reason == "DeadlineExceeded"


async def test_what_a_pod_does_without_is_said(server: RunningServer, root: Path) -> None:
    probe = {"tcpSocket": {"port": 80}}
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("web", container={"readinessProbe": probe}))
        await scene.pod("web", is_running)
        events = await scene.events("web", "NotSupported")

    assert any("the probes of container main are not run" in each.message for each in events)


# Configuration


@pytest.mark.parametrize("strategy", ["watch", "auto", "cache", "get"])
async def test_every_strategy_gives_a_pod_what_it_needs(
    server: RunningServer, root: Path, strategy: str
) -> None:
    async with scene_on(server, root, strategy=strategy) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)

        assert (scene.container_root(pod) / "etc/app/conf").read_text() == "1"


async def test_an_edit_reaches_the_files_of_a_running_container(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)
        file = scene.container_root(pod) / "etc/app/conf"
        before = file.read_text()
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: file.read_text() == "2")
        after = await scene.pods.get("web")

    assert before == "1"
    assert after.status.container_statuses[0].restart_count == 0


@pytest.mark.parametrize(("annotation", "restarts"), [("signal:USR1", 0), ("restart", 1)])
async def test_a_pod_can_ask_for_more_than_fresh_files(
    server: RunningServer, root: Path, annotation: str, restarts: int
) -> None:
    script = "trap 'echo heard' USR1; echo begun; while :; do sleep 0.05; done"
    async with scene_on(server, root) as scene:
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                ["sh", "-c", script],
                metadata={"annotations": {"reflet.dev/on-change": annotation}},
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", is_running)
        await until(lambda: "begun" in scene.log(pod))
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        wanted = "heard" if not restarts else "begun"
        await until(lambda: wanted in scene.log(pod, attempt=restarts))
        after = await scene.pod("web", is_running)
        await scene.pod(
            "web", lambda pod: pod.status.container_statuses[0].restart_count == restarts
        )

    assert after.status.phase == "Running"


async def test_a_missing_key_keeps_a_container_waiting_until_it_is_there(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.config_maps.create(config_map("settings", other="x"))
        reference = {"configMapKeyRef": {"name": "settings", "key": "color"}}
        await scene.pods.create(
            pod_document("web", container={"env": [{"name": "COLOR", "valueFrom": reference}]})
        )
        waiting = await scene.pod("web", waits_for("CreateContainerConfigError"))
        events = await scene.events("web", "Failed")
        await scene.config_maps.patch("settings", {"data": {"color": "red"}})
        running = await scene.pod("web", is_running)

    message = "couldn't find key color in ConfigMap default/settings"
    assert (waiting.status.phase, waiting_of(waiting).message) == ("Pending", message)
    assert f"Error: {message}" in {each.message for each in events}
    assert running.status.phase == "Running"


async def test_a_missing_object_keeps_a_volume_from_being_mounted_until_it_is_there(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(
            pod_document("web", volumes=[{"name": "conf", "configMap": {"name": "settings"}}])
        )
        events = await scene.events("web", "FailedMount")
        waiting = await scene.pod("web", waits_for("ContainerCreating"))
        await scene.config_maps.create(config_map("settings", conf="1"))
        running = await scene.pod("web", is_running)

    wanted = 'MountVolume.SetUp failed for volume "conf" : configmap "settings" not found'
    assert wanted in {each.message for each in events}
    assert (waiting.status.phase, running.status.phase) == ("Pending", "Running")


async def test_secrets_are_private_and_gone_with_their_pod(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
        secret = {
            "apiVersion": "v1",
            "kind": "Secret",
            "metadata": {"name": "key"},
            "stringData": {"key": "s3cret"},
        }
        await scene.secrets.create(secret)
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "key", "mountPath": "/etc/key"}]},
                volumes=[{"name": "key", "secret": {"secretName": "key", "defaultMode": 0o400}}],
            )
        )
        pod = await scene.pod("web", is_running)
        file = (scene.container_root(pod) / "etc/key/key").resolve()
        content, mode = file.read_text(), file.stat().st_mode & 0o777
        gate = scene.folder(pod).stat().st_mode & 0o007
        await scene.pods.delete("web")
        await scene.gone("web")

    assert (content, mode, gate, file.exists()) == ("s3cret", 0o400, 0, False)


# What is not run


async def test_without_leave_nothing_is_started_and_everything_is_written(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root, run=False) as scene:
        await scene.config_maps.create(config_map("settings", color="it's red"))
        await scene.pods.create(
            pod_document(
                "web",
                container={"envFrom": [{"configMapRef": {"name": "settings"}}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        pod = await scene.pod("web", waits_for("ProcessRuntimeDisabled"))
        events = await scene.events("web", "ProcessRuntimeDisabled")
        file = scene.folder(pod) / "containers/main/environment"
        lines = file.read_text().splitlines()
        written = scene.folder(pod) / "volumes/kubernetes.io~configmap/conf/color"
        shown = written.read_text()
        await scene.config_maps.patch("settings", {"data": {"color": "blue"}})
        await until(lambda: "color='blue'" in file.read_text())

        assert "color='it'\\''s red'" in lines
        assert (shown, file.stat().st_mode & 0o777) == ("it's red", 0o600)
        assert processes_below(root) == []
    assert pod.status.phase == "Pending"
    assert any("would start main" in each.message for each in events)


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ({"hostNetwork": True}, "spec.hostNetwork"),
        ({"volumes": [{"name": "v", "hostPath": {"path": "/etc"}}]}, "hostPath /etc"),
        (
            {
                "containers": [
                    {"name": "main", "image": "nginx"},
                ]
            },
            "it has an image and no command",
        ),
        (
            {
                "containers": [
                    {
                        "name": "main",
                        "image": "none",
                        "command": ["true"],
                        "securityContext": {"privileged": True},
                    }
                ]
            },
            "privileged containers are not run",
        ),
    ],
)
async def test_a_pod_that_asks_for_more_is_refused_with_an_event(
    server: RunningServer, root: Path, spec: dict[str, Any], why: str
) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("web", **spec))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        events = await scene.events("web", "ProcessRuntimeRefused")
        await scene.pods.delete("web")
        await scene.gone("web")

    assert pod.status.reason == "ProcessRuntimeRefused"
    assert why in pod.status.message
    assert any(why in each.message for each in events)


async def test_a_path_of_the_host_can_be_allowed(server: RunningServer, root: Path) -> None:
    shared = root / "shared"
    shared.mkdir()
    async with scene_on(server, root, host_paths=(str(shared),)) as scene:
        await scene.pods.create(
            pod_document(
                "web",
                ["sh", "-c", "echo hello > $REFLET_ROOT/data/file; exec sleep 60"],
                container={"volumeMounts": [{"name": "v", "mountPath": "/data"}]},
                volumes=[{"name": "v", "hostPath": {"path": str(shared)}}],
            )
        )
        await scene.pod("web", is_running)
        await until((shared / "file").exists)


async def test_pods_of_other_namespaces_can_be_refused(server: RunningServer, root: Path) -> None:
    async with scene_on(server, root, namespaces=frozenset({"shop"})) as scene:
        await scene.pods.create(pod_document("web"))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")

    assert "namespace default is not among those of this agent: shop" in pod.status.message


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may become another user")
async def test_containers_run_as_whom_they_should(server: RunningServer, root: Path) -> None:
    script = "id -u; id -g; cat $REFLET_ROOT/etc/app/conf; exec sleep 60"
    for folder in (root, *root.parents):
        # Where tests keep their files is closed to others.
        if folder.stat().st_uid == os.geteuid() and folder.stat().st_mode & 0o001 == 0:
            folder.chmod(folder.stat().st_mode | 0o011)
    async with scene_on(server, root, user=RunAs(65534, 65534)) as scene:
        await scene.config_maps.create(config_map("settings", conf="x\n"))
        for name, context in (("usual", {}), ("own", {"runAsUser": 12345})):
            await scene.pods.create(
                pod_document(
                    name,
                    ["sh", "-c", script],
                    container={
                        "securityContext": context,
                        "volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}],
                    },
                    volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
                )
            )
        usual = await scene.pod("usual", is_running)
        own = await scene.pod("own", is_running)
        await until(lambda: scene.log(usual).endswith("x\n") and scene.log(own).endswith("x\n"))

        assert scene.log(usual).split() == ["65534", "65534", "x"]
        assert scene.log(own).split() == ["12345", "12345", "x"]
        await scene.pods.create(
            pod_document("root", container={"securityContext": {"runAsUser": 0}})
        )
        refused = await scene.pod("root", lambda pod: pod.status.phase == "Failed")

    assert "runAsUser 0 is not one that this agent may become" in refused.status.message


# Sources


async def test_pods_can_come_from_a_folder(server: RunningServer, root: Path) -> None:
    folder = root / "manifests"
    folder.mkdir()
    manifest = """
apiVersion: v1
kind: Pod
metadata: {name: web}
spec:
  terminationGracePeriodSeconds: 1
  containers:
  - name: main
    image: none
    command: [sh, -c, 'echo "$COLOR"; while :; do sleep 0.05; done']
    env: [{name: COLOR, value: WORD}]
"""
    (folder / "web.yaml").write_text(manifest.replace("WORD", "red"))

    def logs() -> list[str]:
        pods = (root / "node" / "pods").glob("*/containers/main/*.log")
        return [path.read_text().split(" ", 3)[3].strip() for path in pods if path.stat().st_size]

    async with scene_on(server, root, pods_from=str(folder), relist=0.1) as scene:
        await until(lambda: logs() == ["red"])
        _, shown = await fetched(f"{scene.agent.health_url}/pods")
        (folder / "web.yaml").write_text(manifest.replace("WORD", "blue"))
        await until(lambda: "blue" in logs())
        (folder / "web.yaml").unlink()
        await until(lambda: not processes_below(root) and not logs())

    assert '"name":"web"' in shown


async def test_unbound_pods_that_a_selector_chooses_are_bound_to_the_node(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root, selector="app=web") as scene:
        chosen = pod_document("web", metadata={"labels": {"app": "web"}})
        other = pod_document("other")
        for document in (chosen, other):
            del document["spec"]["nodeName"]
            await scene.pods.create(document)
        pod = await scene.pod("web", is_running)
        left = await scene.pods.get("other")

    assert (pod.spec.node_name, left.spec.node_name) == (NODE, "")


# The server goes away


async def test_what_happens_while_the_server_is_away_is_told_when_it_is_back(
    server: RunningServer, root: Path
) -> None:
    async with scene_on(server, root) as scene:
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


async def test_health_and_numbers_are_answered(server: RunningServer, root: Path) -> None:
    async with scene_on(server, root) as scene:
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        url = scene.agent.health_url
        await until_async(lambda: is_well(f"{url}/readyz"))
        live, ready = await fetched(f"{url}/livez"), await fetched(f"{url}/readyz?verbose")
        metrics = await fetched(f"{url}/metrics")
        missing = await fetched(f"{url}/nothing")

    assert live == (200, "ok\n")
    assert "[+]worker/default/web ok" in ready[1]
    assert ready[1].endswith("readyz check passed\n")
    assert "reflet_node_pods 1\n" in metrics[1]
    assert 'reflet_node_container_starts_total{result="started"} 1' in metrics[1]
    assert missing[0] == 404


async def test_logs_are_for_those_whom_the_server_knows(server: RunningServer, root: Path) -> None:
    async with scene_on(server, root) as scene:
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
