"""What a pod wants done when its configuration changes while it runs: ``reflet.dev/on-change``.

Kubernetes itself does nothing but refresh the files of volumes, and so do we unless the annotation
says ``restart`` or ``signal:NAME``.  The rules are pure (``reload_of``, ``users_of``);
``PodReloads`` sends the signal, and says which containers are to start anew, which is for the next
sync to do.  So are those to start anew that the pod itself has changed: ``outdated``.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final, TypeAlias

from reflet.api.core.pods import Pod
from reflet.controllers.event_recorder import NORMAL, WARNING
from reflet.node.container_runtime import ContainerRuntime
from reflet.node.pods.pod_volumes import Written
from reflet.node.status.node_events import NodeEvents
from reflet.pleg.runtime_status import RuntimeState
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.processes.exit_status import signal_number
from reflet.resolution.places import containers_of

ANNOTATION: Final = "reflet.dev/on-change"
"""``none``, ``restart`` or ``signal:NAME``."""


@dataclass(frozen=True, slots=True)
class FilesOnly:
    """Refresh the files, as the kubelet does; *mistake* is what is wrong with the annotation."""

    mistake: str = ""


@dataclass(frozen=True, slots=True)
class Restart:
    """Start the containers anew that use what changed, variables included."""


@dataclass(frozen=True, slots=True)
class SendSignal:
    """Send a signal to the containers that mount what changed."""

    number: int


Reload: TypeAlias = FilesOnly | Restart | SendSignal


def reload_of(pod: Pod) -> Reload:
    """What the pod's annotation asks for; one that cannot be read asks for nothing."""
    text = pod.metadata.annotations.get(ANNOTATION, "").strip()
    if text in {"", "none"}:
        return FilesOnly()
    if text == "restart":
        return Restart()
    kind, _, name = text.partition(":")
    if kind == "signal":
        try:
            return SendSignal(signal_number(name))
        except ValueError as error:
            return FilesOnly(f"{ANNOTATION}: {error}")
    return FilesOnly(f"{ANNOTATION}: {text!r} is none of none, restart and signal:NAME")


def users_of(pod: Pod, volumes: Collection[str]) -> tuple[str, ...]:
    """The containers that see changes of these volumes; a sub-path never shows one."""
    return tuple(
        placed.container.name
        for placed in containers_of(pod.spec)
        if any(
            mount.name in volumes and not mount.sub_path and not mount.sub_path_expr
            for mount in placed.container.volume_mounts
        )
    )


async def outdated(runtime: ContainerRuntime, pod: Pod) -> set[str]:
    """The containers that were made from something else than the pod says by now."""
    made_from = await runtime.fingerprints(pod.metadata.uid)
    return {
        placed.container.name
        for placed in containers_of(pod.spec)
        if made_from.get(placed.container.name) not in {None, runtime.fingerprint(placed.container)}
    }


class PodReloads:
    """The reloads of one pod.

    A signal that cannot be sent is due at the next reload, whatever that is for.
    """

    def __init__(self, runtime: ContainerRuntime, events: NodeEvents) -> None:
        self._runtime = runtime
        self._events = events
        self._mistake_told = ""
        self._to_signal: set[str] = set()

    async def reload(
        self, before: ResolvedPod | None, now: ResolvedPod, written: Written
    ) -> frozenset[str]:
        """Do what the pod wants done; the containers that are to start anew."""
        pod = now.pod
        match reload_of(pod):
            case FilesOnly(mistake=mistake):
                if mistake and mistake != self._mistake_told:
                    self._mistake_told = mistake
                    self._events.of_pod(pod, WARNING, "InvalidAnnotation", mistake)
                return frozenset()
            case SendSignal(number=number):
                self._to_signal.update(users_of(pod, written.changed))
                await self._signal(pod, number)
                return frozenset()
            case Restart():
                others = set() if before is None else _with_other_variables(before, now)
                return frozenset((*users_of(pod, written.changed), *others))

    async def _signal(self, pod: Pod, number: int) -> None:
        if not self._to_signal:
            return
        for record in await self._runtime.records(pod.metadata.uid):
            if record.name in self._to_signal and record.state is RuntimeState.RUNNING:
                await self._runtime.signal(record.id, number)
                self._to_signal.discard(record.name)
                self._events.of_pod(
                    pod,
                    NORMAL,
                    "ConfigurationChanged",
                    f"Sent signal {number} to container {record.name}: its files have changed",
                    container=record.name,
                )
        self._to_signal.clear()  # who does not run yet begins with the new files


def _with_other_variables(before: ResolvedPod, now: ResolvedPod) -> set[str]:
    """The containers whose variables are others than before, and can be given to them."""
    return {
        name
        for name, environment in now.environments.items()
        if name in before.environments
        and environment.error is None
        and environment.values != before.environments[name].values
    }
