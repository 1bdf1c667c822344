"""``python -m benchmarks``: what it says of goals and limits, and when it fails."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from benchmarks import __main__ as command
from benchmarks import growth, report, summary_page
from benchmarks.measuring import Result

GOAL = "twice as fast: 1.9 times"
LIMIT = "the help takes 200 ms, and may take 150"


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, **shortcomings: Any) -> int:
    """Run a benchmark whose result is known, without a file of it."""
    made_up = ModuleType("benchmarks.made_up")
    result = Result(tables=["A table"], figures={}, **shortcomings)
    vars(made_up)["run"] = lambda *, quick: result
    monkeypatch.setitem(sys.modules, "benchmarks.made_up", made_up)
    monkeypatch.setattr(command, "BENCHMARKS", ("made_up",))
    monkeypatch.setattr(command, "write_result", lambda *_, **__: Path("made_up.json"))
    monkeypatch.setattr(report, "write", lambda _names: ["the page"])
    monkeypatch.setattr(summary_page, "loaded", lambda **_: {})
    monkeypatch.setattr(growth, "collected", lambda *_, **__: [])
    monkeypatch.setattr(sys, "argv", ["benchmarks", *arguments])
    return command.main()


def test_a_goal_that_is_not_reached_is_told_and_is_no_failure(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, missed_goals=[GOAL])

    assert (code, capsys.readouterr().err) == (0, f"goal not reached: {GOAL}\n")


def test_a_broken_promise_fails_a_full_run(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, broken_limits=[LIMIT])

    assert (code, capsys.readouterr().err) == (1, f"over the limit: {LIMIT}\n")


def test_a_quick_run_tells_of_a_broken_promise_and_does_not_fail(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(monkeypatch, "--quick", broken_limits=[LIMIT], missed_goals=[GOAL])

    assert (code, capsys.readouterr().err.splitlines()) == (
        0,
        [f"goal not reached: {GOAL}", f"over the limit: {LIMIT}"],
    )


def test_only_a_full_run_is_written_into_the_page(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    run(monkeypatch)
    full = capsys.readouterr().out
    run(monkeypatch, "--quick")
    quick = capsys.readouterr().out

    assert ("written: the page" in full, "written: the page" in quick) == (True, False)
