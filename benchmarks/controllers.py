"""Controllers, side by side with kopf's and controller-runtime's.

Owns: which jobs are run, how large they are, the order of runs and the server.  Must not know how
a contestant works (``controllers_work``, ``go/controller``) or how results are shown
(``controllers_tables``).

The jobs, each contestant in a process of its own, in turns, on a real kube-apiserver:

- no-op: from a start to the last of thousands of objects that was read and left as it is, at
  three sizes;
- status: the same, where each object gets a status;
- follow: from a write to the call that sees it, at a steady pace;
- lead: from the end of a leader that is killed to the next (``controllers_election``).
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from itertools import count
from typing import Any, Final

from benchmarks import controllers_election, controllers_objects
from benchmarks.controllers_contestants import (
    CONTESTANTS,
    CONTROLLER_RUNTIME,
    KOPF,
    OURS,
    RUNTIME,
    environments,
    started,
)
from benchmarks.controllers_election import Timing
from benchmarks.controllers_tables import goals, growth_rows, tables
from benchmarks.controllers_work import Task
from benchmarks.growth import at_sizes
from benchmarks.managers import delays
from benchmarks.measuring import Child, Result, Sample, Standings, in_turns, versions_of
from benchmarks.mirror_goals import missed
from benchmarks.wire_clients import Target
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.kube_server import KubeServer

WRITER: Final = "benchmarks.controllers_objects"
TIMEOUT: Final = 600.0  # seconds for one run
FAREWELL: Final = 0.3  # seconds to end when all is said
WARM_UP: Final = "few"
WARM_UP_OBJECTS: Final = 100
IN_EVERY_ROUND: Final = (OURS, RUNTIME, KOPF)


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything; the largest number of objects is the one that is compared."""

    rounds: int
    objects: Sequence[int]
    workers: int = 10
    followed: int
    follow_rounds: int
    writes: int
    writes_per_second: float = 50.0
    timings: Sequence[Timing]
    kills: int


FULL: Final = Size(
    rounds=3,
    objects=(1_000, 3_000, 10_000),
    followed=300,
    follow_rounds=7,
    writes=500,
    timings=(controllers_election.DEFAULT, controllers_election.SHORT),
    kills=8,
)
QUICK: Final = Size(
    rounds=1,
    objects=(100, 300, 1_000),
    followed=50,
    follow_rounds=1,
    writes=100,
    timings=(controllers_election.SHORT,),
    kills=2,
)


