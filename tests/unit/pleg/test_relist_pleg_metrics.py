from __future__ import annotations

from reflet.pleg.relist import PlegMetrics
from reflet.runtime.metrics import MemoryMetrics
from tests.pod_runtime import pod


def test_running_pods_and_containers_are_counted() -> None:
    metrics = MemoryMetrics()

    PlegMetrics(metrics).listed(
        [
            pod("a", {"1": "running", "2": "exited"}, {"s": "running", "older": "exited"}),
            pod("b", {"3": "running"}, {"t": "exited"}),
        ],
        1_700_000_000,
    )

    assert metrics.level("reflet_pleg_running_pods") == 1
    assert {
        state: metrics.level("reflet_pleg_containers", state=state)
        for state in ("created", "running", "exited", "unknown")
    } == {"created": 0, "running": 2, "exited": 1, "unknown": 0}
    assert metrics.level("reflet_pleg_last_seen_timestamp_seconds") == 1_700_000_000


def test_a_state_that_no_container_is_in_any_more_goes_back_to_zero() -> None:
    metrics = MemoryMetrics()
    reported = PlegMetrics(metrics)
    reported.listed([pod("a", {"1": "running"})], 0)

    reported.listed([], 1)

    assert metrics.level("reflet_pleg_containers", state="running") == 0


def test_metrics_that_fail_do_not_end_a_relist() -> None:
    class Failing(MemoryMetrics):
        def gauge(self, name: str, value: float, /, **labels: str) -> None:
            raise OSError("the backend is away")

    PlegMetrics(Failing()).listed([], 0)


def test_the_first_relist_has_no_interval() -> None:
    metrics = MemoryMetrics()
    reported = PlegMetrics(metrics)

    reported.relist_began(since_last=None)
    reported.relist_began(since_last=1.25)

    assert metrics.observed("reflet_pleg_relist_interval_seconds") == (1.25,)


def test_what_is_lost_and_what_fails_is_counted() -> None:
    metrics = MemoryMetrics()
    reported = PlegMetrics(metrics)

    reported.events_discarded(3)
    reported.request_discarded()
    reported.failed("status")

    assert metrics.counted("reflet_pleg_discarded_events_total") == 3
    assert metrics.counted("reflet_pleg_discarded_requests_total") == 1
    assert metrics.counted("reflet_pleg_runtime_failures_total", what="status") == 1


def test_looks_are_timed() -> None:
    metrics = MemoryMetrics()
    reported = PlegMetrics(metrics)

    reported.relist_ended(0.5)
    reported.pod_relist_ended(0.25)

    assert metrics.observed("reflet_pleg_relist_duration_seconds") == (0.5,)
    assert metrics.observed("reflet_pleg_pod_relist_duration_seconds") == (0.25,)
