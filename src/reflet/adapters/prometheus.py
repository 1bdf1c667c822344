"""Reflet's numbers for Prometheus.

Says how a name becomes a metric of ``prometheus_client``, and the buckets of durations.

::

    cluster_metrics = PrometheusMetrics()
    informer = SharedInformer(source, name="configmaps", metrics=cluster_metrics)
    prometheus_client.start_http_server(9000)
"""

from __future__ import annotations

import logging
import threading
from typing import TYPE_CHECKING, Final, TypeVar

from reflet.errors import ConfigurationError

if TYPE_CHECKING:
    from collections.abc import Callable

    from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
    from prometheus_client.metrics import MetricWrapperBase

    Metric = TypeVar("Metric", bound=MetricWrapperBase)

BUCKETS: Final = (0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 1, 5, 10, 30, 60, 300, 600)
"""Seconds: from a handler's milliseconds to watches, which last five to ten minutes."""

HELP: Final = {
    "reflet_reflector_lists_total": "Lists, by how they ended.",
    "reflet_reflector_streaming_lists_total": "Streaming lists, by how they ended.",
    "reflet_reflector_items_total": "Objects that lists brought.",
    "reflet_reflector_watches_total": "Watches, by how they ended.",
    "reflet_reflector_watch_duration_seconds": "How long watches lasted.",
    "reflet_reflector_events_total": "Events that watches brought.",
    "reflet_reflector_received_bytes_total": "Bytes that watches brought.",
    "reflet_reflector_sink_errors_total": "What could not be put into the store or queue.",
    "reflet_reflector_delays_total": "Waits before the server was asked again.",
    "reflet_reflector_last_progress_timestamp_seconds": "When the server last gave a sign.",
    "reflet_store_left_out_total": "Objects that a transform or an index could not digest.",
    "reflet_handler_behind_seconds": "For how long changes have waited for a handler.",
    "reflet_handler_failures_total": "Changes at which a handler failed.",
    "reflet_handler_merged_total": "Changes that a slow handler was spared.",
    "reflet_handler_waiting": "Changes that wait for a handler.",
    "reflet_pleg_relist_interval_seconds": "From one successful relist to the next.",
    "reflet_pleg_relist_duration_seconds": "How long relists took.",
    "reflet_pleg_pod_relist_duration_seconds": "How long looks at a single pod took.",
    "reflet_pleg_last_seen_timestamp_seconds": "When the last successful relist began.",
    "reflet_pleg_running_pods": "Pods whose sandbox is ready.",
    "reflet_pleg_containers": "Containers, by state.",
    "reflet_pleg_runtime_failures_total": "Failed requests to the container runtime.",
    "reflet_pleg_discarded_events_total": "Events that nobody took in time.",
    "reflet_pleg_discarded_requests_total": "Looks at a pod for which too many others waited.",
    "reflet_pleg_event_streams_total": "Streams of container events that were opened.",
    "reflet_pleg_event_stream_failures_total": "Streams of container events that ended.",
    "reflet_pleg_event_delay_duration_seconds": "From a container's event to its arrival.",
    "reflet_node_pods": "Pods that the node works on.",
    "reflet_node_syncs_total": "Looks at a pod and what it needs, by how they ended.",
    "reflet_node_sync_duration_seconds": "How long looks at a pod took.",
    "reflet_node_container_starts_total": "Containers that were started, by result.",
    "reflet_node_probes_total": "Probes of containers, by kind and result.",
    "reflet_node_refreshes_total": "Times at which a pod's files were written anew.",
    "reflet_node_status_writes_total": "Statuses sent to the server, by result.",
    "reflet_sidecar_files": "Files that the sidecar keeps.",
    "reflet_sidecar_changed_files_total": "Files that the sidecar has written or removed.",
    "reflet_sidecar_unwritten_files": "Files that cannot be written or removed.",
    "reflet_sidecar_contested_files": "Files that several objects want.",
    "reflet_sidecar_downloads_total": "Downloads of .url keys, by how they ended.",
    "reflet_sidecar_reloads_total": "Scripts, signals and requests after a change, by outcome.",
    "reflet_events_total": "Events sent to the server, by result.",
    "reflet_workqueue_adds_total": "Keys that were added to a work queue.",
    "reflet_workqueue_depth": "Keys that wait in a work queue.",
    "reflet_workqueue_longest_running_processor_seconds": "For how long the longest work lasts.",
    "reflet_workqueue_queue_duration_seconds": "How long keys waited in a work queue.",
    "reflet_workqueue_retries_total": "Keys that were added again after a failure.",
    "reflet_workqueue_unfinished_work_seconds": "Seconds of work that has not ended, in all.",
    "reflet_workqueue_work_duration_seconds": "How long the work on a key took.",
    "reflet_reconcile_total": "Calls of a controller's function, by how they ended.",
    "reflet_reconcile_duration_seconds": "How long calls of a controller's function took.",
    "reflet_leader_election_master_status": "Whether this candidate leads: 1 or 0.",
    "reflet_leader_election_slowpath_total": "Renewals that had to read the Lease again.",
}

