"""The recovery benchmark: who goes through which outage, and what is made of the moments."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from itertools import chain
from types import MappingProxyType
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from benchmarks import pictures, recovery_tables, summary_page, wire_objects
from benchmarks.go_programs import Environment
from benchmarks.measuring import Child, RunFailed
from benchmarks.recovery import (
    FULL,
    QUICK,
    Size,
    heats,
    in_order,
    programme,
)
from benchmarks.recovery_contestants import (
    AUTO,
    CONTESTANTS,
    IN_A_SCENE,
    INFORMERS,
    KUBELET,
    NAMESPACE,
    SCENES,
    WATCH,
    Place,
    started,
)
from benchmarks.recovery_figures import Outage, busiest_second, figures_of, requests_by_place
from benchmarks.recovery_work import MIRRORS
from benchmarks.wire_clients import Target
from reflet.testing.pytest_plugin import running_server

AWAY: Final = Outage(killed=100.0, returned=140.0, ready=142.0)
SIZES: Final = pytest.mark.parametrize("size", [FULL, QUICK], ids=["full", "quick"])


def a_report(*live: float, attempts: tuple[float, ...] = (), cpu: float = 0.5) -> dict[str, Any]:
    return {"live": list(live), "attempts": list(attempts), "cpu_seconds": cpu}


# Who goes when


@SIZES
def test_everybody_goes_through_every_outage_with_every_number_of_objects_once(size: Size) -> None:
    of_ours = set(chain.from_iterable(size.heats))
    numbers = {objects for _, objects in of_ours}

    for seconds in size.outages:
        places = list(chain.from_iterable(heats(size, seconds)))
        assert len(places) == len(set(places))
        assert {(place.name, place.objects) for place in places} == {
            (name, objects) for name in CONTESTANTS for objects in numbers
        }


@SIZES
def test_the_scenes_are_played_once(size: Size) -> None:
    played = [place for _, places in programme(size) for place in places if place.scene]

    assert sorted((place.scene, place.name) for place in played) == sorted(
        (scene, name) for scene, names in IN_A_SCENE.items() for name in names
    )
    assert IN_A_SCENE.keys() == SCENES.keys()


def test_a_short_outage_has_ours_or_theirs_and_a_long_one_both() -> None:
    def mixed(seconds: float) -> list[bool]:
        return [
            len({CONTESTANTS[place.name].in_go for place in heat}) > 1
            for heat in heats(FULL, seconds)
        ]

    assert not any(mixed(1.0))
    assert mixed(40.0) == [True, False, False, False]


def test_most_streams_of_ours_have_an_outage_of_their_own() -> None:
    for seconds in FULL.outages:
        for heat in heats(FULL, seconds):
            ours = [place for place in heat if place.name in (WATCH, MIRRORS)]
            assert len([place for place in ours if place.objects >= 500]) <= 1


# What is made of moments


def test_seconds_count_from_ready_and_attempts_before_the_return_are_those_while_away() -> None:
    report = a_report(141.5, 143.0, attempts=(99.0, 100.5, 139.0, 140.0, 141.0), cpu=0.25)

    found = figures_of(report, AWAY, [141.0, 141.1, 142.5], 2, 110.0)

    assert found == {
        "away_seconds": 42.0,
        "live": 2,
        "p50_seconds": 1.0,
        "p99_seconds": 1.0,
        "last_seconds": 1.0,
        "attempts_away": 2,
        "attempts_after": 2,
        "requests": 3,
        "busiest_second": 2,
        "cpu_seconds": 0.25,
    }


def test_who_is_never_live_counts_as_live_when_it_is_given_up() -> None:
    found = figures_of(a_report(143.0, 144.0), AWAY, [], 4, 110.0)

    assert (found["live"], found["p50_seconds"], found["last_seconds"]) == (2, 110.0, 110.0)


def test_who_is_live_after_it_was_given_up_is_not() -> None:
    found = figures_of(a_report(143.0, 252.5), AWAY, [], 2, 110.0)

    assert (found["live"], found["last_seconds"]) == (1, 110.0)


def test_requests_after_the_last_object_was_live_are_none_of_the_recovery() -> None:
    found = figures_of(a_report(143.0), AWAY, [141.0, 142.9, 170.0], 1, 110.0)

    assert found["requests"] == 2


@pytest.mark.parametrize(
    ("moments", "most"),
    [([], 0), ([1.0, 2.0, 3.0], 1), ([5.0, 1.0, 1.9, 1.2], 3), ([1.0, 1.9, 2.0, 2.5], 3)],
)
def test_the_busiest_second_may_begin_at_any_moment(moments: list[float], most: int) -> None:
    assert busiest_second(moments) == most


def test_requests_are_told_apart_by_the_agent_in_them() -> None:
    def event(agent: str) -> dict[str, str]:
        return {"userAgent": agent, "requestReceivedTimestamp": "2026-01-02T03:04:05.000000Z"}

    found = requests_by_place(
        [
            event("reflet/0.1.0 (linux/x86_64; python 3.11.7; place-1)"),
            event("place-12"),
            event("place-12"),
            event("kube-apiserver/v1.36.4"),
            {"requestReceivedTimestamp": "2026-01-02T03:04:05.000000Z"},
        ]
    )

    assert {place: len(moments) for place, moments in found.items()} == {1: 1, 12: 2}


# A contestant


@pytest.mark.parametrize("name", [WATCH, AUTO, MIRRORS])
def test_a_contestant_says_when_it_saw_the_change_and_how_often_it_connected(name: str) -> None:
    with running_server({"tls": False}) as server:
        target = Target(server.url, "", server.token)
        asyncio.run(wire_objects.create(target, NAMESPACE, 3))
        with started(Place(name, 3), target, "place-7", Environment()) as child:
            child.hear(60)
            before = asked(child, ask="expect", sequence="7")
            changed = wire_objects.object_paths(NAMESPACE, 2)
            asyncio.run(wire_objects.rewrite(target, changed, "7"))
            while asked(child, ask="live")["live"] < 2:
                pass
            report = asked(child, ask="report")
        agents = {each.user_agent for each in server.requests if each.verb == "watch"}

    assert len(report["live"]) == 2
    assert len(report["attempts"]) >= 1
    assert report["cpu_seconds"] > before["cpu_seconds"] > 0
    assert all("place-7" in agent for agent in agents)
    assert agents


def asked(child: Child, **question: str) -> dict[str, Any]:
    child.say(question)
    return child.hear(60)


def test_who_has_no_program_fails_with_the_reason() -> None:
    with pytest.raises(RunFailed, match="there is no Go"):
        started(Place(KUBELET, 1), Target("", ""), "place-0", Environment(missing="there is no Go"))


# Goals, tables, the page


def come_back(place: Place, seconds: float) -> dict[str, float]:
    """Ours are back at once and look once; client-go's need long, and each looks for itself."""
    ours = not CONTESTANTS[place.name].in_go
    return {
        "away_seconds": seconds + 2.0,
        "live": place.objects,
        "p50_seconds": -0.5 if ours else seconds,
        "p99_seconds": 0.1 if ours else 2 * seconds,
        "last_seconds": 0.25 if ours else 2.5 * seconds,
        "attempts_away": 9 if ours else 5 * place.objects,
        "attempts_after": 3,
        "requests": 2 * place.objects,
        "busiest_second": 40,
        "cpu_seconds": 0.001 * place.objects if ours else 0.004 * place.objects,
    }


