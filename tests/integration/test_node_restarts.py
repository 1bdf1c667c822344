"""The agent, its shim and its containers are killed, and nothing is lost."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import signal
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.api.core.pods import Pod
from reflet.api.options import DeleteOptions
from reflet.cluster import Cluster, settings_from
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.config.kubeconfig import Overrides
from tests.node_chaos import Chaos, shims_of
from tests.node_scenes import (
    PATIENCE,
    AgentProcess,
    Scene,
    agent_process,
    config_map,
    end_of,
    is_running,
    left_in_memory,
    pod_document,
    processes_below,
    until,
)

STORM = float(os.environ.get("REFLET_CHAOS_SECONDS", "6"))

# A folder of the container's in which the test leaves it words.
WITH_SCRATCH: Final[Mapping[str, Any]] = {
    "container": {"volumeMounts": [{"name": "work", "mountPath": "/scratch"}]},
    "volumes": [{"name": "work", "emptyDir": {}}],
}

pytestmark = pytest.mark.time_limit(4 * PATIENCE + 2 * STORM)


@asynccontextmanager
async def scene_on(
    server: RunningServer, root: Path, *arguments: str
) -> AsyncIterator[tuple[Scene, AgentProcess]]:
    settings = settings_from(Overrides(kubeconfig=str(server.kubeconfig)))
    with agent_process(server.kubeconfig, root, *arguments) as agent:
        async with Cluster(dataclasses.replace(settings, qps=0)) as cluster:
            yield Scene(cluster, root), agent


def container_id(pod: Pod) -> str:
    return pod.status.container_statuses[0].container_id


async def test_a_new_agent_goes_on_with_the_processes_of_one_that_was_killed(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as (scene, agent):
        await scene.config_maps.create(config_map("settings", conf="1"))
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}]},
                volumes=[{"name": "conf", "configMap": {"name": "settings"}}],
            )
        )
        before = await scene.pod("web", is_running)
        processes = set(processes_below(tmp_path))
        agent.kill()
        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        agent.start()
        file = scene.container_root(before) / "etc/app/conf"
        await until(lambda: file.read_text() == "2")
        after = await scene.pods.get("web")

        assert processes & set(processes_below(tmp_path))
    assert container_id(after) == container_id(before)
    assert after.status.container_statuses[0].restart_count == 0


async def test_how_a_container_ended_while_there_was_no_agent_is_known(
    server: RunningServer, tmp_path: Path
) -> None:
    script = "while [ ! -e $REFLET_ROOT/scratch/go ]; do sleep 0.02; done; exit 5"
    async with scene_on(server, tmp_path) as (scene, agent):
        await scene.pods.create(
            pod_document(
                "job",
                ["sh", "-c", script],
                restartPolicy="Never",
                **WITH_SCRATCH,
            )
        )
        pod = await scene.pod("job", is_running)
        agent.kill()
        (scene.container_root(pod) / "scratch/go").touch()
        await until(lambda: not processes_below(tmp_path))
        agent.start()
        ended = await scene.pod("job", lambda pod: pod.status.phase == "Failed")

    assert end_of(ended).exit_code == 5


async def test_a_pod_that_is_deleted_while_there_is_no_agent_is_ended_by_the_next(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as (scene, agent):
        await scene.pods.create(pod_document("forced"))
        await scene.pods.create(pod_document("gentle"))
        forced = await scene.pod("forced", is_running)
        gentle = await scene.pod("gentle", is_running)
        agent.kill()
        await scene.pods.delete("forced", DeleteOptions(grace_period_seconds=0))
        await scene.pods.delete("gentle")
        agent.start()
        await scene.gone("gentle")
        await until(lambda: not processes_below(tmp_path))
        await until(lambda: not scene.folder(forced).exists())

        assert not scene.folder(gentle).exists()


async def test_containers_go_on_when_the_shim_is_killed(
    server: RunningServer, tmp_path: Path
) -> None:
    wait = "while [ ! -e $REFLET_ROOT/scratch/$i ]; do sleep 0.02; done"
    async with scene_on(server, tmp_path) as (scene, _):
        await scene.pods.create(
            pod_document(
                "web",
                ["sh", "-c", f"i=0; while :; do i=$((i+1)); {wait}; echo $i; done"],
                **WITH_SCRATCH,
            )
        )
        before = await scene.pod("web", is_running)
        cues = scene.container_root(before) / "scratch"
        (shim,) = shims_of(tmp_path / "node")
        (cues / "1").touch()
        # Only then: what it has read and not written yet is lost with it.
        await until(lambda: scene.log(before) == "1\n")
        os.kill(shim, signal.SIGKILL)
        (cues / "2").touch()
        (cues / "3").touch()
        await until(lambda: shims_of(tmp_path / "node") not in ([], [shim]))
        (cues / "4").touch()
        await until(lambda: scene.log(before).count("\n") > 3)
        after = await scene.pods.get("web")
        log = scene.log(before)

    assert container_id(after) == container_id(before)
    assert log == "1\n2\n3\n4\n"


async def test_a_container_that_is_killed_starts_again(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path) as (scene, _):
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        for pid in processes_below(tmp_path):
            with contextlib.suppress(ProcessLookupError):  # one of its short steps has ended
                os.kill(pid, signal.SIGKILL)
        pod = await scene.pod(
            "web",
            lambda pod: is_running(pod) and pod.status.container_statuses[0].restart_count == 1,
        )

    ended = end_of(pod)
    assert (ended.exit_code, ended.signal) == (137, 9)


@pytest.mark.parametrize("way", ["end", "keep"])
async def test_an_agent_that_is_told_to_stop_does_with_its_containers_as_it_was_told(
    server: RunningServer, tmp_path: Path, way: str
) -> None:
    async with scene_on(server, tmp_path, "--when-stopped", way) as (scene, agent):
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        code = agent.stop()
        left = bool(processes_below(tmp_path))
        kept = AgentProcess(server.kubeconfig, tmp_path)
        kept.start()
        await until(lambda: kept.said.count("health at") == 2)
        await scene.pod("web", is_running)
        kept.stop()

    assert (code, left) == (0, way == "keep")
    assert processes_below(tmp_path) == []


@pytest.mark.parametrize("way", ["end", "keep"])
async def test_secrets_stay_as_long_as_somebody_uses_them(
    server: RunningServer, tmp_path: Path, way: str
) -> None:
    async with scene_on(server, tmp_path, "--when-stopped", way) as (scene, agent):
        await scene.secrets.create(
            {
                "apiVersion": "v1",
                "kind": "Secret",
                "metadata": {"name": "key"},
                "stringData": {"key": "s3cret"},
            }
        )
        await scene.pods.create(
            pod_document(
                "web",
                container={"volumeMounts": [{"name": "key", "mountPath": "/etc/key"}]},
                volumes=[{"name": "key", "secret": {"secretName": "key"}}],
            )
        )
        pod = await scene.pod("web", is_running)
        (memory,) = left_in_memory(tmp_path)
        agent.stop()
        left = bool(list(memory.rglob("key"))), bool(left_in_memory(tmp_path))
        following = AgentProcess(server.kubeconfig, tmp_path)
        following.start()
        await until(lambda: following.said.count("health at") == 2)
        pod = await scene.pod("web", is_running)
        content = (scene.container_root(pod) / "etc/key/key").read_text()
        following.stop()

    assert (left, content) == ((way == "keep",) * 2, "s3cret")


async def test_two_agents_do_not_share_a_folder(server: RunningServer, tmp_path: Path) -> None:
    async with scene_on(server, tmp_path) as (scene, agent):
        await scene.pods.create(pod_document("web"))
        await scene.pod("web", is_running)
        second = AgentProcess(server.kubeconfig, tmp_path)
        second.start()
        await until(lambda: "is in use by another agent" in agent.said)
        second.stop()


@pytest.mark.story
async def test_everything_is_well_after_a_storm_of_kills(tmp_path: Path) -> None:
    seed = int(os.environ.get("REFLET_SEED", "1"))

    story = await Chaos(tmp_path, seed=seed, seconds=STORM).tell()
    await asyncio.sleep(0)

    assert story.wrong == [], story
    assert story.killed.total() > 0