logger = logging.getLogger(__name__)


class PrometheusMetrics:
    """Puts what Reflet reports into *registry*, the default one if None.  Is a ``Metrics``.

    A metric comes into being when it is first reported, with the labels of that moment.  A later
    report under the same name with other labels, or as another kind of number, is dropped and
    logged once: reporting must not break what is reported.

    All names begin with ``reflet_``; *prefix* takes the place of that word, for a program in
    which two of these report side by side.
    """

    def __init__(
        self, registry: CollectorRegistry | None = None, *, prefix: str = "reflet"
    ) -> None:
        try:
            import prometheus_client  # noqa: PLC0415 - an extra
        except ImportError as error:
            raise ConfigurationError(
                "these metrics need the package prometheus-client: install reflet[prometheus]"
            ) from error

        self._library = prometheus_client
        self._registry = prometheus_client.REGISTRY if registry is None else registry
        self._prefix = prefix
        self._lock = threading.Lock()
        self._counters: dict[str, Counter] = {}
        self._gauges: dict[str, Gauge] = {}
        self._histograms: dict[str, Histogram] = {}
        self._complained: set[str] = set()

    def count(self, name: str, amount: float = 1, /, **labels: str) -> None:
        """Add ``amount``, which is not negative, to a counter."""
        metric = self._counters.get(name)
        try:
            if metric is None:
                metric = self._made(self._counters, self._library.Counter, name, labels)
            (metric.labels(**labels) if labels else metric).inc(amount)
        except ValueError as error:
            self._drop(name, error)

    def gauge(self, name: str, value: float, /, **labels: str) -> None:
        """Set a value that goes up and down."""
        metric = self._gauges.get(name)
        try:
            if metric is None:
                metric = self._made(self._gauges, self._library.Gauge, name, labels)
            (metric.labels(**labels) if labels else metric).set(value)
        except ValueError as error:
            self._drop(name, error)

    def observe(self, name: str, seconds: float, /, **labels: str) -> None:
        """Add one duration to a histogram."""
        metric = self._histograms.get(name)
        try:
            if metric is None:
                metric = self._made(self._histograms, self._histogram, name, labels)
            (metric.labels(**labels) if labels else metric).observe(seconds)
        except ValueError as error:
            self._drop(name, error)

    def _made(
        self,
        made: dict[str, Metric],
        make: Callable[..., Metric],
        name: str,
        labels: dict[str, str],
    ) -> Metric:
        with self._lock:
            # Another thread may have been faster.
            if name not in made:
                made[name] = make(
                    self._prefix + name.removeprefix("reflet"),
                    HELP.get(name, f"{name.replace('_', ' ')}."),
                    labelnames=tuple(labels),
                    registry=self._registry,
                )
            return made[name]

    def _histogram(
        self, name: str, text: str, *, labelnames: tuple[str, ...], registry: CollectorRegistry
    ) -> Histogram:
        return self._library.Histogram(
            name, text, labelnames=labelnames, registry=registry, buckets=BUCKETS
        )

    def _drop(self, name: str, error: ValueError) -> None:
        with self._lock:
            if name in self._complained:
                return
            self._complained.add(name)
        logger.warning("%s is not reported as it should be: %s", name, error)
