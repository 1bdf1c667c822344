from __future__ import annotations

import asyncio
import logging
from pathlib import Path
from typing import Any, cast

import pytest

from reflet.api.core.pods import Pod
from reflet.node.node_shutdown import clear_volumes, end_containers, tell_ends
from reflet.node.pods.killing import USUAL_GRACE
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.shim.protocol import ShimUnavailable
from reflet.node.status.status_manager import StatusManager
from reflet.pods.pod_sources import PodSeen
from reflet.volumes.volume_errors import VolumeError
from tests.unit.node.paper_node import PaperNode, PaperStatuses, paper_node, passing, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

pytestmark = pytest.mark.virtual_time

CONF = {"name": "conf", "configMap": {"name": "settings", "defaultMode": 0o644}}


def named(name: str, *containers: dict[str, Any], **spec: Any) -> Pod:
    return pod(*containers, metadata={"name": name, "uid": name}, **spec)


async def ended(node: PaperNode) -> bool:
    return await end_containers(node.runtime)


def warnings(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [each.getMessage() for each in caplog.records if each.levelno >= logging.WARNING]


# Ending what runs


async def test_everything_that_runs_is_ended_each_pod_within_its_own_grace_period(
    tmp_path: Path,
) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("slow", container("slow"), terminationGracePeriodSeconds=600))
    await node.start(named("fast", container("fast"), terminationGracePeriodSeconds=0))

    assert await ended(node)

    assert node.shim.asked[2:] == ["end slow 600", "end fast 0"]


async def test_all_are_ended_at_the_same_time(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("one", container("a"), container("b")))
    await node.start(named("two", container("c")))
    node.shim.takes = 9.0

    await ended(node)

    assert asyncio.get_running_loop().time() == 9.0


async def test_what_has_ended_already_is_left_alone(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("web", container("done"), container("main")))
    node.shim.exits("done", 0)

    assert await ended(node)

    assert node.shim.asked[2:] == ["end main 30"]


async def test_a_container_whose_pod_is_not_remembered_has_the_usual_time(tmp_path: Path) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("web"))
    newcomer = PaperNode(tmp_path / "other")
    newcomer.shim.kept = node.shim.kept

    assert await ended(newcomer)

    assert newcomer.shim.asked == [f"end main {USUAL_GRACE:g}"]


@pytest.mark.parametrize("step", ["up", "list"])
async def test_without_a_shim_nobody_can_say_that_nothing_runs(
    tmp_path: Path, step: str, caplog: pytest.LogCaptureFixture
) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("web"))
    node.shim.failures[step] = ShimUnavailable("the shim is away")

    assert not await ended(node)

    assert warnings(caplog) == ["the containers cannot be ended: the shim is away"]


async def test_one_that_cannot_be_ended_is_told_and_the_others_are_ended(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("web", container("deaf"), container("main")))
    node.shim.failures["end deaf"] = ShimUnavailable("the shim is away")

    assert not await ended(node)

    assert node.shim.asked[2:] == ["end main 30"]
    assert warnings(caplog) == ["a container was not ended: the shim is away"]


async def test_pods_that_are_known_end_in_their_order_and_with_their_hooks(tmp_path: Path) -> None:
    web = named(
        "web",
        container(lifecycle={"preStop": {"exec": {"command": ["bye"]}}}),
        initContainers=[container("proxy", restartPolicy="Always")],
        terminationGracePeriodSeconds=20,
    )
    async with paper_node(tmp_path) as node:
        node.workers.take(PodSeen(web))
        await passing(5.0)
        node.shim.takes = 3.0
        await node.workers.stop()

        assert await end_containers(node.runtime, node.workers.workers)

    assert [name for _, name, _ in node.handlers.asked] == ["main"]
    assert node.shim.asked == ["start proxy 0", "start main 0", "end main 20", "end proxy 17"]


async def test_what_holds_containers_together_is_stopped_after_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = PaperNode(tmp_path)
    await node.start(named("web"))

    async def stop_sandbox(uid: str) -> None:
        node.shim.asked.append(f"stop {uid}")

    monkeypatch.setattr(node.runtime, "stop_sandbox", stop_sandbox)

    assert await end_containers(node.runtime)
    assert [each.split()[0] for each in node.shim.asked] == ["start", "end", "stop"]


# Clearing what was written


class StubbornVolumes(PodVolumes):
    """Volumes of which those of the pod *one* cannot be removed."""

    def clear(self, uid: str) -> None:
        if uid == "one":
            raise VolumeError("device or resource busy")
        super().clear(uid)


async def written(node: PaperNode, of: Pod) -> Path:
    """A pod that runs and has its volume; where that is."""
    await node.start(of)
    await node.objects.register(of, lambda: None)
    node.volumes.write(await node.objects.resolve(of))
    folder = node.directories.volume(of.metadata.uid, "configMap", "conf")
    assert (folder / "color").read_text() == "red"
    return folder


async def test_the_configuration_of_every_pod_goes_and_its_log_stays(tmp_path: Path) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    folders = [await written(node, named(name, volumes=[CONF])) for name in ("one", "two")]
    log = node.directories.container("one", "main") / "0.log"
    log.touch()

    clear_volumes(node.runtime, node.volumes)

    assert [folder.exists() for folder in folders] == [False, False]
    assert log.exists()


async def test_what_cannot_be_removed_is_told_and_the_rest_is_removed(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    node = PaperNode(tmp_path, settings(color="red"))
    folders = [await written(node, named(name, volumes=[CONF])) for name in ("one", "two")]

    clear_volumes(node.runtime, StubbornVolumes(node.directories))

    assert [folder.exists() for folder in folders] == [True, False]
    assert warnings(caplog) == ["left behind of pod one: device or resource busy"]


# Telling how it ended


class Reporter:
    """Notes how many statuses it had been given when it was asked to have them written."""

    def __init__(self, statuses: PaperStatuses) -> None:
        self._statuses = statuses
        self.written_after: dict[str, int] = {}

    async def written(self, uid: str) -> None:
        self.written_after[uid] = len(self._statuses.reported)


async def stopped(node: PaperNode, *pods: Pod) -> None:
    """The workers have started these pods and are stopped, and the containers have ended."""
    for each in pods:
        node.workers.take(PodSeen(each))
    await passing(5.0)
    await node.workers.stop()
    await ended(node)
    node.statuses.reported.clear()


async def test_the_end_of_every_pod_is_told_and_waited_for_before_the_next(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await stopped(node, named("one"), named("two"))
        reporter = Reporter(node.statuses)

        await tell_ends(node.workers, node.runtime, cast("StatusManager", reporter))

    reasons = {
        each.state.waiting.reason
        for status in node.statuses.reported
        for each in status.container_statuses
        if each.state.waiting is not None
    }
    assert (len(node.statuses.reported), reasons) == (2, {"AgentStopped"})
    assert reporter.written_after == {"one": 1, "two": 2}


async def test_where_nobody_writes_statuses_they_are_told_all_the_same(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await stopped(node, named("one"))

        await tell_ends(node.workers, node.runtime, None)

    assert len(node.statuses.reported) == 1


async def test_a_pod_of_which_nothing_is_left_has_no_end_to_tell(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await stopped(node, named("one"), named("two"))
        await node.runtime.remove_pod("one")
        reporter = Reporter(node.statuses)

        await tell_ends(node.workers, node.runtime, cast("StatusManager", reporter))

    assert list(reporter.written_after) == ["two"]
