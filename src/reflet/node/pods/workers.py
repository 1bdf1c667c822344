"""Who looks after which pod.

Owns: one worker for each pod, telling workers what happens, and pods that were left by an earlier
life of the agent and are wanted no more.  Must not know what a worker does.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Sequence
from typing import Final, assert_never

from reflet.api.core.pods import Pod, PodSpec
from reflet.api.meta import ObjectMeta
from reflet.node.pods.worker import PodWorker
from reflet.node.pods.worker_parts import WorkerParts
from reflet.node.process_runtime import Sandbox
from reflet.pleg.pod_events import EventChannel
from reflet.pods.pod_manager import PodManager, is_mirror
from reflet.pods.pod_sources import PodGone, PodNews, PodSeen
from reflet.runtime.tasks import TaskOwner

STUCK_AFTER: Final = 300.0  # seconds of one step, after which a worker counts as stuck

logger = logging.getLogger(__name__)


class PodWorkers:
    """Starts, tells and counts workers.  Belongs to one event loop."""

    def __init__(
        self,
        parts: WorkerParts,
        tasks: TaskOwner,
        *,
        pods: PodManager | None = None,
    ) -> None:
        self._parts = parts
        self._tasks = tasks
        self._workers: dict[str, PodWorker] = {}
        self._running: dict[str, asyncio.Task[None]] = {}
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
        now = self._parts.clock.monotonic()
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
            self._parts.pleg.request_reinspection(worker.uid)
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
            worker.update(pod)
            return
        before = self.find(pod.metadata.namespace, pod.metadata.name)
        if before is not None:
            before.vanish()  # its end was missed: another pod has its name now
        self._add(pod)

    def _add(self, pod: Pod) -> PodWorker:
        worker = self._workers[pod.metadata.uid] = PodWorker(pod, self._parts)
        name = f"pod {pod.metadata.namespace}/{pod.metadata.name}"
        task = self._running[worker.uid] = self._tasks.start(self._live(worker), name=name)
        task.add_done_callback(lambda _: self._ended(worker))
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
            await self._parts.clock.sleep(self._parts.retry)
            worker.look()

    def _ended(self, worker: PodWorker) -> None:
        if self._workers.get(worker.uid) is worker and not self._is_stopped:
            del self._workers[worker.uid]
            del self._running[worker.uid]
        self._count()

    def _count(self) -> None:
        self._parts.metrics.gauge("reflet_node_pods", len(self._workers))


def _remembered(sandbox: Sandbox) -> Pod:
    """A pod of which only its name and its grace period are known."""
    return Pod(
        metadata=ObjectMeta(
            name=sandbox.name or sandbox.uid, namespace=sandbox.namespace, uid=sandbox.uid
        ),
        spec=PodSpec(termination_grace_period_seconds=sandbox.grace),
    )
