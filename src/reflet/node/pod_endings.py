"""Ending the containers of a pod.

Owns: the order, the grace period and the events.  Must not know why the pod ends.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Final

from reflet.api.pods import Pod
from reflet.node.events import NORMAL
from reflet.node.run_decisions import is_running, is_sidecar
from reflet.node.worker_parts import WorkerParts
from reflet.podstatus.runtime_status import RuntimeContainerStatus, RuntimeStatus

USUAL_GRACE: Final = 30  # seconds
LEAST_GRACE: Final = 0.0


def grace_of(pod: Pod) -> float:
    """The seconds that a pod has to end: what its deletion says, else what the pod says."""
    asked = pod.metadata.deletion_grace_period_seconds
    if asked is None:
        asked = pod.spec.termination_grace_period_seconds
    return float(USUAL_GRACE if asked is None else asked)


async def end_pod(parts: WorkerParts, pod: Pod, seen: RuntimeStatus, grace: float) -> None:
    """End everything of a pod: containers at the same time, then sidecars from the last.

    All share one grace period; what is left of it is for those who come last.
    """
    deadline = parts.clock.monotonic() + grace
    sidecars = [each.name for each in pod.spec.init_containers if is_sidecar(each)]
    running = [each for each in seen.containers if is_running(each)]
    first = [each for each in running if each.name not in sidecars]
    async with asyncio.TaskGroup() as tasks:
        for each in first:
            tasks.create_task(end_container(parts, pod, each, deadline), name=f"end of {each.name}")
    for name in reversed(sidecars):
        for each in running:
            if each.name == name:
                await end_container(parts, pod, each, deadline)


async def end_pod_in_time(
    parts: WorkerParts, latest: Callable[[], Pod], seen: RuntimeStatus, shorter: asyncio.Event
) -> None:
    """End the pod that *latest* gives; whoever shortens its grace period meanwhile is heard.

    *shorter* is set when *latest* may give another grace period.
    """
    pod = latest()
    grace = grace_of(pod)
    async with asyncio.TaskGroup() as tasks:
        ending = {tasks.create_task(end_pod(parts, pod, seen, grace), name="end")}
        while not any(task.done() for task in ending):
            # Looked at before each wait: it may have changed before this began.
            if grace_of(latest()) < grace:
                grace = grace_of(latest())
                again = end_pod(parts, latest(), seen, grace)
                ending.add(tasks.create_task(again, name="end sooner"))
            shorter.clear()
            told = tasks.create_task(shorter.wait(), name="shorter grace period")
            await asyncio.wait((*ending, told), return_when=asyncio.FIRST_COMPLETED)
            told.cancel()


async def end_container(
    parts: WorkerParts,
    pod: Pod,
    container: RuntimeContainerStatus,
    deadline: float,
    *,
    why: str = "",
) -> None:
    """End one container by a moment of the clock."""
    message = why or f"Stopping container {container.name}"
    parts.events.of_pod(pod, NORMAL, "Killing", message, container=container.name)
    left = max(LEAST_GRACE, deadline - parts.clock.monotonic())
    await parts.runtime.end(container.id, left)
