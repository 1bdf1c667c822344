from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.node.probes.handlers import Outcome
from reflet.pods.pod_sources import PodSeen
from tests.unit.node.paper_node import PaperNode, paper_node, passing
from tests.unit.node.paper_node import stored_pod as pod
from tests.unit.node.pod_scenes import container

pytestmark = pytest.mark.virtual_time

FAILED = Outcome(False, "no")
PROBE: dict[str, Any] = {"tcpSocket": {"port": 80}, "periodSeconds": 1, "failureThreshold": 1}


def deleted(seconds: int) -> dict[str, Any]:
    return {
        "deletionTimestamp": "2026-01-02T03:04:05Z",
        "deletionGracePeriodSeconds": seconds,
        "finalizers": [],
    }


async def settled(node: PaperNode, of: Pod, seconds: float = 5.0) -> None:
    node.workers.take(PodSeen(of))
    await passing(seconds)


async def test_a_container_that_fails_its_liveness_probe_is_started_again(tmp_path: Path) -> None:
    probe = PROBE | {"terminationGracePeriodSeconds": 7}
    async with paper_node(tmp_path) as node:
        await settled(node, pod(container(livenessProbe=probe), restartPolicy="OnFailure"))
        node.handlers.outcomes["main"] = FAILED
        await passing(1.5)
        node.handlers.outcomes.clear()
        await passing(60.0)

    # It ended with 0 when it was told to: that is no success.
    assert node.shim.asked == ["start main 0", "end main 7", "start main 1"]
    assert node.statuses.latest.container_statuses[0].restart_count == 1
    assert ("Unhealthy", "Liveness probe failed: no") in node.events.told
    why = "Container main failed liveness probe, will be restarted"
    assert ("Killing", why) in node.events.told


async def test_who_fails_again_and_again_is_held_back(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(container(livenessProbe=PROBE)), 9.0)
        waiting = node.statuses.latest.container_statuses[0].state.waiting

    assert node.shim.asked == ["start main 0", "end main 30", "start main 1", "end main 30"]
    assert waiting is not None
    assert waiting.reason == "CrashLoopBackOff"


async def test_a_pod_that_never_restarts_is_over_when_its_probe_fails(tmp_path: Path) -> None:
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(container(livenessProbe=PROBE), restartPolicy="Never"))

    assert node.shim.asked == ["start main 0", "end main 30"]
    assert node.statuses.latest.phase == "Succeeded"
    assert ("Killing", "Stopping container main") in node.events.told


async def test_a_deletion_does_not_wait_for_the_end_that_a_probe_began(tmp_path: Path) -> None:
    probed = container(livenessProbe=PROBE, lifecycle={"preStop": {"sleep": {"seconds": 900}}})
    async with paper_node(tmp_path) as node:
        node.handlers.outcomes["main"] = FAILED
        await settled(node, pod(probed, terminationGracePeriodSeconds=1000))
        node.workers.take(PodSeen(pod(probed, metadata=deleted(1))))
        await passing(10.0)

    assert node.shim.asked == ["start main 0", "end main 2"]
    assert node.statuses.finished == ["u1"]
