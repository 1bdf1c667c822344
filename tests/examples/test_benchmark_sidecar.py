"""The sidecar benchmark: what is counted as what, what is shown, and a small run of it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final
from xml.etree import ElementTree

import pytest

from benchmarks import pictures, sidecar_jobs, sidecar_objects, sidecar_outages, sidecar_tables
from benchmarks.idle_relay import Door
from benchmarks.measuring import Child, Spread
from benchmarks.sidecar import FULL, QUICK, Size, Stage
from benchmarks.sidecar_contestants import OURS, SOURCE, THEIRS, Contestant, contestants
from benchmarks.sidecar_reader import LENGTH, content, is_whole
from benchmarks.sidecar_servers import DEVELOPMENT, REAL, ground
from tests.examples.test_benchmark_idle import echoing


def spread(value: float) -> dict[str, float]:
    return {"median": value, "low": value, "high": value, "runs": 3}


def of_a_server(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of one server; both have those of *ours*, but for what *theirs* are."""
    found: dict[str, Any] = {}
    usual: dict[str, dict[str, Any]] = {
        "freshness": {"p50_ms": 2.0, "p99_ms": 9.0},
        "burst": {"calls": 1, "right_seconds": 0.1, "last_call_seconds": 0.6},
        "torn": {"reads": 1000, "share": 0.0},
        "idle": {"requests": spread(1), "bytes": spread(1000), "cpu_ms": spread(5)},
        "restarts": {"missed": 0, "seen_p50": 1.0, "seen_most": 2.0, "ends": 0},
        "silent": {"seconds": 61.0, "patience": 150.0},
    }
    for job, figures in usual.items():
        found[job] = {
            OURS: {**figures, **ours.get(job, {})},
            THEIRS: {**figures, **theirs.get(job, {})},
        }
    start = {"ready_seconds": spread(1), "cpu_seconds": spread(1), "resident_bytes": spread(5e7)}
    found["start"] = {"1000": {"figures": {OURS: start, THEIRS: start}, "left_out": {}}}
    return found


