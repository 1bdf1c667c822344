"""What clients do when things go wrong: how often they ask, and whether they are right afterwards.

Owns: the faults, how long each lasts, and what counts as right.  Must not know how a contestant
works.

Every contestant meets every fault with a development server of its own, in the order of the
clock: what takes twelve seconds takes twelve seconds.  Contestants that only wait do so at the
same time, some at once.  Who keeps a processor busy in a fault, by asking again without a pause,
meets it after the others and alone, so that it slows nobody down.

How often a client asks while watches fail is counted at three lengths of the fault: a client that
asks at a steady pace has an exponent of 1, one that leaves a sick server alone has less.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any, Final

from benchmarks.fault_contestants import CONTESTANTS, OFFICIAL, REFLET, prepared, started
from benchmarks.go_programs import Environment
from benchmarks.growth import Row, row
from benchmarks.measuring import Child, Result, RunFailed, last_line, table, versions_of
from reflet.devserver.faults import Action, Fault
from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.mirror_scenes import CONFIG_MAPS, FOR_EVER, Collection

NAMESPACE: Final = "shop"
START_TIMEOUT: Final = 60.0  # seconds until a contestant is synced
SETTLE_TIMEOUT: Final = 30.0  # seconds from the end of the fault until it must be right
QUICK_SETTLE_TIMEOUT: Final = 10.0
# Away for 20 s, a server finds client-go asleep for up to 25 more, and its 410 for up to 51.
AWAY_GRACE: Final = 3.5
BROKEN_OFF: Final = 0.5  # seconds after which a server that goes away has no connection any more
WATCHED_BEFORE: Final = 1.5  # seconds that a watch is open before anything goes wrong
LOOK_EVERY: Final = 0.2  # seconds
COUNT_EVERY: Final = 1.0  # seconds, in which nobody asks as often as the server can remember
AT_ONCE: Final = 24  # contestants that wait
MANY: Final = 1200

LENGTHS: Final = (6.0, 12.0, 24.0)  # seconds for which watches fail
QUICK_LENGTHS: Final = (2.0, 4.0, 8.0)
STEEPEST: Final = 0.8  # exponent with which our requests may grow with the length of the fault


class Tally:
    """How often ConfigMaps were listed and watched; the server remembers the last ones only."""

    def __init__(self, server: RunningServer) -> None:
        self._server = server
        self.lists = self.watches = 0

    def forget(self) -> None:
        """Begin again."""
        self.take()
        self.lists = self.watches = 0

    def take(self) -> None:
        """Count what came since the last time."""
        lists, watches = self._server.call(self._taken)
        self.lists += lists
        self.watches += watches

    def _taken(self) -> tuple[int, int]:
        requests = self._server.server.requests
        count = partial(requests.count, resource=CONFIG_MAPS.full_name)
        found = count(verb="list"), count(verb="watch")
        requests.clear()
        return found


@dataclass(frozen=True)
class Stage:
    """One server, and the contestant that follows it."""

    server: RunningServer
    collection: Collection
    tally: Tally

    def wait(self, seconds: float) -> None:
        """Let time pass, and count."""
        deadline = time.monotonic() + seconds
        while (left := deadline - time.monotonic()) > 0:
            time.sleep(min(left, COUNT_EVERY))
            self.tally.take()

    def put(self, *names: str) -> None:
        for name in names:
            self.server.call(partial(self.collection.put, name, NAMESPACE))

    def change_unseen(self, action: Action | None, *, expire: bool = False) -> None:
        """Delete, change and create in the moment in which something happens to every watch.

        With None, there is none to which anything could happen.
        """

        def change() -> None:
            if action is not None:
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
    """A fault: what happens, and for how many seconds.

    *busy* are those who keep a processor busy meanwhile.  *grace* is how many times the usual
    patience there is after the fault to become right.
    """

    title: str
    happen: Callable[[Stage, float], None]
    seconds: float
    quick_seconds: float
    objects: int = 3
    busy: Sequence[str] = ()
    grace: float = 1.0


def watches_answer_500(stage: Stage, seconds: float) -> None:
    stage.server.add_fault(Fault(Action.STATUS, verb="watch", status=500, times=FOR_EVER))
    stage.change_unseen(Action.CLOSE)
    stage.wait(seconds)


def watches_are_dropped(stage: Stage, seconds: float) -> None:
    stage.server.add_fault(Fault(Action.DROP, verb="watch", times=FOR_EVER))
    stage.change_unseen(Action.CLOSE)
    stage.wait(seconds)


def a_watch_is_reset(stage: Stage, seconds: float) -> None:
    stage.change_unseen(Action.RESET)
    stage.wait(seconds)


def watches_are_closed(stage: Stage, seconds: float) -> None:
    for number in range(int(seconds / 0.5)):
        stage.put("b" if number % 2 else "d")
        stage.wait(0.5)
        stage.server.add_fault(Fault(Action.CLOSE, verb="watch", now=True))


def the_version_expires(stage: Stage, seconds: float) -> None:
    stage.change_unseen(Action.CLOSE, expire=True)
    stage.wait(seconds)


def a_watch_stalls(stage: Stage, seconds: float) -> None:
    stage.change_unseen(Action.STALL)
    stage.wait(seconds)


def the_server_is_away(stage: Stage, seconds: float) -> None:
    with ThreadPoolExecutor(1) as threads:
        back = threads.submit(stage.server.restart, seconds)
        time.sleep(BROKEN_OFF)
        # A kube-apiserver that comes back does not know its history either.
        stage.change_unseen(None, expire=True)
        back.result()


def nothing_happens(stage: Stage, seconds: float) -> None:
    stage.wait(seconds)


REFUSED: Final = Scenario(
    "watch answers 500", watches_answer_500, LENGTHS[1], QUICK_LENGTHS[1], busy=(OFFICIAL,)
)
STALLED: Final = Scenario("silent stall", a_watch_stalls, 130, 5, grace=0.0)
SCENARIOS: Final = (
    REFUSED,
    Scenario("watch dropped before its head", watches_are_dropped, 10, 4, busy=(OFFICIAL,)),
    Scenario("reset in the middle of a line", a_watch_is_reset, 2, 2),
    Scenario("clean close every 0.5 s", watches_are_closed, 10, 3),
    Scenario("410, with a missed deletion", the_version_expires, 10, 3),
    Scenario("server away", the_server_is_away, 20, 5, busy=(OFFICIAL,), grace=AWAY_GRACE),
    STALLED,
    Scenario(f"{MANY:,} objects", nothing_happens, 1, 1, objects=MANY),
)


@dataclass(frozen=True)
class Meeting:
    """A fault that lasts for so many seconds."""

    scenario: Scenario
    seconds: float

    def __str__(self) -> str:
        return f"{self.scenario.title}, {self.seconds:g} s"


@dataclass(frozen=True)
class Verdict:
    """Whether a contestant is right in the end, and since when.

    *attempts* to connect are all until the fault was over; None when nobody could say.
    *seconds* are from then until it was right; None when it was not.
    """

    words: str
    attempts: int | None = None
    seconds: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How often a contestant asked and tried to connect, and whether it is right in the end."""

    lists: int
    watches: int
    verdict: str
    attempts: int | None = None
    seconds: float | None = None

    def cells(self) -> tuple[str, ...]:
        attempts = "" if self.attempts is None else f"{self.attempts:,}"
        seconds = "" if self.seconds is None else f"{self.seconds:.1f}"
        return f"{self.lists:,}", f"{self.watches:,}", attempts, self.verdict, seconds


