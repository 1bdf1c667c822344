"""Which containers of a pod to start and which to stop, from what is seen of them now.

Owns: the order of init containers, sidecars and containers, and the restart policy.  Only
decides, from a status that must be newer than the last thing that was done about the pod.  Must
not know processes, nor how long a crash holds a container back: that is handed in.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from reflet.api.containers import Container
from reflet.api.pods import Pod
from reflet.podstatus.runtime_status import (
    RuntimeContainerStatus,
    RuntimeState,
    RuntimeStatus,
)

ALWAYS, ON_FAILURE, NEVER = "Always", "OnFailure", "Never"

HeldBack = Callable[[RuntimeContainerStatus], float]
"""For how many more seconds an ended container must not start again."""

_ENDED: Final = frozenset({RuntimeState.EXITED, RuntimeState.UNKNOWN, RuntimeState.CREATED})


@dataclass(frozen=True, slots=True)
class HeldContainer:
    """A container that starts again after so many *seconds*."""

    name: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What to do now, by names of containers, each list in its order.

    *held* are those that a crash holds back.  With *is_over* the pod will never run anything
    again, and what still runs of it is in *stop*.
    """

    start: tuple[str, ...] = ()
    stop: tuple[str, ...] = ()
    held: tuple[HeldContainer, ...] = ()
    is_over: bool = False


def is_sidecar(container: Container) -> bool:
    """Whether an init container goes on beside the others."""
    return container.restart_policy == ALWAYS


def is_running(status: RuntimeContainerStatus | None) -> bool:
    """Whether the container's process is there."""
    return status is not None and status.state is RuntimeState.RUNNING


def has_ended(status: RuntimeContainerStatus | None) -> bool:
    """Whether the container was there and is no more."""
    return status is not None and status.state in _ENDED


def has_succeeded(status: RuntimeContainerStatus | None) -> bool:
    """Whether the container ended and said that all was well."""
    return status is not None and status.state is RuntimeState.EXITED and status.exit_code == 0


def policy_of(pod: Pod, container: Container) -> str:
    """The restart policy of a container: its own if it has one, else the pod's."""
    return container.restart_policy or pod.spec.restart_policy or ALWAYS


def init_policy_of(pod: Pod, container: Container) -> str:
    """The restart policy of an init container: one that succeeded is done, whatever the pod's."""
    if container.restart_policy:
        return container.restart_policy
    return NEVER if pod.spec.restart_policy == NEVER else ON_FAILURE


def starts_again(policy: str, status: RuntimeContainerStatus | None) -> bool:
    """Whether a container that ended as *status* says is started again."""
    if not has_ended(status):
        return False
    if policy == ALWAYS:
        return True
    return policy == ON_FAILURE and not has_succeeded(status)


def decide(
    pod: Pod,
    status: RuntimeStatus,
    *,
    held_back: HeldBack,
    changed: frozenset[str] = frozenset(),
) -> Decision:
    """Say what to do about the pod now.

    *changed* are containers that are to start anew, because what they are made from is no
    longer what they run with.
    """
    return _Deciding(pod, status, held_back, changed).decide()


def is_initialized(pod: Pod, status: RuntimeStatus) -> bool:
    """Whether every init container has done its part, or did in an earlier life."""
    if any(status.container(each.name) is not None for each in pod.spec.containers):
        return True
    return all(
        is_running(status.container(each.name))
        if is_sidecar(each)
        else has_succeeded(status.container(each.name))
        for each in pod.spec.init_containers
    )


class _Deciding:
    """One decision, while it is made."""

    def __init__(
        self, pod: Pod, status: RuntimeStatus, held_back: HeldBack, changed: frozenset[str]
    ) -> None:
        self._pod = pod
        self._status = status
        self._held_back = held_back
        self._changed = changed
        self._start: list[str] = []
        self._stop: list[str] = []
        self._held: list[HeldContainer] = []

    def decide(self) -> Decision:
        if self._is_over():
            return Decision(stop=self._running_names(), is_over=True)
        if self._init():
            for container in self._pod.spec.containers:
                self._attend(container)
        return Decision(start=tuple(self._start), stop=tuple(self._stop), held=tuple(self._held))

    def _is_over(self) -> bool:
        spec = self._pod.spec
        if not is_initialized(self._pod, self._status):
            return any(
                has_ended(found)
                and not has_succeeded(found)
                and not starts_again(init_policy_of(self._pod, each), found)
                for each in spec.init_containers
                for found in (self._status.container(each.name),)
            )
        return bool(spec.containers) and all(
            has_ended(found) and not starts_again(policy_of(self._pod, each), found)
            for each in spec.containers
            for found in (self._status.container(each.name),)
        )

    def _running_names(self) -> tuple[str, ...]:
        """Those that run, containers before sidecars and sidecars from the last to the first."""
        spec = self._pod.spec
        ordered: Sequence[Container] = (*spec.containers, *reversed(spec.init_containers))
        return tuple(each.name for each in ordered if is_running(self._status.container(each.name)))

    def _init(self) -> bool:
        """Attend to the init containers; whether the containers' turn has come."""
        initialized = is_initialized(self._pod, self._status)
        for container in self._pod.spec.init_containers:
            found = self._status.container(container.name)
            if is_sidecar(container):
                self._attend(container)
                if not initialized and not is_running(found):
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
        elif name in self._changed:
            self._start.append(name)
        elif starts_again(policy_of(self._pod, container), found):
            self._start_or_hold(name, found)

    def _start_or_hold(self, name: str, found: RuntimeContainerStatus) -> None:
        seconds = self._held_back(found)
        if seconds > 0:
            self._held.append(HeldContainer(name, seconds))
        else:
            self._start.append(name)
