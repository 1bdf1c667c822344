"""Every workload and pod in hand, what is wrong with it, and equal reasons as one, worst first.

Upwards from each pod to what it belongs to, or to what was asked about; downwards from there to
ReplicaSets, Jobs and pods.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, final

from msgspec import structs

from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.insight.fixes import near_miss
from reflet.insight.why.cluster_state import ClusterState, StateView, controller_of
from reflet.insight.why.configuration_reasons import configuration_of
from reflet.insight.why.creation_reasons import AbsentObject, ServerRefuses
from reflet.insight.why.needs import claims_named, prerequisites
from reflet.insight.why.pod_makers import Member, OwnPod, WorkloadStand
from reflet.insight.why.pod_reasons import PodStand, Stand, look_at_pod
from reflet.insight.why.reasons import ObjectName, Reason, Sighting, seen
from reflet.insight.why.signals import Signal, common_words
from reflet.insight.why.workload_stands import look_at_workload
from reflet.resolution.places import Place
from reflet.resolution.pod_inputs import PodInputs, RefusedObject
from reflet.resolution.templates.templates import Workload

MOST_FIXES: Final = 3


class Affected(Frozen, frozen=True, kw_only=True):
    """What has a reason: a workload or a pod by itself, and which of its pods; none if all."""

    root: ObjectName
    pods: tuple[str, ...] = ()


class GroupedReason(Frozen, frozen=True, kw_only=True):
    """One reason, and all that have it."""

    reason: Reason
    affected: tuple[Affected, ...] = ()
    fix: str = ""
    places: tuple[Place, ...] = ()
    explains: tuple[Signal, ...] = ()
    wrong: bool = True
    running: bool = False

    @property
    def pods(self) -> int:
        """How many pods have it."""
        return sum(len(each.pods) for each in self.affected)


class Unexplained(Frozen, frozen=True, kw_only=True):
    """A complaint for which no reason is known, and one of those that make it."""

    signal: Signal
    at: ObjectName


class RootStand(Frozen, frozen=True, kw_only=True):
    """How a workload, or a pod by itself, stands.

    ``pods`` counts its pods by how they stand.
    """

    root: ObjectName
    summary: str = ""
    members: tuple[Member, ...] = ()
    pods: Mapping[str, int] = {}
    wrong: bool = False
    idle: bool = False


class Diagnosis(Frozen, frozen=True, kw_only=True):
    """The reasons, worst first; how everything stands; and what could not be told or looked at."""

    roots: tuple[RootStand, ...] = ()
    reasons: tuple[GroupedReason, ...] = ()
    unexplained: tuple[Unexplained, ...] = ()
    unknown: tuple[GroupedReason, ...] = ()
    left_out: tuple[str, ...] = ()
    from_files: bool = False

    @property
    def wrong(self) -> bool:
        """Whether anything is not as it should be."""
        return any(each.wrong for each in self.reasons) or any(each.wrong for each in self.roots)

    def pods(self, stand: Stand | None = None) -> int:
        """How many pods there are, or stand so."""
        counts = [each.pods for each in self.roots]
        if stand is None:
            return sum(sum(each.values()) for each in counts)
        return sum(each.get(stand.value, 0) for each in counts)


def diagnose(state: ClusterState) -> Diagnosis:
    """Return what is wrong with everything in hand, or with what was asked about."""
    return _Examination(state).diagnosis()


@final
class _Examination:
    """One look at a state."""

    def __init__(self, state: ClusterState) -> None:
        self._state = state
        self._view = StateView(state)
        self._sightings: list[tuple[ObjectName, Sighting]] = []
        self._unknown: list[tuple[ObjectName, Sighting]] = []
        self._unexplained: dict[Signal, ObjectName] = {}
        self._roots: list[RootStand] = []
        self._pods: dict[ObjectName, list[PodInputs]] = {}
        self._workloads: dict[ObjectName, Workload] = {}
        self._templates: dict[ObjectName, list[PodInputs]] = {}

    def diagnosis(self) -> Diagnosis:
        view, targets = self._view, self._state.targets
        for inputs in self._state.pods:
            root = view.root_of("Pod", inputs.pod.metadata)
            self._pods.setdefault(root, []).append(inputs)
        for workload in self._state.workloads:
            name = ObjectName.of(workload.kind, workload.metadata)
            if view.root_of(workload.kind, workload.metadata) == name:
                self._workloads[name] = workload
        for inputs in self._state.templates:
            name = ObjectName(kind=inputs.kind, namespace=inputs.namespace, name=inputs.name)
            self._templates.setdefault(name, []).append(inputs)
        for root in dict.fromkeys((*self._workloads, *self._templates, *self._pods)):
            if targets is None or root in targets:
                self._look_at(root)
        for refused in self._state.refusals:
            self._refused(refused)
        return Diagnosis(
            roots=tuple(self._roots),
            reasons=tuple(sorted(_grouped(self._sightings), key=_badness)),
            unexplained=tuple(
                Unexplained(signal=signal, at=at) for signal, at in self._unexplained.items()
            ),
            unknown=tuple(_grouped(self._unknown)),
            left_out=self._state.left_out,
            from_files=self._state.from_files,
        )

    def _look_at(self, root: ObjectName) -> None:
        pods = self._pods.get(root, [])
        stands = [look_at_pod(each, root, self._view) for each in pods]
        workload = self._workloads.get(root)
        stand = WorkloadStand()
        if workload is not None:
            own = [
                OwnPod(each.pod, ready.ready, ready.stand is Stand.WRONG)
                for each, ready in zip(pods, stands, strict=True)
            ]
            stand = look_at_workload(workload, own, self._view)
            stands = [
                _past(each) if _owner(inputs.pod) in stand.past else each
                for inputs, each in zip(pods, stands, strict=True)
            ]
        found = [*self._absences(root, workload)]
        for inputs in self._templates.get(root, ()):
            found += configuration_of(inputs, root).found
        # What wants no pods now lacks nothing.
        found = [structs.replace(each, wrong=each.wrong and not stand.idle) for each in found]
        found += stand.sightings
        found += [sighting for each in stands for sighting in each.sightings]
        self._sightings += [(root, each) for each in found]
        self._unknown += [(root, sighting) for each in stands for sighting in each.unknown]
        for signal in stand.unexplained:
            self._unexplained.setdefault(signal, root)
        for each in stands:
            for signal in each.unexplained:
                self._unexplained.setdefault(signal, each.pod)
        self._roots.append(_root_stand(root, stand, stands, found))

    def _refused(self, refused: RefusedObject) -> None:
        root = ObjectName(kind=refused.kind, namespace=refused.namespace, name=refused.name)
        reason = ServerRefuses(place=refused.place, words=refused.message)
        sighting = seen(reason, root)
        self._sightings.append((root, sighting))
        self._roots.append(_root_stand(root, WorkloadStand(), (), (sighting,)))

    def _absences(self, root: ObjectName, workload: Workload | None) -> Iterator[Sighting]:
        """Yield what new pods cannot be made without, and does not exist."""
        absent, present = self._state.absent, self._state.present
        if not absent:
            return
        templates = [each.pod for each in self._templates.get(root, ())]
        named = [*prerequisites(() if workload is None else (workload,), templates)]
        if self._state.from_files:
            named += [key for pod in templates for key in claims_named(workload, pod)]
        for kind, namespace, name in dict.fromkeys(key for key in named if key in absent):
            reason = AbsentObject(
                kind=kind, namespace=namespace, name=name, certain=not self._state.from_files
            )
            others = sorted(each for *place, each in present if place == [kind, namespace])
            create, close = reason.advice(root), near_miss(name, others)
            yield Sighting(
                reason=reason,
                at=root,
                fix=f"did you mean {close}? Otherwise {create}" if close else create,
                wrong=reason.certain,
            )


def _owner(pod: Pod) -> str:
    owner = controller_of(pod.metadata)
    return "" if owner is None else owner.uid


def _past(stand: PodStand) -> PodStand:
    """Return a pod of something that has ended well: what was wrong with it counts no more."""
    if stand.stand is not Stand.WRONG:
        return stand
    return structs.replace(stand, stand=Stand.LEFT_BEHIND, sightings=(), unexplained=())


def _root_stand(
    root: ObjectName, stand: WorkloadStand, pods: Iterable[PodStand], found: Iterable[Sighting]
) -> RootStand:
    counts: dict[str, int] = {}
    for each in pods:
        counts[each.stand.value] = counts.get(each.stand.value, 0) + 1
    wrong = bool(counts.get(Stand.WRONG.value)) or any(each.wrong for each in found)
    if root.kind == "Pod" and not counts:  # a pod of files
        counts = {(Stand.WRONG if wrong else Stand.FINE).value: 1}
    return RootStand(
        root=root,
        summary=stand.summary,
        members=stand.members,
        pods=counts,
        wrong=wrong,
        idle=stand.idle,
    )


def _grouped(sightings: Iterable[tuple[ObjectName, Sighting]]) -> Iterator[GroupedReason]:
    """Yield equal reasons as one, with all that have them."""
    together: dict[Reason, list[tuple[ObjectName, Sighting]]] = {}
    for root, sighting in sightings:
        together.setdefault(sighting.reason, []).append((root, sighting))
    for reason, all_of_it in together.items():
        pods: dict[ObjectName, dict[str, None]] = {}
        for root, sighting in all_of_it:
            names = pods.setdefault(root, {})
            if sighting.at.kind == "Pod":
                names[sighting.at.name] = None
        every = [sighting for _, sighting in all_of_it]
        wrong = [each for each in every if each.wrong]
        yield GroupedReason(
            reason=reason,
            affected=tuple(Affected(root=root, pods=tuple(names)) for root, names in pods.items()),
            fix=_advice(reason, [each.fix for each in wrong or every]),
            places=tuple(dict.fromkeys(place for each in every for place in each.places)),
            explains=_few(every),
            wrong=bool(wrong),
            running=all(each.running for each in every),
        )


def _advice(reason: Reason, fixes: Sequence[str]) -> str:
    """Return what to do; what is missing in a configuration may be more than one pod knows."""
    if not reason.in_configuration:
        return fixes[0]
    return "; ".join([*dict.fromkeys(fixes)][:MOST_FIXES])


def _few(sightings: Iterable[Sighting]) -> tuple[Signal, ...]:
    """Return complaints, those that differ only in what is each pod's own as one."""
    together: dict[tuple[str, str, str, str], Signal] = {}
    for sighting in sightings:
        for signal in sighting.explains:
            words = common_words(signal.message, sighting.at.name)
            key = (signal.source, signal.reason, signal.container, words)
            known = together.get(key)
            count = signal.count if known is None else known.count + signal.count
            together[key] = structs.replace(known or signal, count=count)
    return tuple(together.values())


def _badness(reason: GroupedReason) -> tuple[bool, bool, bool, int]:
    return (not reason.wrong, not reason.reason.stops, reason.running, -max(reason.pods, 1))
