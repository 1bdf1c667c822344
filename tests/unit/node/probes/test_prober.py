from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace as changed
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.node.probes.handlers import HandlerFailed, Outcome
from reflet.node.probes.probe_results import ContainerHealth
from reflet.node.probes.probe_spec import ProbeKind
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeStatus
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.paper_node import PaperNode, paper_node, passing, stored_pod
from tests.unit.node.pod_scenes import EXITED, container, life, pod, seen

pytestmark = pytest.mark.virtual_time

FAILED = Outcome(False, "no")
TCP = {"tcpSocket": {"port": 80}}
LONG_AGO = timedelta(hours=1)


class Probing:
    """A prober over a node on paper, whose agent began long ago; it counts what it hears."""

    def __init__(self, root: Path, of: Pod, **changes: Any) -> None:
        self.node = PaperNode(root)
        self.of = of
        self.heard = 0
        settings: dict[str, Any] = {"began": self.node.clock.now() - LONG_AGO}
        factory = changed(self.node.factory, **settings | changes)
        self.prober = factory.prober(of, self.hear)

    def hear(self) -> None:
        self.heard += 1

    def sees(self, *lives: RuntimeContainerStatus, is_ending: bool = False) -> None:
        self.prober.attend(self.of, self.status(*lives), is_ending=is_ending)

    def status(self, *lives: RuntimeContainerStatus) -> RuntimeStatus:
        now = self.node.clock.now()
        return seen(*(changed(each, started_at=each.started_at and now) for each in lives))

    def health(self, of: str = "main-0") -> ContainerHealth:
        return self.prober.health.of(of)

    def moments(self) -> list[float]:
        return [moment for moment, _, _ in self.node.handlers.asked]


@asynccontextmanager
async def probing(
    root: Path, *containers: dict[str, Any], settings: Any = None, **spec: Any
) -> AsyncIterator[Probing]:
    scene = Probing(root, pod(*containers, **spec), **settings or {})
    async with scene.prober:
        yield scene


# When


async def test_a_probe_is_run_at_once_and_then_once_in_each_period(tmp_path: Path) -> None:
    async with probing(tmp_path, container(readinessProbe=TCP | {"periodSeconds": 3})) as scene:
        scene.sees(life())
        scene.sees(life())
        await passing(7.0)

    assert scene.moments() == [0, 3, 6]


async def test_the_first_probe_waits_for_the_initial_delay(tmp_path: Path) -> None:
    delayed = TCP | {"initialDelaySeconds": 5, "periodSeconds": 2}
    async with probing(tmp_path, container(livenessProbe=delayed)) as scene:
        scene.sees(life())
        await passing(8.0)

    assert scene.moments() == [5, 7]


async def test_an_agent_that_has_just_begun_does_not_probe_everything_at_once(
    tmp_path: Path,
) -> None:
    scene = Probing(tmp_path, pod(container(readinessProbe=TCP)), chance=lambda: 0.4)
    newly = Probing(
        tmp_path / "new",
        pod(container(readinessProbe=TCP)),
        chance=lambda: 0.4,
        began=scene.node.clock.now(),
    )
    async with scene.prober, newly.prober:
        scene.sees(life())
        newly.sees(life())
        await passing(5.0)

    assert (scene.moments(), newly.moments()) == ([0], [4])


async def test_a_probe_that_takes_longer_than_its_period_is_not_caught_up_on(
    tmp_path: Path,
) -> None:
    slow = TCP | {"periodSeconds": 1, "timeoutSeconds": 9}
    async with probing(tmp_path, container(readinessProbe=slow)) as scene:
        scene.node.handlers.takes = 2.5
        scene.sees(life())
        await passing(8.0)

    assert scene.moments() == [0, 2.5, 5, 7.5]


# What follows


