"""Paragraphs of a report."""

from __future__ import annotations

import sys

import pytest

from reflet.cli.output.output import USUAL_COLUMNS, counted, labelled, paragraph, styled


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


def test_colour_is_for_terminals_only(monkeypatch: pytest.MonkeyPatch) -> None:
    assert styled("a", bold=True) == "a"

    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert styled("a", bold=True) != "a"

    monkeypatch.setenv("NO_COLOR", "1")
    assert styled("a", bold=True) == "a"


def test_a_dumb_terminal_gets_no_escapes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "dumb")

    assert styled("a", bold=True) == "a"


@pytest.mark.parametrize(("columns", "longest"), [("50", 50), ("10", 40), ("200", USUAL_COLUMNS)])
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
