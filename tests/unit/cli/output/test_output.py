"""Tables for people, YAML and JSON for programs."""

from __future__ import annotations

import json

import pytest

from reflet.cli.output.output import (
    clipped,
    print_fitting_table,
    print_json,
    print_table,
    print_yaml,
    visible,
)


def printed(
    capsys: pytest.CaptureFixture[str], *rows: tuple[str, ...], no_headers: bool = False
) -> list[str]:
    print_table(("NAME", "DATA", "AGE"), rows, no_headers=no_headers)
    return capsys.readouterr().out.splitlines()


def test_columns_are_as_wide_as_their_widest_cell(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ("a", "1", "5m"), ("settings", "12", "3d")) == [
        "NAME       DATA   AGE",
        "a          1      5m",
        "settings   12     3d",
    ]


def test_headings_can_be_left_out(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys, ("a", "1", ""), no_headers=True) == ["a   1"]


def test_a_table_may_be_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert printed(capsys) == ["NAME   DATA   AGE"]
    assert printed(capsys, no_headers=True) == []


def test_wide_letters_take_two_columns_and_accents_none(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert printed(capsys, ("日本", "1", "5m"), ("e\u0301a", "2", "5m"), ("🦀x", "3", "5m")) == [
        "NAME   DATA   AGE",
        "日本   1      5m",
        "e\u0301a     2      5m",
        "🦀x    3      5m",
    ]


def test_a_cell_has_no_power_over_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    lines = printed(capsys, ("a\x1b[2J", "1\r2", "\x9b31m\x00\x7f"))

    assert lines[1].split() == ["a\\x1b[2J", "1\\x0d2", "\\x9b31m\\x00\\x7f"]


def test_what_is_visible_already_stays() -> None:
    assert visible("‹secret 9 B› 日本 é\u00a0🦀") == "‹secret 9 B› 日本 é\u00a0🦀"


def test_json_is_indented_and_keeps_letters(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"b": [1], "a": "‹é›"})

    shown = capsys.readouterr().out
    assert shown == '{\n    "b": [\n        1\n    ],\n    "a": "‹é›"\n}\n'
    assert json.loads(shown) == {"b": [1], "a": "‹é›"}


def test_yaml_is_in_the_order_of_the_alphabet(capsys: pytest.CaptureFixture[str]) -> None:
    print_yaml({"b": "1", "a": [True, None]})

    assert capsys.readouterr().out == 'a:\n- true\n- null\nb: "1"\n'


def test_a_table_that_is_too_wide_gives_way_in_one_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    rows = [("A", "v" * 100, "here"), ("B", "short", "there")]

    print_fitting_table(("NAME", "VALUE", "FROM"), rows, flexible=1, no_headers=False)

    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) == 80
    assert lines[1].split() == ["A", "v" * 64 + "…", "here"]
    assert lines[2].split() == ["B", "short", "there"]


def test_the_column_that_gives_way_keeps_something(capsys: pytest.CaptureFixture[str]) -> None:
    print_fitting_table(("N", "V"), [("n" * 90, "v" * 90)], flexible=1, no_headers=True)

    assert capsys.readouterr().out.split() == ["n" * 90, "v" * 11 + "…"]


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…")],
)
def test_text_is_cut_by_columns_and_not_by_letters(text: str, columns: int, shown: str) -> None:
    assert clipped(text, columns) == shown
