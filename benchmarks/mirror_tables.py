"""The mirror benchmark's results as tables.

Owns: what is shown and how it is rounded.  Must not know how figures are taken.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.measuring import Spread, fitted_exponent, shown, table
from benchmarks.mirror_contestants import CONTESTANTS, OURS, OURS_STREAM, OURS_TLS
from benchmarks.mirror_goals import Goal

Standings = Mapping[str, Any]


def tables(figures: Mapping[str, Any], reached: Sequence[Goal]) -> list[str]:
    """Everything that was found out."""
    size = figures["size"]
    return [
        goals_table(reached),
        events_table(figures["events"], size["event_objects"]),
        *(memory_table(kind, each) for kind, each in figures["memory"].items()),
        sync_table(
            f"First sync of {size['sync_objects']:,} ConfigMaps of 1 KiB, synthetic server",
            figures["sync"],
            size["sync_objects"],
            OURS_TLS,
        ),
        sync_table(
            f"First sync of {size['real_objects']:,} ConfigMaps, real kube-apiserver over TLS "
            "(seconds are the server's more than the client's)",
            figures["real"],
            size["real_objects"],
            OURS_STREAM,
        ),
    ]


def goals_table(reached: Sequence[Goal]) -> str:
    """The goals."""
    words = {True: "yes", False: "**no**", None: "unknown"}
    rows = ((goal.goal, goal.measured, words[goal.reached]) for goal in reached)
    return table("Goals", ("goal", "measured", "reached"), rows)


def events_table(standings: Standings, objects: int) -> str:
    """One stream, from the socket to the handler."""

    def ratio(each: Mapping[str, Spread]) -> str:
        ours = standings["figures"].get(OURS)
        if ours is None:
            return ""
        return f"{each['cpu_microseconds'].median / ours['cpu_microseconds'].median:.2f}"

    return _standings_table(
        f"One stream of updates of {objects:,} ConfigMaps of 1 KiB, from the socket to the handler",
        ("cache", "CPU per event, µs", "events per CPU second, k", "events/s, k", "CPU, ours = 1"),
        standings,
        lambda name, each: (
            "yes" if CONTESTANTS[name].cache else "",
            shown(each["cpu_microseconds"], 1),
            f"{1000 / each['cpu_microseconds'].median:.1f}",
            shown(each["events_per_second"], 1, scale=1 / 1000),
            ratio(each),
        ),
    )


def memory_table(kind: str, by_size: Mapping[str, Standings]) -> str:
    """What objects cost to hold; who cannot hold the largest collection is left out."""
    sizes = list(by_size)
    largest = by_size[sizes[-1]]

    def row(name: str, each: Mapping[str, Spread]) -> tuple[str, ...]:
        found = {
            int(size): by_size[size]["figures"][name]["bytes_per_object"].median
            for size in sizes
            if name in by_size[size]["figures"]
        }
        exponent = fitted_exponent({size: size * bytes_each for size, bytes_each in found.items()})
        return (
            *(f"{found[int(size)]:,.0f}" if int(size) in found else "" for size in sizes),
            "" if exponent is None else f"{exponent:.2f}",
            f"{each['peak_bytes'].median / 2**20:,.0f}",
        )

    named = {"ConfigMap": "ConfigMaps of 1 KiB", "Pod": "pods of 5.6 kB"}[kind]
    return _standings_table(
        f"Memory for {named}: bytes of resident memory per object, after garbage collection",
        (*(f"of {int(size):,}" for size in sizes), "grows as n to the", "peak of the last, MiB"),
        largest,
        row,
    )


def sync_table(title: str, standings: Standings, objects: int, ours: str) -> str:
    """How long it takes from nothing to a complete mirror."""

    def ratio(each: Mapping[str, Spread]) -> str:
        best = standings["figures"].get(ours)
        return (
            "" if best is None else f"{each['cpu_seconds'].median / best['cpu_seconds'].median:.1f}"
        )

    return _standings_table(
        title,
        ("seconds", "CPU, s", "CPU per object, µs", "CPU, ours = 1"),
        standings,
        lambda _name, each: (
            shown(each["seconds"], 2),
            shown(each["cpu_seconds"], 2),
            f"{each['cpu_seconds'].median / objects * 1e6:.1f}",
            ratio(each),
        ),
    )


def _standings_table(
    title: str,
    columns: Sequence[str],
    standings: Standings,
    row: Callable[[str, Mapping[str, Spread]], Sequence[str]],
) -> str:
    rows = [
        (CONTESTANTS[name].title, *row(name, each)) for name, each in standings["figures"].items()
    ]
    empty = [""] * (len(columns) - 1)
    rows += [
        (CONTESTANTS[name].title, f"left out: {why}", *empty)
        for name, why in standings["left_out"].items()
    ]
    return table(title, ("client", *columns), rows)
