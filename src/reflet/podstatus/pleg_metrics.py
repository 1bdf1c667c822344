"""The numbers that the relist loop reports about itself.

Owns: their names and labels.  Must not know what is done about them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from reflet.podstatus.runtime_status import RuntimePod, RuntimeState
from reflet.runtime.metrics import Metrics, guarded


class PlegMetrics:
    """Reports relists, what they found and what was lost."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = guarded(metrics)
        self._counted: tuple[RuntimePod, ...] | None = None

    def relist_began(self, *, since_last: float | None) -> None:
        """A relist begins, *since_last* seconds after the last successful one began."""
        if since_last is not None:
            self._metrics.observe("reflet_pleg_relist_interval_seconds", since_last)

    def listed(self, pods: Sequence[RuntimePod], timestamp: float) -> None:
        """A relist that began at *timestamp*, in seconds since 1970, found these pods."""
        self._metrics.gauge("reflet_pleg_last_seen_timestamp_seconds", timestamp)
        found = tuple(pods)
        if found == self._counted:
            return  # at rest that is so each second, and the same pods are quickly compared
        self._counted = found
        self._metrics.gauge("reflet_pleg_running_pods", sum(map(_is_running, pods)))
        states = Counter(container.state for pod in pods for container in pod.containers)
        for state in RuntimeState:
            self._metrics.gauge("reflet_pleg_containers", states[state], state=state)

    def relist_ended(self, lasted: float) -> None:
        """A relist, successful or not, has ended after *lasted* seconds."""
        self._metrics.observe("reflet_pleg_relist_duration_seconds", lasted)

    def pod_relist_ended(self, lasted: float) -> None:
        """A look at a single pod has ended after *lasted* seconds."""
        self._metrics.observe("reflet_pleg_pod_relist_duration_seconds", lasted)

    def failed(self, what: str) -> None:
        """The runtime could not tell: *what* is ``list``, ``pod`` or ``status``."""
        self._metrics.count("reflet_pleg_runtime_failures_total", what=what)

    def events_discarded(self, count: int) -> None:
        """Events did not fit into the channel."""
        self._metrics.count("reflet_pleg_discarded_events_total", count)

    def request_discarded(self) -> None:
        """Too many pods wait to be looked at."""
        self._metrics.count("reflet_pleg_discarded_requests_total")


def _is_running(pod: RuntimePod) -> bool:
    return any(sandbox.state is RuntimeState.RUNNING for sandbox in pod.sandboxes)
