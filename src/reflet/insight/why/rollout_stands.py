"""How a Deployment stands: whether its new version comes up, and what serves meanwhile.

Upstream: pkg/controller/deployment/{progress,sync}.go
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Final, NamedTuple

from reflet.api.core.workloads import Deployment, ReplicaSet
from reflet.insight.why.cluster_state import SILENT_PATIENCE, StateView
from reflet.insight.why.creation_reasons import refusal
from reflet.insight.why.pod_makers import (
    LONG_AGO,
    ControllerSilent,
    OwnPod,
    PodsNotMade,
    WorkloadStand,
    is_failure,
    is_owned,
    made_by,
    member_of,
    ready_of,
    wanted_by,
)
from reflet.insight.why.reasons import ObjectName, Reason, Sighting, seen
from reflet.insight.why.signals import Signal

REVISION: Final = "deployment.kubernetes.io/revision"
_TOO_LATE: Final = "ProgressDeadlineExceeded"


class NoProgress(Reason, frozen=True, kw_only=True):
    """A rollout that has not come further for too long."""

    whose: ObjectName
    words: str

    def _sentence(self) -> str:
        return f"its rollout makes no progress: {self.words}"

    def _advice(self, example: ObjectName, /) -> str:
        return f"kubectl rollout status {example} {example.in_namespace}"


def look_at_deployment(
    deployment: Deployment, pods: Sequence[OwnPod], view: StateView
) -> WorkloadStand:
    """Return how a Deployment stands, whose pods are in hand."""
    return _Rollout(deployment, pods, view).stand()


class _Rollout(NamedTuple):
    """A Deployment and its pods."""

    deployment: Deployment
    pods: Sequence[OwnPod]
    view: StateView

    def stand(self) -> WorkloadStand:
        sets = [
            each for each in self.view.owned_by(self.deployment) if isinstance(each, ReplicaSet)
        ]
        newest = max(sets, key=revision_of, default=None)
        wanted = wanted_by(self.deployment)
        made = [made_by(each, self.pods, self.view) for each in sets]
        found = [each for sightings, _ in made for each in sightings]
        left = [each for _, signals in made for each in signals]
        name = ObjectName.of("Deployment", self.deployment.metadata)
        if not found:
            found = [*self._own_failures(name)]
        trouble = bool(found) or any(each.wrong for each in self.pods)
        if not trouble and wanted:
            found = [*self._silence(name, sets)]
        alive = [each for each in sets if wanted_by(each) or self._has_pods(each)]
        ordered = sorted(alive, key=revision_of, reverse=True)
        several = len(ordered) > 1
        return WorkloadStand(
            summary=self._summary(newest, wanted, found),
            members=tuple(
                member_of(each, self.pods, ("new" if each is newest else "old") if several else "")
                for each in ordered
            ),
            sightings=tuple(found),
            unexplained=tuple(left),
            idle=not wanted,
        )

    def _has_pods(self, maker: ReplicaSet) -> bool:
        return any(is_owned(each.pod, maker) for each in self.pods)

    def _own_failures(self, name: ObjectName) -> Iterator[Sighting]:
        for condition in self.deployment.status.conditions:
            signal = Signal(source="condition", reason=condition.type, message=condition.message)
            failed_set = (
                condition.type == "Progressing" and condition.reason == "ReplicaSetCreateError"
            )
            if is_failure(condition) or (failed_set and condition.status == "False"):
                yield seen(refusal(condition.message, name.namespace), name, (signal,))

    def _silence(self, name: ObjectName, sets: Sequence[ReplicaSet]) -> Iterator[Sighting]:
        for condition in self.deployment.status.conditions:
            if condition.reason == _TOO_LATE:
                signal = Signal(
                    source="condition", reason=condition.reason, message=condition.message
                )
                yield seen(NoProgress(whose=name, words=condition.message), name, (signal,))
                return
        created = self.deployment.metadata.creation_timestamp
        late = self.view.is_older(created, SILENT_PATIENCE) and self.view.sees_pods()
        if late and not sets and not self.pods:
            observed = self.deployment.status.observed_generation
            wanted = wanted_by(self.deployment)
            silent: Reason = ControllerSilent(kind="Deployment")
            yield seen(
                PodsNotMade(whose=name, wanted=wanted, there=0) if observed else silent, name
            )

    def _summary(self, newest: ReplicaSet | None, wanted: int, found: Sequence[Sighting]) -> str:
        new = [each for each in self.pods if newest is not None and is_owned(each.pod, newest)]
        new_ready = sum(each.ready for each in new)
        ready = ready_of(self.deployment, self.pods, self.view)
        said = f"{ready} of {wanted} pods are ready"
        if not wanted:
            said = "scaled to 0"
        elif (
            self.view.sees_pods()
            and ready > new_ready < wanted
            and (found or any(each.wrong for each in new))
        ):
            old = ready - new_ready
            serve = "1 old pod still serves" if old == 1 else f"{old} old pods still serve"
            said = f"the new version does not come up; {serve}"
        if any(each.reason == _TOO_LATE for each in self.deployment.status.conditions):
            said += "; its rollout has exceeded its deadline"
        return f"{said}; the rollout is paused" if self.deployment.spec.paused else said


def revision_of(maker: ReplicaSet) -> tuple[int, datetime]:
    """Return what orders the ReplicaSets of a Deployment: the newest is the largest."""
    text = maker.metadata.annotations.get(REVISION, "")
    created = maker.metadata.creation_timestamp or LONG_AGO
    return int(text) if text.isdecimal() else 0, created