async def test_a_container_is_ready_once_its_probe_has_succeeded(tmp_path: Path) -> None:
    often = TCP | {"periodSeconds": 1, "successThreshold": 2}
    async with probing(tmp_path, container(readinessProbe=often)) as scene:
        scene.sees(life())
        await passing(0.5)
        before = (scene.health(), scene.heard)
        await passing(1.0)

    assert before == (ContainerHealth(is_started=True, is_ready=False), 0)
    assert (scene.health(), scene.heard) == (ContainerHealth(), 1)


async def test_a_verdict_that_stays_is_heard_once(tmp_path: Path) -> None:
    async with probing(tmp_path, container(readinessProbe=TCP)) as scene:
        scene.sees(life())
        await passing(600.0)

    assert (len(scene.moments()), scene.heard) == (60, 1)


async def test_a_liveness_probe_that_failed_is_not_run_again_in_this_life(tmp_path: Path) -> None:
    often = TCP | {"periodSeconds": 1, "failureThreshold": 2}
    async with probing(tmp_path, container(livenessProbe=often)) as scene:
        scene.node.handlers.outcomes["main"] = FAILED
        scene.sees(life())
        await passing(10.0)
        probe, heard = scene.health().failed, scene.heard
        scene.sees(life(attempt=1))
        await passing(0.5)

    assert (probe, heard) == (ProbeKind.LIVENESS, 1)
    assert scene.moments() == [0, 1, 10]
    assert scene.health("main-1").failed is None
    assert scene.node.events.told == [("Unhealthy", "Liveness probe failed: no")] * 3


async def test_nothing_else_is_probed_before_a_container_is_started(tmp_path: Path) -> None:
    probes: dict[str, Any] = {
        "startupProbe": {"exec": {"command": ["s"]}, "periodSeconds": 2, "failureThreshold": 9},
        "readinessProbe": TCP,
        "livenessProbe": TCP,
    }
    async with probing(tmp_path, container(**probes)) as scene:
        scene.node.handlers.outcomes["main"] = FAILED
        scene.sees(life())
        await passing(3.0)
        before = scene.health()
        scene.node.handlers.outcomes.clear()
        await passing(2.0)

    assert before == ContainerHealth(is_started=False, is_ready=False)
    assert scene.moments() == [0, 2, 4, 4, 4]  # the startup probe for the last time, and the others
    assert scene.health() == ContainerHealth()


async def test_a_startup_probe_that_fails_too_often_is_the_end(tmp_path: Path) -> None:
    probe = TCP | {"periodSeconds": 1}
    async with probing(tmp_path, container(startupProbe=probe, livenessProbe=TCP)) as scene:
        scene.node.handlers.outcomes["main"] = FAILED
        scene.sees(life())
        await passing(10.0)

    assert (scene.moments(), scene.health().failed) == ([0, 1, 2], ProbeKind.STARTUP)


# Whom


async def test_sidecars_are_probed_and_init_containers_are_not(tmp_path: Path) -> None:
    init = [
        container("proxy", restartPolicy="Always", readinessProbe=TCP),
        container("setup", readinessProbe=TCP),
    ]
    async with probing(tmp_path, container(), initContainers=init) as scene:
        scene.sees(life("proxy"), life("setup"), life())
        await passing(1.0)

    assert [name for _, name, _ in scene.node.handlers.asked] == ["proxy"]


async def test_what_has_ended_is_not_probed_any_more(tmp_path: Path) -> None:
    async with probing(tmp_path, container(readinessProbe=TCP)) as scene:
        scene.sees(life())
        await passing(1.0)
        scene.sees(life("main", EXITED, 1))
        await passing(60.0)

    assert scene.moments() == [0]
    assert scene.health("main-0") == ContainerHealth()  # nothing is known of it


async def test_of_a_pod_that_is_ending_only_readiness_is_asked_for(tmp_path: Path) -> None:
    async with probing(
        tmp_path, container(readinessProbe=TCP, livenessProbe={"exec": {"command": ["x"]}})
    ) as scene:
        scene.sees(life())
        await passing(1.0)
        scene.node.handlers.outcomes["main"] = FAILED
        scene.sees(life(), is_ending=True)
        await passing(40.0)

    assert scene.moments() == [0, 0, 10, 20, 30, 40]
    assert scene.health() == ContainerHealth(is_started=True, is_ready=False)


