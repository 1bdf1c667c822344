"""Ending containers of a pod that may go on without them, or with new ones.

Owns: how long each has, what is said of it, and who was ended because of a probe.  How an end goes
is ``pod_endings``.  Must not know which container has to end, nor when one starts again.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from typing import Any

from reflet.api.pods import Pod
from reflet.node.lifecycle_hooks import unless_told
from reflet.node.pod_endings import end_container, end_pod, grace_after_probe, grace_of
from reflet.node.run_decisions import Decision
from reflet.node.worker_parts import WorkerParts
from reflet.podstatus.runtime_status import RuntimeStatus


class ContainerStopper:
    """Ends containers of one pod.

    *interrupted* is set when the whole pod has to go, and nothing else is waited for then;
    *patiently* is entered while an end takes the seconds that it may.  ``failed`` are those who
    were ended because of a probe, until whoever starts them takes them out.
    """

    def __init__(
        self,
        parts: WorkerParts,
        interrupted: asyncio.Event,
        patiently: Callable[[float], AbstractContextManager[None]],
    ) -> None:
        self._parts = parts
        self._interrupted = interrupted
        self._patiently = patiently
        self.failed: set[str] = set()

    async def stop(self, pod: Pod, seen: RuntimeStatus, decision: Decision) -> set[str]:
        """End what is to end; those of it that are to start anew because they changed."""
        anew: set[str] = set()
        if decision.is_over:
            await self.end_all(pod, seen)
            return anew
        for name in decision.stop:
            why = f"Container {name} changed, will be restarted"
            if await self._end(pod, seen, name, grace_of(pod), why):
                anew.add(name)
        for each in decision.unhealthy:
            grace = grace_after_probe(pod, each)
            if await self._end(pod, seen, each.name, grace, each.why) and each.starts_again:
                self.failed.add(each.name)
        return anew

    async def end_all(self, pod: Pod, seen: RuntimeStatus) -> None:
        """End everything that runs of a pod which is over."""
        grace = grace_of(pod)
        await self._waited_for(end_pod(self._parts, pod, seen, grace), grace)

    async def _end(self, pod: Pod, seen: RuntimeStatus, name: str, grace: float, why: str) -> bool:
        found = seen.container(name)
        if found is None:
            return False
        return await self._waited_for(end_container(self._parts, pod, found, grace, why=why), grace)

    async def _waited_for(self, ending: Coroutine[Any, Any, None], grace: float) -> bool:
        """Wait for an end, unless the whole pod has to go meanwhile; whether it came."""
        with self._patiently(grace):
            return await unless_told(self._interrupted, ending)
