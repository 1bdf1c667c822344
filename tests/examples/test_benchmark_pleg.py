"""The PLEG benchmark: what is shown of it, and what is a goal."""

from __future__ import annotations

from typing import Any, Final

from benchmarks import pleg
from benchmarks.mirror_goals import missed
from benchmarks.pleg import Size, measured
from benchmarks.pleg_pictures import pleg_deaths
from benchmarks.pleg_tables import goals, tables
from tests.containers.programs import MachineUnable


def figures(cpu: float, death: float) -> dict[str, float]:
    return {
        "agent_cpu_s_per_minute": cpu,
        "runtime_cpu_s_per_minute": 0.5,
        "agent_bytes": 5e7,
        "death_p50_ms": death,
        "death_p99_ms": 2 * death,
        "death_worst_ms": 3 * death,
    }


NODES: Final = {"kubelet, relist": figures(2.0, 600), "reflet node, relist": figures(1.0, 500)}
CACHES: Final = {"status cache alone, events": figures(0.01, 20)}
FEW: Final = Size(2, 1, 0.1)


def test_everyone_has_a_row_with_what_it_costs_and_how_soon_it_knows() -> None:
    _, rest, death = tables(110, NODES, CACHES, {})

    assert "| reflet node, relist        | 1.00 s    | 0.50 s            | 50 MB  |" in rest
    assert "| the status cache           | 20  | 40   | 60    |" in death
    assert "| a client of the API server | 600 | 1200 | 1800  |" in death


def test_who_could_not_be_measured_is_named_with_the_reason() -> None:
    shown = tables(110, NODES, CACHES, {"kubelet, events": "there is no kubelet"})

    assert "| kubelet, events | there is no kubelet |" in shown[-1]


def test_a_machine_without_containers_measures_nothing_and_says_why() -> None:
    left_out: dict[str, str] = {}

    async def unable(who: str, size: Size) -> dict[str, float]:
        raise MachineUnable("needs root")

    assert measured("relist", unable, FEW, left_out) is None
    assert left_out == {"relist": "needs root"}


def test_what_is_worse_than_the_kubelet_is_a_goal_not_reached() -> None:
    than = "no more than the kubelet by relist"
    slow: dict[str, Any] = {**NODES, "reflet node, relist": figures(3.0, 700)}

    assert missed(goals(NODES, CACHES)) == []
    assert missed(goals(slow, {"status cache alone, events": figures(0.01, 80)})) == [
        "a death is known to the status cache within 50 ms by events, p50: 80 ms",
        f"{than}: CPU of a minute at rest: 3 s next to 2",
        f"{than}: from a death to the API server, p50: 700 ms next to 600",
    ]


def test_a_goal_that_nobody_measured_is_neither_reached_nor_missed() -> None:
    alone = {"reflet node, relist": figures(1.0, 500)}

    assert {goal.reached for goal in goals(alone, {})} == {None}


def test_the_picture_has_two_bars_for_everyone() -> None:
    picture = pleg_deaths({"pods": 110, "nodes": NODES, "caches": CACHES})

    assert picture.count("<rect") == 2 * (len(NODES) + len(CACHES))
    assert "From the death of one of 110 containers" in picture


def test_both_ways_are_measured_on_the_kubelet_and_in_the_cache() -> None:
    for who in ("kubelet", "status cache alone"):
        for mode in ("relist", "events"):
            assert f"{who}, {mode}" in (*pleg.NODES, *pleg.CACHES)