@dataclass(frozen=True)
class LeftOut:
    """Why a contestant did not come as far as the fault."""

    why: str

    @property
    def verdict(self) -> str:
        return f"left out: {self.why}"

    def cells(self) -> tuple[str, ...]:
        return "", "", "", self.verdict, ""


Met = dict[str, Outcome | LeftOut]
"""What came of one fault, by contestant."""


def run(*, quick: bool) -> Result:
    """Let every fault happen to every contestant."""
    lengths = QUICK_LENGTHS if quick else LENGTHS
    usual = [Meeting(each, duration(each, quick=quick)) for each in SCENARIOS]
    longer = [Meeting(REFUSED, seconds) for seconds in lengths]
    environments = prepared()
    patience = QUICK_SETTLE_TIMEOUT if quick else SETTLE_TIMEOUT
    met = everybody({*usual, *longer}, patience, environments)
    rows_of_growth = growth({each.seconds: met[each] for each in longer})
    broken = [
        f"{each}: reflet is {found[REFLET].verdict}"
        for each, found in met.items()
        # A stream that says nothing on a live connection cannot be told from a quiet cluster.
        if found[REFLET].verdict != "right" and each.scenario is not STALLED
    ]
    broken += [
        f"{each['job']}: reflet's grow with the power {each['exponent']:.2f} of its length"
        for each in rows_of_growth
        if each["ours"] and each["exponent"] is not None and each["exponent"] > STEEPEST
    ]
    versions = {peer: each.version for peer, each in environments.items() if not each.missing}
    return Result(
        tables=[faults_table({each: met[each] for each in usual})],
        figures={
            **{each.scenario.title: plain(met[each]) for each in usual},
            "growth": rows_of_growth,
        },
        versions={**versions_of("reflet"), **versions},
        broken_limits=broken,
    )


def faults_table(met: Mapping[Meeting, Met]) -> str:
    """A row for each contestant in each fault, in the order of the line-up."""
    return table(
        "Lists and watches asked for and connections tried while the fault lasts, and the cache "
        "afterwards",
        ("fault", "client", "lists", "watches", "connections", "afterwards", "right after, s"),
        [
            (str(each), f"**{name}**" if name == REFLET else name, *found[name].cells())
            for each, found in met.items()
            for name in CONTESTANTS
        ],
    )


def plain(found: Met) -> dict[str, dict[str, int | str]]:
    """As a result file has it: who was left out asked for nothing, which is no figure."""
    return {name: asdict(each) for name, each in found.items() if isinstance(each, Outcome)}


