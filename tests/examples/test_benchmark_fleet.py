"""The fleet benchmark: a model server, agents with real reflectors, and what is made of them."""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict, replace
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from benchmarks import fleet, pictures
from benchmarks.fleet import UNHURRIED
from benchmarks.fleet_agents import GO_RETRIES, RETRY_AFTER, Agent, Connection, ModelSource, Probing
from benchmarks.fleet_server import Answer, Arrival, Capacity, ModelServer
from benchmarks.fleet_simulation import CAPACITY, LONGEST, Outcome, Scene, peak, simulate
from benchmarks.fleet_work import scene_of, task_of
from benchmarks.line_chart import Line, line_chart
from benchmarks.measuring import run_child
from reflet.errors import ConnectionRefused, DeadlineExceeded, TooManyRequests
from reflet.runtime.gate import COMING_UP, UNANSWERED

SVG: Final = "{http://www.w3.org/2000/svg}"
SLOW: Final = Capacity(handshakes=10, requests=100, most_waiting=5, loading=1.0)
FEW: Final = Scene(away=10, probing=Probing(), agents=10, streams=5)
AS_CLIENT_GO: Final = replace(FEW, probing=None)


def now() -> float:
    return asyncio.get_running_loop().time()


def restarted(capacity: Capacity = SLOW) -> ModelServer:
    server = ModelServer(capacity)
    server.stop()
    server.start()
    return server


def agent(server: ModelServer, *, probing: Probing | None = None) -> Agent:
    return Agent(
        server,
        streams=1,
        probing=probing,
        gateway=False,
        chance=lambda: 0.0,
        changed=lambda _: None,
    )


# The server


@pytest.mark.virtual_time
async def test_handshakes_are_done_one_after_the_other() -> None:
    server = restarted()

    done = [server.handshake() for _ in range(3)]

    assert done == pytest.approx([0.102, 0.202, 0.302])


@pytest.mark.virtual_time
async def test_a_server_that_is_away_refuses_connections() -> None:
    server = ModelServer(SLOW)
    server.stop()

    assert server.handshake() is None
    assert server.arrivals[Arrival.REFUSED].total() == 1


@pytest.mark.virtual_time
async def test_requests_wait_in_order_and_one_too_many_is_throttled() -> None:
    server = restarted(replace(SLOW, loading=0.0))

    answers = [server.request() for _ in range(7)]

    assert [answer for answer, _ in answers] == [*[Answer.SERVED] * 5, *[Answer.THROTTLED] * 2]
    assert [moment for _, moment in answers[:5]] == pytest.approx(
        [0.011, 0.021, 0.031, 0.041, 0.051]
    )
    assert server.arrivals[Arrival.REQUEST].total() == 7
    assert server.arrivals[Arrival.THROTTLED].total() == 2


@pytest.mark.virtual_time
async def test_everything_is_forbidden_until_the_rules_are_loaded() -> None:
    server = restarted()

    early, _ = server.request()
    await asyncio.sleep(SLOW.loading)
    late, _ = server.request()

    assert (early, late) == (Answer.FORBIDDEN, Answer.SERVED)


def test_a_peak_is_of_any_second() -> None:
    assert peak({0: 1, 8: 5, 12: 5, 30: 7}) == 10
    assert peak({}) == 0


# Connections


@pytest.mark.virtual_time
@pytest.mark.parametrize(("together", "handshakes"), [(True, 1), (False, 20)])
async def test_all_streams_use_one_connection_that_is_dialled_once_or_by_each(
    together: bool, handshakes: int
) -> None:
    server = restarted(replace(CAPACITY, loading=0.0))
    connection = Connection(server, together=together)

    answers = await asyncio.gather(*(connection.request() for _ in range(20)))
    await connection.request()

    assert set(answers) == {Answer.SERVED}
    assert server.arrivals[Arrival.HANDSHAKE].total() == handshakes


@pytest.mark.virtual_time
@pytest.mark.parametrize(("together", "patience"), [(True, 30), (False, 10)])
async def test_a_handshake_that_takes_too_long_is_given_up(together: bool, patience: float) -> None:
    connection = Connection(restarted(replace(SLOW, handshakes=0.01)), together=together)

    failures = await asyncio.gather(
        connection.request(), connection.request(), return_exceptions=True
    )

    assert [type(each) for each in failures] == [DeadlineExceeded] * 2
    assert now() == patience


@pytest.mark.virtual_time
async def test_behind_a_load_balancer_there_is_a_connection_and_no_server() -> None:
    server = ModelServer(SLOW)
    before = Connection(server, together=True, gateway=True)
    without = Connection(server, together=True)
    await asyncio.gather(before.request(), without.request())
    server.stop()

    assert await before.request() is Answer.UNAVAILABLE
    with pytest.raises(ConnectionRefused):
        await without.request()


# Policies


