"""``reflet sidecar`` next to kiwigrid/k8s-sidecar, on the same server at the same time.

Owns: the jobs and their sizes.  Must not know how a sidecar is started (``sidecar_contestants``),
how a server goes away (``sidecar_servers``) or how results are shown (``sidecar_tables``).

Both are processes of their own with the same variables, each with a folder of its own.  But for
the start, in which they take turns, both follow the same objects at the same time, so that a slow
moment of the machine hits both.

::

    K8S_SIDECAR_SOURCE=~/k8s-sidecar python -m benchmarks sidecar
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import sidecar_jobs as jobs
from benchmarks import sidecar_outages as outages
from benchmarks.measuring import Result, RunFailed, Standings, in_turns, last_line, versions_of
from benchmarks.mirror_goals import missed
from benchmarks.sidecar_contestants import THEIRS, Contestant, Sidecar, contestants
from benchmarks.sidecar_objects import LABEL, fill
from benchmarks.sidecar_servers import DEVELOPMENT, REAL, Ground, ground
from benchmarks.sidecar_tables import broken_limits, goals, growth_rows, tables
from tests.real.binaries import BinariesMissing


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything; 0 seconds of silence leave it out."""

    starts: tuple[int, ...]
    rounds: int
    followed: int
    writes: int
    burst: int
    torn_seconds: float
    windows: int
    window_seconds: float
    restarts: int
    silent_seconds: float


FULL: Final = Size(
    starts=(100, 300, 1_000),
    rounds=3,
    followed=100,
    writes=200,
    burst=200,
    torn_seconds=20.0,
    windows=3,
    window_seconds=60.0,
    restarts=20,
    silent_seconds=150.0,
)
QUICK: Final = Size(
    starts=(100,),
    rounds=1,
    followed=20,
    writes=20,
    burst=50,
    torn_seconds=4.0,
    windows=1,
    window_seconds=20.0,
    restarts=3,
    silent_seconds=0.0,
)


class Stage:
    """A server, and the sidecars that can be started on it."""

    def __init__(self, server: Ground, line_up: Mapping[str, Contestant], folder: Path) -> None:
        self.server = server
        self._line_up = line_up
        self._folder = folder
        self._jobs = 0

    @property
    def names(self) -> list[str]:
        """Who takes part."""
        return [name for name, each in self._line_up.items() if not each.missing]

    @contextmanager
    def sidecars(
        self,
        namespace: str,
        *,
        names: Iterable[str] = (),
        doors: Mapping[str, int] | None = None,
        **variables: str,
    ) -> Iterator[dict[str, Sidecar]]:
        """Start sidecars that follow a namespace; *doors* are the ports by which they go."""
        self._jobs += 1
        own = {"LABEL": LABEL, "NAMESPACE": namespace, "RESOURCE": "both", **variables}
        with ExitStack() as running:
            found = {}
            for name in names or self.names:
                config = self.server.kubeconfig((doors or {}).get(name, 0))
                folder = self._folder / f"{self._jobs}-{name}"
                said = {key: value.replace("{name}", name) for key, value in own.items()}
                sidecar = Sidecar(self._line_up[name], folder, config, said)
                found[name] = running.enter_context(sidecar)
            yield found


def run(*, quick: bool) -> Result:
    """Compare them on both servers."""
    size = QUICK if quick else FULL
    line_up = contestants()
    figures: dict[str, Any] = {"size": asdict(size), "servers": {}}
    for name in (DEVELOPMENT, REAL):
        try:
            with ground(name) as server, tempfile.TemporaryDirectory() as folder:
                stage = Stage(server, line_up, Path(folder))
                figures["servers"][name] = measured(stage, size)
        except BinariesMissing as error:
            print(f"sidecar: no {name}: {error}", file=sys.stderr)
    figures["growth"] = growth_rows(figures)
    figures["left_out"] = {name: each.missing for name, each in line_up.items() if each.missing}
    reached = goals(figures)
    theirs = line_up[THEIRS]
    return Result(
        tables=tables(figures, reached),
        figures=figures,
        versions={
            **versions_of("reflet", "aiohttp", "msgspec"),
            **({THEIRS: theirs.version} if theirs.version else {}),
        },
        broken_limits=broken_limits(figures),
        missed_goals=missed(reached),
    )


def measured(stage: Stage, size: Size) -> dict[str, Any]:
    """Every job on one server; one that fails has the reason in its place."""
    found: dict[str, Any] = {"start": started(stage, size)}
    for name, job in (
        ("freshness", partial(jobs.freshness, followed=size.followed, writes=size.writes)),
        ("burst", partial(jobs.burst, changes=size.burst)),
        ("torn", partial(jobs.torn_reads, seconds=size.torn_seconds)),
        (
            "idle",
            partial(
                jobs.idle,
                objects=size.followed,
                windows=size.windows,
                seconds=size.window_seconds,
            ),
        ),
        ("restarts", partial(outages.restarts, times=size.restarts)),
        ("silent", partial(outages.silence, seconds=size.silent_seconds)),
    ):
        print(f"sidecar: {name}", file=sys.stderr, flush=True)
        try:
            found[name] = asyncio.run(job(stage))
        except RunFailed as error:
            found[name] = {"failed": last_line(error)}
    return found


def started(stage: Stage, size: Size) -> dict[str, Any]:
    """From nothing to ready, with more and more objects."""
    found = {}
    for objects in size.starts:
        namespace = f"start-{objects}"
        asyncio.run(fill(stage.server, namespace, objects))

        def measure(name: str, namespace: str = namespace, objects: int = objects) -> jobs.Sample:
            began = time.monotonic()
            with stage.sidecars(namespace, names=[name]) as running:
                return jobs.start_of(running[name], began, objects)

        def announce(name: str, objects: int = objects) -> None:
            print(f"sidecar: start with {objects:,}: {name}", file=sys.stderr, flush=True)

        standings: Standings = in_turns(stage.names, size.rounds, measure, announce=announce)
        found[str(objects)] = standings.plain()
    return found
