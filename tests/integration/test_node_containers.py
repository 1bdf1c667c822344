"""Containers on a development server, as real processes: how they start, end and start again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from reflet.api.options import DeleteOptions
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on
from tests.node_scenes import (
    SLEEP,
    Scene,
    config_map,
    end_of,
    is_running,
    pod_document,
    processes_below,
    until,
    waiting_of,
    waits_for,
)

DEAF = "trap '' TERM; echo deaf; while :; do sleep 0.05; done"


async def until_deaf(scene: Scene) -> None:
    """Return once the container no longer hears that it is to end."""
    pod = await scene.pod("deaf", is_running)
    await until(lambda: scene.log(pod))


# Starting


async def test_a_pod_runs_with_its_variables_and_files(
    server: RunningServer, tmp_path: Path
) -> None:
    script = 'echo "$COLOR $POD_IP"; cat "$REFLET_ROOT/etc/app/conf"; exec sleep 60'
    async with scene_on(server, tmp_path) as scene:
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
    server: RunningServer, tmp_path: Path
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

    async with scene_on(server, tmp_path) as scene:
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
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
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
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
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
    server: RunningServer, tmp_path: Path, code: int, phase: str
) -> None:
    script = f"printf bye > $REFLET_ROOT/dev/termination-log; exit {code}"
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("job", ["sh", "-c", script], restartPolicy="Never"))
        pod = await scene.pod("job", lambda pod: pod.status.phase in {"Succeeded", "Failed"})

    ended = end_of(pod)
    assert (pod.status.phase, ended.exit_code, ended.message) == (phase, code, "bye")


async def test_a_command_that_is_not_there_is_told_as_the_start_that_failed(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("web", ["/no/such/program"], restartPolicy="Never"))
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")
        events = await scene.events("web", "Failed")

    ended = end_of(pod)
    assert (ended.exit_code, ended.reason) == (128, "StartError")
    assert ended.message
    assert f"Error: {ended.message}" in [each.message for each in events]


async def test_a_deleted_pod_ends_within_its_grace_period_and_leaves_nothing(
    server: RunningServer, tmp_path: Path
) -> None:
    script = "trap 'echo bye; exit 0' TERM; while :; do sleep 0.05; done"
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("web", ["sh", "-c", script]))
        pod = await scene.pod("web", is_running)
        await scene.pods.delete("web")
        await scene.gone("web")
        events = await scene.events("web", "Killing")
        left = processes_below(tmp_path)
        folder_is_there = scene.folder(pod).exists()

    assert (left, folder_is_there) == ([], False)
    assert [each.message for each in events if each.reason == "Killing"] == [
        "Stopping container main"
    ]


async def test_what_does_not_hear_is_killed_after_the_grace_period(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        document = pod_document("deaf", ["sh", "-c", DEAF], terminationGracePeriodSeconds=1)
        await scene.pods.create(document)
        await until_deaf(scene)
        loop = asyncio.get_running_loop()
        began = loop.time()
        await scene.pods.delete("deaf")
        await scene.gone("deaf")
        took = loop.time() - began

    assert 1 <= took < 10
    assert processes_below(tmp_path) == []


async def test_a_shorter_grace_period_is_heard_while_a_pod_ends(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        document = pod_document("deaf", ["sh", "-c", DEAF], terminationGracePeriodSeconds=600)
        await scene.pods.create(document)
        await until_deaf(scene)
        await scene.pods.delete("deaf")
        await scene.events("deaf", "Killing")
        await scene.pods.delete("deaf", DeleteOptions(grace_period_seconds=1))
        await scene.gone("deaf")

    assert processes_below(tmp_path) == []


async def test_a_pod_that_is_deleted_by_force_is_ended_all_the_same(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("web"))
        pod = await scene.pod("web", is_running)
        await scene.pods.delete("web", DeleteOptions(grace_period_seconds=0))
        await until(lambda: not processes_below(tmp_path) and not scene.folder(pod).exists())


async def test_processes_that_leave_their_group_end_with_their_container(
    server: RunningServer, tmp_path: Path
) -> None:
    script = "setsid sh -c 'while :; do sleep 0.05; done' & sleep 0.3; exit 0"
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("job", ["sh", "-c", script], restartPolicy="Never"))
        await scene.pod("job", lambda pod: pod.status.phase == "Succeeded")

        assert processes_below(tmp_path) == []


async def test_a_pod_ends_when_its_time_is_over(server: RunningServer, tmp_path: Path) -> None:
    async with scene_on(server, tmp_path) as scene:
        await scene.pods.create(pod_document("job", activeDeadlineSeconds=1))
        pod = await scene.pod("job", lambda pod: pod.status.phase == "Failed")
        await until(lambda: not processes_below(tmp_path))

    assert pod.status.reason == "DeadlineExceeded"