@pytest.mark.virtual_time
@pytest.mark.parametrize(("retries", "asked"), [(0, 1), (GO_RETRIES, 11)])
async def test_only_the_rest_client_of_client_go_asks_again_by_itself(
    retries: int, asked: int
) -> None:
    server = restarted(replace(SLOW, most_waiting=0))
    source = ModelSource(agent(server), None, retries=retries)

    with pytest.raises(TooManyRequests) as refused:
        await source.answered()

    assert server.arrivals[Arrival.REQUEST].total() == asked
    assert now() == pytest.approx(0.102 + retries * RETRY_AFTER + asked * 0.001)
    assert refused.value.retry_after == RETRY_AFTER


@pytest.mark.virtual_time
@pytest.mark.parametrize(("probing", "waits"), [(Probing(), 0.0), (None, 0.8)])
async def test_client_go_waits_after_a_410_and_we_do_not(
    probing: Probing | None, waits: float
) -> None:
    server = ModelServer(replace(CAPACITY, loading=0.0))
    live: list[float] = []
    one = Agent(
        server,
        streams=1,
        probing=probing,
        gateway=False,
        chance=lambda: 0.0,
        changed=lambda is_live: live.append(now()) if is_live else None,
    )
    [task] = one.start()
    await asyncio.sleep(5)
    server.stop()
    server.start()
    await asyncio.sleep(5)
    task.cancel()

    assert server.arrivals[Arrival.REQUEST].total() == 3  # the first list, and a watch and a list
    assert live == [0.0, pytest.approx(5 + waits, abs=0.01)]


# A scene


@pytest.mark.parametrize("scene", [FEW, AS_CLIENT_GO], ids=["ours", "client-go's"])
def test_everybody_is_live_again(scene: Scene) -> None:
    outcome = simulate(scene)

    half, most, everybody = (each or LONGEST for each in outcome.live_after.values())
    assert half <= most <= everybody < LONGEST
    assert outcome.lines["live"][0] == outcome.lines["live"][-1] == 1.0
    assert outcome.lines["live"][10] == 0.0


def test_our_agents_dial_once_and_those_of_client_go_once_a_stream() -> None:
    ours, theirs = simulate(FEW), simulate(AS_CLIENT_GO)

    assert ours.totals[Arrival.HANDSHAKE] == 5_000  # of the whole fleet
    assert theirs.totals[Arrival.HANDSHAKE] > 5_000
    assert ours.peaks[Arrival.REFUSED] < theirs.peaks[Arrival.REFUSED] / 2


def test_a_queue_of_handshakes_is_not_made_longer_by_those_who_wait_in_it() -> None:
    queue_of_many_seconds = replace(UNHURRIED, handshakes=5_000 / (4 * UNANSWERED))

    outcome = simulate(replace(FEW, capacity=queue_of_many_seconds))

    assert outcome.totals[Arrival.HANDSHAKE] == 5_000
    assert outcome.live_after["100 %"] == pytest.approx(4 * UNANSWERED, abs=0.5)


def test_a_server_that_throttles_for_longer_than_it_comes_up_gets_everybody_live() -> None:
    overloaded = replace(CAPACITY, requests=100_000 / COMING_UP, most_waiting=2_000)

    outcome = simulate(replace(FEW, capacity=overloaded))

    assert outcome.totals[Arrival.THROTTLED] > 0
    last = outcome.live_after["100 %"]
    assert last is not None
    assert last > 2 * COMING_UP  # every stream needs two requests


def test_half_of_a_fleet_behind_a_load_balancer_is_as_fast_as_the_other_half() -> None:
    outcome = simulate(replace(FEW, capacity=UNHURRIED, behind_gateway=0.5))

    assert outcome.totals[Arrival.HANDSHAKE] == 2_500
    assert outcome.live_after["100 %"] == pytest.approx(UNHURRIED.loading, abs=0.6)


def test_a_fleet_that_does_not_come_back_is_not_waited_for_for_ever() -> None:
    never = replace(CAPACITY, loading=2 * LONGEST)

    outcome = simulate(replace(AS_CLIENT_GO, agents=2, capacity=never))

    assert set(outcome.live_after.values()) == {None}


def test_the_same_seed_gives_the_same_figures_in_any_process() -> None:
    scene = replace(FEW, behind_gateway=0.5)

    here = simulate(scene)
    there = [
        run_child(
            "benchmarks.fleet_work",
            task_of(scene),
            patience=60,
            environment={"PYTHONHASHSEED": hash_seed},
        )
        for hash_seed in ("1", "2")
    ]

    assert there == [json.loads(json.dumps(asdict(here)))] * 2
    assert simulate(replace(scene, seed=2)) != here


def test_a_scene_survives_the_way_to_a_child() -> None:
    for scene in (FEW, AS_CLIENT_GO):
        assert scene_of(json.loads(json.dumps(task_of(scene)))) == scene


# What is written


