"""Which containers of a pod to start and which to stop now: ``compute_pod_actions``.

Pure: a pod and a status of the runtime in, ``PodActions`` out.  The status must be newer than the
last thing that was done about the pod, or a container is started twice.

The order is the kubelet's: init containers one after the other, each when the one before has
succeeded; sidecars among them in the same order, each waited for until it has started, and looked
after for the whole life of the pod; then all containers at once.  Ephemeral containers have one
life each, and wait for nobody.  Once a container has had a life,
init containers are not run again, whatever became of them.  How long a crash holds a container
back (CrashLoopBackOff) is handed in, since it depends on the clock: ``starting`` knows it.

Upstream: pkg/kubelet/kuberuntime/kuberuntime_manager.go, computePodActions;
pkg/kubelet/kuberuntime/kuberuntime_container.go, computeInitContainerActions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from reflet.api.core.containers import Container
from reflet.api.core.pods import Pod
from reflet.node.pods.restart_policy import (
    NEVER,
    has_ended,
    has_succeeded,
    init_policy_of,
    is_running,
    is_sidecar,
    is_started,
    policy_of,
    starts_again,
)
from reflet.node.probes.probe_results import UNPROBED, PodHealth
from reflet.node.probes.probe_spec import ProbeKind
from reflet.pleg.runtime_status import (
    RuntimeContainerStatus,
    RuntimeStatus,
)

HeldBack = Callable[[RuntimeContainerStatus], float]
"""For how many more seconds an ended container must not start again."""


@dataclass(frozen=True, slots=True)
class HeldContainer:
    """A container that starts again after so many *seconds*."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True)
class UnhealthyContainer:
    """A container that runs and has to end because of a *probe*; *why* is the kubelet's text."""

    name: str
    probe: ProbeKind
    why: str
    starts_again: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class PodActions:
    """What to do now, by names of containers, each list in its order.

    *unhealthy* are to be stopped too.  *held* are those that a crash holds back.  With *is_over*
    the pod will never run anything again, and what still runs of it is in *stop*.
    """

    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    unhealthy: tuple[UnhealthyContainer, ...] = ()
    held: tuple[HeldContainer, ...] = ()
    is_over: bool = False


def compute_pod_actions(
    pod: Pod,
    status: RuntimeStatus,
    *,
    held_back: HeldBack,
    changed: frozenset[str] = frozenset(),
    failed: frozenset[str] = frozenset(),
    health: PodHealth = UNPROBED,
    starts_ephemeral: bool = False,
) -> PodActions:
    """Say what to do about the pod now.

    *changed* are containers that are to start anew, because what they are made from is no
    longer what they run with.  *failed* are those that were ended because of a probe: however
    they ended, they did not succeed.  *starts_ephemeral* says that ephemeral containers may start,
    for which the pod needs a sandbox.
    """
    actions = _Computing(
        pod, status, held_back=held_back, changed=changed, failed=failed, health=health
    ).actions()
    if actions.is_over or not starts_ephemeral:
        return actions
    ephemeral = (each.name for each in pod.spec.ephemeral_containers)
    new = tuple(name for name in ephemeral if status.container(name) is None)
    return replace(actions, start=(*new, *actions.start)) if new else actions


def is_initialized(pod: Pod, status: RuntimeStatus, health: PodHealth = UNPROBED) -> bool:
    """Whether every init container has done its part, or did in an earlier life."""
    if any(status.container(each.name) is not None for each in pod.spec.containers):
        return True
    return all(
        is_started(status.container(each.name), health)
        if is_sidecar(each)
        else has_succeeded(status.container(each.name))
        for each in pod.spec.init_containers
    )


