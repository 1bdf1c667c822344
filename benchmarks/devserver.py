"""The development server under load: many watches, one write to all of them, a steady minute.

Owns: which jobs are run, how large they are, the server's process, and the tables.  Must not
know how load is made (``devserver_load``, ``devserver_clients``).

The jobs are the shapes of load that tests and developers put on a server:

- hold: thousands of watches of one object each, as kubelets have them, at three sizes; what they
  cost, and how soon the right one hears of a write;
- fan-out: one write that all watches are to hear of, at three sizes;
- soak: a minute of writes at a steady rate with watches of everything; nothing may be lost and
  the memory may not grow;
- loading: a list of thousands of objects that the server begins with.
"""

from __future__ import annotations

import base64
import json
import resource
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import Any, Final

from benchmarks.devserver_growth import WIRES, Figures, exponent, growth
from benchmarks.devserver_loading import loading, loading_table
from benchmarks.measuring import (
    REPOSITORY,
    Child,
    Result,
    Sample,
    interleaved,
    run_child,
    shown,
    table,
    versions_of,
)

LOAD: Final = "benchmarks.devserver_load"
TIMEOUT: Final = 240.0  # seconds for one run
DESCRIPTORS: Final = 12_000  # files that a process may have open: each watch is one

STEEPEST: Final = 1.25  # exponent with which a fan-out may grow with its watches
SLOWEST_SHARE: Final = 0.98  # of the writes a second that were asked for
MOST_GROWTH: Final = 4 * 2**20  # bytes that a minute of writes may add


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything."""

    rounds: int
    held: Sequence[int]
    held_writes: int
    fan_outs: Mapping[int, int]  # watches, and writes to them
    soak_seconds: float
    soak_rate: float = 500.0
    soak_watches: int = 100
    soak_objects: int = 500
    soak_warm_up: int
    loaded: int


FULL: Final = Size(
    rounds=3,
    held=(1000, 2500, 5000),
    held_writes=500,
    fan_outs={200: 200, 1000: 100, 5000: 40},
    soak_seconds=60,
    soak_warm_up=12_000,
    loaded=30_000,
)
QUICK: Final = Size(
    rounds=1,
    held=(100, 300, 1000),
    held_writes=100,
    fan_outs={100: 50, 300: 30, 1000: 20},
    soak_seconds=4,
    soak_warm_up=10_500,
    loaded=3000,
)


def run(*, quick: bool) -> Result:
    """Run every job against servers of its own."""
    size = QUICK if quick else FULL
    limit = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = DESCRIPTORS if limit[1] == resource.RLIM_INFINITY else min(DESCRIPTORS, limit[1])
    if limit[0] < wanted:
        # Handed down to the server and to the load.
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, limit[1]))
    held = {
        watches: interleaved(WIRES, size.rounds, partial(hold_once, watches, size.held_writes))
        for watches in size.held
    }
    fan_outs = {
        watches: interleaved(WIRES, size.rounds, partial(fan_out_once, watches, writes))
        for watches, writes in size.fan_outs.items()
    }
    exponents = {wire: exponent(fan_outs, wire) for wire in WIRES}
    soaks = interleaved(("memory", "SQLite"), 1, lambda kept: soak_once(size, kept))
    loads = loading(size.loaded, size.rounds)
    return Result(
        tables=(
            held_table(size, held),
            fan_out_table(fan_outs, exponents),
            soak_table(size, soaks),
            loading_table(size.loaded, loads),
        ),
        figures={
            "size": asdict(size),
            "held": held,
            "fan_out": fan_outs,
            "fan_out_exponents": exponents,
            "soak": soaks,
            "loading": loads,
            "growth": growth(held, fan_outs),
        },
        versions=versions_of("reflet", "aiohttp", "msgspec"),
        broken_limits=broken_limits(size, held, fan_outs, exponents, soaks),
    )


# Jobs


def hold_once(watches: int, writes: int, wire: str) -> Sample:
    """Many watches of one object each."""
    with serving(tls=wire == "TLS") as target:
        return load(
            f"hold {watches} watches, {wire}",
            target,
            job="hold",
            watches=watches,
            writes=writes,
        )


def fan_out_once(watches: int, writes: int, wire: str) -> Sample:
    """One write to many watches."""
    with serving(tls=wire == "TLS") as target:
        return load(
            f"fan out to {watches} watches, {wire}",
            target,
            job="fan_out",
            watches=watches,
            writes=writes,
        )


def soak_once(size: Size, kept: str) -> Sample:
    """A steady load, from one process that writes and one that watches."""
    print(f"devserver: soak for {size.soak_seconds:g} s, {kept}", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="reflet-bench-") as folder:
        more = ("--data-dir", folder) if kept == "SQLite" else ()
        with serving(*more, tls=True) as target:
            task = {
                "target": dict(target),
                "patience": TIMEOUT,
                "rate": size.soak_rate,
                "seconds": size.soak_seconds,
                "watches": size.soak_watches,
                "objects": size.soak_objects,
                "warm_up": size.soak_warm_up,
            }
            with Child(LOAD, {**task, "job": "soak_write"}) as writing:
                begin = writing.hear(TIMEOUT)
                with Child(LOAD, {**task, **begin, "job": "soak_watch"}) as watching:
                    watching.hear(TIMEOUT)
                    writing.say({"go": True})
                    wrote = writing.hear(TIMEOUT)
                    watched = watching.hear(TIMEOUT)
    out_of_order = float(wrote["versions"] != watched["versions"])
    return {**wrote["figures"], **watched["figures"], "out_of_order": out_of_order}


def load(what: str, target: Mapping[str, Any], **details: Any) -> Sample:
    """Let a process of its own make the load."""
    print(f"devserver: {what}", file=sys.stderr, flush=True)
    return run_child(
        LOAD, {"target": dict(target), "patience": TIMEOUT, **details}, patience=TIMEOUT + 5
    )


@contextmanager
def serving(*arguments: str, tls: bool) -> Iterator[Mapping[str, Any]]:
    """Run ``reflet serve`` and say how it is reached."""
    with tempfile.TemporaryDirectory(prefix="reflet-bench-") as folder:
        path = Path(folder, "kubeconfig")
        command = [
            *(sys.executable, "-m", "reflet", "serve", "--kubeconfig-out", str(path)),
            *("--tls" if tls else "--no-tls", *arguments),
        ]
        with subprocess.Popen(
            command, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
        ) as process:
            try:
                assert process.stdout is not None
                if not any(line.startswith("export KUBECONFIG=") for line in process.stdout):
                    raise RuntimeError("the server has not started")
                config = json.loads(path.read_text())
                cluster = config["clusters"][0]["cluster"]
                authority = base64.b64decode(cluster.get("certificate-authority-data", ""))
                yield {
                    "url": cluster["server"],
                    "token": config["users"][0]["user"]["token"],
                    "authority": authority.decode(),
                    "process": process.pid,
                }
            finally:
                process.kill()


# What the figures say


def broken_limits(
    size: Size,
    held: Mapping[int, Figures],
    fan_outs: Mapping[int, Figures],
    exponents: Mapping[str, float | None],
    soaks: Figures,
) -> Sequence[str]:
    """Which promises do not hold, in words."""
    broken: list[str] = []
    runs = {
        **{
            f"{watches} watches, {name}": each
            for watches, figures in held.items()
            for name, each in figures.items()
        },
        **{
            f"fan-out to {watches}, {name}": each
            for watches, figures in fan_outs.items()
            for name, each in figures.items()
        },
        **{f"soak in {name}": each for name, each in soaks.items()},
    }
    for name, figures in runs.items():
        broken += (
            f"{name}: {figures[wrong].high:g} {wrong.replace('_', ' ')}"
            for wrong in ("lost", "wrong", "broken", "out_of_order")
            if wrong in figures and figures[wrong].high
        )
    for wire, power in exponents.items():
        if power is not None and power > STEEPEST:
            broken.append(f"fan-out, {wire}: grows with the power {power:.2f} of the watches")
    for name, figures in soaks.items():
        if figures["writes_per_second"].low < SLOWEST_SHARE * size.soak_rate:
            broken.append(f"soak in {name}: {figures['writes_per_second'].low:.0f} writes a second")
        growth = figures["memory_at_end"].high - figures["memory_at_start"].low
        if growth > MOST_GROWTH:
            broken.append(f"soak in {name}: memory grew by {growth / 2**20:.1f} MiB")
    return broken


# Tables


def held_table(size: Size, held: Mapping[int, Figures]) -> str:
    """What many watches cost, and how soon one of them hears."""
    return table(
        f"Watches of one object each, and writes to {size.held_writes} of them",
        (
            "watches",
            "wire",
            "all open, s",
            "server CPU to open one, µs",
            "server KB per watch",
            "write to event: p50, ms",
            "p99, ms",
        ),
        (
            (
                str(watches),
                wire,
                shown(each["open_seconds"], 2),
                shown(each["open_cpu_microseconds"], 0),
                shown(each["bytes_per_watch"], 1, scale=1 / 1024),
                shown(each["event_p50_ms"], 2),
                shown(each["event_p99_ms"], 2),
            )
            for watches, figures in held.items()
            for wire, each in figures.items()
        ),
    )


def fan_out_table(fan_outs: Mapping[int, Figures], exponents: Mapping[str, float | None]) -> str:
    """How long it takes until everybody has heard."""
    grows = ", ".join(
        f"{power:.2f} {wire}" for wire, power in exponents.items() if power is not None
    )
    return table(
        "One write of 1 KiB to all watches: milliseconds from sending it "
        f"(in the best rounds, the last watch's p50 grows with the power {grows} of their number)",
        (
            "watches",
            "wire",
            "each: p50",
            "each: p99",
            "last: p50",
            "last: p99",
            "server CPU per event, µs",
        ),
        (
            (
                str(watches),
                wire,
                shown(each["each_p50_ms"], 1),
                shown(each["each_p99_ms"], 1),
                shown(each["last_p50_ms"], 1),
                shown(each["last_p99_ms"], 1),
                shown(each["cpu_microseconds"], 1),
            )
            for watches, figures in fan_outs.items()
            for wire, each in figures.items()
        ),
    )


def soak_table(size: Size, figures: Figures) -> str:
    """What a steady load does."""
    return table(
        f"{size.soak_seconds:g} s of {size.soak_rate:g} writes a second with "
        f"{size.soak_watches} watches of everything, TLS",
        (
            "kept in",
            "writes/s at most",
            "writes/s",
            "write: p50, ms",
            "p99, ms",
            "worst, ms",
            "server CPU, cores",
            "MB after a sixth of it",
            "MB at end",
            "events lost",
        ),
        (
            (
                kept,
                shown(each["fastest_writes_per_second"], 0),
                shown(each["writes_per_second"], 1),
                shown(each["write_p50_ms"], 2),
                shown(each["write_p99_ms"], 1),
                shown(each["write_worst_ms"], 0),
                shown(each["cpu_share"], 2),
                shown(each["memory_at_start"], 1, scale=2**-20),
                shown(each["memory_at_end"], 1, scale=2**-20),
                shown(each["lost"], 0),
            )
            for kept, each in figures.items()
        ),
    )
