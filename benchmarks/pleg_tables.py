"""The PLEG benchmark's results: tables and goals.

Owns: what we want to reach, what is shown and how it is rounded.  Must not know how figures are
taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.measuring import table
from benchmarks.mirror_goals import Goal
from benchmarks.mirror_tables import goals_table

Figures = Mapping[str, Mapping[str, float]]

CACHE_GOAL: Final = 50.0  # milliseconds from a death to the cache, p50, with events
COMPARED: Final = {
    "agent_cpu_s_per_minute": ("CPU of a minute at rest", "s"),
    "death_p50_ms": ("from a death to the API server, p50", "ms"),
}
PARTS: Final = ("p50", "p99", "worst")


def tables(
    pods: int, nodes: Figures, caches: Figures, left_out: Mapping[str, str]
) -> Sequence[str]:
    """What is shown."""
    shown = [
        goals_table(goals(nodes, caches)),
        at_rest_table(pods, nodes, caches),
        death_table(pods, nodes, caches),
    ]
    if left_out:
        shown.append(table("not measured", ("who", "why"), left_out.items()))
    return shown


def goals(nodes: Figures, caches: Figures) -> list[Goal]:
    """Compare the figures with what we want."""
    return [
        in_the_cache(caches.get("status cache alone, events")),
        *(
            next_to_the_kubelet(nodes, mode, figure)
            for mode in ("relist", "events")
            if f"reflet node, {mode}" in nodes
            for figure in COMPARED
        ),
    ]


def in_the_cache(found: Mapping[str, float] | None) -> Goal:
    """As soon as the runtime says so, but for what asking it takes."""
    goal = f"a death is known to the status cache within {CACHE_GOAL:.0f} ms by events, p50"
    if found is None:
        return Goal(goal, "not measured", None)
    return Goal(goal, f"{found['death_p50_ms']:.0f} ms", found["death_p50_ms"] <= CACHE_GOAL)


def next_to_the_kubelet(nodes: Figures, mode: str, figure: str) -> Goal:
    """Our node is no worse than the kubelet in the same mode."""
    what, unit = COMPARED[figure]
    goal = f"no more than the kubelet by {mode}: {what}"
    theirs, ours = nodes.get(f"kubelet, {mode}"), nodes[f"reflet node, {mode}"]
    if theirs is None:
        return Goal(goal, "not measured", None)
    measured = f"{ours[figure]:.3g} {unit} next to {theirs[figure]:.3g}"
    return Goal(goal, measured, ours[figure] <= theirs[figure])


def at_rest_table(pods: int, nodes: Figures, caches: Figures) -> str:
    """What watching over pods costs while nothing happens."""
    return table(
        f"{pods} pods at rest, for a minute",
        ("who", "CPU of it", "CPU of containerd", "memory"),
        (
            (
                who,
                f"{each['agent_cpu_s_per_minute']:.2f} s",
                f"{each['runtime_cpu_s_per_minute']:.2f} s",
                f"{each['agent_bytes'] / 1e6:.0f} MB",
            )
            for who, each in (*caches.items(), *nodes.items())
        ),
    )


def death_table(pods: int, nodes: Figures, caches: Figures) -> str:
    """How long a death stays unknown."""
    return table(
        f"from the death of one of {pods} containers, milliseconds",
        ("who", "known to", *PARTS),
        (
            (who, to, *(f"{each[f'death_{part}_ms']:.0f}" for part in PARTS))
            for to, found in (("the status cache", caches), ("a client of the API server", nodes))
            for who, each in found.items()
        ),
    )
