"""The faults benchmark starts everybody, says who ended or was left out, and counts requests."""

from __future__ import annotations

import json
import sys
from typing import Final

import pytest

from benchmarks import faults
from benchmarks.fault_contestants import CONTESTANTS, GO_INFORMER, OFFICIAL, REFLET, started
from benchmarks.fault_work import CONTESTANTS as WAYS
from benchmarks.go_programs import Environment
from benchmarks.measuring import Child, RunFailed
from benchmarks.mirror_environments import CLIENT_GO, REQUIREMENTS
from benchmarks.mirror_peers.launch import PROGRAM

LAUNCH: Final = "benchmarks.mirror_peers.launch"
NO_GO: Final = Environment(missing="there is no Go")
BRIEFLY: Final = faults.Meeting(faults.Scenario("calm", faults.nothing_happens, 0.1, 0.1), 0.1)


def what_came(seconds: float) -> faults.Met:
    return {
        **{name: faults.Outcome(0, 4, "right", 3, 1.25) for name in CONTESTANTS},
        OFFICIAL: faults.Outcome(0, int(seconds) * 100, "right"),
        "kubernetes_asyncio watch": faults.Outcome(0, 1, "ended with ApiException"),
        GO_INFORMER: faults.LeftOut("there is no Go"),
    }


def program(text: str) -> Child:
    """A contestant that runs this."""
    command = json.dumps([sys.executable, "-c", text])
    return Child(LAUNCH, {}, environment={PROGRAM: command})


# The line-up


def test_reflet_comes_first_and_every_peer_has_an_environment_of_its_own() -> None:
    ours, *peers = CONTESTANTS.values()

    assert next(iter(CONTESTANTS)) == REFLET
    assert not ours.peer
    assert [each.peer for each in peers if not each.function] == [CLIENT_GO]
    for each in peers:
        assert each.peer == CLIENT_GO or (REQUIREMENTS / f"{each.peer}.txt").is_file()


def test_every_way_to_follow_is_used() -> None:
    assert {each.function for each in CONTESTANTS.values()} - {""} == WAYS.keys()


def test_who_is_kept_busy_by_a_fault_is_one_of_the_line_up() -> None:
    assert {name for each in faults.SCENARIOS for name in each.busy} <= CONTESTANTS.keys()


def test_who_has_no_environment_fails_with_the_reason() -> None:
    with pytest.raises(RunFailed, match="there is no Go"):
        started(GO_INFORMER, url="", namespace="", objects=0, environments={CLIENT_GO: NO_GO})


# A run


def test_we_are_right_where_nothing_happens() -> None:
    outcome = faults.one(BRIEFLY, 5.0, REFLET, {})

    assert (outcome.lists, outcome.watches, outcome.verdict) == (0, 1, "right")


def test_we_try_to_connect_to_a_server_that_is_away_and_are_right_after_its_return() -> None:
    away = faults.Meeting(faults.Scenario("away", faults.the_server_is_away, 0.6, 0.6), 0.6)

    outcome = faults.one(away, 30.0, REFLET, {})

    assert isinstance(outcome, faults.Outcome)
    assert (outcome.lists, outcome.verdict) == (0, "right")
    assert outcome.watches <= 1  # that of whoever is back before the requests are counted
    assert outcome.attempts
    assert outcome.seconds is not None


def test_who_is_not_there_is_left_out_and_the_others_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    present = {name: CONTESTANTS[name] for name in (REFLET, GO_INFORMER)}
    monkeypatch.setattr(faults, "CONTESTANTS", present)

    met = faults.everybody([BRIEFLY], 5.0, {CLIENT_GO: NO_GO})

    assert met[BRIEFLY][REFLET].verdict == "right"
    assert met[BRIEFLY][GO_INFORMER] == faults.LeftOut("there is no Go")


def test_a_process_that_ends_under_a_fault_has_a_verdict_that_says_so() -> None:
    with faults.stage_with(3) as stage, program("raise SystemExit('its own words')") as child:
        found = faults.verdict(child, stage, 0.0)

    assert found == faults.Verdict("ended with its own words")


@pytest.mark.parametrize(
    ("held", "ended", "verdict"),
    [
        ({}, "ApiException", "ended with ApiException"),
        ({}, "", "wrong: 0 of 3"),
        ({"gone": "1"}, "", "wrong: keeps gone"),
    ],
)
def test_a_verdict_tells_the_end_before_ghosts_and_ghosts_before_what_is_missing(
    held: dict[str, str], ended: str, verdict: str
) -> None:
    line = json.dumps({"held": held, "ended": ended, "attempts": 7})
    text = f"import sys\nfor _ in sys.stdin: print({line!r}, flush=True)"

    with faults.stage_with(3) as stage, program(text) as child:
        child.hear(30)  # the answer to the task, which this one takes for a question
        assert faults.verdict(child, stage, 0.0) == faults.Verdict(verdict, 7)


# What is written


def test_requests_grow_with_a_fault_only_for_those_who_see_its_end() -> None:
    rows = faults.growth({seconds: what_came(seconds) for seconds in (2.0, 4.0, 8.0)})

    found = {row["who"]: row for row in rows}
    assert found[REFLET]["exponent"] == pytest.approx(0.0)
    assert found[OFFICIAL]["exponent"] == pytest.approx(1.0)
    ended, absent = found["kubernetes_asyncio watch"], found[GO_INFORMER]
    assert (ended["exponent"], ended["note"]) == (None, "left out: ended with ApiException")
    assert (absent["exponent"], absent["note"]) == (None, "left out: there is no Go")


def test_everybody_has_a_row_for_every_fault_and_ours_is_the_first() -> None:
    text = faults.faults_table({BRIEFLY: what_came(2.0)})

    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in text.splitlines()[4:]]
    assert rows[0] == ["calm, 0.1 s", "**reflet**", "0", "4", "3", "right", "1.2"]
    assert [row[1] for row in rows[1:]] == list(CONTESTANTS)[1:]
    assert rows[-1][2:] == ["", "", "", "left out: there is no Go", ""]


def test_who_was_left_out_has_no_figures() -> None:
    figures = faults.plain(what_came(2.0))

    assert GO_INFORMER not in figures
    assert figures[REFLET] == {
        "lists": 0,
        "watches": 4,
        "verdict": "right",
        "attempts": 3,
        "seconds": 1.25,
    }
