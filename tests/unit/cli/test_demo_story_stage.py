"""Where a demonstration is shown."""

from __future__ import annotations

import io
import sys

import click
import pytest

from reflet.cli.demo_story import NEXT, LiveTable, claim, title, typed
from reflet.cli.main import reflet


def table() -> LiveTable:
    return LiveTable(("POD", "STATE"), widths=(8, 10))


def terminal(monkeypatch: pytest.MonkeyPatch) -> io.StringIO:
    # Called in the test itself: pytest puts its own standard output back after fixtures.
    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    made = Terminal()
    monkeypatch.setattr(sys, "stdout", made)
    monkeypatch.setenv("COLUMNS", "20")
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    return made


def test_elsewhere_than_on_a_terminal_only_new_rows_are_printed(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = table()

    shown.show({"web": ("Pending",), "api": ("Pending",)})
    shown.show({"web": ("Running",), "api": ("Pending",)})

    assert capsys.readouterr().out == (
        "POD        STATE\nweb        Pending\napi        Pending\nweb        Running\n"
    )


def test_on_a_terminal_the_table_is_drawn_over_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    shown = table()

    shown.show({"web": ("Pending",)})
    shown.show({"web": ("Running",)})

    assert screen.getvalue() == (
        "POD        STATE\nweb        Pending\n\x1b[2A\x1b[JPOD        STATE\nweb        Running\n"
    )


def test_a_row_never_takes_two_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    table().show({"web": ("a state that is longer than the terminal is wide",)})

    assert max(map(len, screen.getvalue().splitlines())) <= 20


def test_rows_that_are_shown_already_are_not_shown_again(
    capsys: pytest.CaptureFixture[str],
) -> None:
    shown = table()
    shown.show({"web": ("Pending",)})
    capsys.readouterr()

    shown.show({"web": ("Pending",)})

    assert not capsys.readouterr().out


def test_what_comes_from_a_server_has_no_power_over_the_terminal(
    capsys: pytest.CaptureFixture[str],
) -> None:
    table().show({"web": ("\x1b[31mred",)})

    assert "\x1b" not in capsys.readouterr().out


def test_a_title_stands_alone(capsys: pytest.CaptureFixture[str]) -> None:
    title("A scene")

    assert capsys.readouterr().out == "\n── A scene\n\n"


def test_a_scene_shows_its_command_and_a_tick_for_each_claim(
    capsys: pytest.CaptureFixture[str],
) -> None:
    typed("reflet env pod/shop")
    claim("it came true")

    assert capsys.readouterr().out == "$ reflet env pod/shop\n✓ it came true\n"


def test_states_have_the_colour_of_what_they_mean(monkeypatch: pytest.MonkeyPatch) -> None:
    screen = terminal(monkeypatch)
    monkeypatch.delenv("NO_COLOR")

    table().show({"web": ("Running",), "api": ("Error",)})

    assert click.style("Running", fg="green") in screen.getvalue()
    assert click.style("Error", fg="red", bold=True) in screen.getvalue()


@pytest.mark.parametrize("line", NEXT)
def test_what_to_do_next_can_be_typed(line: str) -> None:
    _, name, *arguments = line.split()
    context = click.Context(reflet, **reflet.context_settings)
    command = reflet.get_command(context, name)
    assert command is not None

    assert command.make_context(name, arguments) is not None