def figures(
    ours: Mapping[str, Any] | None = None, theirs: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    size = {"starts": [1000], "burst": 200, "restarts": 20, "silent_seconds": 150.0}
    servers = {name: of_a_server(ours or {}, theirs or {}) for name in (DEVELOPMENT, REAL)}
    return {"size": size, "servers": servers, "left_out": {}}


THEIR_FAULTS: Final = {
    "torn": {"share": 0.1},
    "restarts": {"missed": 20},
    "burst": {"calls": 200},
    "silent": {"seconds": None},
}


# What is counted as what


def test_a_file_is_whole_when_all_of_it_is_of_one_version() -> None:
    whole = content(7).encode()

    assert is_whole(whole)
    assert len(whole) == LENGTH
    assert not is_whole(whole[:-1])
    assert not is_whole(b"")
    assert not is_whole(content(8).encode()[: LENGTH // 2] + whole[LENGTH // 2 :])


def test_a_reader_counts_what_is_torn_and_what_is_missing(tmp_path: Path) -> None:
    torn = tmp_path / "torn"
    torn.write_text(content(1)[:-5])

    counts = []
    for path in (torn, tmp_path / "missing"):
        with Child("benchmarks.sidecar_reader", {"file": str(path), "seconds": 0.1}) as reader:
            reader.hear(30)
            counts.append(reader.hear(30))

    assert counts[0]["torn"] == counts[0]["reads"] > 0
    assert counts[1]["missing"] == counts[1]["reads"] > 0


async def test_a_door_that_is_hushed_carries_nothing_and_lets_new_ones_through() -> None:
    async with echoing() as (port, _):
        door = Door(1, ("127.0.0.1", port))
        entrance = await door.listen()
        reader, writer = await asyncio.open_connection("127.0.0.1", entrance)
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        await reader.readexactly(36)
        door.hush()
        writer.write(b"GET / HTTP/1.1\r\n\r\n")
        other_reader, other_writer = await asyncio.open_connection("127.0.0.1", entrance)
        other_writer.write(b"hello")
        heard = await other_reader.readexactly(10)
        for each in (writer, other_writer):
            each.close()
            await each.wait_closed()
        await door.close()

    assert (heard, door.requests) == (b"hellohello", 1)
    assert door.count.sent == 18 + 5


def test_without_its_source_the_original_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(SOURCE, raising=False)

    found = contestants()

    assert found[THEIRS].missing == f"{SOURCE} names no checkout of kiwigrid/k8s-sidecar"
    assert not found[OURS].missing


@pytest.mark.parametrize("size", [FULL, QUICK], ids=["full", "quick"])
def test_every_job_has_a_size(size: Size) -> None:
    assert min(size.rounds, size.writes, size.burst, size.windows, size.restarts) > 0


# What is shown


def test_what_is_promised_is_no_torn_read_and_no_missed_deletion() -> None:
    wrong = {"torn": {"share": 0.01}, "restarts": {"missed": 2}}

    assert sidecar_tables.broken_limits(figures(theirs=THEIR_FAULTS)) == []
    assert sidecar_tables.broken_limits(figures(ours=wrong)) == [
        "1.00% of the reads were torn, development server",
        "2 deletions were missed, development server",
        "1.00% of the reads were torn, kube-apiserver",
        "2 deletions were missed, kube-apiserver",
    ]


def test_a_job_that_failed_is_a_broken_promise_and_is_shown() -> None:
    found = figures()
    found["servers"][REAL]["torn"] = {"failed": "no server"}

    assert sidecar_tables.broken_limits(found) == ["torn failed, kube-apiserver: no server"]
    assert "failed: no server" in sidecar_tables.comparison(found)


def test_goals_compare_with_the_original() -> None:
    slower = figures(ours={"freshness": {"p99_ms": 9.1}, "silent": {"seconds": None}})

    reached = {goal.goal: goal.reached for goal in sidecar_tables.goals(slower)}

    assert [goal for goal, yes in reached.items() if not yes] == [
        f"no more than k8s-sidecar: p99 from a write to its file, ms, {DEVELOPMENT}",
        f"a change is seen within 90 s of a silence, {DEVELOPMENT}",
        f"no more than k8s-sidecar: p99 from a write to its file, ms, {REAL}",
        f"a change is seen within 90 s of a silence, {REAL}",
    ]


def test_without_the_original_nobody_knows() -> None:
    found = figures()
    for server in found["servers"].values():
        for job in server.values():
            job.pop(THEIRS, None)
        del server["start"]["1000"]["figures"][THEIRS]

    goals = sidecar_tables.goals(found)

    assert [goal.reached for goal in goals if "k8s-sidecar" in goal.goal] == [None] * 10
    assert "not measured" in sidecar_tables.comparison(found)


def test_the_table_has_both_on_both_servers() -> None:
    lines = sidecar_tables.comparison(figures(theirs=THEIR_FAULTS)).splitlines()

    (torn,) = [line for line in lines if "were torn" in line]
    (silent,) = [line for line in lines if "silent for 150 s" in line]
    assert [cell.strip() for cell in torn.split("|")[2:6]] == ["0.00%", "10.00%"] * 2
    assert [cell.strip() for cell in silent.split("|")[2:6]] == ["61.0", "never"] * 2


def test_figures_look_the_same_from_a_file() -> None:
    measured = figures()
    measured["servers"][REAL]["idle"][OURS]["bytes"] = Spread(1000, 1000, 1000, 3)

    assert sidecar_tables.comparison(measured) == sidecar_tables.comparison(figures())


@pytest.mark.parametrize("name", ["sidecar-torn", "sidecar-missed"])
def test_the_pictures_are_drawn(name: str) -> None:
    picture = pictures.PICTURES[name].draw(json.loads(json.dumps(figures(theirs=THEIR_FAULTS))))

    ElementTree.fromstring(picture)
    assert picture.count('class="bar ours"') == 2
    assert "Reflet sidecar, kube-apiserver" in picture


# A small run


@pytest.mark.story
@pytest.mark.time_limit(180)
def test_a_sidecar_goes_through_the_jobs_on_the_development_server(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (sidecar_jobs, sidecar_objects, sidecar_outages):
        monkeypatch.setattr(module, "SETTLE", 0.1)
    monkeypatch.setattr(sidecar_jobs, "QUIET", 1.0)
    line_up = {OURS: contestants()[OURS], THEIRS: Contestant(missing="not here")}
    with ground(DEVELOPMENT) as server:
        stage = Stage(server, line_up, tmp_path)
        fresh = asyncio.run(sidecar_jobs.freshness(stage, followed=2, writes=3))
        burst = asyncio.run(sidecar_jobs.burst(stage, changes=5))
        torn = asyncio.run(sidecar_jobs.torn_reads(stage, seconds=0.5))
        idle = asyncio.run(sidecar_jobs.idle(stage, objects=2, windows=1, seconds=0.5))
        restarted = asyncio.run(sidecar_outages.restarts(stage, times=1))

    assert fresh.keys() == burst.keys() == idle.keys() == {OURS}
    assert burst[OURS]["calls"] >= 1
    assert torn[OURS]["reads"] > 0
    assert torn[OURS]["share"] == 0
    assert (restarted[OURS]["missed"], restarted[OURS]["ends"]) == (0, 0)
    assert restarted[OURS]["seen_most"] < sidecar_outages.GIVEN_UP
