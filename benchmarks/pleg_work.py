"""A pod status cache in a program of its own, fed from a container runtime.

Owns: what is running while its costs are taken.  Says its process id when the cache is full, and
then each death, when the cache has it.  Must not know who kills.
"""

from __future__ import annotations

import asyncio
import os
import time
from typing import Any

from benchmarks.measuring import answer, first_line
from reflet.cri.cri_client import CriClient
from reflet.cri.cri_runtime import CriRuntime
from reflet.pleg.compute_events import PodEventType
from reflet.pleg.evented import EventedPleg
from reflet.pleg.relist import Pleg
from reflet.pleg.status_cache import StatusCache


async def follow(task: dict[str, Any]) -> None:
    """Keep a cache by relist or by events, and report what ends."""
    cache = StatusCache()
    kind = EventedPleg if task["mode"] == "events" else Pleg
    async with CriClient(task["endpoint"]) as cri, kind(CriRuntime(cri.runtime), cache) as pleg:
        running: set[str] = set()
        async for event in pleg.events:
            if event.type is PodEventType.CONTAINER_STARTED:
                running.add(event.container_id)
                if len(running) == 2 * task["pods"]:  # sandboxes count as containers
                    answer({"process": os.getpid()})
            elif event.type is PodEventType.CONTAINER_DIED:
                # An event is told after the cache has the status that belongs to it.
                answer({"ended": event.container_id, "at": time.monotonic()})


if __name__ == "__main__":
    asyncio.run(follow(first_line()))
