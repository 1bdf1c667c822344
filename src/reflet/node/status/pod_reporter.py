"""What a worker has to say of its pod, put together and handed on.

Remembers between two reports why containers wait, and why the pod as a whole is not run.

Upstream: pkg/kubelet/kubelet_pods.go, generateAPIPodStatus; pkg/kubelet/reason_cache.go
"""

from __future__ import annotations

from collections.abc import Callable, Collection

from reflet.api.core.pods import Pod
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.probes.prober import PodProber
from reflet.node.status.container_statuses import Waiting
from reflet.node.status.pod_statuses import Circumstances, pod_status
from reflet.node.status.status_manager import StatusSink
from reflet.pleg.runtime_status import RuntimeStatus
from reflet.runtime.clock import Clock


class PodReporter:
    """Reports the status of one pod.

    ``waiting`` is why containers wait, by name, and ``failure`` why the pod is not run.
    *addresses* are the node's; *isolates* is what the pod's conditions say, None for nothing.
    """

    def __init__(
        self,
        statuses: StatusSink,
        runtime: ContainerRuntime,
        prober: PodProber,
        *,
        addresses: Callable[[], tuple[str, ...]],
        isolates: bool | None,
        clock: Clock,
    ) -> None:
        self._statuses = statuses
        self._runtime = runtime
        self._prober = prober
        self._addresses = addresses
        self._isolates = isolates
        self._clock = clock
        self.waiting: dict[str, Waiting] = {}
        self.failure: Waiting | None = None

    def report(
        self, pod: Pod, seen: RuntimeStatus, *, is_ending: bool, failed: Collection[str]
    ) -> None:
        """Report what was seen; *failed* were ended because of a probe."""
        circumstances = Circumstances(
            addresses=self._addresses(),
            pod_addresses=self._runtime.addresses(pod.metadata.uid),
            scheme=self._runtime.scheme,
            waiting=self.waiting,
            failure=self.failure,
            is_ending=is_ending,
            isolates=self._isolates,
            health=self._prober.health,
            failed=frozenset(failed),
        )
        status = pod_status(pod, seen, circumstances, now=self._clock.now())
        self._statuses.report(pod, status)