def figures(
    changes: Mapping[str, Mapping[str, float]] = MappingProxyType({}),
    left_out: Mapping[tuple[float, Place], str] = MappingProxyType({}),
) -> dict[str, Any]:
    """Everything as it should be, but for what *changes* of a contestant with 2,000 after 40 s."""
    order = programme(FULL)
    found = {
        (seconds, place): come_back(place, seconds) for seconds, places in order for place in places
    }
    for name, change in changes.items():
        found[40.0, Place(name, 2_000)] |= change
    size = {"outages": FULL.outages, "scene_objects": 50, "scene_seconds": 10.0}
    return {"size": size, **in_order(order, found, left_out)}


def verdicts(found: dict[str, Any]) -> dict[str, bool | None]:
    return {goal.goal: goal.reached for goal in recovery_tables.goals(found)}


def not_reached(found: dict[str, Any]) -> list[str]:
    return [goal for goal, reached in verdicts(found).items() if not reached]


def row(text: str, *cells: str) -> list[str]:
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()]
    [found] = [each for each in rows if tuple(each[: len(cells)]) == cells]
    return found


def test_all_goals_are_reached_when_ours_are_back_at_once_and_look_once() -> None:
    assert not_reached(figures()) == []


@pytest.mark.parametrize(
    ("name", "change", "goals"),
    [
        (
            WATCH,
            {"attempts_away": 11_186},
            ["no more attempts to connect for more streams: Reflet manager, `watch`"],
        ),
        (
            MIRRORS,
            {"last_seconds": 6.0},
            ["the last of 2,000 objects is live within 5 s: Reflet mirrors"],
        ),
        (
            AUTO,
            {"last_seconds": 1.1},
            ["the last of 2,000 objects is live within 1 s: Reflet manager, `auto`"],
        ),
        (
            INFORMERS,
            {"last_seconds": 3.0},
            ["after 40 s, the last of 2,000 in a 15th of the time: Reflet mirrors"],
        ),
        (
            WATCH,
            {"cpu_seconds": 8.5},
            ["no more CPU for 2,000 than kubelet manager (Go), `Watch`: Reflet manager, `watch`"],
        ),
    ],
    ids=["attempts", "last", "auto", "a part of client-go's", "cpu"],
)
def test_each_goal_is_missed_by_one_figure_that_is_too_high(
    name: str, change: dict[str, float], goals: list[str]
) -> None:
    assert not_reached(figures({name: change})) == goals


