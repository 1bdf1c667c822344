"""What a cluster says about a pod that does not run: its status and its events.

Owns: which of it counts as a complaint, and which complaints configuration cannot cause.  Must
not know what is wrong with the configuration.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from reflet.api.core.pods import ContainerStatus, Pod
from reflet.api.core.small_kinds import Event
from reflet.api.frozen import Frozen

# Waiting is no complaint while nothing has failed yet.
_STILL_STARTING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})

OTHER_CAUSES: Final = frozenset(
    {
        *("BackOff", "CrashLoopBackOff", "Error", "OOMKilled", "Completed", "Unhealthy"),
        *("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"),
        *("ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"),
        *("FailedScheduling", "Unschedulable", "SchedulingGated", "Preempted", "Preempting"),
        *("Evicted", "NodeLost", "NodeNotReady", "DeadlineExceeded", "OutOfcpu", "OutOfmemory"),
        *("FailedCreatePodSandBox", "NetworkNotReady", "FailedAttachVolume", "FailedKillPod"),
        *(
            "UnexpectedAdmissionError",
            "NodeAffinity",
            "ContainerCannotRun",
            "ContainerStatusUnknown",
        ),
    }
)
"""Reasons that have nothing to do with ConfigMaps, Secrets, variables or their files."""


class Signal(Frozen, frozen=True, kw_only=True):
    """One complaint: who makes it, its reason and words, and the container it is about."""

    source: str
    reason: str
    message: str = ""
    container: str = ""
    count: int = 1

    @property
    def from_elsewhere(self) -> bool:
        """Whether configuration cannot be the cause."""
        return self.reason in OTHER_CAUSES


def signals_of(pod: Pod, events: Iterable[Event] = ()) -> tuple[Signal, ...]:
    """Return the complaints about a pod, the same one once; none about one that runs well.

    Events outlive what they complain about, so those of a pod that runs well say nothing.
    """
    if runs_well(pod):
        return ()
    counted: dict[tuple[str, str, str, str], Signal] = {}
    for signal in (*_of_status(pod), *_of_events(pod, events)):
        key = (signal.source, signal.reason, signal.message, signal.container)
        earlier = counted.get(key)
        count = signal.count if earlier is None else earlier.count + signal.count
        counted[key] = Signal(
            source=signal.source,
            reason=signal.reason,
            message=signal.message,
            container=signal.container,
            count=count,
        )
    return tuple(counted.values())


def runs_well(pod: Pod) -> bool:
    """Tell whether the pod ended well, or runs with every container ready."""
    status = pod.status
    if status.phase == "Succeeded":
        return True
    statuses = {each.name: each for each in status.container_statuses}
    return status.phase == "Running" and all(
        container.name in statuses and statuses[container.name].ready
        for container in pod.spec.containers
    )


def has_started(pod: Pod, container: str = "") -> bool:
    """Tell whether a container, or without a name any of the pod, ever started."""
    return any(
        container in {"", status.name}
        and (
            status.restart_count > 0
            or status.state.running is not None
            or status.state.terminated is not None
        )
        for status in _statuses(pod)
    )


def _statuses(pod: Pod) -> Iterator[ContainerStatus]:
    yield from pod.status.init_container_statuses
    yield from pod.status.container_statuses
    yield from pod.status.ephemeral_container_statuses


def _of_status(pod: Pod) -> Iterator[Signal]:
    status = pod.status
    if status.reason:
        yield Signal(source="pod", reason=status.reason, message=status.message)
    for condition in status.conditions:
        if condition.type == "PodScheduled" and condition.status == "False":
            yield Signal(
                source="pod",
                reason=condition.reason or "Unschedulable",
                message=condition.message,
            )
    for each in _statuses(pod):
        waiting, ended = each.state.waiting, each.state.terminated or each.last_state.terminated
        if waiting is not None and waiting.reason not in _STILL_STARTING:
            yield Signal(
                source="container",
                reason=waiting.reason,
                message=waiting.message,
                container=each.name,
            )
        if ended is not None and ended.exit_code:
            yield Signal(
                source="container",
                reason=ended.reason or "Error",
                message=ended.message or f"exit code {ended.exit_code}",
                container=each.name,
            )


def _of_events(pod: Pod, events: Iterable[Event]) -> Iterator[Signal]:
    uid = pod.metadata.uid
    for event in events:
        about = event.involved_object
        if event.type != "Warning" or (uid and about.uid and about.uid != uid):
            continue
        _, _, container = about.field_path.partition("{")
        count = event.count or (event.series.count if event.series is not None else 0)
        yield Signal(
            source="event",
            reason=event.reason,
            message=event.message,
            container=container.removesuffix("}"),
            count=max(count, 1),
        )
