"""The mirror, side by side with everybody else's: events, memory, first sync.

Owns: which jobs are run, how large they are, the order of runs, and the goals.  Must not know how
a contestant works (``mirror_contestants``, ``mirror_work``) or how results are shown
(``mirror_tables``).

The jobs, each contestant in a process of its own, in turns:

- events: updates of 1 KiB ConfigMaps on one stream, from the socket to the handler;
- memory: 1 KiB ConfigMaps and pods of 5.6 kB, at three sizes each;
- sync: from nothing to a complete mirror, of a list and of a streaming list;
- real: the same from a real kube-apiserver, where protobuf is at home;
- growth: events and first sync with few objects, with many and with very many.

All but the real one's come from ``mirror_server``, which is faster than all of them.
"""

from __future__ import annotations

import asyncio
import http.client
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import mirror_growth, wire_objects
from benchmarks.go_programs import Environment
from benchmarks.growth import at_sizes
from benchmarks.measuring import (
    Child,
    Result,
    RunFailed,
    Sample,
    Standings,
    in_turns,
    versions_of,
)
from benchmarks.mirror_contestants import CONTESTANTS, EVENTS, MEMORY, REAL, SYNC
from benchmarks.mirror_environments import environment
from benchmarks.mirror_goals import goals, missed
from benchmarks.mirror_objects import last_update, namespace_for
from benchmarks.mirror_tables import tables
from benchmarks.mirror_work import Task
from benchmarks.wire_clients import Target
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.certificates import Authority, CertificateFiles
from tests.real.kube_server import KubeServer

