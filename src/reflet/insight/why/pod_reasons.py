"""Everything about one pod: how it stands, and why it is not as it should be.

What its configuration explains comes first; then its life (gates, nodes, volumes, its end), then
its containers.  Each rule looks at the complaints that no rule before it has explained.

Upstream: pkg/kubelet/{eviction,nodeshutdown,status}; pkg/controller/nodelifecycle
"""

import enum
import re
from collections.abc import Callable, Iterator
from typing import Final, NamedTuple

from reflet.api.core.nodes import Node
from reflet.api.core.pods import Pod
from reflet.api.frozen import Frozen
from reflet.insight.why.claim_reasons import claim_reasons
from reflet.insight.why.cluster_state import (
    READY_PATIENCE,
    SILENT_PATIENCE,
    StateView,
    controller_of,
)
from reflet.insight.why.configuration_reasons import configuration_of
from reflet.insight.why.container_reasons import Found, container_reasons
from reflet.insight.why.life_reasons import (
    EndsSlowly,
    Evicted,
    FinalizersLeft,
    KubeletRefused,
    NobodyActs,
    NodeGone,
    NodeNotReady,
    NodeShutDown,
    ReadinessGateClosed,
    SandboxNotMade,
    SchedulingGated,
    VolumeNotMounted,
)
from reflet.insight.why.placement_reasons import no_node_fits
from reflet.insight.why.reasons import ObjectName, Sighting, seen
from reflet.insight.why.signals import Signal, common_words, has_started, runs_well
from reflet.resolution.pod_inputs import PodInputs

_UNSCHEDULED: Final = frozenset({"Unschedulable", "FailedScheduling", "SchedulerError"})
_SHUT_DOWN: Final = frozenset({"Terminated", "NodeShutdown", "Shutdown"})
_MOUNTS: Final = frozenset({"FailedMount", "FailedAttachVolume", "FailedMapVolume"})
_SANDBOXES: Final = frozenset({"FailedCreatePodSandBox", "NetworkNotReady"})
# Whoever has made such a pod makes another one in its place.
_REPLACED_BY: Final = frozenset({"ReplicaSet", "ReplicationController", "StatefulSet", "DaemonSet"})
_RESOURCE: Final = re.compile(r"low on resource: (?P<resource>[\w./-]+?)\.(?:\s|$)")
_VOLUME: Final = re.compile(r'volume "(?P<name>[^"]+)"|unmounted volumes=\[(?P<names>[^\]]*)\]')
_MOUNT_HEAD: Final = re.compile(r'^\S+ failed for volume "[^"]+"\s*: ')
_ABOUT_CONFIGURATION: Final = re.compile(
    r'(?:configmap|secret) "[^"]+" not found|references non-existent config key'
)


class Stand(enum.Enum):
    """How a pod stands."""

    FINE = "fine"
    """It runs, or has ended well."""
    STARTING = "starting"
    """It has only just begun, or is about to end, and nothing speaks against it."""
    LEFT_BEHIND = "left behind"
    """It has failed, and another one is there in its place."""
    WAITING = "waiting"
    """Somebody keeps it back on purpose."""
    WRONG = "wrong"


class PodStand(Frozen, frozen=True, kw_only=True):
    """A pod, how it stands and why; ``unexplained`` complaints have no reason, ``unknown`` reasons
    no effect on a pod that has started.
    """

    pod: ObjectName
    stand: Stand
    ready: bool = False
    sightings: tuple[Sighting, ...] = ()
    unexplained: tuple[Signal, ...] = ()
    unknown: tuple[Sighting, ...] = ()


