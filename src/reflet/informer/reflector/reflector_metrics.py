"""The numbers that a reflector reports about itself: their names and labels.

Upstream: client-go/tools/cache/reflector_metrics.go
"""

from __future__ import annotations

from reflet.informer.reflector.endings import Ending
from reflet.runtime.metrics import Metrics, guarded


class ReflectorMetrics:
    """Reports under the label ``resource``, which must have few values: no names of objects."""

    def __init__(self, metrics: Metrics, resource: str) -> None:
        self._metrics = guarded(metrics)
        self._resource = resource

    def listed(self, ending: Ending, *, items: int = 0) -> None:
        """A list has ended, and brought *items* objects."""
        self._count("reflet_reflector_lists_total", result=ending)
        self._count("reflet_reflector_items_total", items)

    def streamed_list(self, ending: Ending, *, items: int = 0) -> None:
        """An attempt at a WatchList has ended, and brought *items* objects."""
        self._count("reflet_reflector_streaming_lists_total", result=ending)
        self._count("reflet_reflector_items_total", items)

    def watch_refused(self, ending: Ending) -> None:
        """A watch was refused before its first byte."""
        self._count("reflet_reflector_watches_total", end=ending)

    def watch_ended(self, ending: Ending, *, lasted: float) -> None:
        """An open watch has ended after *lasted* seconds."""
        self._count("reflet_reflector_watches_total", end=ending)
        self._metrics.observe(
            "reflet_reflector_watch_duration_seconds", lasted, resource=self._resource
        )

    def events(self, count: int) -> None:
        """Events have come."""
        self._count("reflet_reflector_events_total", count)

    def received(self, count: int) -> None:
        """Bytes have come."""
        self._count("reflet_reflector_received_bytes_total", count)

    def sink_failed(self, delta: str) -> None:
        """The sink did not take a delta."""
        self._count("reflet_reflector_sink_errors_total", delta=delta)

    def delayed(self) -> None:
        """The reflector waits before it asks again."""
        self._count("reflet_reflector_delays_total")

    def progressed(self, timestamp: float) -> None:
        """The server gave a sign of life at *timestamp*, in seconds since 1970."""
        self._metrics.gauge(
            "reflet_reflector_last_progress_timestamp_seconds", timestamp, resource=self._resource
        )

    def _count(self, name: str, amount: float = 1, **labels: str) -> None:
        self._metrics.count(name, amount, resource=self._resource, **labels)
