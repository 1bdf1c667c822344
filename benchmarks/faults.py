"""What clients do when things go wrong: how often they ask, and whether they are right afterwards.

Owns: the faults, how long each lasts, and what counts as right.  Must not know how a contestant
works.

Every contestant meets every fault with a development server of its own, in the order of the
clock: what takes twelve seconds takes twelve seconds.  Where nothing but waiting happens, all
contestants wait together.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

from benchmarks.fault_contestants import CONTESTANTS
from benchmarks.measuring import Child, Result, RunFailed, table, versions_of
from reflet.devserver.faults import Action, Fault
from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.mirror_scenes import CONFIG_MAPS, FOR_EVER, Collection

NAMESPACE: Final = "shop"
START_PATIENCE: Final = 60.0  # seconds until a contestant is synced
SETTLE_PATIENCE: Final = 30.0  # seconds from the end of the fault until it must be right
QUICK_SETTLE_PATIENCE: Final = 10.0
WATCHED_BEFORE: Final = 1.5  # seconds that a watch is open before anything goes wrong
LOOK_EVERY: Final = 0.2  # seconds
MANY: Final = 1200


@dataclass(frozen=True)
class Stage:
    """One server, and the contestant that follows it."""

    server: RunningServer
    collection: Collection

    def put(self, *names: str) -> None:
        for name in names:
            self.server.call(partial(self.collection.put, name, NAMESPACE))

    def change_unseen(self, action: Action, *, expire: bool = False) -> None:
        """Delete, change and create in the moment in which something happens to every watch."""

        def change() -> None:
            self.server.server.faults.add(Fault(action, verb="watch", now=True))
            self.collection.delete("a", NAMESPACE)
            self.collection.put("b", NAMESPACE)
            self.collection.put("d", NAMESPACE)
            if expire:
                self.collection.expire()

        self.server.call(change)

    def versions(self) -> dict[str, str]:
        states = self.server.call(self.collection.states)
        return {key.partition("/")[2]: state.version for key, state in states.items()}


@dataclass(frozen=True)
class Scenario:
    """A fault: what happens, for how many seconds; *together* when it is only waited for."""

    title: str
    happen: Callable[[Stage, float], None]
    seconds: float
    quick_seconds: float
    objects: int = 3
    together: bool = False


def watches_answer_500(stage: Stage, seconds: float) -> None:
    stage.server.add_fault(Fault(Action.STATUS, verb="watch", status=500, times=FOR_EVER))
    stage.change_unseen(Action.CLOSE)
    time.sleep(seconds)


def watches_are_dropped(stage: Stage, seconds: float) -> None:
    stage.server.add_fault(Fault(Action.DROP, verb="watch", times=FOR_EVER))
    stage.change_unseen(Action.CLOSE)
    time.sleep(seconds)


def a_watch_is_reset(stage: Stage, seconds: float) -> None:
    stage.change_unseen(Action.RESET)
    time.sleep(seconds)


def watches_are_closed(stage: Stage, seconds: float) -> None:
    for number in range(int(seconds / 0.5)):
        stage.put("b" if number % 2 else "d")
        time.sleep(0.5)
        stage.server.add_fault(Fault(Action.CLOSE, verb="watch", now=True))


def the_version_expires(stage: Stage, seconds: float) -> None:
    stage.change_unseen(Action.CLOSE, expire=True)
    time.sleep(seconds)


def a_watch_stalls(stage: Stage, seconds: float) -> None:
    stage.change_unseen(Action.STALL)
    time.sleep(seconds)


def nothing_happens(_: Stage, seconds: float) -> None:
    time.sleep(seconds)


SCENARIOS: Final = (
    Scenario("watch answers 500", watches_answer_500, 12, 4),
    Scenario("watch dropped before its head", watches_are_dropped, 10, 4),
    Scenario("reset in the middle of a line", a_watch_is_reset, 2, 2),
    Scenario("clean close every 0.5 s", watches_are_closed, 10, 3),
    Scenario("410, with a missed deletion", the_version_expires, 10, 3),
    Scenario("silent stall", a_watch_stalls, 130, 5, together=True),
    Scenario(f"{MANY:,} objects", nothing_happens, 1, 1, objects=MANY),
)


@dataclass(frozen=True)
class Outcome:
    """How often a contestant asked, and whether what it holds is right in the end."""

    lists: int
    watches: int
    verdict: str

    def __str__(self) -> str:
        return f"{self.lists:,} + {self.watches:,}, {self.verdict}"


def run(*, quick: bool) -> Result:
    """Let every fault happen to every contestant."""
    outcomes = {scenario.title: everybody(scenario, quick=quick) for scenario in SCENARIOS}
    broken = [
        f"{title}: reflet is {found['reflet'].verdict}"
        for title, found in outcomes.items()
        # A stall that is cut short is over before anybody could notice.
        if found["reflet"].verdict != "right" and not (quick and title == "silent stall")
    ]
    rows = [
        (f"{scenario.title}, {duration(scenario, quick=quick):g} s", *map(str, found.values()))
        for scenario, found in zip(SCENARIOS, outcomes.values(), strict=True)
    ]
    return Result(
        tables=[
            table(
                "Lists + watches asked for while the fault lasts, and the cache afterwards",
                ("fault", *CONTESTANTS),
                rows,
            )
        ],
        figures={
            title: {name: asdict(outcome) for name, outcome in found.items()}
            for title, found in outcomes.items()
        },
        versions=versions_of("reflet", "kubernetes", "kubernetes_asyncio", "lightkube"),
        broken_limits=broken,
    )


def duration(scenario: Scenario, *, quick: bool) -> float:
    return scenario.quick_seconds if quick else scenario.seconds


def everybody(scenario: Scenario, *, quick: bool) -> Mapping[str, Outcome]:
    patience = 0.0 if scenario.together else QUICK_SETTLE_PATIENCE if quick else SETTLE_PATIENCE
    meet = partial(one, scenario, patience, duration(scenario, quick=quick))
    names: Sequence[str] = tuple(CONTESTANTS)
    if not scenario.together:
        return {name: meet(name) for name in names}
    with ThreadPoolExecutor(len(names)) as threads:
        return dict(zip(names, threads.map(meet, names), strict=True))


def wait_for_a_watch(server: RunningServer) -> None:
    """Return when a contestant has watched for a while."""
    deadline = time.monotonic() + START_PATIENCE
    while not server.call(partial(server.server.requests.count, verb="watch")):
        if time.monotonic() > deadline:
            raise RunFailed("a contestant that is synced does not watch")
        time.sleep(LOOK_EVERY)
    time.sleep(WATCHED_BEFORE)


def one(scenario: Scenario, patience: float, seconds: float, contestant: str) -> Outcome:
    with stage_with(scenario.objects) as stage:
        server = stage.server
        task = {
            "contestant": contestant,
            "url": server.url,
            "namespace": NAMESPACE,
            "objects": scenario.objects,
        }
        with Child("benchmarks.fault_contestants", task) as child:
            child.hear(START_PATIENCE)
            wait_for_a_watch(server)
            if scenario.happen is not nothing_happens:  # there, the beginning is what counts
                server.call(server.server.requests.clear)
            scenario.happen(stage, seconds)
            count = partial(server.server.requests.count, resource=CONFIG_MAPS.full_name)
            lists, watches = (server.call(partial(count, verb=verb)) for verb in ("list", "watch"))
            server.call(server.server.faults.clear)
            return Outcome(lists, watches, verdict(child, stage, patience))


@contextmanager
def stage_with(objects: int) -> Iterator[Stage]:
    with running_server({"tls": False}) as server:
        stage = Stage(server, Collection(server.server, CONFIG_MAPS))
        names = "abc" if objects == 3 else [f"object-{number:04}" for number in range(objects)]
        stage.put(*names)
        yield stage


def verdict(child: Child, stage: Stage, patience: float) -> str:
    """Whether a contestant is right; it gets *patience* seconds unless it has given up."""
    wanted = stage.versions()
    deadline = time.monotonic() + patience
    while True:
        child.say({})
        said = child.hear(START_PATIENCE)
        held, ended = said["held"], said["ended"]
        if held == wanted:
            return "right" if not ended else f"ended with {ended}"
        if ended or time.monotonic() >= deadline:
            break
        time.sleep(LOOK_EVERY)
    if ended:
        return f"ended with {ended}"
    ghosts = sorted(held.keys() - wanted.keys())
    if ghosts:
        return f"wrong: keeps {', '.join(ghosts[:3])}"
    return f"wrong: {sum(held.get(name) == wanted[name] for name in wanted)} of {len(wanted)}"
