"""How long nobody leads when the leader is killed: two candidates for a Lease, and a SIGKILL.

Owns: the timings, when the leader is killed, and what is counted.  Must not know how a candidate
works.

Waiting takes no processor, so all candidates of a timing wait at the same time, each pair for a
Lease of its own.  The leader is killed at a moment of its own in the period of its renewals: how
long the others wait depends on it.
"""

from __future__ import annotations

import random
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass
from typing import Final

from benchmarks.controllers_contestants import ELECTED, Environments, started
from benchmarks.controllers_work import Task
from benchmarks.measuring import RunFailed, Standings, last_line, summary
from benchmarks.wire_clients import Target

PATIENCE: Final = 120.0  # seconds for one run
LONGEST_RETRY: Final = 2.2  # times the period: what a candidate waits at most between two looks
SEED: Final = 20


@dataclass(frozen=True, slots=True)
class Timing:
    """How leaders renew, in seconds."""

    name: str
    lease_duration: float
    renew_deadline: float
    retry_period: float


DEFAULT: Final = Timing("client-go's default", 15, 10, 2)
SHORT: Final = Timing("short", 3, 2, 0.5)


def held(timing: Timing, kills: int, target: Target, environments: Environments) -> Standings:
    """Hold elections; for each contestant, the seconds without a leader."""
    chance = random.Random(SEED)
    runs = [(name, number, chance.random()) for number in range(kills) for name in ELECTED]

    def hold(run: tuple[str, int, float]) -> float | RunFailed:
        name, number, part = run
        lease = f"{name}-{number}-{timing.lease_duration:g}".replace("_", "-")
        try:
            return without_leader(name, lease, timing, part, target, environments)
        except RunFailed as error:
            return error

    what = f"{kills} leaders each are killed, {timing.name} timing"
    print(f"controllers: {what}", file=sys.stderr, flush=True)
    with ThreadPoolExecutor(len(runs)) as threads:
        found = list(zip(runs, threads.map(hold, runs), strict=True))
    standings = Standings()
    for name in ELECTED:
        mine = [outcome for run, outcome in found if run[0] == name]
        failures = [outcome for outcome in mine if isinstance(outcome, RunFailed)]
        if failures:
            standings.left_out[name] = last_line(failures[0])
        else:
            seconds = [outcome for outcome in mine if not isinstance(outcome, RunFailed)]
            standings.figures[name] = {"seconds": summary(seconds)}
    return standings


def without_leader(
    name: str, lease: str, timing: Timing, part: float, target: Target, environments: Environments
) -> float:
    """Seconds from a leader's death to the next; *part* of a period decides on its moment."""
    task = Task(
        job="lead",
        url=target.url,
        ca_file=target.ca_file,
        token=target.token,
        namespace="default",
        patience=PATIENCE,
        lease=lease,
        lease_duration=timing.lease_duration,
        renew_deadline=timing.renew_deadline,
        retry_period=timing.retry_period,
    )
    with ExitStack() as leading:
        leader = leading.enter_context(started(name, task, environments))
        leader.hear(PATIENCE)  # it is a candidate
        leader.hear(PATIENCE)  # it leads
        with started(name, task, environments) as follower:
            follower.hear(PATIENCE)
            # It has seen the Lease renewed by then, and waits as it would have for weeks.
            time.sleep((2 * LONGEST_RETRY + part) * timing.retry_period)
            killed = time.monotonic()
            leading.close()
            led = follower.hear(PATIENCE)["leads"]
    return float(led) - killed
