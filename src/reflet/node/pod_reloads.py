"""What is done to a pod's containers when its configuration has changed.

Owns: sending the signal that a pod asks for, and telling which containers are to start anew.  The
rules are ``reload_rules``.  Must not start or end anything.
"""

from __future__ import annotations

from reflet.api.pods import Pod
from reflet.delivery.resolved_pod import ResolvedPod
from reflet.node.events import NORMAL, WARNING
from reflet.node.pod_volumes import Written
from reflet.node.reload_rules import FilesOnly, Restart, SendSignal, reload_of, users_of
from reflet.node.worker_parts import WorkerParts


class PodReloads:
    """The reloads of one pod."""

    def __init__(self, parts: WorkerParts) -> None:
        self._parts = parts
        self._mistake_told = ""

    async def reload(
        self, before: ResolvedPod | None, now: ResolvedPod, written: Written
    ) -> frozenset[str]:
        """Do what the pod wants done; the containers that are to start anew."""
        pod = now.pod
        match reload_of(pod):
            case FilesOnly(mistake=mistake):
                if mistake and mistake != self._mistake_told:
                    self._mistake_told = mistake
                    self._parts.events.of_pod(pod, WARNING, "InvalidAnnotation", mistake)
                return frozenset()
            case SendSignal(number=number):
                await self._signal(pod, users_of(pod, written.changed), number)
                return frozenset()
            case Restart():
                others = set() if before is None else _with_other_variables(before, now)
                return frozenset((*users_of(pod, written.changed), *others))

    async def _signal(self, pod: Pod, names: tuple[str, ...], number: int) -> None:
        if not names:
            return
        runtime = self._parts.runtime
        for record in await runtime.records(pod.metadata.uid):
            if record.name in names and record.finished_at is None:
                await runtime.signal(record.id, number)
                self._parts.events.of_pod(
                    pod,
                    NORMAL,
                    "ConfigurationChanged",
                    f"Sent signal {number} to container {record.name}: its files have changed",
                    container=record.name,
                )


def _with_other_variables(before: ResolvedPod, now: ResolvedPod) -> set[str]:
    """The containers whose variables are others than before, and can be given to them."""
    return {
        name
        for name, environment in now.environments.items()
        if name in before.environments
        and environment.error is None
        and environment.values != before.environments[name].values
    }
