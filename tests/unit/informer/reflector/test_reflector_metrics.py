from __future__ import annotations

from reflet.informer.reflector.endings import Ending
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.runtime.metrics import MemoryMetrics


def test_everything_is_reported_under_its_name_and_resource() -> None:
    memory = MemoryMetrics()
    metrics = ReflectorMetrics(memory, "configmaps")

    metrics.listed(Ending.SYNCED, items=3)
    metrics.streamed_list(Ending.CLOSED)
    metrics.watch_refused(Ending.THROTTLED)
    metrics.watch_ended(Ending.EXPIRED, lasted=7.5)
    metrics.events(4)
    metrics.received(100)
    metrics.sink_failed("changed")
    metrics.delayed()
    metrics.progressed(12.0)

    prefix, resource = "reflet_reflector_", "configmaps"
    assert memory.counted(f"{prefix}lists_total", resource=resource, result="synced") == 1
    assert memory.counted(f"{prefix}items_total", resource=resource) == 3
    assert memory.counted(f"{prefix}streaming_lists_total", resource=resource, result="closed") == 1
    assert memory.counted(f"{prefix}watches_total", resource=resource, end="throttled") == 1
    assert memory.counted(f"{prefix}watches_total", resource=resource, end="expired") == 1
    assert memory.observed(f"{prefix}watch_duration_seconds", resource=resource) == (7.5,)
    assert memory.counted(f"{prefix}events_total", resource=resource) == 4
    assert memory.counted(f"{prefix}received_bytes_total", resource=resource) == 100
    assert memory.counted(f"{prefix}sink_errors_total", resource=resource, delta="changed") == 1
    assert memory.counted(f"{prefix}delays_total", resource=resource) == 1
    assert memory.level(f"{prefix}last_progress_timestamp_seconds", resource=resource) == 12.0
    assert len(memory.names()) == 10
