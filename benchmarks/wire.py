"""The wire, on the real kube-apiserver: our transports, the short cut for DATA frames, pycurl.

Owns: which jobs are run, how large they are, and the tables.  Must not know how a contestant
works (``wire_clients``) or where its clocks start (``wire_jobs``).

The jobs are the two shapes of traffic that docs/adr/0003-wire.md weighs:

- open: many silent watches of single objects, at three sizes; what they cost to open and to hold;
- busy: one stream of many events, from the API server and from a server that encodes nothing;
- updates: many watches, few of which have something to say at any moment.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks import wire_objects
from benchmarks.growth import Row, rows_of
from benchmarks.measuring import (
    Child,
    Result,
    RunFailed,
    Sample,
    Spread,
    interleaved,
    percentile,
    run_child,
    shown,
    table,
    versions_of,
)
from benchmarks.pycurl_install import Pycurl, find_pycurl
from benchmarks.wire_clients import CONTESTANTS, STREAMING_LIST, Target
from tests.real.binaries import BinariesMissing, find_binaries
from tests.real.certificates import Authority, CertificateFiles
from tests.real.kube_server import KubeServer

JOBS: Final = "benchmarks.wire_jobs"
TIMEOUT: Final = 90.0  # seconds for one run
SINGLE: Final = "single"  # the namespace of the objects that are watched one by one
BUSY: Final = "busy"  # the namespace whose objects are one stream
GROWING: Final = ("h2", "http1", "curl_http2", "curl_http1")

Figures = Mapping[str, Mapping[str, Spread]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything."""

    rounds: int
    watches: Sequence[int]
    busy_objects: int
    synthetic_events: int
    updated_watches: int
    updates: int
    updates_per_second: float = 500.0


FULL: Final = Size(
    rounds=3,
    watches=(200, 1000, 2000),
    busy_objects=20_000,
    synthetic_events=100_000,
    updated_watches=2000,
    updates=3000,
)
QUICK: Final = Size(
    rounds=1,
    watches=(125, 250, 500),
    busy_objects=4_000,
    synthetic_events=20_000,
    updated_watches=500,
    updates=1000,
)