TIMEOUT: Final = 120.0  # seconds for one run
EVENTS_TIMEOUT: Final = 40.0  # the same for updates: who has lost some waits in vain
FAREWELL: Final = 0.3  # seconds to end when all is said
WARM_UP_OBJECTS: Final = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything."""

    rounds: int
    event_objects: int
    updates: int
    config_maps: Sequence[int]
    pods: Sequence[int]
    sync_rounds: int
    sync_objects: int
    real_objects: int
    growth_rounds: int
    growth_objects: Sequence[int]
    growth_updates: int


FULL: Final = Size(
    rounds=5,
    event_objects=2_000,
    updates=100_000,
    config_maps=(25_000, 50_000, 100_000),
    pods=(5_000, 10_000, 20_000),
    sync_rounds=3,
    sync_objects=10_000,
    real_objects=20_000,
    growth_rounds=3,
    growth_objects=(1_000, 10_000, 100_000),
    growth_updates=50_000,
)
QUICK: Final = Size(
    rounds=1,
    event_objects=2_000,
    updates=40_000,
    config_maps=(5_000, 10_000, 20_000),
    pods=(500, 1_000, 2_000),
    sync_rounds=1,
    sync_objects=10_000,  # as in a full run: what is done once would be too large a part of few
    real_objects=2_000,
    growth_rounds=1,
    growth_objects=(500, 2_000, 8_000),
    growth_updates=10_000,
)


@dataclass(frozen=True, slots=True)
class Synthetic:
    """Where the synthetic server is."""

    plain_port: int
    tls_port: int
    ca_file: str

    def address(self, *, tls: bool) -> dict[str, str]:
        """The part of a task that says where."""
        if tls:
            return {"url": f"https://127.0.0.1:{self.tls_port}", "ca_file": self.ca_file}
        return {"url": f"http://127.0.0.1:{self.plain_port}", "ca_file": ""}

    def prepare(self, kind: str, namespace: str) -> None:
        """Let the server encode everything before a clock runs."""
        plural = {"ConfigMap": "configmaps", "Pod": "pods"}[kind]
        connection = http.client.HTTPConnection("127.0.0.1", self.plain_port, timeout=TIMEOUT)
        connection.request("GET", f"/api/v1/namespaces/{namespace}/{plural}?limit=1")
        connection.getresponse().read()
        connection.close()


class Course:
    """Contestants at work."""

    def __init__(self, size: Size, synthetic: Synthetic) -> None:
        self.size = size
        self.synthetic = synthetic
        peers = sorted({each.peer for each in CONTESTANTS.values()} - {""})
        self.environments: Mapping[str, Environment] = {peer: environment(peer) for peer in peers}

    def events(self) -> Standings:
        """Take updates from one stream."""

        def measure(name: str) -> Sample:
            updates = self.size.updates // CONTESTANTS[name].share
            return self._synthetic("events", name, "ConfigMap", self.size.event_objects, updates)

        return self._in_turns("events", EVENTS, self.size.rounds, measure)

    def memory(self, kind: str, objects: int) -> Standings:
        """Hold a collection.  Once: memory varies little."""
        return self._in_turns(
            f"{objects} of {kind} in memory",
            MEMORY,
            1,
            lambda name: self._synthetic("memory", name, kind, objects, 0),
        )

    def sync(self) -> Standings:
        """Get a collection for the first time."""
        objects = self.size.sync_objects
        return self._in_turns(
            f"first sync of {objects} objects",
            SYNC,
            self.size.sync_rounds,
            lambda name: self._synthetic("sync", name, "ConfigMap", objects, 0),
        )

    def growth(self, job: str, names: Sequence[str], updates: int) -> dict[str, Standings]:
        """Do a job at several sizes; everybody gets the same updates.

        They come when the objects are dealt with: else a client that reads on meanwhile has read
        much of them before the clock runs, and the more objects, the more of them.
        """

        def announce(name: str, objects: int) -> None:
            what = f"mirror: {job} with {objects} objects: {CONTESTANTS[name].title}"
            print(what, file=sys.stderr, flush=True)

        return at_sizes(
            names,
            self.size.growth_objects,
            self.size.growth_rounds,
            lambda name, objects: self._synthetic(
                job, name, "ConfigMap", objects, updates, settled=True
            ),
            announce=announce,
        )

    def real(self, kube: Target) -> Standings:
        """The same from a real API server."""
        objects = self.size.real_objects
        namespaces = {"namespace": "many", "warm_up_namespace": "few"}
        asyncio.run(wire_objects.create(kube, namespaces["warm_up_namespace"], WARM_UP_OBJECTS))
        asyncio.run(wire_objects.create(kube, namespaces["namespace"], objects))
        address = {"url": kube.url, "ca_file": kube.ca_file, "token": kube.token}

        def measure(name: str) -> Sample:
            return self._run(name, "sync", objects=objects, **namespaces, **address)

        measure(REAL[0])  # the API server grows to its size: the first to come would wait for it
        what = f"first sync of {objects} objects of the real API server"
        return self._in_turns(what, REAL, self.size.sync_rounds, measure)

    def _synthetic(
        self,
        job: str,
        name: str,
        kind: str,
        objects: int,
        updates: int,
        *,
        settled: bool = False,
    ) -> Sample:
        contestant = CONTESTANTS[name]
        namespace = namespace_for(
            objects, updates, protobuf=contestant.protobuf, settled=settled and updates > 0
        )
        warm_up = namespace_for(WARM_UP_OBJECTS, protobuf=contestant.protobuf)
        last = last_update(objects, updates) if updates else ("", "")
        self.synthetic.prepare(kind, namespace)
        return self._run(
            name,
            job,
            kind=kind,
            namespace=namespace,
            warm_up_namespace=warm_up,
            objects=objects,
            updates=updates,
            warm_up=updates // 10,
            last_name=last[0],
            last_version=last[1],
            **self.synthetic.address(tls=contestant.tls),
        )

    def _run(self, name: str, job: str, **details: Any) -> Sample:
        contestant = CONTESTANTS[name]
        missing = self.environments[contestant.peer].missing if contestant.peer else ""
        if missing:
            raise RunFailed(missing)
        task = Task(
            contestant=name,
            job=job,
            streaming=contestant.streaming,
            protobuf=contestant.protobuf,
            patience=EVENTS_TIMEOUT if job == "events" else TIMEOUT,
            **details,
        )
        module, variables = contestant.launch(self.environments)
        with Child(module, asdict(task), environment=variables) as child:
            # A little longer than it gives itself, to hear what it says then.
            figures = child.hear(task.patience + 10.0)
            child.finish(FAREWELL)
            return figures

    def _in_turns(
        self, what: str, names: Iterable[str], rounds: int, measure: Callable[[str], Sample]
    ) -> Standings:
        """Measure each contestant once a round; who fails once is out."""

        def announce(name: str) -> None:
            print(f"mirror: {what}: {CONTESTANTS[name].title}", file=sys.stderr, flush=True)

        return in_turns(names, rounds, measure, announce=announce)


def run(*, quick: bool) -> Result:
    """Start the servers, run every job, take everything down, and see which goals are reached."""
    size = QUICK if quick else FULL
    with synthetic_server() as synthetic:
        course = Course(size, synthetic)
        events = course.events()
        memory = {
            kind: {str(objects): course.memory(kind, objects) for objects in sizes}
            for kind, sizes in (("ConfigMap", size.config_maps), ("Pod", size.pods))
        }
        sync = course.sync()
        events_growth = course.growth("events", mirror_growth.EVENTS, size.growth_updates)
        sync_growth = course.growth("sync", mirror_growth.SYNC, 0)
    try:
        with KubeServer(find_binaries()) as server:
            kube = Target(server.url, str(server.ca_file), server.tokens["admin"])
            real = course.real(kube)
    except BinariesMissing as error:
        real = Standings(left_out=dict.fromkeys(REAL, str(error)))
    figures: dict[str, Any] = {
        "size": asdict(size),
        "events": events.plain(),
        "memory": {kind: plain(standings) for kind, standings in memory.items()},
        "sync": sync.plain(),
        "real": real.plain(),
    }
    growth = mirror_growth.rows(plain(events_growth), plain(sync_growth), figures["memory"])
    reached = goals(figures)
    shown = tables(figures, reached)
    return Result(
        tables=shown,
        figures={**figures, "goals": [asdict(goal) for goal in reached], "growth": growth},
        versions={
            **versions_of("reflet", "h2", "aiohttp", "msgspec", "uvloop"),
            **{peer: made.version or made.missing for peer, made in course.environments.items()},
        },
        missed_goals=missed(reached),
    )


def plain(by_size: Mapping[str, Standings]) -> dict[str, Any]:
    """Standings at several sizes, as a result file has them."""
    return {objects: each.plain() for objects, each in by_size.items()}


@contextmanager
def synthetic_server() -> Iterator[Synthetic]:
    """The server of collections, with a certificate for the length of a ``with`` block."""
    with tempfile.TemporaryDirectory(prefix="reflet-bench-") as name:
        folder = Path(name)
        files = CertificateFiles(folder / "serving.crt", folder / "serving.key")
        authority = Authority("reflet benchmark authority")
        authority.issue_server(files, hosts=("127.0.0.1",))
        ca_file = folder / "ca.crt"
        ca_file.write_bytes(authority.pem)
        task = {"certificate_file": str(files.certificate_file), "key_file": str(files.key_file)}
        with Child("benchmarks.mirror_server", task) as server:
            ports = server.hear(TIMEOUT)
            yield Synthetic(ports["plain_port"], ports["tls_port"], str(ca_file))
