"""What one contestant did about one outage: figures, from moments.

Owns: what is counted as what.  Must not know where the moments, of CLOCK_MONOTONIC, come from.
"""

from __future__ import annotations

import re
import time
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from benchmarks.measuring import percentile

Figures = dict[str, float]

AGENT: Final = re.compile(r"place-(\d+)")


def agent(place: int) -> str:
    """What the server is told of who asks, to tell everybody apart."""
    return f"place-{place}"


@dataclass(frozen=True, slots=True)
class Outage:
    """The moments of one outage; *ready* may come seconds after *returned*."""

    killed: float
    returned: float
    ready: float


def figures_of(
    report: Mapping[str, Any],
    outage: Outage,
    requests: Sequence[float],
    objects: int,
    patience: float,
) -> Figures:
    """What one contestant did about one outage.

    Who is not live after *patience* seconds counts as live then.
    """
    waits = [moment - outage.ready for moment in report["live"]]
    waits = [wait for wait in waits if wait < patience]
    live = len(waits)
    waits += [patience] * (objects - live)
    attempts = report["attempts"]
    requests = [each for each in requests if each <= outage.ready + max(waits)]
    return {
        "away_seconds": outage.ready - outage.killed,
        "live": live,
        "p50_seconds": percentile(waits, 0.5),
        "p99_seconds": percentile(waits, 0.99),
        "last_seconds": max(waits),
        "attempts_away": sum(outage.killed <= each < outage.returned for each in attempts),
        "attempts_after": sum(each >= outage.returned for each in attempts),
        "requests": len(requests),
        "busiest_second": busiest_second(requests),
        "cpu_seconds": report["cpu_seconds"],
    }


def busiest_second(moments: Sequence[float]) -> int:
    """How many of the moments lie within one second, at most."""
    ordered = sorted(moments)
    first = most = 0
    for last, moment in enumerate(ordered):
        while moment - ordered[first] >= 1.0:
            first += 1
        most = max(most, last - first + 1)
    return most


def requests_by_place(events: Sequence[Mapping[str, Any]]) -> Mapping[int, list[float]]:
    """When each place's requests arrived, by the server's log, as CLOCK_MONOTONIC has it."""
    found: defaultdict[int, list[float]] = defaultdict(list)
    since = time.time() - time.monotonic()
    for event in events:
        agent = AGENT.search(event.get("userAgent", ""))
        if agent is not None:
            moment = datetime.fromisoformat(event["requestReceivedTimestamp"]).timestamp()
            found[int(agent[1])].append(moment - since)
    return found
