"""What in its configuration keeps a pod from starting.

Which problems count as reasons, where a kubelet would show each, and which of a cluster's
complaints (the pod's status and events) each explains.  No reason holds a Secret's value.
"""

from collections.abc import Mapping
from typing import ClassVar, Final

from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.insight.fixes import Advice
from reflet.insight.pod_problems import (
    MissingPullSecret,
    MissingSubPath,
    UnusablePullSecret,
    problems_of,
)
from reflet.insight.why.reasons import ObjectName, Reason, ShownAs, Sighting
from reflet.insight.why.signals import (
    PULL_SECRET_EVENT,
    Signal,
    has_started,
    runs_well,
    signals_of,
)
from reflet.resolution.objects import ConfigKind
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
from reflet.resolution.references.references import references_of

CONFIG_ERROR: Final = "CreateContainerConfigError"
FAILED_MOUNT: Final = "FailedMount"
RUN_ERROR: Final = "RunContainerError"

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


class Misconfiguration(Reason, frozen=True, kw_only=True):
    """A problem of the pod's configuration, wherever it stands in the pod.

    ``type`` is that of the problem.  With ``stops`` the container, or the pod, does not start.  One
    that is not ``certain`` is one of this reader: what it may not read, a kubelet perhaps may.
    """

    in_configuration: ClassVar[bool] = True

    type: str
    message: str
    kubelet: str = ""
    shown_as: ShownAs = ShownAs()
    stops: bool = True
    effect: str = ""
    certain: bool = True


class ConfigurationReport(Frozen, frozen=True, kw_only=True):
    """The reasons, the complaints that none of them explains, and what could not be told."""

    found: tuple[Sighting, ...] = ()
    unexplained: tuple[Signal, ...] = ()
    unknown: tuple[Sighting, ...] = ()


def configuration_of(inputs: PodInputs, at: ObjectName) -> ConfigurationReport:
    """Return every reason why the configuration of a pod keeps it from starting.

    What the cluster complains about is in the pod's status and in ``inputs.events``; *at* is the
    pod, or what makes it.
    """
    pod = inputs.pod
    signals = signals_of(pod, inputs.events)
    found = problems_of(inputs)
    problems = [
        each for each in found.problems if each.blocking or isinstance(each, _STILL_REASONS)
    ]
    if not problems:
        return ConfigurationReport(unexplained=signals)
    advice = Advice(
        known=inputs.known_objects,
        wanted_keys=_wanted_keys(pod),
        environments=found.environments,
    )
    refused = {
        (each.kind, each.namespace, each.name): f"{each.place}: {each.message}"
        for each in inputs.refusals
    }
    seen: dict[Reason, Sighting] = {}
    for problem in problems:
        sighting = _sighting(problem, advice, signals, refused, at)
        seen[sighting.reason] = _together(seen.get(sighting.reason), sighting)
    running = runs_well(pod)
    certain = [
        structs.replace(each, wrong=_is_wrong(each), running=running)
        for each in seen.values()
        if not _is_moot(pod, each)
    ]
    explained = [signal for each in certain for signal in each.explains]
    return ConfigurationReport(
        # What stops the pod comes first.
        found=tuple(sorted(certain, key=lambda each: not each.reason.stops)),
        unexplained=tuple(signal for signal in signals if signal not in explained),
        unknown=tuple(each for each in seen.values() if _is_moot(pod, each)),
    )


def _sighting(
    problem: Problem,
    advice: Advice,
    signals: tuple[Signal, ...],
    refused: Mapping[tuple[str, str, str], str],
    at: ObjectName,
) -> Sighting:
    message, fix = problem.message, advice.about(problem)
    if isinstance(problem, MissingObject):
        words = refused.get((problem.object_kind, problem.namespace, problem.name))
        if words is not None:
            message = f"{problem.object_text} does not exist: the API server refuses it"
            fix = f"correct it: {words}"
    stops = problem.blocking or isinstance(problem, _STOPPED_BY_THE_RUNTIME)
    reason = Misconfiguration(
        type=type(problem).__name__,
        message=message,
        kubelet=problem.kubelet,
        shown_as=_shown_as(problem),
        stops=stops,
        effect="" if stops else _effect(problem),
        certain=not isinstance(problem, UnreadableObject | ServicesUnreadable),
    )
    return Sighting(
        reason=reason,
        at=at,
        fix=fix,
        places=(problem.place,),
        explains=tuple(signal for signal in signals if _explains(problem, signal)),
    )


def _effect(problem: Problem) -> str:
    if problem.place.path.startswith("spec.imagePullSecrets"):
        return "the image may not be pulled"
    return "the container starts, but not as it was meant to"


def _together(earlier: Sighting | None, later: Sighting) -> Sighting:
    if earlier is None:
        return later
    more = tuple(signal for signal in later.explains if signal not in earlier.explains)
    return structs.replace(
        earlier,
        places=(*earlier.places, *later.places),
        explains=(*earlier.explains, *more),
    )


def _is_wrong(sighting: Sighting) -> bool:
    """Tell whether this is wrong whatever else is so: many images are pulled without a secret.

    One that is missing fails when the cluster says that the image was not pulled.
    """
    if sighting.reason.stops or sighting.reason.type != MissingPullSecret.__name__:
        return True
    return any(signal.reason != PULL_SECRET_EVENT for signal in sighting.explains)


def _is_moot(pod: Pod, sighting: Sighting) -> bool:
    """Tell whether somebody with more rights has evidently read what we could not."""
    return not sighting.reason.certain and all(
        has_started(pod, place.container) for place in sighting.places
    )


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
