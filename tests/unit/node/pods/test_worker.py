from __future__ import annotations

import logging
from dataclasses import replace
from pathlib import Path

import pytest

from reflet.api.core.pods import Pod
from reflet.errors import Forbidden
from reflet.node.shim.protocol import ShimUnavailable
from reflet.pods.pod_sources import PodGone, PodSeen
from tests.unit.node.paper_node import NOBODY, paper_node, passing, settings
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container
from tests.unit.node.pods.worker_scenes import CONF, MOUNT, settled

pytestmark = pytest.mark.virtual_time

COLOR = {"name": "COLOR", "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "color"}}}
DELETED = {
    "deletionTimestamp": "2026-01-02T03:04:05Z",
    "deletionGracePeriodSeconds": 30,
    "finalizers": [],
}


class Stumbling:
    """Makes the same mistake each time, and counts the times."""

    def __init__(self, mistake: Exception) -> None:
        self._mistake = mistake
        self.times = 0

    def __call__(self, _: Pod) -> None:
        self.times += 1
        raise self._mistake


# Starting


async def test_a_pod_is_started_once_and_reported_as_running(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod(), 200.0)

    assert node.shim.asked == ["start main 0"]
    assert node.statuses.latest.phase == "Running"
    assert node.events.reasons == ["Created", "Started"]


async def test_a_pod_is_being_created_while_its_image_comes(tmp_path: Path) -> None:
    with_images = replace(NOBODY, runs_images=True)
    async with paper_node(tmp_path, allowance=with_images) as node:
        await settled(node, pod())

    first = node.statuses.reported[0]
    assert first.container_statuses[0].state.waiting is not None
    assert first.container_statuses[0].state.waiting.reason == "ContainerCreating"
    assert (first.phase, node.statuses.latest.phase) == ("Pending", "Running")


async def test_a_process_is_not_added_to_a_pod_which_runs_on(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        await settled(node, pod(ephemeralContainers=[{"name": "debugger", "image": "any"}]))

    (status,) = node.statuses.latest.ephemeral_container_statuses
    assert node.shim.asked == ["start main 0"]
    assert status.state.waiting is not None
    assert status.state.waiting.reason == "EphemeralContainersDisabled"
    assert node.statuses.latest.phase == "Running"


async def test_an_init_container_is_waited_for(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod(initContainers=[container("first")]))
        before = list(node.shim.asked)
        node.shim.exits("first", 0)
        await passing(5.0)

    assert before == ["start first 0"]
    assert node.shim.asked == ["start first 0", "start main 0"]


async def test_a_missing_key_is_told_and_the_container_starts_when_it_is_there(
    tmp_path: Path,
) -> None:
    async with paper_node(tmp_path, settings(other="x")) as node:
        await settled(node, pod(container(env=[COLOR])))
        waiting = node.statuses.latest.container_statuses[0].state.waiting
        node.objects.put(settings(color="red"))
        await passing(2.0)

    assert waiting is not None
    assert waiting.reason == "CreateContainerConfigError"
    assert node.shim.asked == ["start main 0"]


async def test_a_start_that_fails_for_us_is_tried_again(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.shim.failures["start"] = ShimUnavailable("away")
        await settled(node, pod())
        waiting = node.statuses.latest.container_statuses[0].state.waiting
        node.shim.failures.clear()
        await passing(12.0)

    assert waiting is not None
    assert waiting.reason == "RunContainerError"
    assert node.shim.asked == ["start main 0"]


async def test_without_leave_nothing_is_started_and_the_variables_are_written(
    tmp_path: Path,
) -> None:
    async with paper_node(tmp_path, settings(color="red"), runs_commands=False) as node:
        await settled(node, pod(container(env=[COLOR])))
        written = (node.directories.container("u1", "main") / "environment").read_text()

    assert (node.shim.asked, written) == ([], "COLOR='red'\n")
    assert node.events.reasons == ["ProcessRuntimeDisabled"]


async def test_without_leave_keys_that_are_skipped_are_told_once(tmp_path: Path) -> None:
    whole = [{"configMapRef": {"name": "settings"}}]
    async with paper_node(tmp_path, settings(**{"1a": "x"}), runs_commands=False) as node:
        await settled(node, pod(container(envFrom=whole)), 200.0)

    assert node.events.reasons == ["InvalidEnvironmentVariableNames", "ProcessRuntimeDisabled"]


async def test_a_pod_that_asks_for_more_is_refused_and_holds_nothing(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod(hostNetwork=True), 200.0)

    assert (node.shim.asked, node.objects.registered) == ([], {})
    assert node.statuses.latest.phase == "Failed"
    assert node.events.reasons == ["ProcessRuntimeRefused"]


# Ends and restarts


async def test_a_crash_holds_a_container_back_longer_each_time(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        node.shim.exits("main", 1)
        await passing(2.0)
        node.shim.exits("main", 1)
        await passing(5.0)
        held = list(node.shim.asked)
        waiting = node.statuses.latest.container_statuses[0].state.waiting
        await passing(10.0)

    assert held == ["start main 0", "start main 1"]
    assert waiting is not None
    assert waiting.message.startswith("back-off 10s restarting failed container=main")
    assert node.shim.asked == ["start main 0", "start main 1", "start main 2"]


async def test_an_edit_does_not_make_a_held_container_wait_longer(tmp_path: Path) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, pod(container(volumeMounts=MOUNT), volumes=[CONF]))
        for _ in range(2):
            node.shim.exits("main", 1)
            await passing(2.0)
        node.objects.put(settings(color="blue"))
        await passing(12.0)

    assert node.shim.asked[-1] == "start main 2"


async def test_an_edit_gives_a_pod_no_more_time_than_its_deadline(tmp_path: Path) -> None:
    async with paper_node(tmp_path, settings(color="red")) as node:
        limited = pod(
            container(volumeMounts=MOUNT),
            volumes=[CONF],
            activeDeadlineSeconds=20,
            status={"startTime": node.clock.now().isoformat()},
        )
        await settled(node, limited)
        node.objects.put(settings(color="blue"))
        await passing(20.0)

    assert node.shim.asked == ["start main 0", "end main 30"]


async def test_a_pod_that_is_over_keeps_its_log_and_not_its_configuration(tmp_path: Path) -> None:
    over = pod(container(volumeMounts=MOUNT), volumes=[CONF], restartPolicy="Never")
    async with paper_node(tmp_path, settings(color="red")) as node:
        await settled(node, over)
        node.shim.exits("main", 0)
        await passing(5.0)
        volume = node.directories.volume("u1", "configMap", "conf")

        assert not volume.exists()
        assert node.directories.container("u1", "main").is_dir()
    assert node.statuses.latest.phase == "Succeeded"
    assert node.objects.registered == {}


async def test_a_deleted_pod_is_ended_within_its_grace_period_and_leaves_nothing(
    tmp_path: Path,
) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        node.workers.take(PodSeen(pod(metadata=DELETED)))
        await passing(5.0)

        assert len(node.workers) == 0
    assert node.shim.asked == ["start main 0", "end main 30"]
    assert node.statuses.finished == ["u1"]
    assert node.directories.uids() == ()


async def test_a_pod_that_may_not_go_is_told_of_and_tried_again(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        node.statuses.refusals.extend([Forbidden("no", code=403)] * 3)
        node.workers.take(PodSeen(pod(metadata=DELETED)))
        await passing(60.0)

        assert len(node.workers) == 0
    assert node.statuses.finished == ["u1"]
    assert "FailedSync" in node.events.reasons


async def test_a_pod_that_vanishes_is_ended_and_nothing_more_is_told(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        told = len(node.statuses.reported)
        node.workers.take(PodGone(pod()))
        await passing(5.0)

    assert node.shim.asked[-1] == "end main 30"
    assert (node.statuses.forgotten, node.statuses.finished) == (["u1"], [])
    assert len(node.statuses.reported) == told


async def test_a_shorter_grace_period_is_heard_while_the_pod_ends(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod())
        node.shim.takes = 1000.0
        node.workers.take(PodSeen(pod(metadata=DELETED | {"deletionGracePeriodSeconds": 600})))
        await passing(5.0)
        node.workers.take(PodSeen(pod(metadata=DELETED | {"deletionGracePeriodSeconds": 1})))
        await passing(3.0)

        ends = [each for each in node.shim.asked if each.startswith("end")]
        # As from the kubelet, two seconds are the least that a container gets.
        assert ends == ["end main 600", "end main 2"]
        node.shim.takes = 0.0
        await passing(700.0)


async def test_news_that_come_while_a_step_fails_are_not_lost(tmp_path: Path) -> None:
    async with paper_node(tmp_path, retry=600.0, resync=600.0) as node:
        worker = await settled(node, pod())

        def gone_meanwhile(of: Pod) -> None:
            node.workers.take(PodGone(of))
            raise ShimUnavailable("away")

        node.objects.on_resolve = gone_meanwhile
        worker.refresh()
        await passing(5.0)

        assert len(node.workers) == 0
    assert "FailedSync" in node.events.reasons


@pytest.mark.parametrize(
    ("lack", "words"),
    [
        (MemoryError(), "MemoryError"),
        (RuntimeError("can't start new thread"), "can't start new thread"),
    ],
)
async def test_what_the_machine_lacks_is_no_mistake_of_ours(
    tmp_path: Path, lack: Exception, words: str, caplog: pytest.LogCaptureFixture
) -> None:
    stumbling = Stumbling(lack)
    async with paper_node(tmp_path, retry=600.0) as node:
        node.objects.on_resolve = stumbling
        await settled(node, pod())

    failures = node.metrics.counted("reflet_node_syncs_total", result="failed")
    assert failures == stumbling.times > 0
    assert set(node.events.told) == {("FailedSync", words)}
    assert not [each for each in caplog.records if each.levelno >= logging.ERROR]


@pytest.mark.parametrize("mistake", [KeyError("a detail"), AssertionError("a detail")])
async def test_a_mistake_of_ours_is_logged_and_counted_and_told_without_its_words(
    tmp_path: Path, mistake: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    stumbling = Stumbling(mistake)
    async with paper_node(tmp_path, retry=600.0) as node:
        node.objects.on_resolve = stumbling
        await settled(node, pod())

    logged = [each for each in caplog.records if each.levelno >= logging.ERROR]
    crashes = node.metrics.counted("reflet_node_syncs_total", result="crashed")
    assert len(logged) == len(node.events.told) == crashes == stumbling.times > 0
    assert {(each.getMessage(), each.exc_info is None) for each in logged} == {
        ("a sync of pod web failed", False)
    }
    assert set(node.events.told) == {("FailedSync", "the agent made a mistake; its log says which")}


async def test_a_pod_is_looked_at_again_after_a_mistake_of_ours(tmp_path: Path) -> None:
    async with paper_node(tmp_path, retry=10.0, resync=600.0) as node:
        node.objects.on_resolve = Stumbling(KeyError("a detail"))
        worker = await settled(node, pod())
        before = (list(node.shim.asked), worker.busy_since)
        node.objects.on_resolve = lambda _: None
        await passing(10.0)

    assert before == ([], None)
    assert node.shim.asked == ["start main 0"]


# Promises


async def test_no_step_acts_on_a_status_older_than_the_step_before(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        worker = await settled(node, pod())
        for _ in range(20):  # the cache still has the status from before the start
            worker.look()
            await passing(0.01)

    assert node.shim.asked == ["start main 0"]


async def test_the_agent_tells_how_containers_ended_when_it_stops(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        worker = await settled(node, pod())
        await node.workers.stop()
        node.shim.exits("main", 143)
        found = await node.runtime.find_pod("u1")
        assert found is not None
        worker.report_end(await node.runtime.pod_status(found))

    waiting = node.statuses.latest.container_statuses[0].state.waiting
    assert waiting is not None
    assert waiting.reason == "AgentStopped"