def look_at_pod(inputs: PodInputs, whose: ObjectName, view: StateView) -> PodStand:
    """Return how a pod stands; *whose* it is, itself where nothing has made it."""
    pod = inputs.pod
    name = ObjectName.of("Pod", pod.metadata)
    report = configuration_of(inputs, name)
    found, verdict = list(report.found), Stand.FINE
    # Once there is a node, what the scheduler said before is past.
    past = _UNSCHEDULED if pod.spec.node_name else frozenset[str]()
    left = [signal for signal in report.unexplained if signal.reason not in past]
    if not (runs_well(pod) and _is_ready(pod) and pod.metadata.deletion_timestamp is None):
        look = _PodLook(pod, whose, view, left, explained=any(each.reason.stops for each in found))
        verdict, reasons = look.verdict()
        wrong = verdict is Stand.WRONG
        for reason, explains in reasons:
            found.append(seen(reason, name, explains, wrong=wrong))
            left = [signal for signal in left if signal not in explains]
    if any(each.wrong for each in found) and verdict is not Stand.LEFT_BEHIND:
        verdict = Stand.WRONG
    return PodStand(
        pod=name,
        stand=verdict,
        ready=runs_well(pod) and _is_ready(pod) and pod.status.phase == "Running",
        sightings=tuple(found),
        unexplained=tuple(left),
        unknown=report.unknown,
    )


def _is_ready(pod: Pod) -> bool:
    """Tell whether the pod is called ready; one that nobody has called anything is."""
    return pod.status.phase == "Succeeded" or all(
        each.status != "False" for each in pod.status.conditions if each.type == "Ready"
    )