def test_a_scene_in_which_one_of_ours_is_late_misses_its_goal() -> None:
    found = figures()
    found["scenes"]["balanced"][MIRRORS]["last_seconds"] = 9.0

    assert not_reached(found) == [
        "the last of 50 objects is live within 1 s: behind a load balancer"
    ]


def test_without_a_figure_nobody_knows() -> None:
    gone = figures(left_out={(40.0, Place(WATCH, 2_000)): "ended early"})

    assert (
        verdicts(gone)["the last of 2,000 objects is live within 5 s: Reflet manager, `watch`"]
        is None
    )


def test_a_row_has_the_figures_of_all_outages() -> None:
    text = recovery_tables.outages_table(figures()["outages"])

    assert row(text, "kubelet manager (Go), `Watch`", "500") == [
        *("kubelet manager (Go), `Watch`", "500"),
        "3.0 / 12.0 / 42.0",
        "2,500 / 2,500 / 2,500",
        "3 / 3 / 3",
        "1.0 / 10.0 / 40.0",
        "2.0 / 20.0 / 80.0",
        "2.5 / 25.0 / 100.0",
        "1,000 / 1,000 / 1,000",
        "40 / 40 / 40",
        "2.00 / 2.00 / 2.00",
    ]


def test_who_was_given_up_took_longer_than_we_waited() -> None:
    late = {"live": 1_979, "p99_seconds": 110.0, "last_seconds": 110.0}

    text = recovery_tables.outages_table(figures({KUBELET: late})["outages"])

    cells = row(text, "kubelet manager (Go), `Watch`", "2,000")
    assert cells[5:8] == [
        "1.0 / 10.0 / 40.0",
        "2.0 / 20.0 / >110.0",
        "2.5 / 25.0 / >110.0 (1,979 live)",
    ]


def test_who_was_left_out_of_one_outage_keeps_the_others_and_says_why() -> None:
    found = figures(left_out={(40.0, Place(KUBELET, 2_000)): "there is no Go"})

    cells = row(
        recovery_tables.outages_table(found["outages"]), "kubelet manager (Go), `Watch`", "2,000"
    )

    assert cells[3] == "10,000 / 10,000 / -"
    assert cells[-1] == "8.00 / 8.00 / -; left out: there is no Go"


def test_every_scene_has_a_row_for_each_contestant() -> None:
    found = figures()

    text = recovery_tables.scenes_table(found["scenes"], found["size"])

    for scene, names in IN_A_SCENE.items():
        for name in names:
            assert row(text, SCENES[scene], CONTESTANTS[name].title)


def test_the_growth_table_gets_attempts_and_cpu_after_the_longest_outage() -> None:
    rows = recovery_tables.growth_rows(figures())

    exponents = {(each["job"], each["who"]): each["exponent"] for each in rows}
    attempts = "attempts to connect while the server is away for 40 s"
    assert exponents[attempts, "Reflet manager, `watch`"] == pytest.approx(0.0)
    assert exponents[attempts, "client-go informers"] == pytest.approx(1.0)
    assert len(rows) == 2 * len(CONTESTANTS)


def test_the_pictures_show_the_longest_outage_and_who_is_not_back() -> None:
    found = json.loads(json.dumps(figures({KUBELET: {"live": 1_979, "last_seconds": 110.0}})))

    late, attempts = (
        [each.text for each in ElementTree.fromstring(draw(found)).iter() if each.text]
        for draw in (pictures.recovery_last, pictures.recovery_attempts)
    )

    assert "110.0 (1,979 live)" in late
    assert "Reflet manager, auto: 2,000" in late
    assert "10,000" in attempts


def test_the_short_table_has_the_most_objects_after_the_longest_outage() -> None:
    found = json.loads(json.dumps(figures({KUBELET: {"live": 1_979, "last_seconds": 110.0}})))

    text = summary_page.short_table({"recovery": found})

    assert text.splitlines()[-1].split("|")[1].strip() == (
        "server away for 40 s: from its /readyz to the last of 2,000 objects, s"
    )
    assert "| 0.2 (`watch`), 0.2 (`auto`) | has no such thing      | >110.0" in text
