"""One pod, from its first sight to its last trace: the worker that looks after it.

Owns: the order of steps of a sync, and that each one begins with a status of the runtime that is
newer than the end of the one before.  Decisions are ``run_decisions``, statuses
``pod_statuses``, starts ``container_starts``.  Must not know where pods come from.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

from reflet.api.core.pods import Pod
from reflet.errors import RefletError
from reflet.node.pods.admission import REFUSED, left_out_of, refusals_of
from reflet.node.pods.dry_run import NOT_RUN, WHY_NOT, describe_instead
from reflet.node.pods.killing import ContainerStopper, end_pod, end_pod_in_time, grace_of
from reflet.node.pods.pod_actions import PodActions, decide, is_running
from reflet.node.pods.pod_volumes import Written
from reflet.node.pods.starting import (
    ContainerStarter,
    fingerprint_of,
    gate_group,
    tell_skipped_names,
)
from reflet.node.pods.volume_manager import Delivered, VolumeManager
from reflet.node.pods.work_queue import Due, WorkQueue, concerns_us
from reflet.node.pods.worker_parts import WorkerParts
from reflet.node.probes.lifecycle_hooks import has_post_start
from reflet.node.probes.prober import PodProber
from reflet.node.status.container_statuses import CONFIG_ERROR, Waiting
from reflet.node.status.events import NORMAL, WARNING
from reflet.node.status.pod_statuses import TERMINAL, Circumstances, pod_status
from reflet.pleg.runtime_status import RuntimeStatus
from reflet.resolution.places import containers_of
from reflet.runtime.permanent_tasks import can_pass, words_of
from reflet.runtime.threads import in_thread

STOPPED: Final = "AgentStopped"
TOO_LATE: Final = "DeadlineExceeded"
TOO_LATE_MESSAGE: Final = "Pod was active on the node longer than the specified deadline"
LONG_AGO: Final = float("-inf")

logger = logging.getLogger(__name__)


class SyncFailed(RefletError):
    """A sync could not be finished; it is tried again."""


class PodWorker:
    """Looks after one pod while ``run`` runs; ``run`` returns when nothing is left of the pod.

    ``update``, ``vanish``, ``look`` and ``refresh`` tell it what happens, and return at once.
    """

    def __init__(self, pod: Pod, parts: WorkerParts) -> None:
        self.uid = pod.metadata.uid
        self._pod = pod
        self._parts = parts
        self._shorter = asyncio.Event()
        self._starter = ContainerStarter(parts, self._shorter, self._patiently)
        self._stopper = ContainerStopper(parts, self._shorter, self._patiently)
        self._files = VolumeManager(parts)
        self._agenda = WorkQueue(parts.clock, parts.chance)
        self._prober = PodProber(pod, parts, self._probed)
        self._seen = RuntimeStatus(uid=self.uid)
        self._last_sync = LONG_AGO
        self._has_vanished = False
        self._is_over = False
        self._is_set_up = False
        self._is_gone = False
        self._waiting: dict[str, Waiting] = {}
        self._to_restart: set[str] = set()
        self._failure: Waiting | None = None
        self._is_described = False
        self.busy_since: float | None = None

    @property
    def pod(self) -> Pod:
        """The pod as it was last seen."""
        return self._pod

    # News

    def update(self, pod: Pod) -> None:
        """The pod has a new state."""
        before, self._pod = self._pod, pod
        if concerns_us(before, pod):
            if pod.metadata.deletion_timestamp is not None:
                self._shorter.set()
            self._ask_for_sync()

    def vanish(self) -> None:
        """The pod is no longer wanted, whatever it says itself."""
        self._has_vanished = True
        self._shorter.set()
        self._ask_for_sync()

    def look(self) -> None:
        """The runtime has news of the pod, and the status cache has them already."""
        self._agenda.ask_for_sync()

    def refresh(self) -> None:
        """Something that the pod refers to has changed."""
        self._agenda.ask_for_refresh()

    async def wind_up(self) -> None:
        """The agent stops, and this pod ends with it as any other time."""
        found = await self._parts.runtime.find_pod(self.uid)
        if found is not None:
            seen = await self._parts.runtime.pod_status(found)
            await end_pod(self._parts, self._pod, seen, grace_of(self._pod))

    def conclude(self, seen: RuntimeStatus) -> None:
        """The agent stops, and this is how its containers ended."""
        why = Waiting(STOPPED, "the agent of this node was told to stop")
        self._waiting = {each.container.name: why for each in containers_of(self._pod.spec)}
        self._report(self._pod, seen)

    # Working

    async def run(self) -> None:
        """Look after the pod until nothing is left of it."""
        async with self._prober:
            await self._work()

    async def _work(self) -> None:
        clock, metrics = self._parts.clock, self._parts.metrics
        while not self._is_gone:
            due = await self._agenda.next()
            began = self.busy_since = clock.monotonic()
            try:
                await self._step(due)
                result = "done"
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
        self._agenda.again_in(self._parts.resync)
        if due.by_clock:
            self._parts.pleg.request_relist(self.uid)
        if due.sync:
            await self._sync()
        elif due.refresh:
            await self._refresh()

    async def _sync(self) -> None:
        parts = self._parts
        inspection = await parts.cache.newer_than(self.uid, self._last_sync)
        if inspection.error is not None:
            raise SyncFailed(f"error determining status: {inspection.error}")
        self._seen = inspection.status
        if self._parts.runs_commands:
            self._prober.attend(self._pod, self._seen, is_ending=self._is_ending)
        try:
            await self._act(self._pod, inspection.status)
        finally:
            self._last_sync = parts.clock.monotonic()

    def _fail(self, why: str) -> None:
        self._parts.events.of_pod(self._pod, WARNING, "FailedSync", why)
        self._agenda.again_in(self._parts.retry)

    def _ask_for_sync(self) -> None:
        self._parts.pleg.request_relist(self.uid)
        self._agenda.ask_for_sync()

    @property
    def _is_ending(self) -> bool:
        is_deleted = self._pod.metadata.deletion_timestamp is not None
        return self._is_over or self._has_vanished or is_deleted

    def _probed(self) -> None:
        """A probe says something else than before."""
        if self._is_ending and not self._has_vanished:
            # The worker waits for the end of the containers, and the server should know now.
            self._report(self._pod, self._seen)
        else:
            self._ask_for_sync()

    @contextmanager
    def _patiently(self, seconds: float) -> Iterator[None]:
        """What takes as long as the pod's author said is no sign that the worker is stuck."""
        self.busy_since = self._parts.clock.monotonic() + seconds
        try:
            yield
        finally:
            self.busy_since = self._parts.clock.monotonic()

    # A sync, step by step

    async def _act(self, pod: Pod, seen: RuntimeStatus) -> None:
        if self._has_vanished or pod.metadata.deletion_timestamp is not None:
            await self._end(pod, seen)
        elif self._is_over or pod.status.phase in TERMINAL:
            await self._rest(pod, seen)
        elif self._is_refused(pod) or self._is_too_late(pod):
            self._report(pod, seen)
            await self._rest(pod, seen)
        elif await self._is_ready(pod):
            if self._parts.runs_commands:
                await self._attend(pod, seen)
            else:
                await self._describe(pod, seen)
        else:
            self._report(pod, seen)

    def _is_refused(self, pod: Pod) -> bool:
        refusals = refusals_of(pod, self._parts.allowance)
        if not refusals:
            return False
        message = "Pod was rejected: " + "; ".join(refusals)
        self._failure = Waiting(REFUSED, message)
        self._parts.events.of_pod(pod, WARNING, REFUSED, message)
        self._is_over = True
        return True

    def _is_too_late(self, pod: Pod) -> bool:
        """Whether the pod has had all the time that it may have."""
        allowed = pod.spec.active_deadline_seconds
        if allowed is None:
            return False
        now = self._parts.clock.now()
        began = pod.status.start_time or now  # it is about to be told that it begins now
        left = allowed - (now - began).total_seconds()
        if left > 0:
            self._agenda.by(left)
            return False
        self._failure = Waiting(TOO_LATE, TOO_LATE_MESSAGE)
        self._parts.events.of_pod(pod, NORMAL, TOO_LATE, TOO_LATE_MESSAGE)
        self._is_over = True
        return True

    async def _is_ready(self, pod: Pod) -> bool:
        """Fill the pod's volumes; whether containers can be started."""
        parts = self._parts
        await parts.configurations.register(pod, self.refresh)
        parts.runtime.make_sandbox(pod, group=gate_group(pod, parts.allowance))
        written = self._take(pod, await self._files.write(pod))
        self._tell_left_out(pod)
        self._is_set_up = True
        if not written.errors:
            return True
        self._tell_failed_mounts(pod, written)
        self._agenda.again_in(parts.retry)
        return False

    def _take(self, pod: Pod, delivered: Delivered) -> Written:
        """Note what follows from files that were written."""
        due = self._parts.configurations.refresh_due(pod)
        if due is not None:
            self._agenda.again_in(max(1.0, due))
        if delivered.to_restart:
            self._to_restart |= delivered.to_restart
            self._ask_for_sync()
        return delivered.written

    async def _attend(self, pod: Pod, seen: RuntimeStatus) -> None:
        decision = decide(
            pod,
            seen,
            held_back=self._starter.held_back,
            changed=await self._changed(pod, seen),
            failed=frozenset(self._stopper.failed),
            health=self._prober.health,
        )
        self._waiting = {}
        if decision.is_over:
            self._is_over = True
        if decision.unhealthy or any(has_post_start(pod, name) for name in decision.start):
            # What comes now may take as long as the pod's author likes.
            self._report(pod, seen)
        self._to_restart |= await self._stopper.stop(pod, seen, decision)
        started = await self._start(pod, seen, decision)
        for held in decision.held:
            self._waiting[held.name] = self._starter.hold(pod, held.name)
            self._agenda.by(held.seconds)
        if decision.stop or decision.unhealthy or started:
            # What was done shows in the next status, and that is looked at right away.
            self._parts.pleg.request_relist(self.uid)
        else:
            self._report(pod, seen)
        if decision.is_over and not decision.stop:
            await self._rest(pod, seen)

    async def _changed(self, pod: Pod, seen: RuntimeStatus) -> frozenset[str]:
        """The containers that run something else than the pod says by now."""
        if not seen.containers:
            return frozenset()
        running = await self._parts.runtime.fingerprints(self.uid)
        others = {
            placed.container.name
            for placed in containers_of(pod.spec)
            if running.get(placed.container.name) not in {None, fingerprint_of(placed.container)}
        }
        return frozenset(others | self._to_restart)

    async def _start(self, pod: Pod, seen: RuntimeStatus, decision: PodActions) -> bool:
        if self._files.resolved is None:
            return False
        started = False
        for name in decision.start:
            if self._shorter.is_set():
                break  # the pod has to go
            waiting = await self._starter.start(
                pod,
                name,
                self._files.resolved,
                seen.container(name),
                after_crash=name not in self._to_restart,
            )
            self._to_restart.discard(name)
            self._stopper.failed.discard(name)
            if waiting is None:
                started = True
            else:
                self._waiting[name] = waiting
                self._agenda.again_in(self._parts.retry)
        return started

    async def _describe(self, pod: Pod, seen: RuntimeStatus) -> None:
        """Without leave to run commands, say what would be run and where everything is."""
        if self._files.resolved is None:
            return
        self._waiting = await describe_instead(self._parts, self._files.resolved)
        if any(each.reason == CONFIG_ERROR for each in self._waiting.values()):
            self._agenda.again_in(self._parts.retry)
        elif not self._is_described:
            self._is_described = True
            for environment in self._files.resolved.environments.values():
                tell_skipped_names(self._parts, pod, environment)
            self._parts.events.of_pod(
                pod, NORMAL, NOT_RUN, f"would start {', '.join(self._waiting)}: {WHY_NOT}"
            )
        self._report(pod, seen)

    async def _rest(self, pod: Pod, seen: RuntimeStatus) -> None:
        """A pod that has ended, or never begins: keep its logs and nothing else."""
        parts = self._parts
        running = [each for each in seen.containers if is_running(each)]
        if running:
            await self._stopper.end_all(pod, seen)
            parts.pleg.request_relist(self.uid)
            return
        if self._is_set_up or seen.sandboxes:
            await parts.configurations.unregister(pod)
            await in_thread(lambda: parts.volumes.clear(self.uid), executor=parts.disk)
            self._is_set_up = False
        if seen.containers:
            self._report(pod, seen)

    async def _end(self, pod: Pod, seen: RuntimeStatus) -> None:
        parts = self._parts
        if any(is_running(each) for each in seen.containers):
            with self._patiently(grace_of(pod)):
                await end_pod_in_time(parts, lambda: self._pod, seen, self._shorter)
            self._ask_for_sync()
            return
        if seen.containers and not self._has_vanished:
            self._report(pod, seen)
        await parts.configurations.unregister(pod)
        for kept in await parts.runtime.remove_pod(self.uid):
            logger.warning("left behind of pod %s: %s", pod.metadata.name, kept)
        if self._has_vanished:
            parts.statuses.forget(self.uid)
        else:
            await parts.statuses.finish(pod)
        self._is_gone = True

    # A refresh

    async def _refresh(self) -> None:
        """Bring the files up to date, which needs no look at the processes."""
        pod = self._pod
        if not self._is_set_up:
            self._ask_for_sync()
            return
        was_mounted = self._files.is_mounted
        written = self._take(pod, await self._files.rewrite(pod))
        if written.errors:
            self._tell_failed_mounts(pod, written)
        if self._waiting or not (
            self._parts.runs_commands and was_mounted and self._files.is_mounted
        ):
            # Something waited for this, or waits from now on.
            self._ask_for_sync()

    # Telling

    def _tell_left_out(self, pod: Pod) -> None:
        """Say once what the pod asks for and does without."""
        if self._is_set_up or not self._parts.runs_commands:
            return
        left_out = left_out_of(pod)
        if left_out:
            self._parts.events.of_pod(pod, WARNING, "NotSupported", "; ".join(left_out))

    def _tell_failed_mounts(self, pod: Pod, written: Written) -> None:
        for name, error in written.errors.items():
            self._parts.events.of_pod(
                pod,
                WARNING,
                "FailedMount",
                f'MountVolume.SetUp failed for volume "{name}" : {error}',
            )

    def _report(self, pod: Pod, seen: RuntimeStatus) -> None:
        parts = self._parts
        circumstances = Circumstances(
            addresses=parts.addresses(),
            waiting=self._waiting,
            failure=self._failure,
            is_ending=self._is_ending,
            isolates=parts.allowance.isolates if parts.runs_commands else None,
            health=self._prober.health,
            failed=frozenset(self._stopper.failed),
        )
        status = pod_status(pod, seen, circumstances, now=parts.clock.now())
        parts.statuses.report(pod, status)
