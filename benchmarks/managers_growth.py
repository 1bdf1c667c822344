"""How the managers' costs grow with the objects that are watched.

Owns: who is looked at and what counts as the cost.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any, Final

from benchmarks.growth import Figures, Row, row, rows_of
from benchmarks.managers_tables import AUTO, CONTESTANTS, FOLLOWERS, KUBELET, WATCH

HELD: Final = (WATCH, AUTO, KUBELET)
COSTS: Final = (
    ("time until all are synced", "sync_seconds", "ms"),
    ("CPU until all are synced", "sync_cpu_seconds", "ms"),
    ("memory for watched objects", "bytes", "MB"),
    ("streams", "streams", ""),
    ("connections", "sockets", ""),
    ("CPU for a read", "reads_per_cpu_second", "ns"),
    ("CPU to register or unregister a pod", "registrations_per_cpu_second", "µs"),
)


def rows(held: Mapping[str, Any], followed: Mapping[str, Any]) -> list[Row]:
    """What holding costs by size, and how fresh reads are."""
    return [*held_rows(held), *followed_rows(followed)]


def held_rows(by_size: Mapping[str, Any]) -> list[Row]:
    """One cost after the other, each of everybody."""
    return [
        each
        for job, figure, unit in COSTS
        for each in rows_of(
            job,
            by_size,
            partial(cost, figure),
            # A stream of the kubelet's is nowhere to be counted: it has one for each object.
            titles={
                name: CONTESTANTS[name].title
                for name in HELD
                if not (figure == "streams" and name == KUBELET)
            },
            by="watched objects",
            unit=unit,
            ours=lambda name: name != KUBELET,
        )
    ]


def cost(figure: str, objects: int, figures: Figures) -> float:
    """A figure as something that should be small."""
    match figure:
        case "sync_seconds" | "sync_cpu_seconds":
            return figures[figure].median * 1e3
        case "bytes":
            return figures["bytes_per_object"].median * objects / 1e6
        case "reads_per_cpu_second":
            return 1e9 / figures[figure].median
        case "registrations_per_cpu_second":
            return 1e6 / figures[figure].median
        case _:
            return figures[figure].median


def followed_rows(followed: Mapping[str, Any]) -> list[Row]:
    """From sending a write to a changed read: the median of the writes."""
    return [
        row(
            "from a write to a changed read, p50",
            who=f"{CONTESTANTS[strategy].title.partition(', C')[0]}, on {server}",
            by="watched objects",
            unit="ms",
            points={
                int(objects): by_strategy[strategy]["sent_p50_ms"].median
                for objects, by_strategy in by_objects.items()
            },
        )
        for server, by_objects in followed.items()
        for strategy in FOLLOWERS
    ]
