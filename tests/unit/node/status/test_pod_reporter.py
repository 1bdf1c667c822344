from __future__ import annotations

from typing import cast

from reflet.node.container_runtime import ContainerRuntime
from reflet.node.probes.probe_results import UNPROBED
from reflet.node.probes.prober import PodProber
from reflet.node.status.container_statuses import Waiting
from reflet.node.status.pod_reporter import PodReporter
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.paper_node import PaperStatuses
from tests.unit.node.pod_scenes import EXITED, life, pod, seen


class Runtime:
    scheme = "paper"

    def addresses(self, _: str) -> tuple[str, ...]:
        return ("10.1.0.2",)


class Prober:
    health = UNPROBED


async def test_why_a_container_waits_is_remembered_from_report_to_report() -> None:
    statuses = PaperStatuses()
    reporter = PodReporter(
        statuses,
        cast("ContainerRuntime", Runtime()),
        cast("PodProber", Prober()),
        addresses=lambda: ("10.0.0.1",),
        isolates=None,
        clock=VirtualClock(),
    )
    reporter.waiting = {"main": Waiting("CrashLoopBackOff")}
    for _ in range(2):
        reporter.report(pod(), seen(life("main", EXITED, 1)), is_ending=False, failed=())

    states = [each.container_statuses[0].state.waiting for each in statuses.reported]
    assert [state and state.reason for state in states] == ["CrashLoopBackOff"] * 2
    assert (statuses.latest.host_ip, statuses.latest.pod_ip) == ("10.0.0.1", "10.1.0.2")
