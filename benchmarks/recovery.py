"""How clients come back after their server was away: how soon, and at what price.

Owns: the outages, and who goes through which together.  Must not know how a contestant works
(``recovery_contestants``), what is made of moments (``recovery_figures``) or how results are shown
(``recovery_tables``).

An outage: two real API servers on one etcd.  Everybody follows objects of the first one, each
contestant in a process of its own.  The first one is stopped in its tracks, every object is changed
through the second one, and the first one is killed; some seconds later it is started again at the
same address.  Whoever shows an object's change is live again.  Seconds count from the moment at
which the server calls itself ready, which is about a second after it begins to serve.

Attempts to connect are counted in the clients, requests by the server.  The writes come before the
kill so that an outage of a second is one, however many objects there are to change.

There are two cores.  Reflet's contestants go through outages one or a few at a time, so that
thousands of streams are opened by one of them alone.  client-go's sleep for long after a long
outage, each stream for itself, and go through it together, along with one of ours; after a short
one they come back within the same seconds, and take turns with ours.
"""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Final

from benchmarks import wire_objects
from benchmarks.go_programs import Environment, go_program
from benchmarks.idle_relay import HOST
from benchmarks.idle_requests import RequestLog
from benchmarks.managers import allow_descriptors
from benchmarks.measuring import (
    Child,
    Result,
    RunFailed,
    last_line,
    versions_of,
)
from benchmarks.mirror_goals import missed
from benchmarks.recovery_contestants import (
    AUTO,
    BALANCED,
    BY_RBAC,
    CONTESTANTS,
    IN_A_SCENE,
    KUBELET,
    NAMESPACE,
    WATCH,
    Place,
    started,
)
from benchmarks.recovery_figures import Figures, Outage, agent, figures_of, requests_by_place
from benchmarks.recovery_servers import TwoServers
from benchmarks.recovery_tables import goals, growth_rows, tables
from benchmarks.recovery_work import MIRRORS
from benchmarks.wire_clients import Target
from tests.real.access_rules import RBAC, READ, Role
from tests.real.binaries import BinariesMissing, find_binaries

START_TIMEOUT: Final = 90.0  # seconds until a server is ready, or a contestant synced
ANSWER_TIMEOUT: Final = 30.0  # seconds for an answer, with the machine busy
STARTED_AT_ONCE: Final = 3  # there are two cores
SETTLE: Final = 2.0  # seconds that everybody is synced before anything happens
LOOK_EVERY: Final = 1.0  # seconds
LONG: Final = 10.0  # seconds of an outage after which client-go's streams come back spread out

RIGHTS: Final = (
    (
        f"/apis/{RBAC}/v1/clusterroles",
        {
            "metadata": {"name": "recovery"},
            "rules": [{"apiGroups": [""], "resources": ["configmaps"], "verbs": READ}],
        },
    ),
    (
        f"/apis/{RBAC}/v1/clusterrolebindings",
        {
            "metadata": {"name": "recovery"},
            "roleRef": {"apiGroup": RBAC, "kind": "ClusterRole", "name": "recovery"},
            "subjects": [{"apiGroup": RBAC, "kind": "User", "name": "restricted"}],
        },
    ),
)

