"""What a fleet does to an API server that was away: a simulation on virtual time.

Owns: which scenes are compared, the goals and the tables.  Must not know how a scene is lived
through.

Thousands of agents run the real reflectors and gates against a model of a server, once with our
policy and once with client-go's.  Nothing depends on the clock of the machine: the same seed gives
the same figures.  Scenes take turns in processes of their own, as many at once as there are cores.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, replace
from typing import Any, Final

from benchmarks.fleet_agents import Probing
from benchmarks.fleet_server import Arrival, Capacity
from benchmarks.fleet_simulation import AGENTS, CAPACITY, LONGEST, STREAMS, Outcome, Scene
from benchmarks.fleet_work import task_of
from benchmarks.measuring import Result, run_child, table, versions_of
from reflet.runtime.gate import LONGEST_PROBE, PROBE_JITTER

AWAY: Final = (40.0, 10.0)  # seconds
LONGEST_PROBES: Final = (0.5, 1.0, 2.0, 4.0, 8.0)  # seconds
JITTERS: Final = (0.2, 0.5, 1.0)
OURS: Final = "Reflet"
CLIENT_GO: Final = "client-go"
POLICIES: Final[Mapping[str, Probing | None]] = {OURS: Probing(), CLIENT_GO: None}

SHARE_OF_THEIR_TIME: Final = 0.2  # until 99 % are live
SOON_ENOUGH: Final = 1.0  # seconds after /readyz until the last stream of a single agent is live
MANY_STREAMS: Final = 50  # of that agent
UNHURRIED: Final = replace(CAPACITY, handshakes=1e6, requests=1e6, most_waiting=1e6)
"""A server that one agent alone does not fill."""

TIMEOUT: Final = 1200.0  # real seconds that a scene may take


@dataclass(frozen=True, slots=True)
class Size:
    """How many agents there are in the scenes of each table, and the values that are tried."""

    away: Mapping[float, int]
    tried: int
    troubled: int
    alone: int
    longest_probes: Sequence[float] = LONGEST_PROBES
    jitters: Sequence[float] = JITTERS


FULL: Final = Size(away={40.0: AGENTS, 10.0: AGENTS // 5}, tried=200, troubled=200, alone=40)
QUICK: Final = Size(
    away=dict.fromkeys(AWAY, 50),
    tried=50,
    troubled=50,
    alone=4,
    longest_probes=(LONGEST_PROBE, 4.0),
    jitters=(PROBE_JITTER,),
)


@dataclass(frozen=True, slots=True)
class Trouble:
    """A server, or an outage, that is not the usual one."""

    title: str
    away: float = AWAY[0]
    capacity: Capacity = CAPACITY
    behind_gateway: float = 0.0
    restarted: bool = True


TROUBLES: Final = (
    Trouble("20,000 requests a second", capacity=replace(CAPACITY, requests=20_000)),
    Trouble("10,000 requests a second", capacity=replace(CAPACITY, requests=10_000)),
    Trouble("250 handshakes a second", capacity=replace(CAPACITY, handshakes=250)),
    Trouble("403 for 4 s", capacity=replace(CAPACITY, loading=4.0)),
    Trouble("half behind a load balancer that answers 503", behind_gateway=0.5),
    Trouble("every connection reset, the server there", away=0.0, restarted=False),
)


def run(*, quick: bool) -> Result:
    """Simulate every scene."""
    size = QUICK if quick else FULL
    outages = {
        (away, policy): Scene(away=away, probing=probing, agents=agents)
        for away, agents in size.away.items()
        for policy, probing in POLICIES.items()
    }
    probings = [
        Probing(longest=longest, jitter=jitter)
        for longest in size.longest_probes
        for jitter in size.jitters
    ]
    tried = {each: Scene(away=AWAY[1], probing=each, agents=size.tried) for each in probings}
    alone = {
        each: Scene(
            away=AWAY[0],
            probing=each,
            agents=size.alone,
            streams=MANY_STREAMS,
            capacity=UNHURRIED,
        )
        for each in probings
    }
    troubled = {
        (trouble.title, policy): Scene(
            away=trouble.away,
            probing=probing,
            agents=size.troubled,
            capacity=trouble.capacity,
            behind_gateway=trouble.behind_gateway,
            restarted=trouble.restarted,
        )
        for trouble in TROUBLES
        for policy, probing in POLICIES.items()
    }
    scenes = [*outages.values(), *tried.values(), *alone.values(), *troubled.values()]
    outcomes = simulated(scenes)
    met = {each: outcomes[scene] for each, scene in outages.items()}
    reached = goals(met)
    return Result(
        tables=[
            table("Goals", ("goal", "simulated", "reached"), [each.cells() for each in reached]),
            outages_table(met, size.away),
            probing_table(
                {each: outcomes[scene] for each, scene in tried.items()},
                {each: outcomes[scene] for each, scene in alone.items()},
                met[AWAY[1], CLIENT_GO],
            ),
            troubles_table({each: outcomes[scene] for each, scene in troubled.items()}),
        ],
        figures={
            "agents": {f"{away:g}": agents for away, agents in size.away.items()},
            "outages": plain(met),
        },
        versions=versions_of("reflet"),
        missed_goals=[f"{each.goal}: {each.simulated}" for each in reached if not each.reached],
    )


def simulated(scenes: Iterable[Scene]) -> dict[Scene, Outcome]:
    """What came of each scene, in processes of their own."""
    # The largest first: nobody then waits for one that began last.
    order = sorted(
        dict.fromkeys(scenes), key=lambda scene: scene.agents * scene.streams, reverse=True
    )

    def one(scene: Scene) -> Outcome:
        return Outcome(**run_child("benchmarks.fleet_work", task_of(scene), patience=TIMEOUT))

    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as threads:
        return dict(zip(order, threads.map(one, order), strict=True))


@dataclass(frozen=True, slots=True)
class Goal:
    """What we want, what came, and whether that is enough."""

    goal: str
    simulated: str
    reached: bool

    def cells(self) -> tuple[str, ...]:
        return self.goal, self.simulated, "yes" if self.reached else "**no**"


Met = Mapping[tuple[float, str], Outcome]
"""What came of an outage of so many seconds, by policy."""


def goals(met: Met) -> list[Goal]:
    """Compare with client-go's policy."""
    found = []
    for away in AWAY:
        ours, theirs = met[away, OURS], met[away, CLIENT_GO]
        our_time, their_time = ours.live_after["99 %"], theirs.live_after["99 %"]
        found.append(
            Goal(
                f"99 % live in a fifth of client-go's time, after {away:g} s",
                f"{_seconds(our_time)} of {_seconds(their_time)} s",
                our_time is not None
                and (their_time is None or our_time <= SHARE_OF_THEIR_TIME * their_time),
            )
        )
        for kind, when in ((Arrival.REFUSED, "during"), (Arrival.HANDSHAKE, "after")):
            found.append(
                Goal(
                    f"no more connections a second than client-go {when} {away:g} s away",
                    f"{ours.peaks[kind]:,.0f} and {theirs.peaks[kind]:,.0f}, at most",
                    ours.peaks[kind] <= theirs.peaks[kind],
                )
            )
    return found


