"""The managers, side by side with the kubelet's own; and how fresh their reads are.

Owns: which jobs are run, how large they are, the order of runs and the servers.  Must not know
how a contestant works (``managers_work``, ``go/managers``) or how results are shown
(``managers_tables``).

The jobs, each contestant in a process of its own, in turns:

- hold: thousands of objects, by individual watches and by ``auto``, from a real kube-apiserver:
  memory, first sync, reads, registrations;
- growth: the same with fewer objects, at three sizes;
- follow: from a write to a changed read, with a few and with hundreds of watched objects, from a
  real kube-apiserver and from the development server.  The kubelet's manager takes no part: it
  tells nobody of changes.
"""

from __future__ import annotations

import asyncio
import json
import resource
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks import managers_growth, wire_objects
from benchmarks.devserver import serving
from benchmarks.go_programs import Environment, go_program
from benchmarks.growth import at_sizes
from benchmarks.managers_tables import (
    CONTESTANTS,
    FOLLOWERS,
    KUBELET,
    WATCH,
    WATCH_SECRETS,
    goals,
    tables,
)
from benchmarks.managers_work import Task
from benchmarks.measuring import (
    Child,
    Result,
    RunFailed,
    Sample,
    Standings,
    in_turns,
    interleaved,
    percentile,
    versions_of,
)
from benchmarks.mirror_goals import missed
from benchmarks.mirror_peers.launch import PROGRAM
from benchmarks.wire_clients import Target
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.kube_server import KubeServer