Heat = Sequence[tuple[str, int]]
"""Contestants of ours, each with a number of objects, that go through an outage together."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Size:
    """How much of everything.

    *patience* is the seconds after which whoever is not live is given up.  The scenes go through an
    outage of *scene_seconds*, *scenes_apart* from the others or with the first of them.
    """

    outages: Sequence[float]
    heats: Sequence[Heat]
    patience: float
    scene_objects: int
    scene_seconds: float
    scenes_apart: bool


FULL: Final = Size(
    outages=(1.0, 10.0, 40.0),
    heats=(
        ((WATCH, 2_000), (AUTO, 2_000)),
        ((MIRRORS, 2_000),),
        ((WATCH, 500), (AUTO, 500), (MIRRORS, 50), (MIRRORS, 1)),
        ((MIRRORS, 500), (WATCH, 50), (AUTO, 50), (WATCH, 1), (AUTO, 1)),
    ),
    patience=110.0,
    scene_objects=50,
    scene_seconds=10.0,
    scenes_apart=True,
)
QUICK: Final = Size(
    outages=(10.0,),
    heats=(((WATCH, 50), (AUTO, 50), (MIRRORS, 50), (WATCH, 1), (AUTO, 1), (MIRRORS, 1)),),
    patience=40.0,
    scene_objects=50,
    scene_seconds=10.0,
    scenes_apart=False,
)


@dataclass(slots=True)
class Stage:
    """The servers, the load balancer before the first one, and what came of everybody."""

    size: Size
    servers: TwoServers
    log: RequestLog
    doors: Sequence[int]
    kubelet: Environment
    figures: dict[tuple[float, Place], Figures] = field(default_factory=dict)
    left_out: dict[tuple[float, Place], str] = field(default_factory=dict)

    def target(self, place: Place) -> Target:
        """Where a contestant finds the first server, and who it is there."""
        servers, port = self.servers, self.servers.port
        if place.scene == BALANCED:
            port = self.doors[IN_A_SCENE[BALANCED].index(place.name)]
        role: Role = "restricted" if place.scene == BY_RBAC else "admin"
        return Target(f"https://{HOST}:{port}", str(servers.ca_file), servers.tokens[role])

    def second(self) -> Target:
        """The server that stays."""
        servers = self.servers
        return Target(servers.second_url, str(servers.ca_file), servers.tokens["admin"])

    def give_rights(self) -> None:
        """Let the restricted user read; wait until it can."""
        path = f"/api/v1/namespaces/{NAMESPACE}/configmaps?limit=1"
        with self.servers.connect() as connection:
            for collection, document in RIGHTS:
                connection.create(collection, document)
        deadline = time.monotonic() + ANSWER_TIMEOUT
        while self.servers.request("GET", path, role="restricted").code != 200:
            if time.monotonic() > deadline:
                raise RunFailed("the restricted user did not get its rights")
            time.sleep(LOOK_EVERY)

    def go_through(self, seconds: float, places: Sequence[Place]) -> None:
        """One outage, for everybody of *places* at the same time."""
        print(f"recovery: {seconds:g} s away: {'; '.join(map(str, places))}", file=sys.stderr)
        with ExitStack() as running:
            children = self._started(seconds, places, running)
            time.sleep(SETTLE)
            reports, outage = self._outage(seconds, children)
        asked = requests_by_place(self.log.news())
        for place, report in reports.items():
            self.figures[seconds, place] = figures_of(
                report, outage, asked[places.index(place)], place.objects, self.size.patience
            )

    def _started(
        self, seconds: float, places: Sequence[Place], running: ExitStack
    ) -> dict[Place, Child]:
        """Start everybody, some at a time; return when all are synced."""

        def start(number: int) -> tuple[Place, Child] | None:
            place = places[number]
            try:
                child = started(place, self.target(place), agent(number), self.kubelet)
                running.push(child)
                child.hear(START_TIMEOUT)
            except RunFailed as error:
                self.left_out[seconds, place] = last_line(error)
                return None
            return place, child

        with ThreadPoolExecutor(STARTED_AT_ONCE) as threads:
            return dict(filter(None, threads.map(start, range(len(places)))))

    def _outage(
        self, seconds: float, children: dict[Place, Child]
    ) -> tuple[dict[Place, dict[str, Any]], Outage]:
        servers = self.servers
        sequence = f"{time.monotonic_ns()}"
        most = max((place.objects for place in children), default=0)

        def ask(places: Iterable[Place], **question: str) -> dict[Place, dict[str, Any]]:
            return self._answers(seconds, children, places, question)

        before = ask(children, ask="expect", sequence=sequence)
        servers.freeze()
        paths = wire_objects.object_paths(NAMESPACE, most)
        asyncio.run(wire_objects.rewrite(self.second(), paths, sequence))
        killed = time.monotonic()
        servers.crash()
        time.sleep(max(0.0, killed + seconds - time.monotonic()))
        ask(children, ask="live")  # the kubelet's manager is looked at from now on
        self.log.news()  # of what came before
        returned = time.monotonic()
        servers.start_apiserver()
        ready = time.monotonic()
        waiting = list(children)  # whoever is live is not asked again: answers cost CPU time
        while waiting and time.monotonic() < ready + self.size.patience:
            live = ask(waiting, ask="live")
            waiting = [place for place, each in live.items() if each["live"] < place.objects]
            time.sleep(LOOK_EVERY)
        reports = ask(children, ask="report")
        for place, report in reports.items():
            report["cpu_seconds"] -= before[place]["cpu_seconds"]
        return reports, Outage(killed, returned, ready)

    def _answers(
        self,
        seconds: float,
        children: dict[Place, Child],
        places: Iterable[Place],
        question: Mapping[str, str],
    ) -> dict[Place, dict[str, Any]]:
        """What those at *places* answer; who is gone is none of the children any more."""
        asked = {place: children[place] for place in places}
        for child in asked.values():
            child.say(question)
        answers = {}
        for place, child in asked.items():
            try:
                answers[place] = child.hear(ANSWER_TIMEOUT)
            except RunFailed as error:
                self.left_out[seconds, place] = last_line(error)
                del children[place]
        return answers


def run(*, quick: bool) -> Result:
    """Let everybody go through every outage."""
    size = QUICK if quick else FULL
    allow_descriptors()
    kubelet = go_program("managers", KUBELET, version_of="k8s.io/kubernetes")
    order = programme(size)
    try:
        with stage(size, kubelet) as staged:
            for seconds, places in order:
                staged.go_through(seconds, places)
            found = in_order(order, staged.figures, staged.left_out)
    except BinariesMissing as error:
        everybody = [(seconds, place) for seconds, places in order for place in places]
        found = in_order(order, {}, dict.fromkeys(everybody, str(error)))
    figures: dict[str, Any] = {"size": asdict(size), **found}
    reached = goals(figures)
    return Result(
        tables=tables(figures, reached),
        figures={
            **figures,
            "goals": [asdict(goal) for goal in reached],
            "growth": growth_rows(figures),
        },
        versions={
            **versions_of("reflet", "h2", "aiohttp", "msgspec"),
            KUBELET: kubelet.version or kubelet.missing,
        },
        missed_goals=missed(reached),
    )


@contextmanager
def stage(size: Size, kubelet: Environment) -> Iterator[Stage]:
    """Both servers, with all objects, for the length of a ``with`` block."""
    with tempfile.TemporaryDirectory(prefix="reflet-recovery-") as name:
        log = RequestLog(Path(name))
        # A server that thousands call while it starts needs longer.
        with TwoServers(
            find_binaries(), api_server_flags=log.flags, patience=START_TIMEOUT
        ) as servers:
            doors = len(IN_A_SCENE[BALANCED])
            task = {"host": HOST, "port": servers.port, "doors": doors}
            with Child("benchmarks.idle_relay", task) as relay:
                ports = relay.hear(ANSWER_TIMEOUT)["ports"]
                staged = Stage(size, servers, log, ports, kubelet)
                objects = max(most for heat in size.heats for _, most in heat)
                asyncio.run(wire_objects.create(staged.second(), NAMESPACE, objects))
                staged.give_rights()
                yield staged


# Who goes when


def programme(size: Size) -> list[tuple[float, list[Place]]]:
    """All outages in their order: how long, and who goes through them."""
    order = [(seconds, places) for seconds in size.outages for places in heats(size, seconds)]
    scenes = [
        Place(name, size.scene_objects, scene)
        for scene, names in IN_A_SCENE.items()
        for name in names
    ]
    if size.scenes_apart:
        return [*order, (size.scene_seconds, scenes)]
    (seconds, first), *others = order
    return [(seconds, [*first, *scenes]), *others]


def heats(size: Size, seconds: float) -> list[list[Place]]:
    """Who goes through outages of this length together, and in which order."""
    ours = [[Place(name, objects) for name, objects in heat] for heat in size.heats]
    theirs = [
        [Place(CONTESTANTS[name].peer, objects) for name, objects in heat if CONTESTANTS[name].peer]
        for heat in size.heats
    ]
    if seconds < LONG:
        return [heat for pair in zip(ours, theirs, strict=True) for heat in pair]
    first, *others = ours
    return [[*first, *chain.from_iterable(theirs)], *others]


# As a result file has it


def in_order(
    order: Sequence[tuple[float, Sequence[Place]]],
    figures: Mapping[tuple[float, Place], Figures],
    left_out: Mapping[tuple[float, Place], str],
) -> dict[str, Any]:
    """What came of it, as a result file has it.

    ``outages`` by contestant, objects and seconds; ``scenes`` by scene and contestant.  Who was
    left out has nothing but the reason.
    """
    outages: dict[str, dict[str, dict[str, Any]]] = {name: {} for name in CONTESTANTS}
    scenes: dict[str, dict[str, Any]] = {scene: {} for scene in IN_A_SCENE}
    places = [(seconds, place) for seconds, places in order for place in places]
    for seconds, place in sorted(places, key=lambda each: (each[1].objects, each[0])):
        why = left_out.get((seconds, place))
        found = {"left_out": why} if why else figures[seconds, place]
        if place.scene:
            scenes[place.scene][place.name] = found
        else:
            by_objects = outages[place.name].setdefault(str(place.objects), {})
            by_objects[f"{seconds:g}"] = found
    return {"outages": outages, "scenes": scenes}
