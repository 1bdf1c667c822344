"""The PLEG benchmark's results: tables and goals.

Owns: what we want to reach, what is shown and how it is rounded.  Must not know how figures are
taken.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from benchmarks.measuring import table

Figures = Mapping[str, Mapping[str, float]]

CACHE_GOAL: Final = 50.0  # milliseconds from a death to the cache, p50, with events
COMPARED: Final = {
    "agent_cpu_s_per_minute": "CPU seconds a minute at rest",
    "death_p50_ms": "milliseconds from a death to the API server (p50)",
}
PARTS: Final = ("p50", "p99", "worst")


def tables(
    pods: int, nodes: Figures, caches: Figures, left_out: Mapping[str, str]
) -> Sequence[str]:
    """What is shown."""
    shown = [at_rest_table(pods, nodes, caches), death_table(pods, nodes, caches)]
    if left_out:
        shown.append(table("not measured", ("who", "why"), left_out.items()))
    return shown


def goals_missed(nodes: Figures, caches: Figures) -> Sequence[str]:
    """What we want to reach and have not, in words."""
    missed = []
    cache = caches.get("status cache alone, events")
    if cache is not None and cache["death_p50_ms"] > CACHE_GOAL:
        missed.append(
            f"a death takes {cache['death_p50_ms']:.0f} ms to the status cache with events (p50), "
            f"and should take {CACHE_GOAL:.0f}"
        )
    for mode in ("relist", "events"):
        theirs, ours = nodes.get(f"kubelet, {mode}"), nodes.get(f"reflet node, {mode}")
        for figure, what in COMPARED.items():
            if theirs and ours and ours[figure] > theirs[figure]:
                missed.append(
                    f"{what} by {mode}: {ours[figure]:.1f}, the kubelet {theirs[figure]:.1f}"
                )
    return missed


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
