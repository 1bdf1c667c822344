"""Traffic, requests and CPU of those who only wait: nothing changes, and what do they do?

Owns: the jobs, their sizes, the servers, and how long everybody waits.  Must not know how a
contestant works (``idle_contestants``, ``idle_agents``) or how results are shown
(``idle_tables``).

The jobs, each contestant at three sizes, each in a process of its own:

- mirrors: hold a collection that nobody changes;
- managers: keep the objects of registered pods, and look at each pod once in a period, as the
  kubelet does;
- agents: look after running pods.

All of them wait at the same time, on the same real kube-apiserver.  Each has a door of its own in
a relay, which counts connections and bytes; the server's own log counts requests.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

from benchmarks import wire_objects
from benchmarks.go_programs import Environment
from benchmarks.idle_agents import IdleAgent
from benchmarks.idle_contestants import AGENT, MANAGERS, MIRRORS, Idler, manager, mirror, prepared
from benchmarks.idle_relay import HOST, calling_address
from benchmarks.idle_requests import KINDS, RequestLog, Watch
from benchmarks.idle_tables import broken, goals, growth_rows, tables
from benchmarks.managers import allow_descriptors
from benchmarks.managers_tables import KUBELET
from benchmarks.measuring import (
    Child,
    Result,
    RunFailed,
    Sample,
    Standings,
    last_line,
    summary,
    versions_of,
)
from benchmarks.wire_clients import Target
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.kube_server import KubeServer

TIMEOUT: Final = 30.0  # seconds for the relay to answer
STARTED_AT_ONCE: Final = 3  # there are two cores, and who starts also waits for the server
MINUTE: Final = 60.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything; the period of the managers is as long as a window.

    *settle* is at least a sixth of a window: then every copy in a manager's cache is asked for
    exactly once in each window.
    """

    windows: int
    seconds: float
    settle: float
    mirrors: Sequence[int]
    managers: Sequence[int]
    agents: Sequence[int]


FULL: Final = Size(
    windows=3,
    seconds=60.0,
    settle=10.0,
    mirrors=(100, 1_000, 10_000),
    managers=(100, 400, 1_600),
    agents=(5, 20, 80),
)
QUICK: Final = Size(
    windows=1,
    seconds=10.0,
    settle=2.0,
    mirrors=(10, 100, 1_000),
    managers=(10, 40, 160),
    agents=(1, 4, 16),
)


@dataclass(frozen=True, slots=True)
class Place:
    """One contestant at one size of its job."""

    job: str
    name: str
    size: int

    @property
    def namespace(self) -> str:
        """Where its objects are."""
        return f"{self.job}-{self.size}"


@dataclass(frozen=True, slots=True)
class Look:
    """Everything that was counted until one moment."""

    moment: float
    requests: Mapping[str, Counter[str]]
    relayed: Sequence[Mapping[str, int]]
    cpu: Mapping[Place, float]
    shim_cpu: Mapping[Place, float] = field(default_factory=dict)
    """What of it a shim used, which only agents have."""


@dataclass(slots=True)
class Stage:
    """The server, the relay in front of it, and everybody who has started."""

    size: Size
    administrator: Target
    log: RequestLog
    relay: Child
    ports: Sequence[int]
    folder: Path
    environments: Mapping[str, Environment]
    idlers: dict[Place, Idler] = field(default_factory=dict)
    left_out: dict[Place, str] = field(default_factory=dict)

    def create_objects(self) -> None:
        """Make what mirrors and managers keep."""
        for job, sizes in (("mirrors", self.size.mirrors), ("managers", self.size.managers)):
            for objects in sizes:
                namespace = Place(job, "", objects).namespace
                asyncio.run(wire_objects.create(self.administrator, namespace, objects))

    def start(self, places: Sequence[Place]) -> None:
        """Start everybody, some at a time; return when all hold what they are to hold."""

        def start_one(door: int) -> None:
            place = places[door]
            print(f"idle: {place.namespace}: {place.name}", file=sys.stderr, flush=True)
            try:
                self.idlers[place] = self._started(place, self._through(door))
            except RunFailed as error:
                self.left_out[place] = last_line(error)

        with ThreadPoolExecutor(STARTED_AT_ONCE) as threads:
            list(threads.map(start_one, range(len(places))))

    def look(self) -> Look:
        """Count; who is gone is left out from now on."""
        for idler in self.idlers.values():
            idler.ask()
        cpu, shim_cpu = {}, {}
        for place, idler in tuple(self.idlers.items()):
            try:
                cpu[place] = idler.cpu_seconds()
                if isinstance(idler, IdleAgent):
                    shim_cpu[place] = idler.shim_cpu_seconds()
            except RunFailed as error:
                self.left_out[place] = last_line(error)
                self.idlers.pop(place).close()
        self.relay.say({})
        relayed = self.relay.hear(TIMEOUT)["counts"]
        return Look(time.monotonic(), self.log.counts(), relayed, cpu, shim_cpu)

    def close(self) -> None:
        """End everybody, some at a time."""
        with ThreadPoolExecutor(STARTED_AT_ONCE) as threads:
            list(threads.map(lambda idler: idler.close(), self.idlers.values()))

    def _through(self, door: int) -> Target:
        """The server, behind a door."""
        administrator = self.administrator
        return Target(
            f"https://{HOST}:{self.ports[door]}", administrator.ca_file, administrator.token
        )

    def _started(self, place: Place, target: Target) -> Idler:
        match place.job:
            case "mirrors":
                environments = self.environments
                return mirror(place.name, target, place.namespace, place.size, environments)
            case "managers":
                kubelet, period = self.environments[KUBELET], self.size.seconds
                return manager(place.name, target, place.namespace, place.size, kubelet, period)
            case _:
                return IdleAgent(target, self.administrator, pods=place.size, folder=self.folder)