def outages_table(met: Met, agents: Mapping[float, int]) -> str:
    return table(
        f"Seconds until agents have all {STREAMS} streams again, and what arrives meanwhile",
        (
            *("away, s", "agents", "policy", "50 % live", "99 %", "100 %"),
            *("refused/s, peak", "handshakes/s, peak", "requests/s, peak"),
            *("connection attempts", "requests", "of them 429"),
        ),
        [
            (
                *(f"{away:g}", f"{agents[away]:,}", _policy(policy), *_live(outcome)),
                *_peaks(outcome),
                f"{outcome.totals[Arrival.REFUSED] + outcome.totals[Arrival.HANDSHAKE]:,.0f}",
                f"{outcome.totals[Arrival.REQUEST]:,.0f}",
                f"{outcome.totals[Arrival.THROTTLED]:,.0f}",
            )
            for (away, policy), outcome in met.items()
        ],
    )


def probing_table(
    tried: Mapping[Probing, Outcome], alone: Mapping[Probing, Outcome], theirs: Outcome
) -> str:
    rows = []
    for each, outcome in tried.items():
        bold = "**" if each == POLICIES[OURS] else ""
        last = alone[each].live_after["100 %"]
        after_ready = None if last is None else last - UNHURRIED.loading
        rows.append(
            (
                f"{bold}{each.longest:g}{bold}",
                f"{bold}{each.jitter:g}{bold}",
                f"{each.longest:g} to {longest_wait(each):.2g} s",
                f"{outcome.peaks[Arrival.HANDSHAKE]:,.0f}",
                _seconds(outcome.live_after["99 %"]),
                _seconds(after_ready),
                verdict(each, outcome, after_ready, theirs),
            )
        )
    return table(
        f"Longest wait and jitter of a gate's tries, after {AWAY[1]:g} s; and the last of "
        f"{MANY_STREAMS} streams of one agent, in seconds after /readyz",
        (
            *("longest, s", "jitter", "a try every", "handshakes/s, peak", "99 % live, s"),
            *("one agent, s", "which is"),
        ),
        rows,
    )


