"""The colours of the terminal: when there are any, and what each means."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import click
import pytest

from reflet.cli.output.palette import LEVELS, STYLES, choose, decided, paint


@pytest.fixture(autouse=True)
def _nothing_is_said(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("TERM", "xterm")
    yield
    choose("auto")


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)


def test_a_pipe_gets_no_colour() -> None:
    assert paint("a", "wrong") == "a"


@pytest.mark.usefixtures("terminal")
def test_a_terminal_gets_colour() -> None:
    assert paint("a", "wrong") == "\x1b[31m\x1b[1ma\x1b[0m"


@pytest.mark.usefixtures("terminal")
def test_stderr_is_asked_for_itself() -> None:
    assert paint("a", "wrong", err=True) == "a"


@pytest.mark.usefixtures("terminal")
def test_a_dumb_terminal_gets_no_colour(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TERM", "dumb")

    assert paint("a", "wrong") == "a"


@pytest.mark.usefixtures("terminal")
def test_no_color_is_honoured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")

    assert paint("a", "wrong") == "a"


@pytest.mark.parametrize("name", ["FORCE_COLOR", "CLICOLOR_FORCE"])
def test_colour_can_be_forced_into_a_pipe(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(name, "1")

    assert paint("a", "wrong") != "a"


@pytest.mark.parametrize("value", ["0", ""])
def test_zero_forces_nothing(value: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("FORCE_COLOR", value)

    assert decided() is None


def test_no_color_wins_over_force_color(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("FORCE_COLOR", "1")

    assert decided() is False


@pytest.mark.parametrize(("choice", "decision"), [("always", True), ("never", False)])
def test_the_flag_wins_over_the_environment(
    choice: str, decision: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NO_COLOR" if decision else "FORCE_COLOR", "1")

    choose(choice)

    assert decided() is decision


def test_without_a_meaning_a_text_stays_as_it_is() -> None:
    choose("always")

    assert paint("a", None) == "a"
    assert paint("", "wrong") == ""


def test_every_meaning_leaves_the_text() -> None:
    choose("always")

    assert {click.unstyle(paint("a", meaning)) for meaning in STYLES} == {"a"}


def test_every_level_means_something_else() -> None:
    assert len({LEVELS[level] for level in ("error", "warning", "note")}) == 3
