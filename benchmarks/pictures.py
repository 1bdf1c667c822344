"""Which pictures there are, and what of the results each shows.

Owns: the choice, and the files in docs/images.  Must not measure, nor know how bars are drawn.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.bar_chart import Bar, bar_chart
from benchmarks.controllers_contestants import CONTESTANTS as CONTROLLERS
from benchmarks.controllers_contestants import KOPF, OURS, RUNTIME
from benchmarks.fleet_pictures import fleet_connections, fleet_live, fleet_requests
from benchmarks.growth import Row
from benchmarks.idle_contestants import MANAGERS as IDLE_MANAGERS
from benchmarks.managers_tables import CONTESTANTS as MANAGERS
from benchmarks.measuring import REPOSITORY, RESULTS
from benchmarks.mirror_contestants import CONTESTANTS as MIRRORS
from benchmarks.pleg_pictures import pleg_deaths
from benchmarks.recovery_contestants import CONTESTANTS as RECOVERING
from benchmarks.sidecar_pictures import missed_deletions, torn_reads

IMAGES: Final = REPOSITORY / "docs" / "images"
GROWTH: Final = "growth"  # not a benchmark: the rows of all of them

Figures = Mapping[str, Any]

# Rows of the mirror's tables that say the same twice are left out of its pictures.
IN_THE_PICTURE: Final = (
    *("bare_http1", "ours_http2", "ours_http1", "cloudcoil", "official", "lightkube"),
    *("kubernetes_asyncio", "kopf", "go_protobuf", "go_json"),
)
HELD_IN_THE_PICTURE: Final = (
    *("ours_http2", "official", "lightkube", "kubernetes_asyncio", "go_json_stream"),
)

CONTROLLERS_IN_THE_PICTURE: Final = (OURS, RUNTIME, KOPF)


@dataclass(frozen=True, slots=True)
class Picture:
    """A picture of one benchmark's figures; ``alt`` is for those who cannot see it."""

    benchmark: str
    alt: str
    draw: Callable[[Figures], str]


def mirror_events(figures: Figures) -> str:
    """What an event costs."""
    found = figures["events"]["figures"]
    bars = [
        _bar(_plain(MIRRORS[name].title), found[name]["cpu_microseconds"], kind=_kind(name))
        for name in IN_THE_PICTURE
        if name in found
    ]
    return bar_chart(
        "CPU per watch event, from the socket to the handler",
        "microseconds, fewer is better; ConfigMaps of 1 KiB",
        _from_the_least(bars),
    )


def mirror_memory(figures: Figures) -> str:
    """What a cached object costs."""
    by_size = figures["memory"]["ConfigMap"]
    size = max(by_size, key=int)
    found = by_size[size]["figures"]
    bars = [
        _bar(_plain(MIRRORS[name].title), found[name]["bytes_per_object"], kind=_kind(name))
        for name in HELD_IN_THE_PICTURE
        if name in found
    ]
    return bar_chart(
        "Memory per cached ConfigMap of 1 KiB",
        f"bytes of resident memory, fewer is better; {int(size):,} objects",
        _from_the_least(bars),
        digits=0,
    )


def mirror_sync(figures: Figures) -> str:
    """What the first list costs."""
    objects = figures["size"]["sync_objects"]
    found = figures["sync"]["figures"]
    bars = [
        _bar(
            _plain(MIRRORS[name].title),
            found[name]["cpu_seconds"],
            kind=_kind(name),
            scale=1e6 / objects,
        )
        for name in IN_THE_PICTURE
        if name in found
    ]
    return bar_chart(
        f"CPU per object until {objects:,} ConfigMaps are in memory",
        "microseconds, fewer is better",
        _from_the_least(bars),
    )


def fault_requests(figures: Figures) -> str:
    """What clients ask of a server that is not well."""
    [fault] = [title for title in figures if title.startswith("watch answers 500")]
    bars = []
    for name, each in figures[fault].items():
        asked = each["lists"] + each["watches"]
        kind = "ours" if name == "reflet" else "peer"
        bars.append(Bar(label=name, value=asked, kind=kind, note=f"({each['verdict']})"))
    return bar_chart(
        "Requests to a server that answers watches with 500",
        "lists and watches while the fault lasts, fewer is better, and whether the cache is right",
        bars,
        digits=0,
    )


def managers_memory(figures: Figures) -> str:
    """What a watched object costs."""
    found = figures["held"]["figures"]
    bars = [
        _bar(
            _plain(MANAGERS[name].title),
            each["bytes_per_object"],
            kind="peer" if "kubelet" in name else "ours",
            scale=1 / 1000,
        )
        for name, each in found.items()
    ]
    objects = figures["size"]["objects"]
    return bar_chart(
        "Memory per watched object of a pod",
        f"kB of resident memory, fewer is better; {objects:,} objects on a real kube-apiserver",
        bars,
    )


