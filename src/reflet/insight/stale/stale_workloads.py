"""Old values by workload: what the containers of its pods hold, told once for all its pods."""

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.insight.owners import Owners
from reflet.insight.stale.held_values import Certainty, HeldState
from reflet.insight.stale.staleness import KeyUse, Staleness
from reflet.insight.stale.used_keys import Histories


class RunningPods(NamedTuple):
    """Pods, the past of what they use, who made them, and what could not be found out."""

    pods: tuple[Pod, ...]
    histories: Histories
    owners: Owners
    notes: tuple[str, ...] = ()


class SharedUse(Frozen, frozen=True, kw_only=True):
    """A use that several pods of a workload have in common; its reason is the first pod's."""

    use: KeyUse
    pods: tuple[str, ...]


class WorkloadStaleness(Frozen, frozen=True, kw_only=True):
    """A workload, or a pod of its own, its running pods, and every key that they use."""

    kind: str
    namespace: str
    name: str
    pods: tuple[str, ...]
    uses: tuple[SharedUse, ...]

    @property
    def title(self) -> str:
        """The workload as it is named on the command line: ``deployment/web``."""
        return f"{self.kind.lower()}/{self.name}"

    @property
    def is_stale(self) -> bool:
        """Whether a container of it holds, or may hold, what is not there any more."""
        return any(each.use.state.is_stale for each in self.uses)

    def stale_containers(self, certainty: Certainty) -> int:
        """How many containers are stale; those of which it was observed are not inferred too."""
        found: dict[tuple[str, str], Certainty] = {}
        for each in self.uses:
            if each.use.state.is_stale:
                for pod in each.pods:
                    place = (pod, each.use.container)
                    if found.get(place) is not Certainty.OBSERVED:
                        found[place] = each.use.certainty
        return sum(1 for known in found.values() if known is certainty)

    def with_states(self, *states: HeldState) -> "WorkloadStaleness":
        """Return the same with uses of these states only."""
        uses = tuple(each for each in self.uses if each.use.state in states)
        return WorkloadStaleness(
            kind=self.kind, namespace=self.namespace, name=self.name, pods=self.pods, uses=uses
        )


def stale_workloads(
    running: RunningPods, *, now: datetime, current: bool = True
) -> list[WorkloadStaleness]:
    """Return every workload whose pods run and use something, by namespace and name.

    Without *current*, uses that are current are left out, and workloads that have no others.
    """
    found: dict[tuple[str, str, str], list[tuple[Pod, tuple[KeyUse, ...]]]] = {}
    staleness = Staleness(running.histories, now=now, current=current)
    for pod in running.pods:
        uses = tuple(staleness.of(pod))
        if uses:
            kind, name = running.owners.of(pod)[-1]
            found.setdefault((pod.metadata.namespace, kind, name), []).append((pod, uses))
    return [
        WorkloadStaleness(
            kind=kind,
            namespace=namespace,
            name=name,
            pods=tuple(sorted(pod.metadata.name for pod, _ in found[namespace, kind, name])),
            uses=tuple(_shared(found[namespace, kind, name])),
        )
        for namespace, kind, name in sorted(found)
    ]


def _shared(uses: Iterable[tuple[Pod, tuple[KeyUse, ...]]]) -> list[SharedUse]:
    """Return each use once, with all pods that have it alike, whenever they started."""
    first: dict[tuple[object, ...], KeyUse] = {}
    pods: dict[tuple[object, ...], list[str]] = {}
    for pod, every in uses:
        for use in every:
            alike = (
                *(use.container, use.arrival, use.name, use.kind, use.object, use.key),
                *(use.state, use.certainty),
            )
            first.setdefault(alike, use)
            pods.setdefault(alike, []).append(pod.metadata.name)
    return [SharedUse(use=use, pods=tuple(sorted(pods[alike]))) for alike, use in first.items()]
