"""The probes of one pod, run while its containers run.

A task for each probe of each life of a container; what outcomes add up to is ``probe_results``.
What is done about a container that fails is ``pod_actions``: the prober only tells.

Upstream: pkg/kubelet/prober/prober_manager.go, Manager; pkg/kubelet/prober/worker.go, worker;
pkg/kubelet/prober/prober.go, runProbeWithRetries.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, Self

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import WARNING
from reflet.node.pods.restart_policy import is_running, is_sidecar
from reflet.node.probes.handlers import HandlerFailed, HandlerRunner, Outcome, Target
from reflet.node.probes.probe_results import (
    PodHealth,
    ProbeResult,
    ProbeState,
    container_health,
    first_state,
    next_state,
)
from reflet.node.probes.probe_spec import Probe, ProbeKind, probe_of
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeContainerStatus, RuntimeStatus
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import Metrics
from reflet.runtime.tasks import Failure, TaskOwner

TRIES: Final = 3  # of a handler that could not be run, before that is told

logger = logging.getLogger(__name__)


@dataclass(slots=True)
class _Running:
    """A probe of a container that runs, and its task while it has one."""

    kind: ProbeKind
    probe: Probe
    target: Target
    started_at: datetime | None
    state: ProbeState
    task: asyncio.Task[None] | None = None


class PodProber:
    """Runs the probes of a pod while the context is open; *changed* hears of new results.

    *began* is when the agent did, and *chance* spreads the first probes of an agent that has just
    begun.  Can be entered again.
    """

    def __init__(
        self,
        pod: Pod,
        handlers: HandlerRunner,
        events: NodeEvents,
        *,
        changed: Callable[[], None],
        began: datetime,
        chance: Callable[[], float],
        clock: Clock,
        metrics: Metrics,
    ) -> None:
        self._pod = pod
        self._handlers = handlers
        self._events = events
        self._changed = changed
        self._began = began
        self._chance = chance
        self._clock = clock
        self._metrics = metrics
        self._tasks = self._owner()
        self._probes: dict[tuple[str, ProbeKind], _Running] = {}

    async def __aenter__(self) -> Self:
        # Once more for a worker that failed: what is known stays, and the tasks are new ones.
        self._tasks = self._owner()
        await self._tasks.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        for running in self._probes.values():
            self._stop(running)
        await self._tasks.__aexit__(*failure)

    def _owner(self) -> TaskOwner:
        metadata = self._pod.metadata
        return TaskOwner(f"probes of pod {metadata.namespace}/{metadata.name}")

    @property
    def health(self) -> PodHealth:
        """What the probes say by now."""
        results: dict[str, dict[ProbeKind, ProbeResult]] = {}
        for (life, kind), running in self._probes.items():
            results.setdefault(life, {})[kind] = running.state.result
        return PodHealth({life: container_health(found) for life, found in results.items()})

    def attend(self, pod: Pod, seen: RuntimeStatus, *, is_ending: bool) -> None:
        """Probe what runs, and nothing else.

        Of a pod that is ending only readiness is still asked for: it says whether the pod can be
        given work meanwhile, and nobody restarts what has to go.
        """
        self._pod = pod
        there = {life.id: (container, life) for container, life in _probed(pod, seen)}
        for key in [key for key in self._probes if key[0] not in there]:
            self._stop(self._probes.pop(key))
        for container, life in there.values():
            for kind in ProbeKind:
                probe = probe_of(container, kind)
                if probe is not None and (life.id, kind) not in self._probes:
                    self._probes[life.id, kind] = self._begun(kind, probe, container, life)
        for running in self._probes.values():
            if is_ending and running.kind is not ProbeKind.READINESS:
                self._stop(running)
            else:
                self._start(running)

    def _begun(
        self, kind: ProbeKind, probe: Probe, container: Container, life: RuntimeContainerStatus
    ) -> _Running:
        state = first_state(kind, has_passed=_was_told_to_pass(self._pod, kind, life))
        return _Running(
            kind, probe, Target(container, life.id, self._pod.metadata.uid), life.started_at, state
        )

    def _start(self, running: _Running) -> None:
        if running.task is not None or running.state.is_done:
            return
        if running.kind is not ProbeKind.STARTUP and not self._is_started(running.target.life):
            return  # it is started when the startup probe has succeeded
        name = f"{running.kind.lower()} probe of {running.target.container.name}"
        running.task = self._tasks.start(self._run(running), name=name)

    def _is_started(self, life: str) -> bool:
        startup = self._probes.get((life, ProbeKind.STARTUP))
        return startup is None or startup.state.result is ProbeResult.SUCCESS

    @staticmethod
    def _stop(running: _Running) -> None:
        if running.task is not None:
            running.task.cancel()
            running.task = None

    # One probe

    async def _run(self, running: _Running) -> None:
        clock, period = self._clock, running.probe.period
        await clock.sleep(self._first_wait(running))
        due = clock.monotonic()
        while True:
            succeeded = await self._result(running)
            if succeeded is not None:
                self._note(running, succeeded)
            if running.state.is_done:
                return
            # As with a ticker, a probe that took longer than its period is not caught up on.
            due = max(due + period, clock.monotonic())
            await clock.sleep(due - clock.monotonic())

    def _first_wait(self, running: _Running) -> float:
        """What is left of the initial delay, or a part of the period by chance.

        The latter only when the agent has just begun: all its pods would be probed at once.
        """
        now, probe = self._clock.now(), running.probe
        delay = 0.0
        if running.started_at is not None:
            delay = probe.initial_delay - (now - running.started_at).total_seconds()
        is_new = (now - self._began).total_seconds() < probe.period
        return max(0.0, delay, self._chance() * probe.period if is_new else 0.0)

    async def _result(self, running: _Running) -> bool | None:
        """Run a probe once and tell of it; None when that says nothing about the container."""
        try:
            outcome = await self._outcome(running)
        except HandlerFailed as error:
            said = f"{running.kind} probe errored and resulted in {error.state} state: {error}"
            self._tell(running, "Unhealthy", said)
            self._count(running, "unknown")
            return None
        except Exception:
            # A mistake of ours must not end the probe for good, nor the container for nothing.
            logger.exception("the %s probe of %s failed", running.kind, self._name(running))
            self._count(running, "unknown")
            return None
        if not outcome.succeeded:
            self._tell(running, "Unhealthy", f"{running.kind} probe failed: {outcome.text}")
        elif outcome.is_warning:
            self._tell(running, "ProbeWarning", f"{running.kind} probe warning: {outcome.text}")
        self._count(running, "successful" if outcome.succeeded else "failed")
        return outcome.succeeded

    async def _outcome(self, running: _Running) -> Outcome:
        probe, handlers = running.probe, self._handlers
        for _ in range(TRIES - 1):
            try:
                return await handlers.probe(probe.handler, running.target, probe.timeout)
            except HandlerFailed:
                continue
        return await handlers.probe(probe.handler, running.target, probe.timeout)

    def _note(self, running: _Running, succeeded: bool) -> None:
        before = running.state.result
        running.state = next_state(running.kind, running.probe, running.state, succeeded)
        if running.state.result is before:
            return
        if running.kind is ProbeKind.STARTUP:
            for other in self._probes.values():
                if other is not running:
                    self._start(other)
        self._changed()

    def _tell(self, running: _Running, reason: str, message: str) -> None:
        name = running.target.container.name
        self._events.of_pod(self._pod, WARNING, reason, message, container=name)

    def _count(self, running: _Running, result: str) -> None:
        kind = running.kind.lower()
        self._metrics.count("reflet_node_probes_total", kind=kind, result=result)

    def _name(self, running: _Running) -> str:
        metadata = self._pod.metadata
        return f"{metadata.namespace}/{metadata.name}, container {running.target.container.name}"


def _probed(pod: Pod, seen: RuntimeStatus) -> Iterator[tuple[Container, RuntimeContainerStatus]]:
    """The containers that may have probes and run now; init containers have none."""
    sidecars = (each for each in pod.spec.init_containers if is_sidecar(each))
    for container in (*sidecars, *pod.spec.containers):
        life = seen.container(container.name)
        if life is not None and is_running(life):
            yield container, life


def _was_told_to_pass(pod: Pod, kind: ProbeKind, life: RuntimeContainerStatus) -> bool:
    """Whether the pod's last status says that this life has passed the probe.

    It can only when an earlier agent said so, and then it holds until there are other outcomes:
    an agent that is restarted must not take healthy pods out of service.
    """
    for told in (*pod.status.container_statuses, *pod.status.init_container_statuses):
        if told.container_id.endswith(f"://{life.id}"):
            return bool(told.ready if kind is ProbeKind.READINESS else told.started)
    return False
