"""What sidecars make of a server that goes away, and of connections that fall silent.

Owns: both jobs.  Must not know who the sidecars are.

- restarts: the server goes away, one object is deleted and one changed, and it comes back.
- silence: the connections that there are carry nothing any more, and an object is changed.
"""

from __future__ import annotations

import asyncio
import time
from functools import partial
from typing import Any, Final

from benchmarks.measuring import percentile
from benchmarks.sidecar_objects import (
    ARRIVES,
    LOOK_EVERY,
    SETTLE,
    Staged,
    change,
    file_name,
    object_name,
    running,
    shows,
    until,
)
from reflet.api.core.config import ConfigMap
from reflet.cluster import Cluster

GIVEN_UP: Final = 120.0  # seconds after which a change is not waited for any more
CLIENT_TIMEOUT: Final = "60"  # as the chart of Loki sets it

ByName = dict[str, dict[str, Any]]


async def restarts(stage: Staged, *, times: int) -> ByName:
    """Objects that were deleted while the server was away, and files of them that stayed.

    Also the seconds from the server's return until each had seen what else changed meanwhile; the
    next round begins when everybody has, or is given up.
    """
    namespace = "restarts"
    waits: dict[str, list[float]] = {name: [] for name in stage.names}
    async with running(stage, namespace, times + 1) as (_, sidecars):
        for each in range(times):

            async def meanwhile(cluster: Cluster, each: int = each) -> None:
                await cluster.resource(ConfigMap, namespace=namespace).delete(object_name(each))
                await change(cluster, namespace, times, f"round {each}")

            await stage.server.go_away(meanwhile)
            back = time.monotonic()
            moments = await asyncio.gather(
                *(
                    until(partial(shows, sidecar, times, f"round {each}"), GIVEN_UP)
                    for sidecar in sidecars.values()
                )
            )
            for name, moment in zip(sidecars, moments, strict=True):
                waits[name].append(GIVEN_UP if moment is None else moment - back)
            await asyncio.sleep(SETTLE)
        return {
            name: {
                "missed": sum((sidecar.folder / file_name(each)).exists() for each in range(times)),
                "seen_p50": percentile(waits[name], 0.5),
                "seen_most": max(waits[name]),
                "ends": sidecar.ends,
            }
            for name, sidecar in sidecars.items()
        }


async def silence(stage: Staged, *, seconds: float) -> ByName:
    """Seconds until a change is seen whose connection has fallen silent."""
    if not seconds:
        return {}
    seen: dict[str, float | None] = {}
    with stage.server.relay(len(stage.names)) as (relay, ports):
        doors = dict(zip(stage.names, ports, strict=True))
        variables = {"doors": doors, "WATCH_CLIENT_TIMEOUT": CLIENT_TIMEOUT}
        async with running(stage, "silent", 1, **variables) as (cluster, sidecars):
            for door in range(len(ports)):
                relay.say({"hush": door})
                await asyncio.to_thread(relay.hear, ARRIVES)
            began = await change(cluster, "silent", 0, "unheard")
            while len(seen) < len(sidecars) and time.monotonic() < began + seconds:
                for name, sidecar in sidecars.items():
                    if name not in seen and shows(sidecar, 0, "unheard"):
                        seen[name] = time.monotonic() - began
                await asyncio.sleep(LOOK_EVERY)
    return {name: {"seconds": seen.get(name), "patience": seconds} for name in stage.names}
