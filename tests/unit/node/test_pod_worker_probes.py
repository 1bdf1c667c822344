from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.api.pods import Pod
from reflet.managers.pod_sources import PodSeen
from reflet.node.handler_actions import Outcome
from tests.unit.node.paper_node import PaperNode, paper_node, passing
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pods import container

pytestmark = pytest.mark.virtual_time

FAILED = Outcome(False, "no")
PROBE: dict[str, Any] = {"tcpSocket": {"port": 80}, "periodSeconds": 1, "failureThreshold": 1}
SIDECAR = container("proxy", restartPolicy="Always", startupProbe=PROBE | {"failureThreshold": 99})
GATES = [{"conditionType": "lb/attached"}]


def deleted(seconds: int) -> dict[str, Any]:
    return {
        "deletionTimestamp": "2026-01-02T03:04:05Z",
        "deletionGracePeriodSeconds": seconds,
        "finalizers": [],
    }


def ready(node: PaperNode) -> str:
    """The status and the reason of the pod's condition Ready, as it was told last."""
    (found,) = [each for each in node.statuses.latest.conditions if each.type == "Ready"]
    return f"{found.status} {found.reason}".strip()


async def settled(node: PaperNode, of: Pod, seconds: float = 5.0) -> None:
    node.workers.take(PodSeen(of))
    await passing(seconds)


# Readiness


async def test_a_pod_is_ready_as_long_as_its_probe_succeeds(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(container(readinessProbe=PROBE)))
        before = (ready(node), node.statuses.latest.container_statuses[0].started)
        node.handlers.outcomes.clear()
        await passing(2.0)
        then = ready(node)
        node.handlers.outcomes["main"] = FAILED
        await passing(2.0)
        after = ready(node)

    assert before == ("False ContainersNotReady", True)
    assert (then, after) == ("True", "False ContainersNotReady")
    assert node.keeper.asked == ["start main 0"]


async def test_a_readiness_gate_that_opens_makes_the_pod_ready(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        await settled(node, pod(readinessGates=GATES))
        before = ready(node)
        opened = {"conditions": [{"type": "lb/attached", "status": "True"}]}
        await settled(node, pod(readinessGates=GATES, status=opened))

    assert (before, ready(node)) == ("False ReadinessGatesNotReady", "True")


async def test_a_pod_that_is_ending_still_tells_that_it_is_no_longer_ready(tmp_path: Path) -> None:
    probed = container(readinessProbe=PROBE)
    async with paper_node(tmp_path) as node:
        await settled(node, pod(probed))
        node.keeper.takes = 100.0
        await settled(node, pod(probed, metadata=deleted(600)))
        before = ready(node)
        node.handlers.outcomes["main"] = FAILED
        await passing(3.0)
        after, asked = ready(node), list(node.keeper.asked)
        await passing(200.0)

    assert (before, after) == ("True", "False ContainersNotReady")
    assert asked == ["start main 0", "end main 600"]
    assert node.statuses.finished == ["u1"]


# Liveness


async def test_a_container_that_fails_its_liveness_probe_is_started_again(tmp_path: Path) -> None:
    probe = PROBE | {"terminationGracePeriodSeconds": 7}
    async with paper_node(tmp_path) as node:
        await settled(node, pod(container(livenessProbe=probe), restartPolicy="OnFailure"))
        node.handlers.outcomes["main"] = FAILED
        await passing(1.5)
        node.handlers.outcomes.clear()
        await passing(60.0)

    # It ended with 0 when it was told to: that is no success.
    assert node.keeper.asked == ["start main 0", "end main 7", "start main 1"]
    assert node.statuses.latest.container_statuses[0].restart_count == 1
    assert ("Unhealthy", "Liveness probe failed: no") in node.events.told
    why = "Container main failed liveness probe, will be restarted"
    assert ("Killing", why) in node.events.told


async def test_who_fails_again_and_again_is_held_back(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(container(livenessProbe=PROBE)), 9.0)
        waiting = node.statuses.latest.container_statuses[0].state.waiting

    assert node.keeper.asked == ["start main 0", "end main 30", "start main 1", "end main 30"]
    assert waiting is not None
    assert waiting.reason == "CrashLoopBackOff"


async def test_a_pod_that_never_restarts_is_over_when_its_probe_fails(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(container(livenessProbe=PROBE), restartPolicy="Never"))

    assert node.keeper.asked == ["start main 0", "end main 30"]
    assert node.statuses.latest.phase == "Succeeded"
    assert ("Killing", "Stopping container main") in node.events.told


async def test_a_deletion_does_not_wait_for_the_end_that_a_probe_began(tmp_path: Path) -> None:
    probed = container(livenessProbe=PROBE, lifecycle={"preStop": {"sleep": {"seconds": 900}}})
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(probed, terminationGracePeriodSeconds=1000))
        node.workers.take(PodSeen(pod(probed, metadata=deleted(1))))
        await passing(10.0)

    assert node.keeper.asked == ["start main 0", "end main 2"]
    assert node.statuses.finished == ["u1"]