OURS: Final = "benchmarks.managers_work"
WRITER: Final = "benchmarks.wire_objects"
LAUNCH: Final = "benchmarks.mirror_peers.launch"
TIMEOUT: Final = 120.0  # seconds for one run
FAREWELL: Final = 0.3  # seconds to end when all is said
SETTLE: Final = 2.0  # seconds after which memory is looked at
DESCRIPTORS: Final = 4096  # files that a process may have open: the development server's watches
WARM_UP_OBJECTS: Final = 100
# What a warm-up leaves behind is memory that the objects need not ask for: of few, too much.
GROWTH_WARM_UP: Final[Mapping[str, Any]] = {
    "warm_up_namespace": "grow-warm-up",
    "warm_up_objects": 10,
}
RESOURCES: Final[Mapping[str, str]] = {"ConfigMap": "configmaps", "Secret": "secrets"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything."""

    rounds: int
    objects: int
    reads: int
    pods: int = 1_000
    registrations: int
    growth_rounds: int
    growth_objects: Sequence[int]
    growth_reads: int
    growth_settle: float
    followed: Sequence[int]
    follow_rounds: int
    writes: int
    writes_per_second: float = 50.0


FULL: Final = Size(
    rounds=5,
    objects=2_000,
    reads=2_000_000,
    registrations=5,
    growth_rounds=3,
    growth_objects=(500, 1_000, 2_000),
    growth_reads=400_000,
    growth_settle=1.0,
    followed=(1, 50, 500),
    follow_rounds=3,
    writes=300,
)
QUICK: Final = Size(
    rounds=1,
    objects=500,
    reads=200_000,
    registrations=1,
    growth_rounds=1,
    growth_objects=(125, 250, 500),
    growth_reads=100_000,
    growth_settle=0.4,
    followed=(1, 10, 50),
    follow_rounds=1,
    writes=40,
)


def run(*, quick: bool) -> Result:
    """Start the servers, run every job, take everything down, and see which goals are reached."""
    size = QUICK if quick else FULL
    allow_descriptors()
    kubelet = go_program("managers", KUBELET, version_of="k8s.io/kubernetes")
    held = Standings()
    grown: Mapping[str, Standings] = {}
    followed: dict[str, dict[str, Any]] = {}
    try:
        with KubeServer(find_binaries()) as server:
            kube = Target(server.url, str(server.ca_file), server.tokens["admin"])
            for resource in RESOURCES.values():
                create(kube, warm_up(resource), WARM_UP_OBJECTS, resource)
                create(kube, f"many-{resource}", size.objects, resource)
            held = hold(size, kube, kubelet)
            grown = grow(size, kube, kubelet)
            followed["kube-apiserver"] = follow(size, kube, "kube-apiserver")
    except BinariesMissing as error:
        left_out = dict.fromkeys(CONTESTANTS, str(error))
        held = Standings(left_out=left_out)
        grown = {str(objects): Standings(left_out=left_out) for objects in size.growth_objects}
    with development_server() as target:
        create(target, warm_up("configmaps"), WARM_UP_OBJECTS)
        followed["reflet serve"] = follow(size, target, "reflet serve")
    figures: dict[str, Any] = {"size": asdict(size), "held": held.plain(), "followed": followed}
    by_size = {objects: each.plain() for objects, each in grown.items()}
    growth = managers_growth.rows(by_size, followed)
    reached = goals(figures)
    shown = tables(figures, reached)
    return Result(
        tables=shown,
        figures={**figures, "goals": [asdict(goal) for goal in reached], "growth": growth},
        versions={
            **versions_of("reflet", "h2", "aiohttp", "msgspec"),
            KUBELET: kubelet.version or kubelet.missing,
        },
        missed_goals=missed(reached),
    )


def allow_descriptors() -> None:
    """Let the servers and the contestants, who inherit it, open enough files."""
    limit, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if most == resource.RLIM_INFINITY else min(DESCRIPTORS, most)
    if limit < wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, most))


def warm_up(resource: str) -> str:
    """The small namespace that is held before a clock runs."""
    return f"few-{resource}"


def create(target: Target, namespace: str, objects: int, resource: str = "configmaps") -> None:
    """Make a namespace with objects in it."""
    asyncio.run(wire_objects.create(target, namespace, objects, resource=resource))


# Jobs


def hold(size: Size, kube: Target, kubelet: Environment) -> Standings:
    """Hold thousands of objects."""

    def measure(name: str) -> Sample:
        return hold_once(
            kube,
            kubelet,
            name,
            namespace=f"many-{RESOURCES[CONTESTANTS[name].kind]}",
            objects=size.objects,
            reads=size.reads,
            pods=size.pods,
            rounds=size.registrations,
        )

    for name in (WATCH, WATCH_SECRETS):  # the API server grows to its size before anybody counts
        measure(name)
    announce = partial(announce_holding, objects=size.objects)
    return in_turns(CONTESTANTS, size.rounds, measure, announce=announce)


def grow(size: Size, kube: Target, kubelet: Environment) -> dict[str, Standings]:
    """Hold some, more and many, each in a namespace of its own."""
    create(kube, GROWTH_WARM_UP["warm_up_namespace"], GROWTH_WARM_UP["warm_up_objects"])
    for objects in size.growth_objects:
        create(kube, f"grow-{objects}", objects)

    def measure(name: str, objects: int) -> Sample:
        return hold_once(
            kube,
            kubelet,
            name,
            namespace=f"grow-{objects}",
            objects=objects,
            reads=size.growth_reads,
            pods=size.pods,
            rounds=1,
            settle=size.growth_settle,
            **GROWTH_WARM_UP,
        )

    return at_sizes(
        managers_growth.HELD,
        size.growth_objects,
        size.growth_rounds,
        measure,
        announce=announce_holding,
    )


def hold_once(
    kube: Target, kubelet: Environment, name: str, *, settle: float = SETTLE, **details: Any
) -> Sample:
    """One run of one contestant."""
    contestant = CONTESTANTS[name]
    in_go = contestant.strategy == KUBELET
    if in_go and kubelet.missing:
        raise RunFailed(kubelet.missing)
    task = task_for(
        kube,
        job="hold",
        kind=contestant.kind,
        strategy=contestant.strategy,
        settle=settle,
        **details,
    )
    module = LAUNCH if in_go else OURS
    variables = {PROGRAM: json.dumps([*kubelet.command])} if in_go else {}
    with Child(module, task, environment=variables) as child:
        # A little longer than it gives itself, to hear what it says then.
        figures = child.hear(TIMEOUT + 10.0)
        child.finish(FAREWELL)
        return figures


def announce_holding(name: str, objects: int) -> None:
    """Say what comes next."""
    title = CONTESTANTS[name].title
    print(f"managers: {objects} objects: {title}", file=sys.stderr, flush=True)


def follow(size: Size, target: Target, server: str) -> dict[str, Any]:
    """Tell the time from writes to reads, by how many objects are watched."""
    found: dict[str, Any] = {}
    for objects in size.followed:
        namespace = f"follow-{objects}"
        create(target, namespace, objects)
        what = f"managers: writes to {objects} objects of {server}"
        print(what, file=sys.stderr, flush=True)
        once = partial(follow_once, size, target, namespace, objects)
        found[str(objects)] = interleaved(FOLLOWERS, size.follow_rounds, once)
    return found


def follow_once(size: Size, target: Target, namespace: str, objects: int, strategy: str) -> Sample:
    """One run: a process that follows, and one that writes."""
    task = task_for(
        target,
        job="follow",
        kind="ConfigMap",
        strategy=strategy,
        namespace=namespace,
        objects=objects,
        writes=size.writes,
        settle=0.5,
    )
    writing = {
        "target": asdict(target),
        "paths": wire_objects.object_paths(namespace, objects),
        "updates": size.writes,
        "per_second": size.writes_per_second,
        "at_once": 1,
    }
    with Child(OURS, task) as follower:
        streams = follower.hear(TIMEOUT)["streams"]
        with Child(WRITER, writing) as writer:
            written = writer.hear(TIMEOUT)["moments"]
        read = follower.hear(TIMEOUT)["moments"]
        follower.finish(FAREWELL)
    return {"streams": float(streams), **delays(written, read, objects)}


def delays(
    written: Mapping[str, Sequence[float]], read: Mapping[str, float], objects: int
) -> dict[str, float]:
    """Milliseconds from each write's sending and acknowledgement until a read showed it.

    A write that was never shown itself was shown by the next one of its object that was.  The
    first one does not count: it waits for the writer's connection.
    """
    since_sent: list[float] = []
    since_acknowledged: list[float] = []
    shown: dict[int, float] = {}
    for number in sorted(map(int, written), reverse=True):
        place = wire_objects.turn(number, objects)
        moment = read.get(str(number), shown.get(place))
        if moment is None:
            raise RunFailed(f"the write {number} was never read")
        shown[place] = moment
        if number == 0:
            continue
        sent, acknowledged = written[str(number)]
        since_sent.append((moment - sent) * 1000)
        # The event may come before the answer: then the read is changed already.
        since_acknowledged.append(max(0.0, moment - acknowledged) * 1000)
    return {
        f"{name}_p{share}_ms": percentile(values, share / 100)
        for name, values in (("sent", since_sent), ("acknowledged", since_acknowledged))
        for share in (50, 99)
    }


def task_for(target: Target, *, kind: str, settle: float, **details: Any) -> dict[str, Any]:
    """The task of a contestant."""
    warmed: dict[str, Any] = {
        "warm_up_namespace": warm_up(RESOURCES[kind]),
        "warm_up_objects": WARM_UP_OBJECTS,
    }
    return asdict(
        Task(
            url=target.url,
            ca_file=target.ca_file,
            token=target.token,
            kind=kind,
            patience=TIMEOUT,
            settle=settle,
            **(warmed | details),
        )
    )


@contextmanager
def development_server() -> Iterator[Target]:
    """``reflet serve`` with TLS, for the length of a ``with`` block."""
    with tempfile.TemporaryDirectory(prefix="reflet-bench-") as folder, serving(tls=True) as served:
        ca_file = Path(folder, "ca.crt")
        ca_file.write_text(served["authority"])
        yield Target(served["url"], str(ca_file), served["token"])
