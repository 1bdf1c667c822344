from __future__ import annotations

from reflet.api.core.pods import PodStatus
from reflet.node.status.status_manager import LocalStatuses, StatusSink
from tests.unit.node.pod_scenes import pod


def test_the_latest_status_is_remembered() -> None:
    statuses = LocalStatuses()
    sink: StatusSink = statuses

    for phase in ("Pending", "Running"):
        sink.report(pod(), PodStatus(phase=phase))

    assert statuses.latest == {"u1": PodStatus(phase="Running")}


async def test_a_pod_that_is_finished_is_forgotten_and_may_be_so_twice() -> None:
    statuses = LocalStatuses()
    statuses.report(pod(), PodStatus(phase="Succeeded"))

    await statuses.finish(pod())
    statuses.forget("u1")

    assert statuses.latest == {}