def longest_wait(probing: Probing) -> float:
    """Seconds for which a server may listen before it is tried."""
    return probing.longest * (1 + probing.jitter)


def verdict(probing: Probing, outcome: Outcome, after_ready: float | None, theirs: Outcome) -> str:
    """Whether these waits are good for the server and for one agent, whatever its luck."""
    if outcome.peaks[Arrival.HANDSHAKE] > theirs.peaks[Arrival.HANDSHAKE]:
        return "a higher peak than client-go's"
    if after_ready is None or after_ready > SOON_ENOUGH:
        return "too late for one agent"
    if longest_wait(probing) - UNHURRIED.loading >= SOON_ENOUGH:
        return "too late for one agent without luck"
    return "good"


def troubles_table(met: Mapping[tuple[str, str], Outcome]) -> str:
    return table(
        f"Other servers and other troubles: {AWAY[0]:g} s away, or as it says",
        (
            *("server", "policy", "50 % live, s", "99 %", "100 %"),
            *("refused/s, peak", "handshakes/s, peak", "requests/s, peak"),
            *("handshakes", "requests", "of them 429"),
        ),
        [
            (
                *(title, _policy(policy), *_live(outcome), *_peaks(outcome)),
                f"{outcome.totals[Arrival.HANDSHAKE]:,.0f}",
                f"{outcome.totals[Arrival.REQUEST]:,.0f}",
                f"{outcome.totals[Arrival.THROTTLED]:,.0f}",
            )
            for (title, policy), outcome in met.items()
        ],
    )


def plain(met: Met) -> dict[str, dict[str, Any]]:
    """As a result file has it, by seconds and policy."""
    found: dict[str, dict[str, Any]] = {}
    for (away, policy), outcome in met.items():
        found.setdefault(f"{away:g}", {})[policy] = asdict(outcome)
    return found


def _live(outcome: Outcome) -> list[str]:
    return [_seconds(each) for each in outcome.live_after.values()]


def _peaks(outcome: Outcome) -> list[str]:
    kinds = (Arrival.REFUSED, Arrival.HANDSHAKE, Arrival.REQUEST)
    return [f"{outcome.peaks[kind]:,.0f}" for kind in kinds]


def _policy(name: str) -> str:
    return f"**{name}**" if name == OURS else name


def _seconds(value: float | None) -> str:
    return f"over {LONGEST:g}" if value is None else f"{value:.1f}"
