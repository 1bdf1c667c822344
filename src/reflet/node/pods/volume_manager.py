"""A pod's files and variables, as they were last resolved and written.

Owns: resolving and writing in this order, writing only what is new, and what a change asks to be
done about containers.  Must not start or end any.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from reflet.api.core.pods import Pod
from reflet.node.pods.pod_volumes import Written
from reflet.node.pods.reloads import PodReloads
from reflet.node.pods.worker_parts import WorkerParts
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.runtime.threads import in_thread


@dataclass(frozen=True, slots=True)
class Delivered:
    """What was written, and the containers that are to start anew because of it."""

    written: Written
    to_restart: frozenset[str] = frozenset()


class VolumeManager:
    """The files of one pod, which is registered with the configurations.

    *resolved* is what was resolved last, None before the first time.
    """

    def __init__(self, parts: WorkerParts) -> None:
        self._parts = parts
        self._reloads = PodReloads(parts)
        self.resolved: ResolvedPod | None = None
        self.is_mounted = False

    async def write(self, pod: Pod) -> Delivered:
        """Resolve the pod, and make every volume what it is to be."""
        resolved = await self._parts.configurations.resolve(pod)
        return await self._deliver(resolved, lambda: self._parts.volumes.write(resolved))

    async def rewrite(self, pod: Pod) -> Delivered:
        """Resolve the pod again, and write the volumes that have other contents than before."""
        before = self.resolved
        if before is None:
            return await self.write(pod)
        resolved = await self._parts.configurations.resolve(pod)
        names = [
            name
            for name, contents in resolved.volumes.items()
            if contents != before.volumes.get(name)
        ]
        return await self._deliver(resolved, lambda: self._parts.volumes.rewrite(resolved, names))

    async def _deliver(self, resolved: ResolvedPod, write: Callable[[], Written]) -> Delivered:
        before, self.resolved = self.resolved, resolved
        written = await in_thread(write, executor=self._parts.disk)
        self.is_mounted = not written.errors
        if written.changed:
            self._parts.metrics.count("reflet_node_refreshes_total")
        if not self._parts.runs_commands:
            return Delivered(written)
        return Delivered(written, await self._reloads.reload(before, resolved, written))