def run(*, quick: bool) -> Result:
    """Start everything and everybody, wait, and see who did what meanwhile."""
    size = QUICK if quick else FULL
    allow_descriptors()
    environments = prepared()
    places = line_up(size)
    try:
        with stage(size, environments, doors=len(places)) as staged:
            staged.create_objects()
            staged.start(places)
            found = waited(staged, places)
    except BinariesMissing as error:
        found = in_order(places, {}, dict.fromkeys(places, str(error)))
    figures: dict[str, Any] = {"size": asdict(size), **found}
    reached = goals(figures)
    return Result(
        tables=tables(figures, reached),
        figures={
            **figures,
            "goals": [asdict(goal) for goal in reached],
            "growth": growth_rows(figures),
        },
        versions={
            **versions_of("reflet", "h2", "aiohttp", "msgspec"),
            **{peer: made.version or made.missing for peer, made in environments.items()},
        },
        broken_limits=broken(reached),
    )


def line_up(size: Size) -> list[Place]:
    """Everybody, the largest first: they take longest to start."""
    jobs = (
        ("agents", (AGENT,), size.agents),
        ("managers", tuple(MANAGERS), size.managers),
        ("mirrors", MIRRORS, size.mirrors),
    )
    return [
        Place(job, name, objects)
        for job, names, sizes in jobs
        for objects in sorted(sizes, reverse=True)
        for name in names
    ]


@contextmanager
def stage(size: Size, environments: Mapping[str, Environment], *, doors: int) -> Iterator[Stage]:
    """A server that logs requests, behind a relay, for the length of a ``with`` block."""
    with tempfile.TemporaryDirectory(prefix="reflet-idle-") as name:
        log = RequestLog(Path(name))
        with KubeServer(find_binaries(), api_server_flags=log.flags) as kube:
            task = {"host": HOST, "port": kube.port, "doors": doors}
            with Child("benchmarks.idle_relay", task) as relay:
                staged = Stage(
                    size=size,
                    administrator=Target(kube.url, str(kube.ca_file), kube.tokens["admin"]),
                    log=log,
                    relay=relay,
                    ports=relay.hear(TIMEOUT)["ports"],
                    folder=Path(name),
                    environments=environments,
                )
                try:
                    yield staged
                finally:
                    staged.close()


def waited(staged: Stage, places: Sequence[Place]) -> dict[str, Any]:
    """Let everybody wait, and sum up what they did in each window."""
    size = staged.size
    print(f"idle: {size.windows} times {size.seconds:g} s of nothing", file=sys.stderr, flush=True)
    staged.look()  # from now on, managers look at their pods
    time.sleep(size.settle)
    looks = [staged.look()]
    for _ in range(size.windows):
        time.sleep(size.seconds)
        looks.append(staged.look())
    samples = {}
    for door, place in enumerate(places):
        if place not in staged.left_out:
            asked = asked_of_watches(staged.log.watches(calling_address(door)))
            samples[place] = [
                {**window(before, after, place, door), **asked} for before, after in pairwise(looks)
            ]
    return in_order(places, samples, staged.left_out)


def window(before: Look, after: Look, place: Place, door: int) -> dict[str, float]:
    """What one contestant did between two looks, by the minute."""
    a_minute = MINUTE / (after.moment - before.moment)
    nothing: Counter[str] = Counter()
    address = calling_address(door)
    earlier, later = (each.requests.get(address, nothing) for each in (before, after))
    asked = {f"{kind}_requests": (later[kind] - earlier[kind]) * a_minute for kind in KINDS}
    relayed = {
        name: (after.relayed[door][name] - before.relayed[door][name]) * a_minute
        for name in ("sent", "received", "opened")
    }
    return {
        "requests": sum(asked.values()),
        **asked,
        "bytes": relayed["sent"] + relayed["received"],
        "bytes_sent": relayed["sent"],
        "bytes_received": relayed["received"],
        "connections": float(after.relayed[door]["open"]),
        "connections_opened": relayed["opened"],
        "cpu_milliseconds": (after.cpu[place] - before.cpu[place]) * a_minute * 1000,
        "shim_cpu_milliseconds": (
            (after.shim_cpu.get(place, 0.0) - before.shim_cpu.get(place, 0.0)) * a_minute * 1000
        ),
    }


def asked_of_watches(watches: Iterable[Watch]) -> dict[str, float]:
    """What one contestant asks of its watches: seconds, 0 for no limit, and 1 for bookmarks."""
    seconds = [watch.seconds for watch in watches]
    return {
        "watched": float(bool(seconds)),
        "shortest_watch_seconds": float(min(seconds, default=0)),
        "longest_watch_seconds": float(max(seconds, default=0)),
        "bookmarks": float(any(watch.bookmarks for watch in watches)),
    }


def in_order(
    places: Sequence[Place],
    samples: Mapping[Place, Sequence[Sample]],
    left_out: Mapping[Place, str],
) -> dict[str, Any]:
    """By job, by size, from the smallest: what came of it, as a result file has it."""
    found: dict[str, dict[int, Standings]] = {}
    for place in sorted(places, key=lambda place: place.size):
        standings = found.setdefault(place.job, {}).setdefault(place.size, Standings())
        if place in left_out:
            standings.left_out[place.name] = left_out[place]
        else:
            runs = samples[place]
            standings.figures[place.name] = {
                figure: summary([run[figure] for run in runs]) for figure in runs[0]
            }
    return {
        job: {str(size): standings.plain() for size, standings in by_size.items()}
        for job, by_size in found.items()
    }