# Starting


async def test_a_sidecar_is_started_before_anything_else_starts(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["proxy"] = FAILED
        await settled(node, pod(initContainers=[SIDECAR]))
        before = (list(node.keeper.asked), node.statuses.latest.phase)
        node.handlers.outcomes.clear()
        await passing(5.0)

    assert before == (["start proxy 0"], "Pending")
    assert node.keeper.asked == ["start proxy 0", "start main 0"]
    assert (node.statuses.latest.phase, ready(node)) == ("Running", "True")


async def test_a_hook_after_the_start_holds_back_what_comes_after(tmp_path: Path) -> None:
    slow = container("first", lifecycle={"postStart": {"sleep": {"seconds": 20}}})
    async with paper_node(tmp_path) as node:
        await settled(node, pod(slow, container(readinessProbe=PROBE)), 15.0)
        before = (list(node.keeper.asked), node.statuses.latest.phase)
        await passing(10.0)

    assert before == (["start first 0"], "Pending")
    assert node.keeper.asked == ["start first 0", "start main 0"]
    assert ready(node) == "True"


async def test_a_hook_that_fails_is_a_crash(tmp_path: Path) -> None:
    hook = {"postStart": {"exec": {"command": ["x"]}}}
    async with paper_node(tmp_path) as node:
        node.handlers.exit_codes["main"] = 1
        await settled(node, pod(container(lifecycle=hook)), 9.0)
        first = list(node.keeper.asked)
        node.handlers.exit_codes.clear()
        await passing(30.0)

    assert first == ["start main 0", "end main 30", "start main 1", "end main 30"]
    assert node.keeper.asked[4:] == ["start main 2"]
    assert node.statuses.latest.phase == "Running"


async def test_a_pod_that_is_deleted_during_a_hook_ends_and_starts_nothing_more(
    tmp_path: Path,
) -> None:
    slow = container("first", lifecycle={"postStart": {"sleep": {"seconds": 3600}}})
    async with paper_node(tmp_path) as node:
        await settled(node, pod(slow, container()))
        await settled(node, pod(slow, container(), metadata=deleted(30)))

    assert node.keeper.asked == ["start first 0", "end first 30"]
    assert node.statuses.finished == ["u1"]


async def test_a_long_hook_is_no_sign_of_a_stuck_worker(tmp_path: Path) -> None:
    slow = container(lifecycle={"postStart": {"sleep": {"seconds": 3600}}})
    async with paper_node(tmp_path) as node:
        await settled(node, pod(slow), 3000.0)

        assert node.workers.complaints() == {}


# Nothing to probe


async def test_without_leave_to_run_commands_nothing_is_probed(tmp_path: Path) -> None:
    async with paper_node(tmp_path, runs_commands=False) as node:
        await settled(node, pod(container(readinessProbe=PROBE, livenessProbe=PROBE)), 60.0)

    assert node.handlers.asked == []


async def test_an_agent_that_takes_over_leaves_a_healthy_pod_as_it_is(tmp_path: Path) -> None:
    probes = container(readinessProbe=PROBE, startupProbe=PROBE, livenessProbe=PROBE)
    async with paper_node(tmp_path) as first:
        await settled(first, pod(probes))
    (record,) = first.keeper.kept.values()
    told = {"name": "main", "containerID": f"reflet://{record.id}", "ready": True, "started": True}

    async with paper_node(tmp_path, chance=lambda: 0.9) as node:
        node.keeper.kept = first.keeper.kept
        node.runtime.load()
        await settled(node, pod(probes, status={"containerStatuses": [told]}), 30.0)

    assert {each.container_statuses[0].ready for each in node.statuses.reported} == {True}
    assert node.keeper.asked == []