def an_outcome(live: float | None, *, refused: float = 10, handshakes: float = 10) -> Outcome:
    arrivals = {"refused": refused, "handshakes": handshakes, "requests": 2000.0, "throttled": 0.0}
    return Outcome(
        live_after={"50 %": live, "99 %": live, "100 %": live},
        peaks=arrivals,
        totals=arrivals,
        lines={
            **{kind: [0.0, count] * 30 for kind, count in arrivals.items()},
            "live": [1.0, 0.0] * 30,
        },
    )


def met(ours: Outcome, theirs: Outcome) -> dict[tuple[float, str], Outcome]:
    return {
        (away, policy): each
        for away in fleet.AWAY
        for policy, each in ((fleet.OURS, ours), (fleet.CLIENT_GO, theirs))
    }


@pytest.mark.parametrize(
    ("ours", "reached"),
    [
        (an_outcome(20.0), [True, True, True]),
        (an_outcome(20.1), [False, True, True]),
        (an_outcome(None), [False, True, True]),
        (an_outcome(1.0, refused=11), [True, False, True]),
        (an_outcome(1.0, handshakes=11), [True, True, False]),
    ],
)
def test_goals_are_a_fifth_of_the_time_and_no_higher_peak_of_connections(
    ours: Outcome, reached: list[bool]
) -> None:
    found = fleet.goals(met(ours, an_outcome(100.0)))

    assert [each.reached for each in found] == reached * len(fleet.AWAY)


def test_who_never_comes_back_is_told_so() -> None:
    text = fleet.troubles_table({("slow", fleet.CLIENT_GO): an_outcome(None)})

    assert text.splitlines()[-1].count(f"over {LONGEST:g}") == 3


@pytest.mark.parametrize(
    ("probing", "handshakes", "after_ready", "verdict"),
    [
        (Probing(longest=1.0, jitter=0.5), 10, 0.5, "good"),
        (Probing(longest=0.5, jitter=0.5), 11, 0.5, "a higher peak than client-go's"),
        (Probing(longest=2.0, jitter=0.5), 10, 1.1, "too late for one agent"),
        (Probing(longest=1.0, jitter=1.0), 10, 0.9, "too late for one agent without luck"),
    ],
)
def test_waits_are_good_for_the_server_and_for_one_agent(
    probing: Probing, handshakes: float, after_ready: float, verdict: str
) -> None:
    simulated = an_outcome(6.0, handshakes=handshakes)

    assert fleet.verdict(probing, simulated, after_ready, an_outcome(100.0)) == verdict


def test_the_waits_of_the_product_are_among_those_that_are_tried() -> None:
    for size in (fleet.FULL, fleet.QUICK):
        assert Probing().longest in size.longest_probes
        assert Probing().jitter in size.jitters


# Pictures


def figures() -> dict[str, Any]:
    return {"outages": fleet.plain(met(an_outcome(6.0), an_outcome(100.0)))}


@pytest.mark.parametrize("name", ["fleet-live", "fleet-connections", "fleet-requests"])
def test_a_picture_has_a_line_and_a_name_for_everybody_who_does_anything(name: str) -> None:
    root = ElementTree.fromstring(pictures.PICTURES[name].draw(figures()))

    lines = [each for each in root.iter(f"{SVG}path") if "line" in str(each.get("class"))]
    names = [str(each.text) for each in root.iter(f"{SVG}text")]
    assert len(lines) == (2 if name == "fleet-requests" else 4)  # nobody is throttled
    assert any(each.startswith("Reflet") for each in names)
    assert any(each.startswith("client-go") for each in names)


def ends(picture: str) -> list[tuple[float, float]]:
    """Where the only line has its corners."""
    [line] = [
        each
        for each in ElementTree.fromstring(picture).iter(f"{SVG}path")
        if "line" in str(each.get("class"))
    ]
    steps = str(line.get("d")).replace("M", "L").split("L")[1:]
    return [(float(x), float(y)) for x, y in (step.split() for step in steps)]


def test_a_line_goes_up_with_its_values() -> None:
    points = [(0.0, 0.0), (10.0, 50.0), (20.0, 100.0)]

    (x0, y0), (x1, y1), (x2, y2) = ends(
        line_chart("T", "u", [Line(label="a", points=points)], most=100)
    )

    assert x1 - x0 == pytest.approx(x2 - x1)
    assert y0 - y1 == pytest.approx(y1 - y2)
    assert y0 > y1


def test_by_powers_of_ten_a_line_has_gaps_where_there_is_nothing() -> None:
    points = [(0.0, 10.0), (1.0, 100.0), (2.0, 0.0), (3.0, 1000.0)]

    picture = line_chart("T", "u", [Line(label="a", points=points)], least=10, most=1000)

    (_, y0), (_, y1), (_, y2) = ends(picture)
    assert y0 - y1 == pytest.approx(y1 - y2)
    assert picture.count("M") - picture.count('"M') == 1  # the pen was lifted once
