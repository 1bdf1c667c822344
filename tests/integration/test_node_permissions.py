"""What the agent does not run, and as whom it runs the rest."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from reflet.devserver.faults import Fault
from reflet.node.pods.admission import Accounts, RunAs, grants_of
from reflet.processes.process_table import children_of
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on
from tests.node_scenes import (
    PATIENCE,
    AgentProcess,
    config_map,
    is_running,
    left_in_memory,
    pod_document,
    processes_below,
    until,
    waits_for,
)
from tests.other_users import GRANTED, NOBODY, needs_root, reachable_folder


async def test_without_leave_nothing_is_started_and_everything_is_written(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path, run=False) as scene:
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
        assert processes_below(tmp_path) == []
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
    server: RunningServer, tmp_path: Path, spec: dict[str, Any], why: str
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("web", **spec))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        events = await scene.events("web", "ProcessRuntimeRefused")
        await scene.pods.delete("web")
        await scene.gone("web")

    assert pod.status.reason == "ProcessRuntimeRefused"
    assert why in pod.status.message
    assert any(why in each.message for each in events)


async def test_what_a_pod_does_without_is_said(server: RunningServer, tmp_path: Path) -> None:
    async with scene_on(server, tmp_path) as scene:
        limits = {"resources": {"limits": {"memory": "64Mi"}}}
        await scene.pods.create(pod_document("web", container=limits))
        await scene.pod("web", is_running)
        events = await scene.events("web", "NotSupported")

    assert any("the limits of container main are not enforced" in each.message for each in events)


async def test_a_path_of_the_host_can_be_allowed(server: RunningServer, tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    async with scene_on(server, tmp_path, host_paths=(str(shared),)) as scene:
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


async def test_pods_of_other_namespaces_can_be_refused(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path, namespaces=frozenset({"shop"})) as scene:
        await scene.pods.create(pod_document("web"))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")

    assert "namespace default is not among those of this agent: shop" in pod.status.message


@needs_root
async def test_containers_run_as_whom_they_should(server: RunningServer) -> None:
    script = "id -u; id -g; cat $REFLET_ROOT/etc/app/conf; exec sleep 60"
    settings = {"user": RunAs(NOBODY, NOBODY), "grants": grants_of([str(GRANTED)], [], Accounts())}
    with reachable_folder("node") as root:
        async with scene_on(server, root, **settings) as scene:
            await scene.config_maps.create(config_map("settings", conf="x\n"))
            for name, context in (("usual", {}), ("own", {"runAsUser": GRANTED})):
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

            assert scene.log(usual).split() == [str(NOBODY), str(NOBODY), "x"]
            assert scene.log(own).split() == [str(GRANTED), str(GRANTED), "x"]
            await scene.pods.create(
                pod_document("root", container={"securityContext": {"runAsUser": 0}})
            )
            refused = await scene.pod("root", lambda pod: pod.status.phase == "Failed")

    assert "runAsUser 0 is not given here: --user root would" in refused.status.message


@needs_root
@pytest.mark.parametrize(
    ("context", "why"),
    [
        ({"supplementalGroups": [42]}, "group 42 is not given here: --allow-groups 42 would"),
        ({"supplementalGroups": [5001]}, "group 5001 is not given here: --allow-groups 5001"),
        ({"runAsUser": 5001}, "runAsUser 5001 is not given here: --allow-users 5001 would"),
    ],
)
async def test_nobody_becomes_a_user_or_member_that_the_flags_do_not_name(
    server: RunningServer, tmp_path: Path, context: dict[str, Any], why: str
) -> None:
    async with scene_on(server, tmp_path, user=RunAs(NOBODY, NOBODY)) as scene:
        await scene.pods.create(pod_document("web", securityContext=context))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        events = await scene.events("web", "ProcessRuntimeRefused")

    assert pod.status.reason == "ProcessRuntimeRefused"
    assert why in pod.status.message
    assert any(why in each.message for each in events)


def test_an_agent_that_may_not_be_a_node_says_so_and_ends(
    server: RunningServer, tmp_path: Path
) -> None:
    server.add_fault(Fault("status", status=403, verb="create", resource="nodes"))
    agent = AgentProcess(server.kubeconfig, tmp_path)

    code = subprocess.run(
        agent.command, capture_output=True, text=True, check=False, timeout=PATIENCE
    )

    assert code.returncode == 4
    assert code.stderr.splitlines()[-1] == "error: forbidden: a fault on request"
    assert "Traceback" not in code.stderr
    assert not left_in_memory(tmp_path)


# Root with all its privileges could look into anything.
WITHOUT_PRIVILEGES = (
    ("setpriv", "--bounding-set=-all", "--inh-caps=-all") if os.geteuid() == 0 else ()
)


def may_look_into(pid: int) -> bool:
    """Whether a process of this user can read the environment of one."""
    command = [*WITHOUT_PRIVILEGES, "cat", f"/proc/{pid}/environ"]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def test_a_process_of_the_agents_own_user_can_be_looked_into_unless_it_refuses() -> None:
    command = [*WITHOUT_PRIVILEGES, "sh", "-c", "echo up; read line"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"up\n"

        assert may_look_into(other.pid)


async def test_nobody_of_the_agents_own_user_looks_into_agent_and_shim(
    server: RunningServer, tmp_path: Path
) -> None:
    agent = AgentProcess(server.kubeconfig, tmp_path, "--no-isolation")
    agent.command[:0] = WITHOUT_PRIVILEGES
    agent.start()
    try:
        await until(lambda: "health at" in agent.said)
        (shim,) = children_of(agent.pid)

        assert not may_look_into(agent.pid)
        assert not may_look_into(shim.pid)
    finally:
        agent.stop()
