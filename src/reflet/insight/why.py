"""Why a pod does not start, as far as its configuration is the cause.

Which problems count as reasons, where a kubelet would show each, and which of a cluster's
complaints (the pod's status and events) each explains; complaints that configuration cannot cause
are told apart.  No reason holds a Secret's value.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Final

from msgspec import structs

from reflet.api.core.pods import ContainerStatus, Pod
from reflet.api.core.small_kinds import Event
from reflet.api.frozen import Frozen
from reflet.insight.fixes import Advice
from reflet.insight.pod_problems import (
    MissingPullSecret,
    MissingSubPath,
    UnusablePullSecret,
    problems_of,
)
from reflet.resolution.objects import ConfigKind
from reflet.resolution.places import Place
from reflet.resolution.pod_inputs import PodInputs
from reflet.resolution.problems import (
    InvalidVariableName,
    MissingObject,
    OversizedEnvironment,
    OversizedValue,
    Problem,
    ServicesUnreadable,
    SkippedNames,
    UnreadableObject,
    UnresolvedReference,
    ZeroInValue,
)
from reflet.resolution.references import references_of

CONFIG_ERROR: Final = "CreateContainerConfigError"
FAILED_MOUNT: Final = "FailedMount"
RUN_ERROR: Final = "RunContainerError"
PULL_SECRET_EVENT: Final = "FailedToRetrieveImagePullSecret"  # noqa: S105 - an event's reason

_PULL_FAILURES: Final = frozenset({"ErrImagePull", "ImagePullBackOff", PULL_SECRET_EVENT})
_RUN_FAILURES: Final = frozenset(
    {RUN_ERROR, "CreateContainerError", "StartError", "ContainerCannotRun", "Failed"}
)
# The kubelet goes on after these, and the container starts with something else than was meant
# or is stopped by the runtime.
_STILL_REASONS: Final = (
    InvalidVariableName,
    MissingPullSecret,
    MissingSubPath,
    OversizedEnvironment,
    OversizedValue,
    SkippedNames,
    UnreadableObject,
    UnresolvedReference,
    UnusablePullSecret,
    ZeroInValue,
)
_STOPPED_BY_THE_RUNTIME: Final = (OversizedEnvironment, OversizedValue, ZeroInValue)


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


class ShownAs(Frozen, frozen=True, kw_only=True):
    """Where a kubelet shows a problem: in a container's status or as an event of the pod."""

    source: str = ""
    reason: str = ""

    def __str__(self) -> str:
        return f"{self.source} {self.reason}" if self.reason else ""


class Reason(Frozen, frozen=True, kw_only=True):
    """One thing to mend, at all its places.

    ``stops`` means that the container, or the pod, does not start; otherwise ``effect`` says
    what happens instead.  A reason that is not ``certain`` is one of this reader: what
    it may not read, a kubelet perhaps may.  ``explains`` are the cluster's complaints.
    """

    problem: str
    message: str
    fix: str
    places: tuple[Place, ...] = ()
    kubelet: str = ""
    shown_as: ShownAs = ShownAs()
    stops: bool = True
    effect: str = ""
    certain: bool = True
    explains: tuple[Signal, ...] = ()

    @property
    def fails(self) -> bool:
        """Whether this is wrong whatever else is so: many images are pulled without a secret.

        One that is missing fails when the cluster says that the image was not pulled.
        """
        if self.stops or self.problem != MissingPullSecret.__name__:
            return True
        return any(signal.reason != PULL_SECRET_EVENT for signal in self.explains)


class Diagnosis(Frozen, frozen=True, kw_only=True):
    """The reasons, the complaints that none of them explains, and what could not be told.

    ``running`` says that the pod runs in spite of them, having started before.
    """

    namespace: str
    pod: str
    reasons: tuple[Reason, ...] = ()
    unexplained: tuple[Signal, ...] = ()
    unknown: tuple[Reason, ...] = ()
    running: bool = False