def duration(scenario: Scenario, *, quick: bool) -> float:
    return scenario.quick_seconds if quick else scenario.seconds


def growth(refused: Mapping[float, Met]) -> list[Row]:
    """Requests by the length of the fault, of those who are still there at its end."""
    rows = []
    for name in CONTESTANTS:
        found = {seconds: outcomes[name] for seconds, outcomes in refused.items()}
        wrong = [outcome.verdict for outcome in found.values() if outcome.verdict != "right"]
        asked = {
            int(seconds): each.lists + each.watches
            for seconds, each in found.items()
            if isinstance(each, Outcome)
        }
        rows.append(
            row(
                "requests while watches answer 500",
                who=name,
                by="seconds",
                points={} if wrong else asked,
                ours=name == REFLET,
                note=f"left out: {wrong[-1].removeprefix('left out: ')}" if wrong else "",
            )
        )
    return rows


def everybody(
    meetings: Iterable[Meeting], patience: float, environments: Mapping[str, Environment]
) -> dict[Meeting, Met]:
    """Let every contestant meet every fault; those with grace get *patience* seconds after it."""
    # The longest first: nobody then waits for one that began last.
    order = sorted(meetings, key=lambda each: each.seconds, reverse=True)
    runs = [(each, name) for each in order for name in CONTESTANTS]
    waiting = [(each, name) for each, name in runs if name not in each.scenario.busy]

    def meet(run: tuple[Meeting, str]) -> Outcome | LeftOut:
        meeting, name = run
        try:
            grace = patience * meeting.scenario.grace
            return one(meeting, grace, name, environments)
        except RunFailed as error:
            return LeftOut(last_line(error))

    with ThreadPoolExecutor(AT_ONCE) as threads:
        found = dict(zip(waiting, threads.map(meet, waiting), strict=True))
    found |= {run: meet(run) for run in runs if run not in found}
    return {each: {name: found[each, name] for name in CONTESTANTS} for each in order}


def wait_for_a_watch(server: RunningServer) -> None:
    """Return when a contestant has watched for a while."""
    deadline = time.monotonic() + START_TIMEOUT
    while not server.call(partial(server.server.requests.count, verb="watch")):
        if time.monotonic() > deadline:
            raise RunFailed("a contestant that is synced does not watch")
        time.sleep(LOOK_EVERY)
    time.sleep(WATCHED_BEFORE)


def one(
    meeting: Meeting, patience: float, contestant: str, environments: Mapping[str, Environment]
) -> Outcome:
    scenario = meeting.scenario
    with stage_with(scenario.objects) as stage:
        server = stage.server
        with started(
            contestant,
            url=server.url,
            namespace=NAMESPACE,
            objects=scenario.objects,
            environments=environments,
        ) as child:
            child.hear(START_TIMEOUT)
            wait_for_a_watch(server)
            before = 0
            if scenario.happen is not nothing_happens:  # there, the beginning is what counts
                before = asked(child)["attempts"]
                stage.tally.forget()
            scenario.happen(stage, meeting.seconds)
            stage.tally.take()
            lists, watches = stage.tally.lists, stage.tally.watches
            server.call(server.server.faults.clear)
            found = verdict(child, stage, patience)
            attempts = None if found.attempts is None else found.attempts - before
            return Outcome(lists, watches, found.words, attempts, found.seconds)


@contextmanager
def stage_with(objects: int) -> Iterator[Stage]:
    with running_server({"tls": False}) as server:
        stage = Stage(server, Collection(server.server, CONFIG_MAPS), Tally(server))
        names = "abc" if objects == 3 else [f"object-{number:04}" for number in range(objects)]
        stage.put(*names)
        yield stage


def asked(child: Child) -> dict[str, Any]:
    """What a contestant says of itself."""
    child.say({})
    return child.hear(START_TIMEOUT)


def verdict(child: Child, stage: Stage, patience: float) -> Verdict:
    """Whether a contestant is right; it gets *patience* seconds unless it has given up."""
    wanted = stage.versions()
    over = time.monotonic()
    attempts: int | None = None
    while True:
        try:
            said = asked(child)
        except RunFailed as error:  # its process is gone, or does not answer any more
            return Verdict(f"ended with {last_line(error)}", attempts)
        held, ended = said["held"], said["ended"]
        if attempts is None:
            attempts = said["attempts"]
        waited = time.monotonic() - over
        if ended:
            return Verdict(f"ended with {ended}", attempts)
        if held == wanted:
            return Verdict("right", attempts, waited)
        if waited >= patience:
            break
        time.sleep(LOOK_EVERY)
    ghosts = sorted(held.keys() - wanted.keys())
    if ghosts:
        return Verdict(f"wrong: keeps {', '.join(ghosts[:3])}", attempts)
    right = sum(held.get(name) == wanted[name] for name in wanted)
    return Verdict(f"wrong: {right} of {len(wanted)}", attempts)