class Course:
    """The contestants that can run here, and where they run."""

    def __init__(self, size: Size, kube: Target, synthetic: Target, curl: Pycurl) -> None:
        self.size = size
        self.kube = kube
        self.synthetic = synthetic
        self.environment = curl.environment
        self.left_out: dict[str, str] = {}
        for name, contestant in CONTESTANTS.items():
            if contestant.needs_pycurl and curl.missing:
                self.left_out[name] = curl.missing
            else:
                self._try(name)
        self.names = [name for name in CONTESTANTS if name not in self.left_out]

    def task(self, name: str, job: str, target: Target, **details: Any) -> dict[str, Any]:
        """What a contestant is told."""
        return {
            "contestant": name,
            "job": job,
            "target": asdict(target),
            "patience": TIMEOUT,
            **details,
        }

    def run(self, task: Mapping[str, Any]) -> Sample:
        """Let one contestant do one job."""
        return run_child(JOBS, task, patience=TIMEOUT, environment=self.environment)

    def warm_up(self) -> None:
        """Let the API server grow to its size: the first to come would wait for it."""
        self._open_once(self.names[0], max(self.size.watches))

    def open(self, watches: int) -> Figures:
        """Open silent watches of single objects."""
        return self._interleaved(
            f"open {watches} watches", lambda name: self._open_once(name, watches)
        )

    def busy(self) -> Figures:
        """Read one streaming list of many objects."""
        first, query = f"/api/v1/namespaces/{BUSY}/configmaps", STREAMING_LIST
        one = (*query, ("fieldSelector", "metadata.name=settings-00000"))
        return self._interleaved(
            f"one stream of {self.size.busy_objects} objects",
            lambda name: self.run(
                self.task(
                    name,
                    "busy",
                    self.kube,
                    warm_up=(first, one, 2),  # the object and the bookmark
                    stream=(first, query, self.size.busy_objects + 1),
                )
            ),
        )

    def busy_synthetic(self, together: int) -> Figures:
        """Read one stream from a server that encodes nothing."""

        events = self.size.synthetic_events
        return self._interleaved(
            f"one stream of {events} events, {together} a write",
            lambda name: self._read_synthetic(name, events, together),
        )

    def updates(self) -> Figures:
        """Hold many watches while a writer changes their objects."""
        return self._interleaved(
            f"{self.size.updates} updates of {self.size.updated_watches} watched objects",
            self._update_once,
        )

    def _try(self, name: str) -> None:
        """Leave a contestant out that cannot read 64 events."""
        try:
            self._read_synthetic(name, 64, 1)
        except RunFailed as error:
            self.left_out[name] = str(error).strip().splitlines()[-1]

    def _read_synthetic(self, name: str, events: int, together: int) -> Sample:
        def stream(count: int) -> tuple[str, Any, int]:
            return "/events", (("count", str(count)), ("together", str(together))), count

        task = self.task(name, "busy", self.synthetic, warm_up=stream(64), stream=stream(events))
        return self.run(task)

    def _open_once(self, name: str, watches: int) -> Sample:
        # One more: the first is the client's own warm-up.
        paths = wire_objects.object_paths(SINGLE, watches + 1)
        return self.run(self.task(name, "open", self.kube, paths=paths))

    def _update_once(self, name: str) -> Sample:
        size = self.size
        paths = wire_objects.object_paths(SINGLE, size.updated_watches)
        task = self.task(name, "updates", self.kube, paths=paths, updates=size.updates)
        writing = {
            "target": asdict(self.kube),
            "paths": paths,
            "updates": size.updates,
            "per_second": size.updates_per_second,
        }
        with Child(JOBS, task, environment=self.environment) as watching:
            watching.hear(TIMEOUT)
            moments = run_child("benchmarks.wire_objects", writing, patience=TIMEOUT)["moments"]
            watched = watching.hear(TIMEOUT)
            watching.finish(TIMEOUT)
        arrivals = watched["arrivals"]
        after_send = [arrivals[each] - sent for each, (sent, _) in moments.items()]
        after_answer = [arrivals[each] - answered for each, (_, answered) in moments.items()]
        begun = min(sent for sent, _ in moments.values())
        ended = max(answered for _, answered in moments.values())
        return {
            "cpu_microseconds": watched["cpu_microseconds"],
            "writes_per_second": len(moments) / (ended - begun),
            "p50_after_answer_ms": percentile(after_answer, 0.50) * 1000,
            "p99_after_answer_ms": percentile(after_answer, 0.99) * 1000,
            "p50_after_send_ms": percentile(after_send, 0.50) * 1000,
            "p99_after_send_ms": percentile(after_send, 0.99) * 1000,
        }

    def _interleaved(self, what: str, measure: Any) -> Figures:
        def reported(name: str) -> Sample:
            print(f"wire: {what}: {CONTESTANTS[name].title}", file=sys.stderr, flush=True)
            sample: Sample = measure(name)
            return sample

        return interleaved(self.names, self.size.rounds, reported)


def run(*, quick: bool) -> Result:
    """Start the servers, make the objects, run every job, and take everything down."""
    size = QUICK if quick else FULL
    curl = find_pycurl()
    try:
        binaries = find_binaries()
    except BinariesMissing as error:
        raise SystemExit(f"wire: {error}") from error
    with KubeServer(binaries) as server, synthetic_server() as synthetic:
        kube = Target(server.url, str(server.ca_file), server.tokens["admin"])
        course = Course(size, kube, synthetic, curl)
        singles = max(*size.watches, size.updated_watches) + 1
        asyncio.run(wire_objects.create(kube, SINGLE, singles))
        asyncio.run(wire_objects.create(kube, BUSY, size.busy_objects))
        course.warm_up()
        opening = {str(watches): course.open(watches) for watches in size.watches}
        busy = course.busy()
        synthetics = {str(together): course.busy_synthetic(together) for together in (1, 16)}
        updates = course.updates()
    figures = {
        "size": asdict(size),
        "contestants": {name: CONTESTANTS[name].title for name in course.names},
        "open": opening,
        "busy": busy,
        "busy_synthetic": synthetics,
        "updates": updates,
        "left_out": course.left_out,
        "growth": growth(opening, course.left_out),
    }
    return Result(
        tables=(
            *(opening_table(watches, each) for watches, each in opening.items()),
            busy_table(size, busy, synthetics),
            updates_table(size, updates),
            *(
                f"Left out: {CONTESTANTS[name].title}: {why}"
                for name, why in course.left_out.items()
            ),
        ),
        figures=figures,
        versions={
            **versions_of("reflet", "h2", "aiohttp", "msgspec", "uvloop"),
            "pycurl": curl.version or curl.missing,
        },
    )


