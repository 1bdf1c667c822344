"""A pod's configuration: registered, resolved and written to its volumes, and released at its end.

``write`` before containers start and ``rewrite`` whenever something that the pod refers to has
changed; the latter touches only volumes whose contents are others than before.  A pod that has
ended is unregistered in ``release``, as the kubelet does in SyncTerminatedPod, so that nobody
watches ConfigMaps and Secrets for it any more.  How a volume is written is ``pod_volumes``.

Upstream: pkg/kubelet/volumemanager/volume_manager.go, WaitForAttachAndMount;
pkg/util/goroutinemap/exponentialbackoff/exponential_backoff.go.
"""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Final

from reflet.api.core.pods import Pod
from reflet.node.pods.configurations import Configurations
from reflet.node.pods.pod_volumes import PodVolumes, Written
from reflet.node.pods.reloads import PodReloads
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.runtime.backoff import Backoff
from reflet.runtime.metrics import Metrics
from reflet.runtime.threads import in_thread

FIRST_RETRY: Final = 0.5  # seconds; the kubelet's initialDurationBeforeRetry
LONGEST_RETRY: Final = 122.0  # seconds; its maxDurationBeforeRetry
OnWritten = Callable[[Pod, frozenset[str]], None]
"""Is told which volumes of a pod have just got new contents."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was written, and the containers that are to start anew because of it."""

    written: Written
    to_restart: frozenset[str] = frozenset()


class VolumeManager:
    """The configuration of one pod.

    *reloads* does what the pod wants done when it changes, None where no containers are run.
    *disk* has the threads in which volumes are written: few, and for that alone, so that a disk
    that hangs keeps nobody else from a thread.  *on_written* is told of volumes with new contents.

    ``resolved`` is what was resolved last, None before the first time; ``is_mounted`` says whether
    all of it could be written.
    """

    def __init__(
        self,
        configurations: Configurations,
        volumes: PodVolumes,
        *,
        reloads: PodReloads | None,
        disk: Executor,
        metrics: Metrics,
        on_written: OnWritten = lambda _pod, _volumes: None,
    ) -> None:
        self._configurations = configurations
        self._volumes = volumes
        self._reloads = reloads
        self._disk = disk
        self._metrics = metrics
        self._on_written = on_written
        self.resolved: ResolvedPod | None = None
        self.is_mounted = False
        self._retries = Backoff(
            first=FIRST_RETRY, ceiling=LONGEST_RETRY, jitter=0.0, reset_after=None
        )

    def next_retry(self) -> float:
        """Seconds until what could not be written may be tried again."""
        return self._retries.next_delay()

    async def register(self, pod: Pod, wake: Callable[[], None]) -> None:
        """Have everything that the pod refers to kept, and *wake* called when it changes."""
        await self._configurations.register(pod, wake)

    async def write(self, pod: Pod) -> Delivered:
        """Resolve the pod, which is registered, and make every volume what it is to be."""
        resolved = await self._configurations.resolve(pod)
        return await self._deliver(resolved, lambda: self._volumes.write(resolved))

    async def rewrite(self, pod: Pod) -> Delivered:
        """Resolve the pod again, and write the volumes that have other contents than before."""
        before = self.resolved
        if before is None:
            return await self.write(pod)
        resolved = await self._configurations.resolve(pod)
        names = [
            name
            for name, contents in resolved.volumes.items()
            if contents != before.volumes.get(name)
        ]
        return await self._deliver(resolved, lambda: self._volumes.rewrite(resolved, names))

    def refresh_due(self, pod: Pod) -> float | None:
        """In how many seconds a token of the pod should be replaced; None when it has none."""
        return self._configurations.refresh_due(pod)

    async def unregister(self, pod: Pod) -> None:
        """Keep nothing that the pod refers to; its files stay until they are removed with it."""
        await self._configurations.unregister(pod)

    async def release(self, pod: Pod) -> None:
        """Keep neither what the pod refers to nor its volumes; its logs stay."""
        await self._configurations.unregister(pod)
        await in_thread(lambda: self._volumes.clear(pod.metadata.uid), executor=self._disk)

    async def _deliver(self, resolved: ResolvedPod, write: Callable[[], Written]) -> Delivered:
        before = self.resolved
        written = await in_thread(write, executor=self._disk)
        # Only now: of what could not even be tried, the next time is to say what is new.
        self.resolved = resolved
        self.is_mounted = not written.errors
        if not written.errors:
            self._retries.reset()
        if written.changed:
            self._metrics.count("reflet_node_refreshes_total")
            self._on_written(resolved.pod, written.changed)
        if self._reloads is None:
            return Delivered(written)
        return Delivered(written, await self._reloads.reload(before, resolved, written))