# An agent that takes over


def taken_over(**told: Any) -> Pod:
    status = {"name": "main", "containerID": "reflet://main-0", **told}
    return pod(
        container(readinessProbe=TCP, startupProbe={"exec": {"command": ["s"]}}),
        status={"containerStatuses": [status]},
    )


async def test_what_an_earlier_agent_said_holds_until_there_are_results(tmp_path: Path) -> None:
    scene = Probing(tmp_path, taken_over(ready=True, started=True))
    async with scene.prober:
        scene.sees(life())
        before = scene.health()
        scene.node.handlers.outcomes["main"] = FAILED
        await passing(25.0)

    assert before == ContainerHealth()
    assert scene.health() == ContainerHealth(is_started=True, is_ready=False)
    assert scene.moments() == [0, 10, 20]  # readiness alone: what has started is not asked again


@pytest.mark.parametrize(
    "told", [{"ready": False, "started": False}, {"containerID": "reflet://x"}]
)
async def test_what_was_not_said_of_this_life_does_not_hold(
    tmp_path: Path, told: dict[str, Any]
) -> None:
    scene = Probing(tmp_path, taken_over(**{"ready": True, "started": True} | told))
    async with scene.prober:
        scene.sees(life())

        assert scene.health() == ContainerHealth(is_started=False, is_ready=False)


# What is told


async def test_a_warning_is_told_and_counts_as_success(tmp_path: Path) -> None:
    async with probing(tmp_path, container(readinessProbe=TCP)) as scene:
        scene.node.handlers.outcomes["main"] = Outcome(True, "went elsewhere", is_warning=True)
        scene.sees(life())
        await passing(1.0)

    assert scene.node.events.told == [("ProbeWarning", "Readiness probe warning: went elsewhere")]
    assert scene.health().is_ready


async def test_a_handler_that_cannot_be_run_is_tried_three_times_and_changes_nothing(
    tmp_path: Path,
) -> None:
    often = TCP | {"failureThreshold": 1, "periodSeconds": 1}
    async with probing(tmp_path, container(livenessProbe=often)) as scene:
        scene.node.handlers.outcomes["main"] = HandlerFailed("nobody home")
        scene.sees(life())
        await passing(0.5)

    said = "Liveness probe errored and resulted in unknown state: nobody home"
    assert scene.moments() == [0, 0, 0]
    assert scene.node.events.told == [("Unhealthy", said)]
    assert scene.health().failed is None


