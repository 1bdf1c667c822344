"""What the mirror is to reach, and whether the figures do.

Owns: the goals.  Must not know how figures are taken.

Speed within Python is compared by CPU time per event, which a busy machine disturbs least; the
clients concerned do everything in one thread, so on a free core the two are the same.  client-go
uses several, so it is compared by the clock.  Medians decide; the best rounds, shown beside them,
come nearest to a machine that does nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.mirror_contestants import (
    BARE,
    BARE_TLS,
    CONTESTANTS,
    KEEPING,
    KEEPING_TLS,
    OURS,
    OURS_STREAM,
    OURS_TLS,
)

TIMES_A_PEER: Final = 8.0
TIMES_THE_BARE_LOOP: Final = 1.3
TIMES_THE_LOOP_THAT_KEEPS: Final = 1.15
TIMES_CLIENT_GO: Final = 1.5
BYTES_PER_CONFIG_MAP: Final = 1700.0


@dataclass(frozen=True, slots=True)
class Goal:
    """One goal: what, how it went, and whether that is enough; None when nobody knows."""

    goal: str
    measured: str
    reached: bool | None


def goals(figures: Mapping[str, Any]) -> list[Goal]:
    """Compare the figures with what we want."""
    events = figures["events"]["figures"]
    memory = figures["memory"]["ConfigMap"]
    return [
        against_peers(events),
        against_loop(events, OURS, BARE, TIMES_THE_BARE_LOOP),
        against_loop(events, OURS_TLS, BARE_TLS, TIMES_THE_BARE_LOOP),
        against_loop(events, OURS, KEEPING, TIMES_THE_LOOP_THAT_KEEPS),
        against_loop(events, OURS_TLS, KEEPING_TLS, TIMES_THE_LOOP_THAT_KEEPS),
        *(against_client_go(events, name) for name in ("go_json", "go_protobuf")),
        *(
            bytes_each(memory[str(figures["size"]["config_maps"][-1])]["figures"], name)
            for name in (OURS_TLS, OURS_STREAM)
        ),
    ]


def missed(reached: Sequence[Goal]) -> list[str]:
    """The goals that are not reached, in words."""
    return [f"{goal.goal}: {goal.measured}" for goal in reached if goal.reached is False]


def against_peers(events: Mapping[str, Any]) -> Goal:
    """As fast as we say, next to the fastest peer that mirrors."""
    goal = f"at least {TIMES_A_PEER:g} times the fastest Python peer that has a cache"
    with_cache = {
        name: _cpu(events, name)
        for name in events
        if CONTESTANTS[name].cache and CONTESTANTS[name].peer not in {"", "client-go"}
    }
    if not with_cache or OURS not in events:
        return Goal(goal, "not measured", None)
    fastest = min(with_cache, key=lambda name: with_cache[name])
    times = with_cache[fastest] / _cpu(events, OURS)
    best = _best_cpu(events, fastest) / _best_cpu(events, OURS)
    measured = f"{times:.1f} times {CONTESTANTS[fastest].title}, by CPU (best rounds: {best:.1f})"
    return Goal(goal, measured, times >= TIMES_A_PEER)


def against_loop(events: Mapping[str, Any], ours: str, bare: str, most: float) -> Goal:
    """Little more than reading and decoding, or than that and keeping the objects."""
    goal = f"no more than {most:g} times the time of the {CONTESTANTS[bare].title}"
    if ours not in events or bare not in events:
        return Goal(goal, "not measured", None)
    times = _cpu(events, ours) / _cpu(events, bare)
    best = _best_cpu(events, ours) / _best_cpu(events, bare)
    measured = f"{times:.2f} times, by CPU (best rounds: {best:.2f})"
    return Goal(goal, measured, times <= most)


def against_client_go(events: Mapping[str, Any], name: str) -> Goal:
    """Faster than Go."""
    goal = f"at least {TIMES_CLIENT_GO:g} times the events a second of {CONTESTANTS[name].title}"
    if name not in events or OURS_TLS not in events:
        return Goal(goal, "not measured", None)
    rates = [events[each]["events_per_second"].median for each in (OURS_TLS, name)]
    times = rates[0] / rates[1]
    by_cpu = _cpu(events, name) / _cpu(events, OURS_TLS)
    return Goal(goal, f"{times:.1f} times (by CPU {by_cpu:.1f} times)", times >= TIMES_CLIENT_GO)


def bytes_each(memory: Mapping[str, Any], name: str) -> Goal:
    """Little more than the object itself."""
    goal = f"no more than {BYTES_PER_CONFIG_MAP:.0f} bytes for a cached 1 KiB ConfigMap"
    if name not in memory:
        return Goal(goal, "not measured", None)
    size = memory[name]["bytes_per_object"].median
    measured = f"{size:.0f} ({CONTESTANTS[name].title})"
    return Goal(goal, measured, size <= BYTES_PER_CONFIG_MAP)


def _cpu(events: Mapping[str, Any], name: str) -> float:
    cpu: float = events[name]["cpu_microseconds"].median
    return cpu


def _best_cpu(events: Mapping[str, Any], name: str) -> float:
    cpu: float = events[name]["cpu_microseconds"].low
    return cpu
