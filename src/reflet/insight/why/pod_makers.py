"""Why what makes pods has not all of them: what its conditions, its events and the quotas say.

A ReplicaSet, a StatefulSet, a DaemonSet and a Job make pods themselves; a Deployment and a CronJob
have others do it.

Upstream: pkg/controller/{replicaset,statefulset,daemon,job}
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final, NamedTuple

from reflet.api.core.pods import Pod
from reflet.api.core.small_kinds import Event
from reflet.api.core.workloads import (
    DaemonSet,
    Deployment,
    Job,
    ReplicaSet,
    ReplicationController,
    StatefulSet,
)
from reflet.api.frozen import Frozen
from reflet.api.meta import Condition
from reflet.api.quantities import Quantity
from reflet.errors import ParseError
from reflet.insight.why.cluster_state import SILENT_PATIENCE, QuotaSeen, StateView, controller_of
from reflet.insight.why.creation_reasons import QuotaExceeded, refusal
from reflet.insight.why.placement_reasons import requests_of
from reflet.insight.why.reasons import ObjectName, Reason, Sighting, seen
from reflet.insight.why.signals import Signal, counted, signals_in
from reflet.resolution.templates.templates import Workload, pod_of

FAILED_CREATE: Final = "FailedCreate"
LONG_AGO: Final = datetime(1970, 1, 1, tzinfo=UTC)

Maker = ReplicaSet | ReplicationController | StatefulSet | DaemonSet | Job
"""What makes pods itself."""


class PodsNotMade(Reason, frozen=True, kw_only=True):
    """Pods that are wanted and not there, and nobody says why."""

    whose: ObjectName
    wanted: int
    there: int

    def _sentence(self) -> str:
        return f"{self.there} of {self.wanted} pods have been made, and nothing says why"

    def _advice(self, example: ObjectName, /) -> str:
        return f"is its controller running? kubectl describe {example} {example.in_namespace}"


class ControllerSilent(Reason, frozen=True, kw_only=True):
    """A workload that no controller has looked at."""

    kind: str

    def _sentence(self) -> str:
        return f"no controller of {self.kind} objects has looked at it"

    def _advice(self, _: ObjectName, /) -> str:
        return "is kube-controller-manager running?"


class Member(Frozen, frozen=True, kw_only=True):
    """Something that a workload has made to make its pods: a ReplicaSet or a Job."""

    name: ObjectName
    role: str = ""
    wanted: int = 0
    ready: int = 0


class WorkloadStand(Frozen, frozen=True, kw_only=True):
    """How a workload stands; what its pods have is not in it.

    ``idle`` says that it wants no pods now, which is not wrong; ``past`` are owners whose pods
    count no more, by uid.
    """

    summary: str = ""
    members: tuple[Member, ...] = ()
    sightings: tuple[Sighting, ...] = ()
    unexplained: tuple[Signal, ...] = ()
    idle: bool = False
    past: frozenset[str] = frozenset()


class OwnPod(NamedTuple):
    """A pod of a workload: whether it is ready, and whether something is wrong with it."""

    pod: Pod
    ready: bool
    wrong: bool


def wanted_by(maker: Maker | Deployment) -> int:
    """Return how many pods there are to be now."""
    match maker:
        case DaemonSet():
            return maker.status.desired_number_scheduled
        case Job():
            wanted = maker.spec.parallelism
            left = (maker.spec.completions or 0) - maker.status.succeeded
            wanted = 1 if wanted is None else wanted
            return min(wanted, left) if maker.spec.completions is not None else wanted
        case _:
            return 1 if maker.spec.replicas is None else maker.spec.replicas


def made_by(
    maker: Maker, pods: Sequence[OwnPod], view: StateView
) -> tuple[list[Sighting], list[Signal]]:
    """Return why a maker has not all its pods, and the complaints that this does not explain."""
    name = ObjectName.of(maker.kind, maker.metadata)
    own = [each for each in pods if is_owned(each.pod, maker)]
    there = len([each for each in own if each.pod.status.phase not in {"Failed", "Succeeded"}])
    wanted = wanted_by(maker)
    events = [*view.events_of(maker.kind, maker.metadata)]
    if there >= wanted and _is_known(maker):
        return [], []  # events outlive what they complain about
    signals = counted(signals_in(events, maker.metadata.uid))
    failure = next((each for each in maker.status.conditions if is_failure(each)), None)
    refused = [each for each in signals if each.reason == FAILED_CREATE]
    rest = [each for each in signals if each not in refused]
    if failure is not None:
        condition = Signal(source="condition", reason=failure.type, message=failure.message)
        reason = refusal(failure.message, name.namespace)
        return [seen(reason, name, (condition, *refused))], rest
    if refused and view.sees_pods():
        reason = refusal(_last(events, FAILED_CREATE), name.namespace)
        return [seen(reason, name, tuple(refused))], rest
    if isinstance(maker, StatefulSet) and any(not each.ready for each in own):
        return [], rest  # the next pod is made when those before it are ready
    late = view.is_older(maker.metadata.creation_timestamp, SILENT_PATIENCE)
    if not late or not view.sees_pods():
        return [], rest
    reasons = [*_full_quotas(maker, view)] or [*_silence(maker, name, wanted, there)]
    return [seen(each, name) for each in reasons], rest


def _is_known(maker: Maker) -> bool:
    """Tell whether it is known how many pods there are to be: of a DaemonSet, its status says."""
    return not isinstance(maker, DaemonSet) or bool(maker.status.observed_generation)


def ready_of(workload: Maker | Deployment, pods: Sequence[OwnPod], view: StateView) -> int:
    """Return how many pods are ready; as the status has it, where they could not be looked at."""
    if view.sees_pods() or isinstance(workload, Job):
        return sum(each.ready for each in pods)
    if isinstance(workload, DaemonSet):
        return workload.status.number_ready
    return workload.status.ready_replicas


def _silence(maker: Maker, name: ObjectName, wanted: int, there: int) -> Iterator[Reason]:
    """Yield what it means that nobody says anything; a change of a moment ago means nothing."""
    if isinstance(maker, Job):
        if maker.status.start_time is None:
            yield ControllerSilent(kind=maker.kind)
        elif not maker.status.failed:  # after a failure, it waits before it tries again
            yield PodsNotMade(whose=name, wanted=wanted, there=there)
    elif not maker.status.observed_generation:
        yield ControllerSilent(kind=maker.kind)
    elif maker.status.observed_generation >= maker.metadata.generation:
        yield PodsNotMade(whose=name, wanted=wanted, there=there)


def is_owned(pod: Pod, maker: Workload) -> bool:
    """Tell whether a pod is the maker's."""
    owner = controller_of(pod.metadata)
    return owner is not None and owner.uid == maker.metadata.uid