async def test_a_mistake_of_ours_neither_ends_the_probe_nor_the_container(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    often = TCP | {"failureThreshold": 1, "periodSeconds": 1}
    async with probing(tmp_path, container(livenessProbe=often)) as scene:
        scene.node.handlers.outcomes["main"] = ZeroDivisionError("oh")
        scene.sees(life())
        await passing(2.5)

    assert scene.moments() == [0, 1, 2]
    assert scene.health().failed is None
    assert "the Liveness probe of shop/web, container main failed" in caplog.text


async def test_probes_are_counted(tmp_path: Path) -> None:
    async with probing(tmp_path, container(readinessProbe=TCP)) as scene:
        scene.sees(life())
        await passing(15.0)
        scene.node.handlers.outcomes["main"] = FAILED
        await passing(10.0)

    def counted(result: str) -> float:
        metrics = scene.node.metrics
        return metrics.counted("reflet_node_probes_total", kind="readiness", result=result)

    assert (counted("successful"), counted("failed"), counted("unknown")) == (2, 1, 0)


# In a worker

OFTEN: dict[str, Any] = {"tcpSocket": {"port": 80}, "periodSeconds": 1, "failureThreshold": 1}
SIDECAR = container("proxy", restartPolicy="Always", startupProbe=OFTEN | {"failureThreshold": 99})
GATES = [{"conditionType": "lb/attached"}]
DELETED = {
    "deletionTimestamp": "2026-01-02T03:04:05Z",
    "deletionGracePeriodSeconds": 600,
    "finalizers": [],
}


def ready(node: PaperNode) -> str:
    """The status and the reason of the pod's condition Ready, as it was told last."""
    (found,) = [each for each in node.statuses.latest.conditions if each.type == "Ready"]
    return f"{found.status} {found.reason}".strip()


async def settled(node: PaperNode, of: Pod, seconds: float = 5.0) -> None:
    node.workers.take(PodSeen(of))
    await passing(seconds)


async def test_a_pod_is_ready_as_long_as_its_probe_succeeds(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, stored_pod(container(readinessProbe=OFTEN)))
        before = (ready(node), node.statuses.latest.container_statuses[0].started)
        node.handlers.outcomes.clear()
        await passing(2.0)
        then = ready(node)
        node.handlers.outcomes["main"] = FAILED
        await passing(2.0)
        after = ready(node)

    assert before == ("False ContainersNotReady", True)
    assert (then, after) == ("True", "False ContainersNotReady")
    assert node.shim.asked == ["start main 0"]


async def test_a_readiness_gate_that_opens_makes_the_pod_ready(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, stored_pod(readinessGates=GATES))
        before = ready(node)
        opened = {"conditions": [{"type": "lb/attached", "status": "True"}]}
        await settled(node, stored_pod(readinessGates=GATES, status=opened))

    assert (before, ready(node)) == ("False ReadinessGatesNotReady", "True")


async def test_a_pod_that_is_ending_still_tells_that_it_is_no_longer_ready(tmp_path: Path) -> None:
    probed = container(readinessProbe=OFTEN)
    async with paper_node(tmp_path) as node:
        await settled(node, stored_pod(probed))
        node.shim.takes = 100.0
        await settled(node, stored_pod(probed, metadata=DELETED))
        before = ready(node)
        node.handlers.outcomes["main"] = FAILED
        await passing(3.0)
        after, asked = ready(node), list(node.shim.asked)
        await passing(200.0)

    assert (before, after) == ("True", "False ContainersNotReady")
    assert asked == ["start main 0", "end main 600"]
    assert node.statuses.finished == ["u1"]


async def test_a_sidecar_is_started_before_anything_else_starts(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["proxy"] = FAILED
        await settled(node, stored_pod(initContainers=[SIDECAR]))
        before = (list(node.shim.asked), node.statuses.latest.phase)
        node.handlers.outcomes.clear()
        await passing(5.0)

    assert before == (["start proxy 0"], "Pending")
    assert node.shim.asked == ["start proxy 0", "start main 0"]
    assert (node.statuses.latest.phase, ready(node)) == ("Running", "True")


async def test_without_leave_to_run_commands_nothing_is_probed(tmp_path: Path) -> None:
    probed = stored_pod(container(readinessProbe=OFTEN, livenessProbe=OFTEN))
    async with paper_node(tmp_path, runs_commands=False) as node:
        await node.start(probed)  # by an agent that had leave
        await settled(node, probed, 60.0)

    assert node.handlers.asked == []


async def test_an_agent_that_takes_over_leaves_a_healthy_pod_as_it_is(tmp_path: Path) -> None:
    probes = container(readinessProbe=OFTEN, startupProbe=OFTEN, livenessProbe=OFTEN)
    async with paper_node(tmp_path) as first:
        await settled(first, stored_pod(probes))
    (record,) = first.shim.kept.values()
    told = {"name": "main", "containerID": f"reflet://{record.id}", "ready": True, "started": True}

    async with paper_node(tmp_path, chance=lambda: 0.9) as node:
        node.shim.kept = first.shim.kept
        node.runtime.load()
        await settled(node, stored_pod(probes, status={"containerStatuses": [told]}), 30.0)

    assert {each.container_statuses[0].ready for each in node.statuses.reported} == {True}
    assert node.shim.asked == []
