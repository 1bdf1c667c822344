"""Who looks after which pod: one worker for each, and the factory that puts a worker together.

``PodWorkers`` tells workers what happens to their pods and containers, and ends pods that an
earlier life of the agent left and nobody wants any more.  ``WorkerFactory`` is the only place that
knows all parts of a worker; each part is given by name what it needs and no more.

Upstream: pkg/kubelet/pod_workers.go, podWorkers (UpdatePod);
pkg/kubelet/kubelet_pods.go, HandlePodCleanups (orphans).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Final, assert_never

from reflet.api.core.pods import Pod, PodSpec
from reflet.api.meta import ObjectMeta
from reflet.node.container_runtime import ContainerLauncher, ContainerRuntime, Sandbox
from reflet.node.pods.admission import Allowance
from reflet.node.pods.configurations import Configurations
from reflet.node.pods.dry_run import DryRun
from reflet.node.pods.killing import ContainerStopper, Killer
from reflet.node.pods.pod_queue import PodQueue
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.node.pods.reloads import PodReloads
from reflet.node.pods.sandboxes import PodSandboxes
from reflet.node.pods.starting import ContainerStarter
from reflet.node.pods.volume_manager import OnWritten, VolumeManager
from reflet.node.pods.worker import PodWorker
from reflet.node.probes.handlers import HandlerRunner
from reflet.node.probes.lifecycle_hooks import LifecycleHooks
from reflet.node.probes.prober import PodProber
from reflet.node.status.node_events import NodeEvents
from reflet.node.status.pod_reporter import PodReporter
from reflet.node.status.status_manager import StatusSink
from reflet.pleg.compute_events import EventChannel
from reflet.pleg.relist import Pleg
from reflet.pleg.status_cache import StatusCache
from reflet.pods.pod_manager import PodManager, is_mirror
from reflet.pods.pod_sources import PodGone, PodNews, PodSeen
from reflet.processes.crash_backoff import CrashBackoff
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.runtime.tasks import TaskOwner

STUCK_AFTER: Final = 300.0  # seconds of one step, after which a worker counts as stuck

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerFactory:
    """Puts workers together from the parts that all of them share.

    *disk* has the threads in which volumes are written.  Without *runs_commands* nothing is
    started.  *resync* and *retry* are seconds: when a pod is looked at although nothing happened,
    and after something failed.  *began* is when the agent did.
    """

    runtime: ContainerRuntime
    launcher: ContainerLauncher
    handlers: HandlerRunner
    cache: StatusCache
    pleg: Pleg
    configurations: Configurations
    volumes: PodVolumes
    disk: Executor
    statuses: StatusSink
    events: NodeEvents
    allowance: Allowance
    addresses: Callable[[], tuple[str, ...]]
    clock: Clock
    began: datetime
    metrics: Metrics
    chance: Callable[[], float]
    runs_commands: bool
    resync: float
    retry: float
    first_backoff: CrashBackoff
    on_written: OnWritten = lambda _pod, _volumes: None

    def workers(self, tasks: TaskOwner) -> PodWorkers:
        """The workers of a node, which are run by *tasks*."""
        return PodWorkers(
            self.worker,
            tasks,
            pleg=self.pleg,
            retry=self.retry,
            clock=self.clock,
            metrics=self.metrics,
        )

    def worker(self, pod: Pod) -> PodWorker:
        """The worker of one pod, which has not begun."""
        interrupted = asyncio.Event()
        # What the parts tell a worker that is made from them: by then it is there.
        worker: PodWorker

        def allowing(seconds: float) -> AbstractContextManager[None]:
            return worker.allowing(seconds)

        def probed() -> None:
            worker.probed()

        prober = self.prober(pod, probed)
        stopper = ContainerStopper(self.killer(), interrupted=interrupted, allowing=allowing)
        worker = PodWorker(
            pod,
            volumes=self.volume_manager(),
            starter=self.starter(interrupted, allowing),
            stopper=stopper,
            sandboxes=PodSandboxes(self.runtime, stopper, self.events),
            prober=prober,
            dry_run=None if self.runs_commands else self.dry_run(),
            interrupted=interrupted,
            queue=PodQueue(self.clock, self.chance, resync=self.resync, retry=self.retry),
            runtime=self.runtime,
            cache=self.cache,
            pleg=self.pleg,
            statuses=self.statuses,
            reporter=self.reporter(prober),
            events=self.events,
            allowance=self.allowance,
            clock=self.clock,
            metrics=self.metrics,
        )
        return worker

    def hooks(self) -> LifecycleHooks:
        """Runs postStart and preStop hooks."""
        return LifecycleHooks(self.handlers, self.events, self.runtime.addresses, clock=self.clock)

    def killer(self) -> Killer:
        """Ends containers."""
        return Killer(self.runtime, self.hooks(), self.events, clock=self.clock)

    def starter(
        self, interrupted: asyncio.Event, allowing: Callable[[float], AbstractContextManager[None]]
    ) -> ContainerStarter:
        """Starts the containers of one pod."""
        return ContainerStarter(
            self.launcher,
            self.hooks(),
            self.killer(),
            self.events,
            first_backoff=self.first_backoff,
            clock=self.clock,
            metrics=self.metrics,
            interrupted=interrupted,
            allowing=allowing,
        )

    def volume_manager(self) -> VolumeManager:
        """Keeps the configuration of one pod."""
        return VolumeManager(
            self.configurations,
            self.volumes,
            reloads=PodReloads(self.runtime, self.events) if self.runs_commands else None,
            disk=self.disk,
            metrics=self.metrics,
            on_written=self.on_written,
        )

    def prober(self, pod: Pod, changed: Callable[[], None]) -> PodProber:
        """Runs the probes of one pod."""
        return PodProber(
            pod,
            self.handlers,
            self.events,
            changed=changed,
            began=self.began,
            chance=self.chance,
            clock=self.clock,
            metrics=self.metrics,
        )

    def reporter(self, prober: PodProber) -> PodReporter:
        """Reports the status of one pod."""
        is_told = self.runs_commands and not self.allowance.runs_images
        return PodReporter(
            self.statuses,
            self.runtime,
            prober,
            addresses=self.addresses,
            isolates=self.allowance.isolates if is_told else None,
            clock=self.clock,
        )

    def dry_run(self) -> DryRun:
        """Describes the containers of one pod."""
        return DryRun(self.volumes, self.events, disk=self.disk)


class PodWorkers:
    """Starts, tells and counts workers.  Belongs to one event loop.

    A worker that fails between two syncs begins again after *retry* seconds.
    """

    def __init__(
        self,
        make: Callable[[Pod], PodWorker],
        tasks: TaskOwner,
        *,
        pleg: Pleg,
        retry: float,
        clock: Clock,
        metrics: Metrics,
        pods: PodManager | None = None,
    ) -> None:
        self._make = make
        self._tasks = tasks
        self._pleg = pleg
        self._retry = retry
        self._clock = clock
        self._metrics = metrics
        self._workers: dict[str, PodWorker] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
        # Those that came back, from a file for one, while their worker still ends them.
        self._to_run_again: dict[str, Pod] = {}
        self._pods = pods or PodManager()
        self._is_stopped = False

    def __len__(self) -> int:
        return len(self._workers)

    @property
    def workers(self) -> Sequence[PodWorker]:
        """Every worker there is."""
        return tuple(self._workers.values())

    def find(self, namespace: str, name: str) -> PodWorker | None:
        """The worker of the pod that has this name now."""
        found = [
            worker
            for worker in self._workers.values()
            if (worker.pod.metadata.namespace, worker.pod.metadata.name) == (namespace, name)
        ]
        return found[-1] if found else None

    def complaints(self) -> dict[str, str]:
        """What is wrong with workers, by pod: a step that does not end.

        A step that fails is the pod's own trouble, and its events tell of it.
        """
        now = self._clock.monotonic()
        wrong: dict[str, str] = {}
        for worker in self._workers.values():
            metadata = worker.pod.metadata
            since = worker.busy_since
            if since is not None and now - since > STUCK_AFTER:
                wrong[f"{metadata.namespace}/{metadata.name}"] = "stuck"
        return wrong

    # News

    def take(self, news: PodNews) -> None:
        """Do what the news of a pod asks for."""
        if self._is_stopped:
            return
        match news:
            case PodSeen(pod=pod):
                self._pods.put(pod)
                if not is_mirror(pod):
                    self._seen(pod)
            case PodGone(pod=pod):
                self._pods.remove(pod)
                self._to_run_again.pop(pod.metadata.uid, None)
                worker = self._workers.get(pod.metadata.uid)
                if worker is not None:
                    worker.vanish()
            case _:
                assert_never(news)

    async def hear(self, events: EventChannel) -> None:
        """Wake workers for what happens to their containers."""
        async for event in events:
            worker = self._workers.get(event.uid)
            if worker is not None:
                worker.look()

    def look_at_all(self) -> None:
        """Have every worker look: nobody knows what was missed."""
        for worker in self._workers.values():
            self._pleg.request_reinspection(worker.uid)
            worker.look()

    def end_orphans(self, sandboxes: Sequence[Sandbox]) -> None:
        """End what an earlier life of the agent left of pods that are gone by now."""
        if self._is_stopped:
            return  # pods are no longer taken, so that one is unknown says nothing
        for sandbox in sandboxes:
            if sandbox.uid not in self._workers:
                logger.info(
                    "pod %s/%s (%s) is gone and is ended",
                    sandbox.namespace,
                    sandbox.name,
                    sandbox.uid,
                )
                worker = self._add(_remembered(sandbox))
                worker.vanish()

    async def stop(self) -> None:
        """Stop every worker, so that nothing is started any more; they stay known."""
        self._is_stopped = True
        for task in tuple(self._running.values()):
            await self._tasks.stop(task)

    # inside

    def _seen(self, pod: Pod) -> None:
        worker = self._workers.get(pod.metadata.uid)
        if worker is not None:
            if worker.is_vanishing:
                self._to_run_again[worker.uid] = pod
            else:
                worker.update(pod)
            return
        before = self.find(pod.metadata.namespace, pod.metadata.name)
        if before is not None:
            before.vanish()  # its end was missed: another pod has its name now
        self._add(pod)

    def _add(self, pod: Pod) -> PodWorker:
        worker = self._workers[pod.metadata.uid] = self._make(pod)
        name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
        task = self._running[worker.uid] = self._tasks.start(self._live(worker), name=name)
        task.add_done_callback(lambda task: self._ended(worker, task))
        self._count()
        return worker

    async def _live(self, worker: PodWorker) -> None:
        """Have a pod looked after to its end: no mistake of ours may leave it to itself."""
        while True:
            try:
                return await worker.run()
            except Exception:
                metadata = worker.pod.metadata
                logger.exception("the worker of %s/%s failed", metadata.namespace, metadata.name)
            await self._clock.sleep(self._retry)
            worker.look()

    def _ended(self, worker: PodWorker, task: asyncio.Task[None]) -> None:
        if self._workers.get(worker.uid) is worker and not self._is_stopped:
            del self._workers[worker.uid]
            del self._running[worker.uid]
            again = self._to_run_again.pop(worker.uid, None)
            if again is not None and not task.cancelled():
                self._seen(again)
        self._count()

    def _count(self) -> None:
        self._metrics.gauge("reflet_node_pods", len(self._workers))


def _remembered(sandbox: Sandbox) -> Pod:
    """A pod of which only its name and its grace period are known."""
    return Pod(
        metadata=ObjectMeta(
            name=sandbox.name or sandbox.uid, namespace=sandbox.namespace, uid=sandbox.uid
        ),
        spec=PodSpec(termination_grace_period_seconds=sandbox.grace),
    )
