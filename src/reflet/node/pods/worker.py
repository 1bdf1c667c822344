"""One pod, from its first sight to its last trace: the worker that looks after it.

Each sync begins with a status of the runtime that is newer than the end of the sync before, or a
container that was just started would be started again.  What is to be done is decided by
``sync.verdict_on`` and, for single containers, by ``pod_actions``; the worker carries it out, in
this order: kill, then start, then report.

Upstream: pkg/kubelet/pod_workers.go, podWorkerLoop;
pkg/kubelet/kubelet.go, SyncPod, SyncTerminatingPod, SyncTerminatedPod.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, assert_never

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import WARNING
from reflet.errors import RefletError
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods.admission import Allowance, left_out_of
from reflet.node.pods.dry_run import DryRun
from reflet.node.pods.killing import ContainerStopper
from reflet.node.pods.pod_actions import PodActions, compute_pod_actions
from reflet.node.pods.pod_queue import Due, PodQueue
from reflet.node.pods.pod_volumes import Written
from reflet.node.pods.reloads import outdated
from reflet.node.pods.sandboxes import (
    PodSandboxes,
    SandboxFailed,
    needs_sandbox,
    seen_anew,
)
from reflet.node.pods.starting import ContainerStarter
from reflet.node.pods.sync import (
    FailPod,
    KillPod,
    KillRemaining,
    ReleasePod,
    RemovePod,
    SyncPod,
    Verdict,
    WorkerPhase,
    at_rest,
    is_leaving,
    needs_sync,
    verdict_on,
)
from reflet.node.pods.volume_manager import Delivered, VolumeManager
from reflet.node.probes.lifecycle_hooks import has_post_start
from reflet.node.probes.prober import PodProber
from reflet.node.process_launch import gate_group
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting, without_ephemeral
from reflet.node.status.node_events import NodeEvents
from reflet.node.status.pod_events import tell_failed_mounts, tell_left_out
from reflet.node.status.pod_reporter import PodReporter
from reflet.node.status.status_manager import StatusSink
from reflet.pleg.relist import Pleg
from reflet.pleg.runtime_status import RuntimeStatus
from reflet.pleg.status_cache import StatusCache
from reflet.resolution.places import containers_of
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.runtime.permanent_tasks import can_pass, words_of

STOPPED: Final = "AgentStopped"
LONG_AGO: Final = float("-inf")

logger = logging.getLogger(__name__)


class SyncFailed(RefletError):
    """A sync could not be finished; it is tried again."""


class PodWorker:
    """Looks after one pod while ``run`` runs; ``run`` returns when nothing is left of the pod.

    ``update``, ``vanish``, ``look`` and ``refresh`` tell it what happens, and return at once.

    *interrupted* is shared with *starter* and *stopper*: it is set when the pod has to go, so that
    they wait for nothing else.  *dry_run* describes containers, None when they are run.
    """

    def __init__(
        self,
        pod: Pod,
        *,
        volumes: VolumeManager,
        starter: ContainerStarter,
        stopper: ContainerStopper,
        sandboxes: PodSandboxes,
        prober: PodProber,
        dry_run: DryRun | None,
        interrupted: asyncio.Event,
        queue: PodQueue,
        runtime: ContainerRuntime,
        cache: StatusCache,
        pleg: Pleg,
        statuses: StatusSink,
        reporter: PodReporter,
        events: NodeEvents,
        allowance: Allowance,
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self.uid = pod.metadata.uid
        self._pod = pod
        self._volumes = volumes
        self._starter = starter
        self._stopper = stopper
        self._sandboxes = sandboxes
        self._prober = prober
        self._dry_run = dry_run
        self._interrupted = interrupted
        self._queue = queue
        self._runtime = runtime
        self._cache = cache
        self._pleg = pleg
        self._statuses = statuses
        self._reporter = reporter
        self._events = events
        self._allowance = allowance
        self._clock = clock
        self._metrics = metrics
        self._phase = WorkerPhase.NEW
        self._seen = RuntimeStatus(uid=self.uid)
        self._last_sync = LONG_AGO
        self._to_restart: set[str] = set()
        self.busy_since: float | None = None

    @property
    def pod(self) -> Pod:
        """The pod as it was last seen."""
        return self._pod

    @property
    def is_vanishing(self) -> bool:
        """Whether the pod ends, or has ended, whatever is still said of it."""
        return self._phase is WorkerPhase.ORPHANED or self._phase is WorkerPhase.FINISHED

    # News

    def update(self, pod: Pod) -> None:
        """The pod has a new state."""
        before, self._pod = self._pod, pod
        if needs_sync(before, pod):
            if pod.metadata.deletion_timestamp is not None:
                self._interrupted.set()
            self._ask_for_sync()

    def vanish(self) -> None:
        """The pod is no longer wanted, whatever it says itself."""
        self._phase = self._phase.orphaned()
        self._interrupted.set()
        self._ask_for_sync()

    def look(self) -> None:
        """The runtime has news of the pod, and the status cache has them already."""
        self._queue.ask_for_sync()

    def refresh(self) -> None:
        """Something that the pod refers to has changed."""
        self._queue.ask_for_refresh()

    def probed(self) -> None:
        """A probe says something else than before."""
        if self._is_ending and self._phase is not WorkerPhase.ORPHANED:
            # The worker waits for the end of the containers, and the server should know now.
            self._report(self._pod, self._seen)
        else:
            self._ask_for_sync()

    # The end of the agent

    async def kill(self) -> None:
        """The agent stops, and this pod ends with it as any other time."""
        found = await self._runtime.find_pod(self.uid)
        if found is not None:
            seen = await self._runtime.pod_status(found)
            await self._stopper.kill(self._pod, seen)

    def report_end(self, seen: RuntimeStatus) -> None:
        """The agent stops, and this is how its containers ended."""
        why = Waiting(STOPPED, "the agent of this node was told to stop")
        self._reporter.waiting = {
            each.container.name: why for each in containers_of(self._pod.spec)
        }
        self._report(self._pod, seen)

    # Working

    async def run(self) -> None:
        """Look after the pod until nothing is left of it."""
        async with self._prober:
            await self._work()

    async def _work(self) -> None:
        clock, metrics = self._clock, self._metrics
        while self._phase is not WorkerPhase.FINISHED:
            due = await self._queue.next()
            began = self.busy_since = clock.monotonic()
            try:
                await self._step(due)
                result = "done"
            except SandboxFailed as error:
                self._queue.retry(error.retry_after)
                result = "failed"
            except Exception as error:
                if can_pass(error):
                    self._fail(words_of(error))
                    result = "failed"
                else:
                    # A mistake of ours: one pod's trouble, which the next try may not have.
                    logger.exception("a sync of pod %s failed", self._pod.metadata.name)
                    self._fail("the agent made a mistake; its log says which")
                    result = "crashed"
            finally:
                self.busy_since = None
            metrics.count("reflet_node_syncs_total", result=result)
            metrics.observe("reflet_node_sync_duration_seconds", clock.monotonic() - began)

    async def _step(self, due: Due) -> None:
        self._queue.resync()
        if due.by_clock:
            self._pleg.request_relist(self.uid)
        if due.sync:
            await self._sync()
        elif due.refresh:
            await self._refresh()

    async def _sync(self) -> None:
        inspection = await self._cache.newer_than(self.uid, self._last_sync)
        if inspection.error is not None:
            raise SyncFailed(f"error determining status: {inspection.error}")
        pod, seen = self._pod, inspection.status
        self._seen = seen
        if self._dry_run is None:
            self._prober.attend(pod, seen, is_ending=self._is_ending)
        now = self._clock.now()
        try:
            verdict = verdict_on(pod, seen, self._phase, allowance=self._allowance, now=now)
            await self._carry_out(verdict, pod, seen)
        finally:
            self._last_sync = self._clock.monotonic()

    def _fail(self, why: str) -> None:
        self._events.of_pod(self._pod, WARNING, "FailedSync", why)
        self._queue.retry()

    def _ask_for_sync(self) -> None:
        self._pleg.request_relist(self.uid)
        self._queue.ask_for_sync()

    @property
    def _is_ending(self) -> bool:
        return self._phase.is_ending or is_leaving(self._pod, self._phase)

    @contextmanager
    def allowing(self, seconds: float) -> Iterator[None]:
        """What takes as long as the pod's author said is no sign that the worker is stuck."""
        self.busy_since = self._clock.monotonic() + seconds
        try:
            yield
        finally:
            self.busy_since = self._clock.monotonic()

    # A verdict, carried out

    async def _carry_out(self, verdict: Verdict, pod: Pod, seen: RuntimeStatus) -> None:
        match verdict:
            case SyncPod(seconds_left=left):
                if left is not None:
                    self._queue.by(left)
                await self._sync_pod(pod, seen)
            case FailPod(reason=reason, message=message, event_type=event_type):
                self._reporter.failure = Waiting(reason, message)
                self._events.of_pod(pod, event_type, reason, message)
                self._phase = self._phase.over()
                self._report(pod, seen)
                await self._carry_out(at_rest(seen, self._phase), pod, seen)
            case KillPod():
                await self._stopper.kill_leaving(lambda: self._pod, seen)
                self._ask_for_sync()
            case RemovePod(reports=reports):
                if reports:
                    self._report(pod, seen)
                await self._remove(pod)
            case KillRemaining():
                await self._stopper.stop_all(pod, seen)
                self._pleg.request_relist(self.uid)
            case ReleasePod(clears=clears, reports=reports):
                if clears:
                    await self._runtime.stop_sandbox(self.uid)
                    await self._volumes.release(pod)
                    self._phase = self._phase.released()
                if reports:
                    self._report(pod, seen)
            case _:
                assert_never(verdict)

    async def _remove(self, pod: Pod) -> None:
        await self._volumes.unregister(pod)
        for kept in await self._runtime.remove_pod(self.uid):
            logger.warning("left behind of pod %s: %s", pod.metadata.name, kept)
        if self._phase is WorkerPhase.ORPHANED:
            self._statuses.forget(self.uid)
        else:
            await self._statuses.finish(pod)
        self._phase = WorkerPhase.FINISHED

    async def _sync_pod(self, pod: Pod, seen: RuntimeStatus) -> None:
        if not await self._set_up(pod):
            self._report(pod, seen)
        elif self._dry_run is None:
            await self._attend(pod, seen)
        else:
            await self._describe(self._dry_run, pod, seen)

    async def _set_up(self, pod: Pod) -> bool:
        """Register the pod and fill its volumes; whether containers can be started."""
        await self._volumes.register(pod, self.refresh)
        self._runtime.make_sandbox(pod, group=gate_group(pod, self._allowance))
        written = self._take(pod, await self._volumes.write(pod))
        if self._phase is WorkerPhase.NEW and self._dry_run is None:
            tell_left_out(self._events, pod, left_out_of(pod, self._allowance))
        self._phase = self._phase.set_up()
        if not written.errors:
            return True
        tell_failed_mounts(self._events, pod, written.errors)
        self._queue.retry(self._volumes.next_retry())
        return False

    def _take(self, pod: Pod, delivered: Delivered) -> Written:
        """Note what follows from files that were written."""
        due = self._volumes.refresh_due(pod)
        if due is not None:
            self._queue.again_in(max(1.0, due))
        if delivered.to_restart:
            self._to_restart |= delivered.to_restart
            self._ask_for_sync()
        return delivered.written

    async def _attend(self, pod: Pod, seen: RuntimeStatus) -> None:
        has_none = needs_sandbox(seen)
        changed = await outdated(self._runtime, pod) if seen.containers else set()
        actions = compute_pod_actions(
            pod,
            seen_anew(pod, seen) if has_none else seen,
            held_back=self._starter.held_back,
            changed=frozenset(changed | self._to_restart),
            failed=frozenset(self._stopper.failed),
            health=self._prober.health,
            starts_ephemeral=self._allowance.runs_images and not has_none,
        )
        if actions.is_over:
            self._phase = self._phase.over()
        if actions.unhealthy or any(self._takes_time(pod, name) for name in actions.start):
            self._report(pod, seen)
        self._reporter.waiting = {} if self._allowance.runs_images else without_ephemeral(pod)
        self._to_restart |= await self._stopper.stop(pod, seen, actions)
        if has_none and actions.start and not self._interrupted.is_set():
            await self._start_sandbox(pod, seen)
        started = await self._start(pod, seen, actions)
        for held in actions.held:
            self._reporter.waiting[held.name] = self._starter.hold(pod, held.name)
            self._queue.by(held.seconds)
        if actions.stop or actions.unhealthy or started:
            # What was done shows in the next status, and that is looked at right away.
            self._pleg.request_relist(self.uid)
        else:
            self._report(pod, seen)
        if actions.is_over and not actions.stop:
            await self._carry_out(at_rest(seen, self._phase), pod, seen)

    def _takes_time(self, pod: Pod, name: str) -> bool:
        """Whether a start takes as long as an image needs to come, or as its author likes."""
        return self._allowance.runs_images or has_post_start(pod, name)

    async def _start_sandbox(self, pod: Pod, seen: RuntimeStatus) -> None:
        if await self._sandboxes.start(pod, seen):
            # Variables may name the pod's address.
            await self._volumes.register(pod, self.refresh)
            self._take(pod, await self._volumes.write(pod))

    async def _start(self, pod: Pod, seen: RuntimeStatus, actions: PodActions) -> bool:
        if self._volumes.resolved is None:
            return False
        started = False
        for name in actions.start:
            if self._interrupted.is_set():
                break  # the pod has to go
            waiting = await self._starter.start(
                pod,
                name,
                self._volumes.resolved,
                seen.container(name),
                after_crash=name not in self._to_restart,
            )
            self._to_restart.discard(name)
            self._stopper.failed.discard(name)
            if waiting is None:
                started = True
            else:
                self._reporter.waiting[name] = waiting
                self._queue.retry()
        return started

    async def _describe(self, dry_run: DryRun, pod: Pod, seen: RuntimeStatus) -> None:
        """Without leave to run commands, say what would be run and where everything is."""
        if (resolved := self._volumes.resolved) is None:
            return
        self._reporter.waiting = await dry_run.describe(resolved)
        if any(each.reason == CONFIG_ERROR for each in self._reporter.waiting.values()):
            self._queue.retry()
        self._report(pod, seen)

    # A refresh

    async def _refresh(self) -> None:
        """Bring the files up to date, which needs no look at the processes."""
        pod = self._pod
        if not self._phase.has_configuration:
            self._ask_for_sync()
            return
        was_mounted = self._volumes.is_mounted
        written = self._take(pod, await self._volumes.rewrite(pod))
        if written.errors:
            tell_failed_mounts(self._events, pod, written.errors)
        is_mounted = was_mounted and self._volumes.is_mounted
        if self._reporter.waiting or self._dry_run is not None or not is_mounted:
            # Something waited for this, or waits from now on.
            self._ask_for_sync()

    # Telling

    def _report(self, pod: Pod, seen: RuntimeStatus) -> None:
        self._reporter.report(pod, seen, is_ending=self._is_ending, failed=self._stopper.failed)