@contextmanager
def synthetic_server() -> Iterator[Target]:
    """A server of our own that encodes nothing while it sends."""
    with tempfile.TemporaryDirectory(prefix="reflet-bench-") as name:
        folder = Path(name)
        files = CertificateFiles(folder / "serving.crt", folder / "serving.key")
        authority = Authority("reflet benchmark authority")
        authority.issue_server(files, hosts=("127.0.0.1",))
        ca_file = folder / "ca.crt"
        ca_file.write_bytes(authority.pem)
        task = {"certificate_file": str(files.certificate_file), "key_file": str(files.key_file)}
        with Child("benchmarks.event_server", task) as server:
            port = server.hear(TIMEOUT)["port"]
            yield Target(f"https://127.0.0.1:{port}", str(ca_file))


# Tables


def growth(opening: Mapping[str, Figures], left_out: Mapping[str, str]) -> list[Row]:
    """What watches cost by their number."""
    by_size = {
        watches: {"figures": figures, "left_out": left_out} for watches, figures in opening.items()
    }
    return [
        each
        for job, unit, cost in (
            ("CPU to open watches", "ms", lambda _, each: each["cpu_seconds"].median * 1e3),
            (
                "memory for open watches",
                "MB",
                lambda watches, each: each["bytes_per_watch"].median * watches / 1e6,
            ),
            ("connections for watches", "", lambda _, each: each["connections"].median),
        )
        for each in rows_of(
            job,
            by_size,
            cost,
            titles={name: CONTESTANTS[name].title.replace("ours", "Reflet") for name in GROWING},
            by="watches",
            unit=unit,
            ours=lambda name: not CONTESTANTS[name].needs_pycurl,
        )
    ]


def opening_table(watches: str, figures: Figures) -> str:
    """What many silent watches cost."""
    return table(
        f"Open {watches} silent watches of single objects (real kube-apiserver)",
        ("client", "seconds", "client CPU, s", "connections", "KB per watch"),
        (
            (
                CONTESTANTS[name].title,
                shown(each["seconds"], 2),
                shown(each["cpu_seconds"], 2),
                shown(each["connections"], 0),
                shown(each["bytes_per_watch"], 1, scale=1 / 1024),
            )
            for name, each in figures.items()
        ),
    )


def busy_table(size: Size, real: Figures, synthetics: Mapping[str, Figures]) -> str:
    """What one busy stream costs."""
    streams = (real, synthetics["1"], synthetics["16"])
    return table(
        f"One busy stream: {size.busy_objects} objects of the real kube-apiserver; "
        f"{size.synthetic_events} events of a server that encodes nothing, 1 and 16 a write",
        (
            "client",
            *(
                f"{source}: {figure}"
                for source in ("real", "1 a write", "16 a write")
                for figure in ("k events/s", "CPU, µs")
            ),
        ),
        (
            (
                CONTESTANTS[name].title,
                *(
                    cell
                    for stream in streams
                    for cell in (
                        shown(stream[name]["events_per_second"], 0, scale=1 / 1000),
                        shown(stream[name]["cpu_microseconds"], 1),
                    )
                ),
            )
            for name in real
        ),
    )


def updates_table(size: Size, figures: Figures) -> str:
    """What few events on many watches cost."""
    return table(
        f"{size.updated_watches} watches, about {size.updates_per_second:.0f} updates a second: "
        "milliseconds from the write to the decoded event (real kube-apiserver); "
        "below zero, the event was there before the answer to the write",
        (
            "client",
            "p50 after answer",
            "p99 after answer",
            "p50 after send",
            "p99 after send",
            "client CPU per event, µs",
            "writes/s",
        ),
        (
            (
                CONTESTANTS[name].title,
                shown(each["p50_after_answer_ms"], 2),
                shown(each["p99_after_answer_ms"], 1),
                shown(each["p50_after_send_ms"], 2),
                shown(each["p99_after_send_ms"], 1),
                shown(each["cpu_microseconds"], 0),
                shown(each["writes_per_second"], 0),
            )
            for name, each in figures.items()
        ),
    )
