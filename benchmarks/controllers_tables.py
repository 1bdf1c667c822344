"""The controllers benchmark's results as tables, and what they say about our goals.

Owns: the goals, what is shown and how it is rounded.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from benchmarks.controllers_contestants import CONTESTANTS, KOPF, KOPF_HANDLERS, OURS, RUNTIME
from benchmarks.growth import Row, rows_of
from benchmarks.measuring import Spread, shown, table
from benchmarks.mirror_goals import Goal
from benchmarks.mirror_tables import goals_table

TIMES_KOPF: Final = 10.0

Figures = Mapping[str, Any]


def goals(figures: Figures) -> list[Goal]:
    """Compare the figures with what we want."""
    return [
        against_kopf("no-op", largest(figures["no_op"])["figures"]),
        against_kopf("status patch", figures["status"]["figures"]),
        against_runtime(figures["followed"]["figures"]),
    ]


def largest(by_size: Figures) -> Figures:
    """What came of the job with most objects."""
    standings: Figures = by_size[max(by_size, key=int)]
    return standings


def against_kopf(job: str, found: Mapping[str, Mapping[str, Spread]]) -> Goal:
    """As cheap as we say, next to the cheaper of kopf's ways."""
    goal = f"at least {TIMES_KOPF:g} times kopf's reconciles a CPU second: {job}"
    theirs = [name for name in (KOPF, KOPF_HANDLERS) if name in found]
    if not theirs or OURS not in found:
        return Goal(goal, "not measured", None)
    best = max(theirs, key=lambda name: found[name]["per_cpu_second"].median)
    times = found[OURS]["per_cpu_second"].median / found[best]["per_cpu_second"].median
    worst, most = (
        found[OURS]["per_cpu_second"].low / found[best]["per_cpu_second"].high,
        found[OURS]["per_cpu_second"].high / found[best]["per_cpu_second"].low,
    )
    measured = f"{times:.1f} times {CONTESTANTS[best].title} ({worst:.1f} to {most:.1f})"
    return Goal(goal, measured, times >= TIMES_KOPF)


def against_runtime(found: Mapping[str, Mapping[str, Spread]]) -> Goal:
    """As soon as in Go."""
    goal = "p99 from a write to its reconcile no longer than controller-runtime's"
    if not {OURS, RUNTIME} <= found.keys():
        return Goal(goal, "not measured", None)
    mine, its = (found[name]["sent_p99_ms"].median for name in (OURS, RUNTIME))
    return Goal(goal, f"{mine:.1f} ms next to {its:.1f} ms", mine <= its)


def tables(figures: Figures, reached: Sequence[Goal]) -> list[str]:
    """Everything that was found out."""
    size = figures["size"]
    objects, workers = max(size["objects"]), size["workers"]
    return [
        goals_table(reached),
        reconciled_table(
            f"No-op: {objects:,} objects of 1 KiB are read once, from the start of the controller",
            largest(figures["no_op"]),
        ),
        reconciled_table(
            f"Status patch: each of {objects:,} objects gets a status, {workers} workers, no limit "
            "of requests a second",
            figures["status"],
        ),
        followed_table(size, figures["followed"]),
        *([led_table(figures["led"], size)] if figures["led"] else []),
    ]


def reconciled_table(title: str, standings: Figures) -> str:
    """How fast, and what it costs."""
    ours = standings["figures"].get(OURS)

    def ratio(each: Mapping[str, Spread]) -> str:
        if ours is None:
            return ""
        return f"{each['cpu_seconds'].median / ours['cpu_seconds'].median:.1f}"

    return _standings_table(
        title,
        ("objects/s", "objects per CPU second", "CPU, s", "CPU, ours = 1", "peak memory, MiB"),
        standings,
        lambda each: (
            shown(each["per_second"], 0),
            shown(each["per_cpu_second"], 0),
            shown(each["cpu_seconds"], 2),
            ratio(each),
            shown(each["peak_bytes"], 0, scale=1 / 2**20),
        ),
    )


def followed_table(size: Figures, standings: Figures) -> str:
    """How long a write takes to its reconcile."""
    return _standings_table(
        f"Latency: milliseconds from a write to the call that sees it, {size['writes']} writes at "
        f"{size['writes_per_second']:g} a second to {size['followed']} objects",
        ("since sending: p50", "p99", "since the answer: p50", "p99"),
        standings,
        lambda each: [
            shown(each[f"{since}_p{share}_ms"], 2)
            for since in ("sent", "acknowledged")
            for share in (50, 99)
        ],
    )


def led_table(led: Figures, size: Figures) -> str:
    """How long nobody leads."""
    timings = {each["name"]: each for each in size["timings"]}
    rows = []
    for name, standings in led.items():
        timing = timings[name]
        seconds = (timing[part] for part in ("lease_duration", "renew_deadline", "retry_period"))
        said = f"{name}: {' / '.join(f'{each:g}' for each in seconds)} s"
        rows += [
            (said, CONTESTANTS[who].title, shown(each["seconds"], 1))
            for who, each in standings["figures"].items()
        ]
        rows += [
            (said, CONTESTANTS[who].title, f"left out: {why}")
            for who, why in standings["left_out"].items()
        ]
    return table(
        f"Leader election: seconds from the leader's SIGKILL to the next leader, {size['kills']} "
        "kills each",
        ("lease duration / renew deadline / retry period", "candidates", "nobody leads, s"),
        rows,
    )


def growth_rows(by_size: Figures) -> list[Row]:
    """What an object of a no-op costs, by how many there are."""
    return rows_of(
        "CPU to reconcile an object once, from the start of a controller",
        by_size,
        lambda objects, each: each["cpu_seconds"].median / objects * 1e6,
        titles={name: CONTESTANTS[name].title for name in (OURS, RUNTIME, KOPF)},
        by="objects",
        unit="µs",
        ours=lambda name: name == OURS,
    )


def _standings_table(
    title: str,
    columns: Sequence[str],
    standings: Figures,
    row: Callable[[Mapping[str, Spread]], Sequence[str]],
) -> str:
    rows = [(CONTESTANTS[name].title, *row(each)) for name, each in standings["figures"].items()]
    empty = [""] * (len(columns) - 1)
    rows += [
        (CONTESTANTS[name].title, f"left out: {why}", *empty)
        for name, why in standings["left_out"].items()
    ]
    return table(title, ("controller", *columns), rows)