def managers_freshness(figures: Figures) -> str:
    """How long a change takes to be read."""
    bars = [
        _bar(
            f"{strategy}, {int(objects):,} object{'s' if objects != '1' else ''}, {part}",
            each[f"sent_{part}_ms"],
            kind="ours",
        )
        for objects, strategies in figures["followed"]["kube-apiserver"].items()
        for strategy, each in strategies.items()
        for part in ("p50", "p99")
    ]
    return bar_chart(
        "From sending a write to a changed read",
        "milliseconds on a real kube-apiserver, fewer is better; the kubelet looks once a minute",
        bars,
    )


def idle_managers(figures: Figures) -> str:
    """What is sent and received while nothing changes."""
    by_size = figures["managers"]
    size = max(by_size, key=int)
    bars = [
        _bar(
            _plain(IDLE_MANAGERS[name].title),
            each["bytes"],
            kind="peer" if IDLE_MANAGERS[name].in_go else "ours",
            scale=1 / 1000,
        )
        for name, each in by_size[size]["figures"].items()
    ]
    return bar_chart(
        "Traffic while nothing changes",
        f"kB a minute, fewer is better; {int(size):,} ConfigMaps of pods, looked at once a minute",
        _from_the_least(bars),
    )


def recovery_last(figures: Figures) -> str:
    """How soon everybody is back after the longest outage."""
    return bar_chart(
        f"Until the last object is live again, after {_longest_outage(figures)} s without a server",
        "seconds from the server's being ready, fewer is better; each object has a stream of its "
        "own, but for auto",
        [
            _recovered(
                name,
                objects,
                each["last_seconds"],
                note="" if each["live"] == objects else f"({each['live']:,} live)",
            )
            for name, objects, each in _after_the_longest_outage(figures)
        ],
    )


def recovery_attempts(figures: Figures) -> str:
    """How often a server that is away is looked for."""
    return bar_chart(
        f"Attempts to connect to a server that is away for {_longest_outage(figures)} s",
        "all attempts of one process, fewer is better",
        [
            _recovered(name, objects, each["attempts_away"])
            for name, objects, each in _after_the_longest_outage(figures)
        ],
        digits=0,
    )


def node_freshness(figures: Figures) -> str:
    """How long a write takes to a container's file, and to its signal."""
    bars = [
        Bar(
            label=f"{pods} pod{'s' if pods != '1' else ''}, to the {what}, {part}",
            value=value,
            kind="ours",
        )
        for pods, each in figures["freshness"].items()
        for what in ("file", "signal")
        for part in ("p50", "p99")
        for value in (each[f"{what}_{part}_ms"],)
    ]
    return bar_chart(
        "From an acknowledged write to a running container",
        "milliseconds, fewer is better; the kubelet refreshes files every 60,000 to 90,000",
        bars,
    )


def controllers_cpu(figures: Figures) -> str:
    """What an object costs a controller: left as it is, and given a status."""
    objects = max(figures["no_op"], key=int)
    jobs = {"no-op": figures["no_op"][objects], "status patch": figures["status"]}
    bars = [
        _bar(
            f"{_plain(CONTROLLERS[name].title)}: {job}",
            standings["figures"][name]["cpu_seconds"],
            kind="ours" if name == OURS else "peer",
            scale=1e6 / int(objects),
        )
        for job, standings in jobs.items()
        for name in CONTROLLERS_IN_THE_PICTURE
        if name in standings["figures"]
    ]
    return bar_chart(
        f"CPU to reconcile one of {int(objects):,} objects",
        "microseconds, fewer is better; from the start of a controller, first list included",
        bars,
        digits=0,
    )


def controllers_latency(figures: Figures) -> str:
    """How long a write takes to its reconcile."""
    bars = [
        _bar(
            f"{_plain(CONTROLLERS[name].title)}, {part}",
            figures["followed"]["figures"][name][f"sent_{part}_ms"],
            kind="ours" if name == OURS else "peer",
        )
        for part in ("p50", "p99")
        for name in CONTROLLERS_IN_THE_PICTURE
        if name in figures["followed"]["figures"]
    ]
    return bar_chart(
        "From sending a write to the call that sees it",
        "milliseconds on a real kube-apiserver, fewer is better",
        bars,
    )


def growth_exponents(figures: Figures) -> str:
    """How steeply costs grow: of each cost, what the first of ours does."""
    first: dict[str, Row] = {}
    for row in figures[GROWTH]:
        if row["ours"] and row["exponent"] is not None:
            first.setdefault(f"{row['job']}, by {row['by']}", row)
    bars = [
        Bar(label=_plain(label), value=round(row["exponent"], 2) + 0.0, kind="ours")
        for label, row in first.items()
    ]
    return bar_chart(
        "How Reflet's costs grow with the size",
        "power of the size: 0 is constant, 1 is in proportion to it",
        [Bar(label="in proportion to the size", value=1.0, kind="limit"), *_from_the_least(bars)],
        digits=2,
    )