def diagnose(inputs: PodInputs) -> Diagnosis:
    """Return every reason why the configuration of a pod keeps it from starting.

    What the cluster complains about is in the pod's status and in ``inputs.events``.
    """
    pod = inputs.pod
    found = problems_of(inputs)
    advice = Advice(
        known=inputs.known_objects,
        wanted_keys=_wanted_keys(pod),
        environments=found.environments,
    )
    refused = {
        (each.kind, each.namespace, each.name): f"{each.place}: {each.message}"
        for each in inputs.refusals
    }
    signals = signals_of(pod, inputs.events)
    reasons: dict[tuple[str, str, str, str], Reason] = {}
    for problem in found.problems:
        if not (problem.blocking or isinstance(problem, _STILL_REASONS)):
            continue
        reason = _reason(problem, advice, signals, refused)
        key = (reason.problem, reason.message, reason.kubelet, str(reason.shown_as))
        reasons[key] = _together(reasons.get(key), reason)
    certain = [each for each in reasons.values() if not _is_moot(pod, each)]
    explained = [signal for reason in certain for signal in reason.explains]
    return Diagnosis(
        namespace=pod.metadata.namespace,
        pod=pod.metadata.name or pod.metadata.generate_name,
        # What stops the pod comes first.
        reasons=tuple(sorted(certain, key=lambda reason: not reason.stops)),
        unexplained=tuple(signal for signal in signals if signal not in explained),
        unknown=tuple(each for each in reasons.values() if _is_moot(pod, each)),
        running=runs_well(pod),
    )


def _reason(
    problem: Problem,
    advice: Advice,
    signals: tuple[Signal, ...],
    refused: Mapping[tuple[str, str, str], str],
) -> Reason:
    message, fix = problem.message, advice.about(problem)
    if isinstance(problem, MissingObject):
        words = refused.get((problem.object_kind, problem.namespace, problem.name))
        if words is not None:
            message = f"{problem.object_text} does not exist: the API server refuses it"
            fix = f"mend it: {words}"
    stops = problem.blocking or isinstance(problem, _STOPPED_BY_THE_RUNTIME)
    return Reason(
        problem=type(problem).__name__,
        message=message,
        fix=fix,
        places=(problem.place,),
        kubelet=problem.kubelet,
        shown_as=_shown_as(problem),
        stops=stops,
        effect="" if stops else _effect(problem),
        certain=not isinstance(problem, UnreadableObject | ServicesUnreadable),
        explains=tuple(signal for signal in signals if _explains(problem, signal)),
    )


def _effect(problem: Problem) -> str:
    if problem.place.path.startswith("spec.imagePullSecrets"):
        return "the image may not be pulled"
    return "the container starts, but not as it was meant to"


def _together(earlier: Reason | None, later: Reason) -> Reason:
    if earlier is None:
        return later
    more = tuple(signal for signal in later.explains if signal not in earlier.explains)
    return structs.replace(
        earlier,
        places=(*earlier.places, *later.places),
        explains=(*earlier.explains, *more),
    )


def _is_moot(pod: Pod, reason: Reason) -> bool:
    """Tell whether somebody with more rights has evidently read what we could not."""
    return not reason.certain and all(has_started(pod, place.container) for place in reason.places)


def _shown_as(problem: Problem) -> ShownAs:
    if isinstance(problem, MissingPullSecret | UnusablePullSecret):
        return ShownAs(source="event", reason=PULL_SECRET_EVENT) if problem.kubelet else ShownAs()
    if isinstance(problem, SkippedNames):
        return ShownAs(source="event", reason=problem.event_reason)
    if isinstance(problem, _STOPPED_BY_THE_RUNTIME):
        return ShownAs(source="container waiting", reason=RUN_ERROR)
    if not problem.blocking:
        return ShownAs()
    if problem.place.path.startswith("spec.volumes"):
        return ShownAs(source="event", reason=FAILED_MOUNT)
    return ShownAs(source="container waiting", reason=CONFIG_ERROR)


def _explains(problem: Problem, signal: Signal) -> bool:
    container = problem.place.container
    if container and signal.container and signal.container != container:
        return False
    if isinstance(problem, MissingPullSecret | UnusablePullSecret):
        if signal.reason == PULL_SECRET_EVENT:
            return problem.name in signal.message
        return signal.reason in _PULL_FAILURES
    if isinstance(problem, _STOPPED_BY_THE_RUNTIME):
        return signal.reason in _RUN_FAILURES
    if not problem.kubelet or signal.from_elsewhere:
        return False
    if _names(problem, signal):
        return True
    return problem.kubelet in signal.message


def _names(problem: Problem, signal: Signal) -> bool:
    """Tell whether a complaint is about the object, in whatever words the reader had for it."""
    return (
        isinstance(problem, MissingObject)
        and f'{problem.object_kind.lower()} "{problem.name}" not found' in signal.message
    )


def _wanted_keys(pod: Pod) -> Mapping[tuple[ConfigKind, str], tuple[str, ...]]:
    keys: dict[tuple[ConfigKind, str], dict[str, None]] = {}
    for reference in references_of(pod):
        wanted = keys.setdefault((reference.kind, reference.name), {})
        wanted.update(dict.fromkeys(reference.keys or ()))
    return {key: tuple(names) for key, names in keys.items()}


# What the cluster complains about


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
