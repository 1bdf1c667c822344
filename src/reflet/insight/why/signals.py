"""What a cluster complains about: statuses and events of a pod, in its own words.

Which complaints configuration cannot cause, and which pods have nothing to complain about.
"""

import re
from collections.abc import Iterable, Iterator
from typing import Final

from reflet.api.core.pods import ContainerStatus, Pod
from reflet.api.core.small_kinds import Event
from reflet.api.frozen import Frozen

PULL_SECRET_EVENT: Final = "FailedToRetrieveImagePullSecret"  # noqa: S105 - an event's reason

# Waiting is no complaint while nothing has failed yet.
STILL_STARTING: Final = frozenset({"", "ContainerCreating", "PodInitializing"})

OTHER_CAUSES: Final = frozenset(
    {
        *("BackOff", "CrashLoopBackOff", "Error", "OOMKilled", "Completed", "Unhealthy"),
        *("ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull", "InvalidImageName"),
        *("ImageInspectError", "RegistryUnavailable", "SignatureValidationFailed"),
        *("FailedScheduling", "Unschedulable", "SchedulingGated", "Preempted", "Preempting"),
        *("Evicted", "NodeLost", "NodeNotReady", "DeadlineExceeded", "OutOfcpu", "OutOfmemory"),
        *("FailedCreatePodSandBox", "NetworkNotReady", "FailedAttachVolume", "FailedKillPod"),
        *("Terminated", "NodeShutdown", "FailedCreate", "FailedDelete"),
        *(
            "UnexpectedAdmissionError",
            "NodeAffinity",
            "ContainerCannotRun",
            "ContainerStatusUnknown",
        ),
    }
)
"""Reasons that have nothing to do with ConfigMaps, Secrets, variables or their files."""

_IDS: Final = re.compile(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|\b[0-9a-f]{16,}\b"
)
_ADDRESSES: Final = re.compile(r"\b\d{1,3}(?:\.\d{1,3}){3}\b")
GAP: Final = "…"


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


def common_words(words: str, *names: str) -> str:
    """Return words without what differs from pod to pod: names, ids and addresses."""
    for name in names:
        if name:
            words = re.sub(rf"(?<![a-z0-9-]){re.escape(name)}(?![a-z0-9-])", GAP, words)
    return " ".join(_ADDRESSES.sub(GAP, _IDS.sub(GAP, words)).split())


def signals_of(pod: Pod, events: Iterable[Event] = ()) -> tuple[Signal, ...]:
    """Return the complaints about a pod, the same one once; none about one that runs well.

    Events outlive what they complain about, so those of a pod that runs well say nothing.
    """
    if runs_well(pod):
        return ()
    return counted((*_of_status(pod), *signals_in(events, pod.metadata.uid)))


def counted(signals: Iterable[Signal]) -> tuple[Signal, ...]:
    """Return equal complaints as one, with how often they came."""
    counts: dict[tuple[str, str, str, str], Signal] = {}
    for signal in signals:
        key = (signal.source, signal.reason, signal.message, signal.container)
        earlier = counts.get(key)
        count = signal.count if earlier is None else earlier.count + signal.count
        counts[key] = Signal(
            source=signal.source,
            reason=signal.reason,
            message=signal.message,
            container=signal.container,
            count=count,
        )
    return tuple(counts.values())


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
        for status in statuses_of(pod)
    )


def statuses_of(pod: Pod) -> Iterator[ContainerStatus]:
    """Yield what is said of each container, in the order in which they start."""
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
    for each in statuses_of(pod):
        waiting, ended = each.state.waiting, each.state.terminated or each.last_state.terminated
        if waiting is not None and waiting.reason not in STILL_STARTING:
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


def signals_in(events: Iterable[Event], uid: str = "") -> Iterator[Signal]:
    """Yield the warnings among events, those about an earlier object of the name left out."""
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
