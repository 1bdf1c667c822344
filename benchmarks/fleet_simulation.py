"""One outage of the model server, lived through by a fleet on virtual time.

Owns: the course of a simulation, and what is counted of it.  Must not know what is compared.

A fleet of fewer agents, or of agents with fewer streams, meets a server that is as much slower;
its counts are given as those of the whole fleet would be.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import math
import random
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Final

from benchmarks.fleet_agents import Agent, Probing
from benchmarks.fleet_server import BINS, Arrival, Capacity, ModelServer
from reflet.testing import virtual_time

AGENTS: Final = 5_000  # of the whole fleet
STREAMS: Final = 20  # of each
CAPACITY: Final = Capacity(handshakes=2_000, requests=40_000, most_waiting=4_000, loading=1.0)

BEFORE: Final = 5.0  # seconds for which all is well
LONGEST: Final = 200.0  # seconds after the outage; the first watches end after 300
STEP: Final = 1.0  # seconds between two points of a line
SHARES: Final = {"50 %": 0.5, "99 %": 0.99, "100 %": 1.0}  # of the agents


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """An outage of *away* seconds; *capacity* is that of the whole fleet's server.

    Without *probing* the agents follow client-go's policy.  *behind_gateway* is the share of the
    agents that have a load balancer before the server.  Not *restarted*, the server kept its
    watch cache and its rules: it was the way to it that was gone.
    """

    away: float
    probing: Probing | None
    agents: int = AGENTS
    streams: int = STREAMS
    capacity: Capacity = CAPACITY
    behind_gateway: float = 0.0
    restarted: bool = True
    seed: int = 1

    def share_of(self, kind: Arrival) -> float:
        """Which part of the whole fleet's arrivals comes here."""
        agents = self.agents / AGENTS
        connections = kind in {Arrival.REFUSED, Arrival.HANDSHAKE}
        return agents if connections else agents * self.streams / STREAMS


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of a scene, for the whole fleet.

    ``live_after`` is how many seconds after the server listened so much of the agents had all
    their streams again, None when they never had.  ``peaks`` are arrivals in the second with the
    most, ``totals`` all of them.  ``lines`` have a point for every ``STEP``
    seconds, from ``BEFORE`` before the outage on: arrivals a second, and ``live``, the share of
    the agents.
    """

    live_after: Mapping[str, float | None]
    peaks: Mapping[str, float]
    totals: Mapping[str, float]
    lines: Mapping[str, Sequence[float]]


def simulate(scene: Scene) -> Outcome:
    """Let it happen.  What the reflectors log is not heard: there are too many of them."""
    logging.disable(logging.CRITICAL)
    try:
        return virtual_time.run(_Simulation(scene).run())
    finally:
        logging.disable(logging.NOTSET)


class _Simulation:
    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        self._stops_at = self._listens_at = 0.0
        self._live = 0
        self._became_live: list[float] = []
        self._all_live = asyncio.Event()
        self._server = ModelServer(
            replace(
                scene.capacity,
                handshakes=scene.capacity.handshakes * scene.share_of(Arrival.HANDSHAKE),
                requests=scene.capacity.requests * scene.share_of(Arrival.REQUEST),
                most_waiting=scene.capacity.most_waiting * scene.share_of(Arrival.REQUEST),
            )
        )

    async def run(self) -> Outcome:
        scene, server = self._scene, self._server
        loop = asyncio.get_running_loop()
        tasks = self._started()
        await asyncio.sleep(BEFORE)
        assert self._all_live.is_set()
        self._all_live.clear()
        for counts in server.arrivals.values():
            counts.clear()
        self._stops_at = loop.time()
        server.stop()
        if scene.away:  # else nobody gets a turn before it is back
            await asyncio.sleep(scene.away)
        self._listens_at = loop.time()
        server.start(restarted=scene.restarted)
        self._became_live.clear()
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(LONGEST):
                await self._all_live.wait()
        outcome = self._outcome(loop.time())
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks)
        return outcome

    def _started(self) -> list[asyncio.Task[None]]:
        scene = self._scene
        chance = random.Random(scene.seed).random
        agents = [
            Agent(
                self._server,
                streams=scene.streams,
                probing=scene.probing,
                gateway=number < scene.agents * scene.behind_gateway,
                chance=chance,
                changed=self._changed,
            )
            for number in range(scene.agents)
        ]
        return [task for agent in agents for task in agent.start()]

    def _changed(self, live: bool) -> None:
        self._live += 1 if live else -1
        if live:
            self._became_live.append(asyncio.get_running_loop().time())
            if self._live == self._scene.agents:
                self._all_live.set()

    def _outcome(self, now: float) -> Outcome:
        shares = {kind: self._scene.share_of(kind) for kind in Arrival}
        arrivals = self._server.arrivals
        steps = math.ceil(now / STEP) + 1
        return Outcome(
            live_after={share: self._live_after(part) for share, part in SHARES.items()},
            peaks={kind: peak(arrivals[kind]) / shares[kind] for kind in Arrival},
            totals={kind: arrivals[kind].total() / shares[kind] for kind in Arrival},
            lines={
                **{kind: _rates(arrivals[kind], steps, shares[kind]) for kind in Arrival},
                "live": [self._live_at(step * STEP) / self._scene.agents for step in range(steps)],
            },
        )

    def _live_after(self, share: float) -> float | None:
        enough = math.ceil(self._scene.agents * share)
        if len(self._became_live) < enough:
            return None
        return self._became_live[enough - 1] - self._listens_at

    def _live_at(self, moment: float) -> int:
        if moment < self._stops_at:
            return self._scene.agents
        return bisect_right(self._became_live, moment)


def peak(counts: Mapping[int, int]) -> int:
    """The most that arrived within a second, whenever that began."""
    return max(
        (sum(counts.get(first + number, 0) for number in range(BINS)) for first in counts),
        default=0,
    )


def _rates(counts: Mapping[int, int], steps: int, share: float) -> list[float]:
    """Arrivals a second from the beginning on, of the whole fleet."""
    bins = round(STEP * BINS)
    return [
        sum(counts.get(step * bins + number, 0) for number in range(bins)) / STEP / share
        for step in range(steps)
    ]
