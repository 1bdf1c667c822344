"""The controllers benchmark: what a contestant does, and what is made of the figures."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Iterator
from dataclasses import asdict, fields
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from benchmarks import controllers_objects, controllers_tables, pictures, summary_page
from benchmarks.controllers import FULL, QUICK, Size
from benchmarks.controllers_contestants import (
    CONTESTANTS,
    KOPF,
    KOPF_HANDLERS,
    OURS,
    RUNTIME,
    started,
)
from benchmarks.controllers_work import Task
from benchmarks.go_programs import SOURCES, Environment
from benchmarks.measuring import Child, RunFailed, Spread, summary
from benchmarks.wire_clients import Target
from reflet.testing.pytest_plugin import RunningServer, running_server

SIZES: Final = pytest.mark.parametrize("size", [FULL, QUICK], ids=["full", "quick"])


# A contestant


@pytest.fixture
def server() -> Iterator[RunningServer]:
    """With three objects to work on, and one to warm up."""
    with running_server({"tls": False, "load": [controllers_objects.DEFINITION]}) as running:
        target = target_of(running)
        asyncio.run(controllers_objects.create(target, "three", 3))
        asyncio.run(controllers_objects.create(target, "one", 1))
        yield running


def target_of(server: RunningServer) -> Target:
    return Target(server.url, "", server.token)


def task_for(server: RunningServer, job: str, **details: Any) -> Task:
    return Task(
        job=job,
        url=server.url,
        ca_file="",
        token=server.token,
        namespace="three",
        objects=3,
        warm_up_namespace="one",
        warm_up_objects=1,
        workers=2,
        patience=50.0,
        **details,
    )


def test_a_no_op_is_called_once_for_each_object_and_writes_nothing(server: RunningServer) -> None:
    with started(OURS, task_for(server, "reconcile"), {}) as child:
        figures = child.hear(60)

    assert figures["calls"] == 3
    assert min(figures["seconds"], figures["cpu_seconds"], figures["peak_bytes"]) > 0
    assert not [each for each in server.requests if each.verb == "patch"]


def test_every_object_gets_its_status_once_and_the_call_after_it_finds_it(
    server: RunningServer,
) -> None:
    with started(OURS, task_for(server, "reconcile", mark="7"), {}) as child:
        figures = child.hear(60)

    patches = [each for each in server.requests if each.verb == "patch"]
    assert len(patches) == 3 + 1  # the one is to warm up
    assert figures["calls"] >= 3 + 3


def test_a_follower_says_when_it_saw_each_write(server: RunningServer) -> None:
    writing = {
        "target": asdict(target_of(server)),
        "paths": controllers_objects.paths("three", 3),
        "updates": 6,
        "per_second": 50,
        "at_once": 1,
    }
    with started(OURS, task_for(server, "follow", writes=6), {}) as follower:
        follower.hear(60)
        with Child("benchmarks.controllers_objects", writing) as writer:
            written = writer.hear(60)["moments"]
        seen = follower.hear(60)["moments"]

    assert written.keys() == {"0", "1", "2", "3", "4", "5"}
    assert all(seen[number] > written[number][0] for number in seen)
    assert "5" in seen


def test_a_candidate_says_that_it_is_one_and_when_it_leads(server: RunningServer) -> None:
    timing = {"lease_duration": 15, "renew_deadline": 10, "retry_period": 2}
    with started(OURS, task_for(server, "lead", lease="first", **timing), {}) as candidate:
        assert candidate.hear(60) == {}
        assert candidate.hear(60)["leads"] > 0


def test_who_cannot_be_installed_fails_with_the_reason() -> None:
    task = Task(job="reconcile", url="", ca_file="", token="", namespace="", patience=1.0)

    with pytest.raises(RunFailed, match="there is no Go"):
        started(RUNTIME, task, {"controller-runtime": Environment(missing="there is no Go")})


def test_the_program_in_go_reads_the_same_task_and_the_same_kind() -> None:
    program = (SOURCES / "controller" / "main.go").read_text()
    kind = (SOURCES / "controller" / "widget.go").read_text()

    struct = re.search(r"type task struct \{(.*?)\n\}", program, re.DOTALL)
    assert struct is not None
    read = set(re.findall(r'json:"(\w+)"', struct[1]))
    assert read == {field.name for field in fields(Task)} - {"patience"}
    assert f'Group: "{controllers_objects.GROUP}"' in kind
    assert f'WithKind("{controllers_objects.KIND}")' in kind


# Goals, tables, the page


def once(value: float) -> Spread:
    return summary([value])


def reconciled(objects: int, cpu: float) -> dict[str, Spread]:
    """All in ten times the CPU time, in 64 MiB."""
    return {
        "seconds": once(10 * cpu),
        "cpu_seconds": once(cpu),
        "per_second": once(objects / cpu / 10),
        "per_cpu_second": once(objects / cpu),
        "peak_bytes": once(64 * 2**20),
        "calls": once(objects),
    }


def followed(p50: float, p99: float) -> dict[str, Spread]:
    names = ("sent_p50_ms", "sent_p99_ms", "acknowledged_p50_ms", "acknowledged_p99_ms")
    return dict(zip(names, map(once, (p50, p99, 0.0, p99 / 2)), strict=True))


def figures() -> dict[str, Any]:
    """Ours is twelve times as cheap as kopf, and as soon as Go."""
    cpu = {OURS: 0.2, RUNTIME: 1.0, KOPF: 2.4, KOPF_HANDLERS: 20.0}
    no_op = {
        str(objects): {
            "figures": {
                name: reconciled(objects, each * objects / 10_000) for name, each in cpu.items()
            },
            "left_out": {},
        }
        for objects in FULL.objects
    }
    latencies = {OURS: (4.0, 20.0), RUNTIME: (4.1, 20.0), KOPF: (6.0, 30.0)}
    return {
        "size": asdict(FULL),
        "no_op": no_op,
        "status": {
            "figures": {name: reconciled(10_000, 10 * each) for name, each in cpu.items()},
            "left_out": {},
        },
        "followed": {
            "figures": {name: followed(*each) for name, each in latencies.items()},
            "left_out": {KOPF_HANDLERS: "not done within 300 s"},
        },
        "led": {
            timing.name: {
                "figures": {OURS: {"seconds": once(15.5)}},
                "left_out": {RUNTIME: "there is no Go"},
            }
            for timing in FULL.timings
        },
    }


def verdicts(found: dict[str, Any]) -> list[bool | None]:
    return [goal.reached for goal in controllers_tables.goals(found)]


def test_the_goals_are_reached_at_ten_times_kopf_and_with_gos_latency() -> None:
    assert verdicts(figures()) == [True, True, True]


@pytest.mark.parametrize(
    ("where", "name", "figure", "value", "expected"),
    [
        (("no_op", "10000"), KOPF, "per_cpu_second", 5_001.0, [False, True, True]),
        (("no_op", "10000"), KOPF_HANDLERS, "per_cpu_second", 5_001.0, [False, True, True]),
        (("no_op", "1000"), KOPF, "per_cpu_second", 5_001.0, [True, True, True]),
        (("status",), OURS, "per_cpu_second", 4_166.0, [True, False, True]),
        (("followed",), OURS, "sent_p99_ms", 20.1, [True, True, False]),
    ],
    ids=["kopf", "its handlers", "with fewer objects", "status", "latency"],
)
def test_each_goal_is_missed_by_the_figure_that_it_is_about(
    where: tuple[str, ...], name: str, figure: str, value: float, expected: list[bool]
) -> None:
    found = place = figures()
    for step in where:
        place = place[step]
    place["figures"][name][figure] = once(value)

    assert verdicts(found) == expected


def test_without_a_figure_nobody_knows() -> None:
    found = figures()
    del found["status"]["figures"][OURS]
    del found["followed"]["figures"][RUNTIME]

    assert verdicts(found) == [True, None, None]


def rows(text: str) -> list[list[str]]:
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[4:]]


def test_the_tables_have_a_row_for_everybody_and_say_who_was_left_out() -> None:
    found = figures()

    goals, no_op, status, latency, led = controllers_tables.tables(
        found, controllers_tables.goals(found)
    )

    assert [row[2] for row in rows(goals)] == ["yes", "yes", "yes"]
    assert rows(no_op)[0] == [CONTESTANTS[OURS].title, "5000", "50000", "0.20", "1.0", "64"]
    assert rows(status)[2] == [CONTESTANTS[KOPF].title, "42", "417", "24.00", "12.0", "64"]
    assert rows(latency)[0] == [CONTESTANTS[OURS].title, "4.00", "20.00", "0.00", "10.00"]
    assert rows(latency)[3][:2] == [
        CONTESTANTS[KOPF_HANDLERS].title,
        "left out: not done within 300 s",
    ]
    assert rows(led) == [
        [timing, CONTESTANTS[name].title, seconds]
        for timing in ("client-go's default: 15 / 10 / 2 s", "short: 3 / 2 / 0.5 s")
        for name, seconds in ((OURS, "15.5"), (RUNTIME, "left out: there is no Go"))
    ]


def test_without_a_server_there_are_tables_of_those_who_were_left_out() -> None:
    nobody = {"figures": {}, "left_out": dict.fromkeys(CONTESTANTS, "there is no kube-apiserver")}
    found = {
        "size": asdict(QUICK),
        "status": nobody,
        "followed": nobody,
        "led": {},
        "no_op": {str(objects): nobody for objects in QUICK.objects},
    }

    shown = controllers_tables.tables(found, controllers_tables.goals(found))

    assert len(shown) == 4
    assert all("left out: there is no kube-apiserver" in each for each in shown[1:])


def test_the_growth_table_gets_what_an_object_costs_at_each_size() -> None:
    first, *others = controllers_tables.growth_rows(figures()["no_op"])

    assert (first["ours"], first["points"]) == (
        True,
        {"1000": pytest.approx(20), "3000": pytest.approx(20), "10000": pytest.approx(20)},
    )
    assert [row["ours"] for row in others] == [False, False]


def test_the_pictures_and_the_short_table_show_microseconds_for_an_object() -> None:
    found = json.loads(json.dumps(figures(), default=asdict))

    drawn = [
        each.text
        for draw in (pictures.controllers_cpu, pictures.controllers_latency)
        for each in ElementTree.fromstring(draw(found)).iter()
    ]
    short = summary_page.short_table({"controllers": found}).splitlines()[-1]

    assert {"Reflet reconcile: no-op", "20", "kopf on.event, p99", "30.0"} <= set(drawn)
    assert [cell.strip() for cell in short.split("|")[1:-1]] == [
        "CPU to reconcile one of 10,000 objects, µs",
        "20.0",
        "has no such thing (kopf: 240.0)",
        "100.0 (controller-runtime)",
    ]


@SIZES
def test_growth_has_three_sizes_and_no_name_of_a_lease_is_used_twice(size: Size) -> None:
    assert len(set(size.objects)) == 3
    assert len({timing.lease_duration for timing in size.timings}) == len(size.timings)
