"""What a pod's worker has to do now: ``verdict_on``, and the phases of a worker.

Pure: the pod, what the runtime saw of it, the worker's phase and what the agent allows in, one
``Verdict`` out; ``worker`` carries it out.  What is to be done about single containers is
``pod_actions``.

::

    NEW -> SYNCING -> TERMINATING -> TERMINATED       SyncPod, SyncTerminatingPod,
     |        |            |              |            SyncTerminatedPod
     +--------+------------+--------------+-> ORPHANED (the pod's source has it no more)
     +--------+------------+--------------+-> FINISHED (nothing is left of the pod)

Two facts are the pod's own and not repeated in the phase: one whose status on the server is
Succeeded or Failed is over in any phase, and one that has a deletion timestamp is on its way out.

Upstream: pkg/kubelet/pod_workers.go, podSyncStatus and PodWorkerState;
pkg/kubelet/kubelet.go, SyncPod, SyncTerminatingPod, SyncTerminatedPod;
pkg/kubelet/active_deadline.go, activeDeadlineHandler.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from enum import Enum
from typing import Final, TypeAlias

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.node.pods.admission import Allowance, refusals_of, refused_reason
from reflet.node.pods.restart_policy import is_running
from reflet.pleg.runtime_status import RuntimeStatus
from reflet.pods.registrar import is_terminated

DEADLINE_EXCEEDED: Final = "DeadlineExceeded"
DEADLINE_MESSAGE: Final = "Pod was active on the node longer than the specified deadline"


class WorkerPhase(Enum):
    """How far a worker is with its pod."""

    NEW = "nothing was made for the pod yet"
    SYNCING = "the pod is registered, its volumes are written, its containers may run"
    TERMINATING = "nothing of the pod starts again; its configuration is still there"
    TERMINATED = "nothing of the pod starts again; only its logs are kept"
    ORPHANED = "the pod's source has it no more, and nobody is to be told of it"
    FINISHED = "nothing is left of the pod"

    @property
    def is_ending(self) -> bool:
        """Whether nothing of the pod starts again."""
        # By identity: hashing a member of an enum costs a call, and this is asked at every sync.
        return not (self is WorkerPhase.NEW or self is WorkerPhase.SYNCING)

    @property
    def has_configuration(self) -> bool:
        """Whether the pod is registered and has files that are kept up to date."""
        return self is WorkerPhase.SYNCING or self is WorkerPhase.TERMINATING

    def set_up(self) -> WorkerPhase:
        """The phase after the pod was registered and its volumes were written."""
        return WorkerPhase.SYNCING if self is WorkerPhase.NEW else self

    def over(self) -> WorkerPhase:
        """The phase after it was decided that nothing of the pod starts again."""
        if self is WorkerPhase.NEW:
            return WorkerPhase.TERMINATED
        return WorkerPhase.TERMINATING if self is WorkerPhase.SYNCING else self

    def released(self) -> WorkerPhase:
        """The phase after the configuration of a pod that is over was removed.

        A pod that is over only because its status on the server says so was not ended by its
        worker: nothing is made for it any more, and its status goes on saying why.
        """
        if self is WorkerPhase.SYNCING:
            return WorkerPhase.NEW
        return WorkerPhase.TERMINATED if self is WorkerPhase.TERMINATING else self

    def orphaned(self) -> WorkerPhase:
        """The phase after the pod's source said that it has the pod no more."""
        return self if self is WorkerPhase.FINISHED else WorkerPhase.ORPHANED


@dataclass(frozen=True, slots=True)
class SyncPod:
    """Set the pod up, then start and stop containers; look again in *seconds_left*, if any."""

    seconds_left: float | None = None


@dataclass(frozen=True, slots=True)
class FailPod:
    """The pod was rejected by admission, or had all the time that it may have: it is over."""

    reason: str
    message: str
    event_type: str


@dataclass(frozen=True, slots=True)
class KillPod:
    """The pod has to go: end what runs of it within its grace period, which may be shortened."""


@dataclass(frozen=True, slots=True)
class RemovePod:
    """The pod has to go, and nothing of it runs: remove all traces of it, here and on the server.

    *reports* its last status first, where there were containers to tell of.
    """

    reports: bool


@dataclass(frozen=True, slots=True)
class KillRemaining:
    """The pod is over and stays: end what still runs of it."""


@dataclass(frozen=True, slots=True)
class ReleasePod:
    """The pod is over and stays, and nothing of it runs: keep its logs and nothing else.

    *clears* its registration and its volumes.  *reports* its last status.
    """

    clears: bool
    reports: bool


Verdict: TypeAlias = SyncPod | FailPod | KillPod | RemovePod | KillRemaining | ReleasePod


def verdict_on(
    pod: Pod, seen: RuntimeStatus, phase: WorkerPhase, *, allowance: Allowance, now: datetime
) -> Verdict:
    """Say what to do about a pod of which the runtime last saw *seen*.  Pure.

    *seen* must be newer than the last thing that was done about the pod.
    """
    if is_leaving(pod, phase):
        if _runs(seen):
            return KillPod()
        is_known = phase is not WorkerPhase.ORPHANED
        return RemovePod(reports=bool(seen.containers) and is_known)
    if phase.is_ending or is_terminated(pod):
        return at_rest(seen, phase)
    refusals = refusals_of(pod, allowance)
    if refusals:
        reason = refused_reason(pod, allowance)
        return FailPod(reason, "Pod was rejected: " + "; ".join(refusals), WARNING)
    left = _seconds_left(pod, now)
    if left is not None and left <= 0:
        return FailPod(DEADLINE_EXCEEDED, DEADLINE_MESSAGE, NORMAL)
    return SyncPod(left)


def at_rest(seen: RuntimeStatus, phase: WorkerPhase) -> KillRemaining | ReleasePod:
    """Say what to do about a pod that is over and stays on the server.  Pure."""
    if _runs(seen):
        return KillRemaining()
    # A sandbox may be one of an earlier life of the agent, whose configuration is still there.
    clears = phase.has_configuration or bool(seen.sandboxes)
    return ReleasePod(clears=clears, reports=bool(seen.containers))


def is_leaving(pod: Pod, phase: WorkerPhase) -> bool:
    """Whether the whole pod has to go, from here and from the server."""
    return phase is WorkerPhase.ORPHANED or pod.metadata.deletion_timestamp is not None


def needs_sync(before: Pod, now: Pod) -> bool:
    """Whether a new state of a pod is more than the echo of what this agent said about it."""
    old, new = before.metadata, now.metadata
    return (
        before.spec != now.spec
        or old.labels != new.labels
        or old.annotations != new.annotations
        or old.deletion_timestamp != new.deletion_timestamp
        or old.deletion_grace_period_seconds != new.deletion_grace_period_seconds
        or (is_terminated(now) and not is_terminated(before))
        or _gates(before) != _gates(now)
    )


def _gates(pod: Pod) -> dict[str, str]:
    """The readiness gates that others have answered for, and their answers."""
    gates = {each.condition_type for each in pod.spec.readiness_gates}
    if not gates:
        return {}
    return {each.type: each.status for each in pod.status.conditions if each.type in gates}


def _runs(seen: RuntimeStatus) -> bool:
    return any(is_running(each) for each in seen.containers)


def _seconds_left(pod: Pod, now: datetime) -> float | None:
    """For how many more seconds the pod may be active; None when it does not say."""
    allowed = pod.spec.active_deadline_seconds
    if allowed is None:
        return None
    began = pod.status.start_time or now  # it is about to be told that it begins now
    return allowed - (now - began).total_seconds()