class _PodLook(NamedTuple):
    """One pod that does not run as it should, and what is complained about.

    ``explained`` says that its configuration keeps it from starting.
    """

    pod: Pod
    whose: ObjectName
    view: StateView
    signals: list[Signal]
    explained: bool

    def verdict(self) -> tuple[Stand, list[Found]]:
        pod = self.pod
        if pod.metadata.deletion_timestamp is not None:
            found = self._deleted()
            return (Stand.WRONG if found else Stand.STARTING), found
        if pod.status.phase == "Failed":
            owner = controller_of(pod.metadata)
            replaced = owner is not None and owner.kind in _REPLACED_BY
            return (Stand.LEFT_BEHIND if replaced else Stand.WRONG), self._failed()
        if not pod.spec.node_name:
            return self._unplaced()
        found = [*self._on_node(), *self._mounts(), *self._sandbox()]
        explained = {signal for each in found for signal in each.explains}
        rest = [signal for signal in self.signals if signal not in explained]
        found += container_reasons(pod, self.whose, rest, self.view)
        found = found or [*self._gates()] or [*self._silence()]
        return (Stand.WRONG if found or self._complains() else Stand.STARTING), found

    def _complains(self) -> bool:
        """Tell whether a status speaks against it; events alone may be about the past."""
        return any(signal.source != "event" for signal in self.signals)

    def _about(self, wanted: Callable[[Signal], bool]) -> tuple[Signal, ...]:
        return tuple(signal for signal in self.signals if wanted(signal))

    def _node(self) -> Node | None:
        return None if self.view.nodes is None else self.view.nodes.get(self.pod.spec.node_name)

    def _on_node(self) -> Iterator[Found]:
        name = self.pod.spec.node_name
        if not name or self.view.nodes is None:
            return
        about = self._about(lambda signal: signal.reason in {"NodeNotReady", "NodeLost"})
        node = self._node()
        if node is None:
            yield Found(NodeGone(node=name), about)
            return
        for condition in node.status.conditions:
            if condition.type == "Ready" and condition.status != "True":
                yield Found(NodeNotReady(node=name, words=condition.message), about)

    def _deleted(self) -> list[Found]:
        metadata = self.pod.metadata
        if not self.view.is_older(metadata.deletion_timestamp, READY_PATIENCE):
            return []
        on_node = [*self._on_node()]
        if on_node:
            return on_node
        runs = any(each.state.running for each in self.pod.status.container_statuses)
        if metadata.finalizers and not runs:
            return [Found(FinalizersLeft(finalizers=metadata.finalizers))]
        about = self._about(lambda signal: signal.reason in {"FailedKillPod", "FailedPreStopHook"})
        return [Found(EndsSlowly(node=self.pod.spec.node_name), about)]

    def _failed(self) -> list[Found]:
        status = self.pod.status
        if not status.reason:
            found = [*container_reasons(self.pod, self.whose, self.signals, self.view)]
            if found or self.signals or self.explained:
                return found
            # Whoever writes statuses may set the phase and say no more.
            words = common_words(status.message, self.pod.metadata.name)
            return [Found(KubeletRefused(how=status.phase, words=words))]
        # How its containers ended is a consequence.
        every = tuple(self.signals)
        if status.reason == "Evicted":
            resource = _RESOURCE.search(status.message)
            return [Found(Evicted(resource=resource["resource"] if resource else ""), every)]
        if status.reason in _SHUT_DOWN:
            return [Found(NodeShutDown(node=self.pod.spec.node_name), every)]
        words = common_words(status.message, self.pod.metadata.name)
        return [Found(KubeletRefused(how=status.reason, words=words), every)]

    def _unplaced(self) -> tuple[Stand, list[Found]]:
        gates = tuple(each.name for each in self.pod.spec.scheduling_gates)
        if gates:
            about = self._about(lambda signal: signal.reason == "SchedulingGated")
            return Stand.WAITING, [Found(SchedulingGated(gates=gates), about)]
        about = self._about(lambda signal: signal.reason in _UNSCHEDULED)
        if not about:
            who = f"scheduler {self.pod.spec.scheduler_name or 'default-scheduler'}"
            found = self._silent(who)
            return (Stand.WRONG if found else Stand.STARTING), found
        # The status holds the scheduler's last word, and comes before events.
        words = about[0].message
        reasons = [*claim_reasons(self.pod, self.view, words)]
        if not reasons:
            reasons = [no_node_fits(self.pod, self.view.nodes, words)]
        return Stand.WRONG, [Found(each, about) for each in reasons]

    def _mounts(self) -> Iterator[Found]:
        about = self._about(
            lambda signal: (
                signal.reason in _MOUNTS and not _ABOUT_CONFIGURATION.search(signal.message)
            )
        )
        if not about or has_started(self.pod):
            return
        by_volume: dict[str, list[Signal]] = {}
        for signal in about:
            found = _VOLUME.search(signal.message)
            names = (found["name"] or found["names"]) if found else ""
            by_volume.setdefault(names, []).append(signal)
        # That volumes are not mounted yet says nothing beside why one is not.
        telling = {
            names: signals
            for names, signals in by_volume.items()
            if any(not signal.message.startswith("Unable to attach") for signal in signals)
        }
        for names, signals in (telling or by_volume).items():
            words = common_words(_MOUNT_HEAD.sub("", signals[-1].message), self.pod.metadata.name)
            explains = tuple(signals) if telling else about
            yield Found(VolumeNotMounted(volume=names or "of the pod", words=words), explains)

    def _sandbox(self) -> Iterator[Found]:
        about = self._about(lambda signal: signal.reason in _SANDBOXES)
        if about and not has_started(self.pod):
            metadata = self.pod.metadata
            words = common_words(about[-1].message, metadata.name, metadata.uid)
            yield Found(SandboxNotMade(words=words), about)

    def _gates(self) -> Iterator[Found]:
        if not runs_well(self.pod):
            return
        conditions = {each.type: each.status for each in self.pod.status.conditions}
        closed = tuple(
            gate.condition_type
            for gate in self.pod.spec.readiness_gates
            if conditions.get(gate.condition_type) != "True"
        )
        if closed:
            yield Found(ReadinessGateClosed(gates=closed))

    def _silence(self) -> Iterator[Found]:
        if not self.explained and not has_started(self.pod) and not self._complains():
            yield from self._silent(f"the kubelet of node {self.pod.spec.node_name}")

    def _silent(self, who: str) -> list[Found]:
        created = self.pod.metadata.creation_timestamp
        return [Found(NobodyActs(who=who))] if self.view.is_older(created, SILENT_PATIENCE) else []
