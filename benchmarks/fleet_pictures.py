"""The fleet benchmark's pictures: lines over the time since the server listens again.

Owns: what of the results each shows.  Must not measure, nor know how lines are drawn.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

from benchmarks.fleet import OURS
from benchmarks.fleet_simulation import BEFORE, STEP
from benchmarks.line_chart import Line, line_chart

AWAY: Final = "40"  # seconds: the longest outage, whose arrivals are shown

Figures = Mapping[str, Any]


def fleet_live(figures: Figures) -> str:
    """How many agents follow again, and when."""
    lines = [
        Line(
            label=f"{policy}, {away} s",
            points=_over_time(each["lines"]["live"], float(away), since=-10, scale=100),
            ours=policy == OURS,
            dashed=away != AWAY,
        )
        for away, policies in figures["outages"].items()
        for policy, each in policies.items()
    ]
    return line_chart(
        "Agents of which all streams are live",
        "per cent, by seconds since the server listens again; it was away for 40 s, or 10 s",
        lines,
        most=100,
        marks={0: "listens"},
    )


def fleet_connections(figures: Figures) -> str:
    """What tries to connect; the server is away until 0."""
    kinds = {"refused": ", refused", "handshakes": ", handshakes"}
    return _arrivals(figures, "Connection attempts", kinds, until=10)


def fleet_requests(figures: Figures) -> str:
    """What is asked once the server listens."""
    kinds = {"throttled": ", answered 429", "requests": ""}
    return _arrivals(figures, "Requests", kinds, since=-5)


def _arrivals(
    figures: Figures,
    what: str,
    kinds: Mapping[str, str],
    *,
    since: float = -math.inf,
    until: float = math.inf,
) -> str:
    """Arrivals of some kinds; the first is drawn with dashes."""
    first = next(iter(kinds))
    lines = [
        Line(
            label=f"{policy}{said}",
            points=_over_time(each["lines"][kind], float(AWAY), since=since, until=until),
            ours=policy == OURS,
            dashed=kind == first,
        )
        for policy, each in figures["outages"][AWAY].items()
        for kind, said in kinds.items()
        if each["totals"][kind]
    ]
    return line_chart(
        f"{what} when the server was away for {AWAY} s",
        "a second, by powers of ten; by seconds since the server listens again",
        lines,
        least=10,
        most=1_000_000,
        marks={0: "listens"},
    )


def _over_time(
    line: Sequence[float],
    away: float,
    *,
    since: float = -math.inf,
    until: float = math.inf,
    scale: float = 1.0,
) -> list[tuple[float, float]]:
    """A line by seconds since the server listens."""
    points = [(number * STEP - BEFORE - away, value * scale) for number, value in enumerate(line)]
    return [(second, value) for second, value in points if since <= second <= until]