PICTURES: Final[Mapping[str, Picture]] = {
    "mirror-events": Picture("mirror", "CPU per watch event by client", mirror_events),
    "mirror-memory": Picture("mirror", "Memory per cached object by client", mirror_memory),
    "mirror-sync": Picture("mirror", "CPU of the first sync by client", mirror_sync),
    "fault-requests": Picture("faults", "Requests under a fault by client", fault_requests),
    "managers-memory": Picture("managers", "Memory per watched object", managers_memory),
    "managers-freshness": Picture("managers", "From a write to a changed read", managers_freshness),
    "idle-managers": Picture("idle", "Traffic of managers while nothing changes", idle_managers),
    "recovery-last": Picture(
        "recovery", "Until the last object is live again after an outage", recovery_last
    ),
    "recovery-attempts": Picture(
        "recovery", "Attempts to connect to a server that is away", recovery_attempts
    ),
    "node-freshness": Picture("node", "From a write to a running container", node_freshness),
    "pleg-deaths": Picture("pleg", "From a container's death until it is known", pleg_deaths),
    "controllers-cpu": Picture(
        "controllers", "CPU to reconcile an object by controller", controllers_cpu
    ),
    "controllers-latency": Picture(
        "controllers", "From a write to its reconcile by controller", controllers_latency
    ),
    "fleet-live": Picture("fleet", "Agents that are live again, over time", fleet_live),
    "fleet-connections": Picture("fleet", "Connection attempts over time", fleet_connections),
    "fleet-requests": Picture("fleet", "Requests over time", fleet_requests),
    "sidecar-torn": Picture("sidecar", "Torn reads by sidecar", torn_reads),
    "sidecar-missed": Picture("sidecar", "Missed deletions by sidecar", missed_deletions),
    "growth": Picture(GROWTH, "How Reflet's costs grow with the size", growth_exponents),
}


def of_benchmark(benchmark: str) -> Iterator[tuple[str, Picture]]:
    """The pictures of a benchmark, with their names."""
    for name, picture in PICTURES.items():
        if picture.benchmark == benchmark:
            yield name, picture


def draw(benchmarks: Sequence[str], *, results: Path = RESULTS, into: Path = IMAGES) -> list[Path]:
    """Draw the pictures of the last full runs; what was never run in full is left as it is."""
    into.mkdir(parents=True, exist_ok=True)
    drawn = []
    for benchmark in benchmarks:
        result = results / f"{benchmark}.json"
        if not result.is_file():
            continue
        figures = json.loads(result.read_text())["figures"]
        for name, picture in of_benchmark(benchmark):
            path = into / f"{name}.svg"
            path.write_text(picture.draw(figures))
            drawn.append(path)
    return drawn


def draw_growth(rows: Sequence[Row], *, into: Path = IMAGES) -> list[Path]:
    """Draw the picture of all benchmarks' growth, if there is any."""
    if not rows:
        return []
    into.mkdir(parents=True, exist_ok=True)
    drawn = []
    for name, picture in of_benchmark(GROWTH):
        path = into / f"{name}.svg"
        path.write_text(picture.draw({GROWTH: rows}))
        drawn.append(path)
    return drawn


def _bar(label: str, spread: Mapping[str, float], *, kind: str, scale: float = 1.0) -> Bar:
    return Bar(
        label=label,
        value=spread["median"] * scale,
        low=spread["low"] * scale,
        high=spread["high"] * scale,
        kind=kind,
    )


def _longest_outage(figures: Figures) -> str:
    return f"{max(figures['size']['outages']):g}"


def _after_the_longest_outage(figures: Figures) -> Iterator[tuple[str, int, Figures]]:
    """Who was there: the contestant, its number of objects, and what came of it."""
    seconds = _longest_outage(figures)
    for name, by_objects in figures["outages"].items():
        for objects, by_outage in by_objects.items():
            each = by_outage.get(seconds, {})
            if "live" in each:
                yield name, int(objects), each


def _recovered(name: str, objects: int, value: float, *, note: str = "") -> Bar:
    contestant = RECOVERING[name]
    return Bar(
        label=f"{_plain(contestant.title)}: {objects:,}",
        value=value,
        kind="peer" if contestant.in_go else "ours",
        note=note,
    )


def _from_the_least(bars: Sequence[Bar]) -> list[Bar]:
    return sorted(bars, key=lambda bar: bar.value)


def _kind(name: str) -> str:
    return "ours" if name.startswith("ours") else "limit" if name.startswith("bare") else "peer"


def _plain(title: str) -> str:
    return title.replace("*", "").replace("`", "")