class _Computing:
    """The actions of one pod, while they are computed."""

    def __init__(
        self,
        pod: Pod,
        status: RuntimeStatus,
        *,
        held_back: HeldBack,
        changed: frozenset[str],
        failed: frozenset[str],
        health: PodHealth,
    ) -> None:
        self._pod = pod
        self._status = status
        self._held_back = held_back
        self._changed = changed
        self._failed = failed
        self._health = health
        self._start: list[str] = []
        self._stop: list[str] = []
        self._unhealthy: list[UnhealthyContainer] = []
        self._held: list[HeldContainer] = []

    def actions(self) -> PodActions:
        if self._is_over():
            return PodActions(stop=self._running_names(), is_over=True)
        if self._init():
            for container in self._pod.spec.containers:
                self._attend(container)
        return PodActions(
            start=tuple(self._start),
            stop=tuple(self._stop),
            unhealthy=tuple(self._unhealthy),
            held=tuple(self._held),
        )

    def _is_over(self) -> bool:
        spec = self._pod.spec
        if not is_initialized(self._pod, self._status, self._health):
            return any(
                has_ended(found)
                and not has_succeeded(found)
                and not starts_again(init_policy_of(self._pod, each), found)
                for each in spec.init_containers
                for found in (self._status.container(each.name),)
            )
        return bool(spec.containers) and all(
            self._is_done(each, self._status.container(each.name)) for each in spec.containers
        )

    def _is_done(self, container: Container, found: RuntimeContainerStatus | None) -> bool:
        """Whether a container has had its last life, or is in it and has to go."""
        policy = policy_of(self._pod, container)
        if found is not None and is_running(found):
            is_unhealthy = self._health.of(found.id).failed is not None
            return is_unhealthy and policy == NEVER and container.name not in self._changed
        return has_ended(found) and not self._starts_again(policy, found)

    def _starts_again(self, policy: str, found: RuntimeContainerStatus | None) -> bool:
        if found is not None and found.name in self._failed and policy != NEVER:
            return has_ended(found)
        return starts_again(policy, found)

    def _running_names(self) -> tuple[str, ...]:
        """Those that run, containers before sidecars and sidecars from the last to the first."""
        spec = self._pod.spec
        ordered: Sequence[Container] = (
            *spec.ephemeral_containers,
            *spec.containers,
            *reversed(spec.init_containers),
        )
        return tuple(each.name for each in ordered if is_running(self._status.container(each.name)))

    def _init(self) -> bool:
        """Attend to the init containers; whether the containers' turn has come."""
        initialized = is_initialized(self._pod, self._status, self._health)
        for container in self._pod.spec.init_containers:
            found = self._status.container(container.name)
            if is_sidecar(container):
                self._attend(container)
                if not initialized and not is_started(found, self._health):
                    return False
            elif not initialized:
                if has_succeeded(found):
                    continue
                if found is None:
                    self._start.append(container.name)
                elif has_ended(found):
                    self._start_or_hold(container.name, found)
                return False
        return True

    def _attend(self, container: Container) -> None:
        name = container.name
        found = self._status.container(name)
        if found is None:
            self._start.append(name)
        elif is_running(found):
            if name in self._changed:
                self._stop.append(name)
            elif (probe := self._health.of(found.id).failed) is not None:
                self._unhealthy.append(self._killed_for(container, probe))
        elif name in self._changed:
            self._start.append(name)
        elif self._starts_again(policy_of(self._pod, container), found):
            self._start_or_hold(name, found)

    def _killed_for(self, container: Container, probe: ProbeKind) -> UnhealthyContainer:
        name, again = container.name, policy_of(self._pod, container) != NEVER
        if any(each.name == name for each in self._pod.spec.init_containers):
            why = f"Init container {name} failed {probe.lower()} probe"
        else:
            tail = ", will be restarted" if again else ""
            why = f"Container {name} failed {probe.lower()} probe{tail}"
        return UnhealthyContainer(name, probe, why, again)

    def _start_or_hold(self, name: str, found: RuntimeContainerStatus) -> None:
        seconds = self._held_back(found)
        if seconds > 0:
            self._held.append(HeldContainer(name, seconds))
        else:
            self._start.append(name)