class Course:
    """Contestants at work."""

    def __init__(self, size: Size, target: Target) -> None:
        self.size = size
        self.target = target
        self.environments = environments()
        self._numbers = count()
        asyncio.run(controllers_objects.define(target))
        self._create(WARM_UP, WARM_UP_OBJECTS)
        for objects in size.objects:
            self._create(_many(objects), objects)

    def no_op(self) -> dict[str, Standings]:
        """Read everything once, by how many objects there are."""

        def measure(name: str, objects: int) -> Sample:
            return self._reconciled(name, _many(objects), objects)

        # The API server grows to its size: the first to come would wait for it.
        measure(OURS, max(self.size.objects))
        by_size = at_sizes(
            IN_EVERY_ROUND,
            self.size.objects,
            self.size.rounds,
            measure,
            announce=lambda name, objects: _announce(f"no-op for {objects} objects", name),
        )
        largest = max(self.size.objects)
        _add(by_size[str(largest)], self._once_on_its_own("no-op", marked=False))
        return by_size

    def status(self) -> Standings:
        """Give every object a status."""
        objects = max(self.size.objects)

        def measure(name: str) -> Sample:
            return self._reconciled(name, _many(objects), objects, mark=self._new("mark"))

        found = in_turns(
            IN_EVERY_ROUND,
            self.size.rounds,
            measure,
            announce=lambda name: _announce(f"status of {objects} objects", name),
        )
        _add(found, self._once_on_its_own("status", marked=True))
        return found

    def follow(self) -> Standings:
        """Tell the time from writes to calls."""
        return in_turns(
            CONTESTANTS,
            self.size.follow_rounds,
            self._followed,
            announce=lambda name: _announce(f"{self.size.writes} writes", name),
        )

    def lead(self) -> dict[str, Standings]:
        """Kill leaders."""
        return {
            timing.name: controllers_election.held(
                timing, self.size.kills, self.target, self.environments
            )
            for timing in self.size.timings
        }

    def _once_on_its_own(self, what: str, *, marked: bool) -> Standings:
        """The same for those who leave traces: once, since they take long and need new objects."""
        objects = max(self.size.objects)

        def measure(name: str) -> Sample:
            with self._objects_of_its_own(objects) as namespace:
                mark = self._new("mark") if marked else ""
                return self._reconciled(name, namespace, objects, mark=mark)

        return in_turns(
            [name for name, each in CONTESTANTS.items() if each.writes],
            1,
            measure,
            announce=lambda name: _announce(f"{what} of {objects} objects", name),
        )

    def _reconciled(self, name: str, namespace: str, objects: int, *, mark: str = "") -> Sample:
        task = self._task("reconcile", namespace, objects, mark=mark)
        with started(name, task, self.environments) as child:
            # A little longer than it gives itself, to hear what it says then.
            figures = child.hear(TIMEOUT + 10.0)
            child.finish(FAREWELL)
        return {
            **figures,
            "per_second": objects / figures["seconds"],
            "per_cpu_second": objects / figures["cpu_seconds"],
        }

    def _followed(self, name: str) -> Sample:
        """One run: a process that follows, and one that writes."""
        objects, writes = self.size.followed, self.size.writes
        with self._objects_of_its_own(objects) as namespace:
            task = self._task("follow", namespace, objects, writes=writes)
            writing = {
                "target": asdict(self.target),
                "paths": controllers_objects.paths(namespace, objects),
                "updates": writes,
                "per_second": self.size.writes_per_second,
                "at_once": 1,
            }
            with started(name, task, self.environments) as follower:
                follower.hear(TIMEOUT)
                with Child(WRITER, writing) as writer:
                    written = writer.hear(TIMEOUT)["moments"]
                seen = follower.hear(TIMEOUT)["moments"]
                follower.finish(FAREWELL)
        return delays(written, seen, objects)

    def _task(self, job: str, namespace: str, objects: int, **details: Any) -> Task:
        return Task(
            job=job,
            url=self.target.url,
            ca_file=self.target.ca_file,
            token=self.target.token,
            namespace=namespace,
            warm_up_namespace=WARM_UP,
            objects=objects,
            warm_up_objects=WARM_UP_OBJECTS,
            workers=self.size.workers,
            patience=TIMEOUT,
            **details,
        )

    @contextmanager
    def _objects_of_its_own(self, objects: int) -> Iterator[str]:
        namespace = self._new("own")
        self._create(namespace, objects)
        try:
            yield namespace
        finally:
            asyncio.run(controllers_objects.remove(self.target, namespace))

    def _create(self, namespace: str, objects: int) -> None:
        asyncio.run(controllers_objects.create(self.target, namespace, objects))

    def _new(self, word: str) -> str:
        return f"{word}-{next(self._numbers)}"


def run(*, quick: bool) -> Result:
    """Start the server, run every job, take everything down, and see which goals are reached."""
    size = QUICK if quick else FULL
    versions: dict[str, str] = {}
    try:
        with KubeServer(find_binaries()) as server:
            course = Course(size, Target(server.url, str(server.ca_file), server.tokens["admin"]))
            for peer in ("kopf", CONTROLLER_RUNTIME):
                made = course.environments[peer]
                versions[peer] = made.version or made.missing
            no_op = course.no_op()
            status = course.status()
            followed = course.follow()
            led = course.lead()
    except BinariesMissing as error:
        nobody = Standings(left_out=dict.fromkeys(CONTESTANTS, str(error)))
        no_op = {str(objects): nobody for objects in size.objects}
        status = followed = nobody
        led = {}
    figures: dict[str, Any] = {
        "size": asdict(size),
        "no_op": {objects: each.plain() for objects, each in no_op.items()},
        "status": status.plain(),
        "followed": followed.plain(),
        "led": {timing: each.plain() for timing, each in led.items()},
    }
    reached = goals(figures)
    return Result(
        tables=tables(figures, reached),
        figures={
            **figures,
            "goals": [asdict(goal) for goal in reached],
            "growth": growth_rows(figures["no_op"]),
        },
        versions={**versions_of("reflet", "h2", "aiohttp", "msgspec"), **versions},
        missed_goals=missed(reached),
    )


def _many(objects: int) -> str:
    """The namespace with so many objects."""
    return f"many-{objects}"


def _add(standings: Standings, more: Standings) -> None:
    standings.figures |= more.figures
    standings.left_out |= more.left_out


def _announce(what: str, name: str) -> None:
    print(f"controllers: {what}: {CONTESTANTS[name].title}", file=sys.stderr, flush=True)
