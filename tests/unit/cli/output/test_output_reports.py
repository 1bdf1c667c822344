"""Paragraphs of a report."""

from __future__ import annotations

import sys

import pytest

from reflet.cli.output.output import LONGEST_LINE, USUAL_COLUMNS, counted, labelled, paragraph, say


def test_lines_hang_below_what_comes_first() -> None:
    lines = paragraph("word " * 30, first="1. ")

    assert lines[0].startswith("1. word")
    assert all(line.startswith("   word") for line in lines[1:])
    assert max(map(len, lines)) <= USUAL_COLUMNS


def test_names_are_never_broken() -> None:
    name = "a-long-name-" * 10

    assert paragraph(f"ConfigMap {name} is missing")[1] == name


def test_texts_have_no_power_over_a_terminal() -> None:
    assert paragraph("a\x1b[31mb\nc") == ["a\\x1b[31mb c"]


def test_labels_have_a_column_of_their_own() -> None:
    assert list(labelled([("fix", "a"), ("kubelet", "b")], indent=2)) == [
        "  fix      a",
        "  kubelet  b",
    ]


@pytest.mark.parametrize(("columns", "longest"), [("50", 50), ("10", 40), ("200", LONGEST_LINE)])
def test_paragraphs_fit_the_terminal(
    columns: str, longest: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", columns)

    lengths = [len(line) for line in paragraph("abcd " * 40)]

    assert longest - 5 < max(lengths) <= longest


def test_counts_have_their_plural() -> None:
    assert [counted(number, "pod") for number in (0, 1, 2)] == ["0 pods", "1 pod", "2 pods"]


@pytest.mark.parametrize("length", range(60, 90))
def test_no_line_begins_with_a_command_of_a_build(length: int) -> None:
    lines = paragraph(
        "x" * (length - 5) + " word ::error::INJECTED and ##[error]more", first="    "
    )

    assert not any(line.lstrip().startswith("::") for line in lines)
    assert not any("##[" in line for line in lines)
    assert " ::error::INJECTED" in " ".join(" ".join(lines).split())


def test_a_text_that_begins_like_a_command_is_shown_as_one_that_does_not() -> None:
    assert paragraph("::error::x", first="  ") == ["  \\x3a:error::x"]
    assert paragraph("::1 is an address", first="fix: ") == ["fix: ::1 is an address"]


# Messages


LONG = "container web, variable PASSWORD: Secret default/special-config has no key passwrod " * 2


def test_a_message_in_a_pipe_is_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    say(f"error: {LONG}")

    assert capsys.readouterr().err == f"error: {LONG.strip()}\n"


@pytest.mark.parametrize(("columns", "longest"), [("60", 60), ("80", 80), ("140", LONGEST_LINE)])
def test_a_message_on_a_terminal_is_wrapped_between_words(
    columns: str,
    longest: int,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("NO_COLOR", "1")

    say(f"error: {LONG}", prefix="reflet: ")

    lines = capsys.readouterr().err.splitlines()
    assert longest - 15 < max(map(len, lines)) <= longest
    assert {line[:15] for line in lines} == {"reflet: error: ", " " * 15}
    assert " ".join(line[15:] for line in lines) == LONG.strip()


def test_the_level_and_the_prefix_of_a_message_stand_out(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    say("warning: a: b", prefix="reflet: ")

    assert capsys.readouterr().err == "\x1b[36mreflet: \x1b[0m\x1b[33mwarning: \x1b[0ma: b\n"


def test_the_label_of_a_row_is_dim_and_its_text_has_a_colour_of_its_own(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")

    (line,) = labelled([("fix", "a")], meanings={"fix": "good"})

    assert line == "\x1b[2mfix  \x1b[0m\x1b[32ma\x1b[0m"