def is_failure(condition: Condition) -> bool:
    """Tell whether a condition says that pods could not be made."""
    return condition.type == "ReplicaFailure" and condition.status == "True"


def _last(events: Iterable[Event], reason: str) -> str:
    """Return the words of the last event of a reason."""
    of_reason = [each for each in events if each.reason == reason]
    return max(of_reason, key=moment_of).message if of_reason else ""


def moment_of(event: Event) -> datetime:
    """Return when an event came last; long ago if nobody says."""
    series = None if event.series is None else event.series.last_observed_time
    return series or event.last_timestamp or event.event_time or LONG_AGO


def _full_quotas(maker: Maker, view: StateView) -> Iterator[Reason]:
    asked = {**requests_of(pod_of(maker)), "pods": Quantity.parse("1")}
    for quota in view.quotas_of(maker.metadata.namespace):
        for resource, hard in quota.status.hard.items():
            amount = asked.get(resource.removeprefix("requests.").removeprefix("count/"))
            if amount is not None and _is_over(quota, resource, amount):
                yield QuotaExceeded(
                    namespace=quota.metadata.namespace,
                    quota=quota.metadata.name,
                    limited=f"{resource}={hard}",
                )


def _is_over(quota: QuotaSeen, resource: str, amount: Quantity) -> bool:
    try:
        hard = Quantity.parse(quota.status.hard[resource])
        return Quantity.parse(quota.status.used.get(resource, "0")) + amount > hard
    except ParseError:
        return False


def member_of(maker: ReplicaSet | Job, pods: Sequence[OwnPod], role: str = "") -> Member:
    """Return a maker as a part of what has made it."""
    return Member(
        name=ObjectName.of(maker.kind, maker.metadata),
        role=role,
        wanted=wanted_by(maker),
        ready=sum(each.ready for each in pods if is_owned(each.pod, maker)),
    )
