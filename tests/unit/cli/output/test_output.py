"""Tables for people, YAML and JSON for programs."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Any

import click
import pytest

from reflet.api.yaml.dialects import ManifestDialect
from reflet.api.yaml.documents import documents
from reflet.cli.output.output import (
    clipped,
    ends_with,
    json_text,
    noted_exit_code,
    print_document,
    print_fitting_table,
    print_json,
    print_table,
    print_yaml,
    visible,
    visible_lines,
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


@pytest.fixture
def fitted(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Any:
    def fitted(
        *rows: tuple[str, ...], columns: int = 80, flexible: tuple[int, ...] = (2, 0, 1)
    ) -> list[str]:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
        monkeypatch.setenv("COLUMNS", str(columns))
        headings = ("NAME", "VALUE", "FROM")[: len(rows[0])]
        print_fitting_table(headings, rows, flexible=flexible, no_headers=True)
        return capsys.readouterr().out.splitlines()

    return fitted


def test_a_table_that_fits_is_left_alone(fitted: Any) -> None:
    assert fitted(("A", "v" * 50, "f" * 23)) == [f"A   {'v' * 50}   {'f' * 23}"]


def test_the_only_long_column_gives_way(fitted: Any) -> None:
    lines = fitted(("A", "v" * 100, "here"), ("B", "short", "there"))

    assert max(map(len, lines)) == 80
    assert lines[0].split() == ["A", "v" * 67 + "…", "here"]
    assert lines[1].split() == ["B", "short", "there"]


def test_the_others_give_way_before_the_one_that_matters(fitted: Any) -> None:
    (whole,) = fitted(("n" * 10, "v" * 38, "f" * 60))
    (cut,) = fitted(("n" * 25, "v" * 38, "f" * 40))

    assert whole.split() == ["n" * 10, "v" * 38, "f" * 25 + "…"]
    assert cut.split() == ["n" * 19 + "…", "v" * 33 + "…", "f" * 19 + "…"]
    assert (len(whole), len(cut)) == (80, 80)


def test_a_value_that_never_fits_leaves_the_others_readable(fitted: Any) -> None:
    (line,) = fitted(("n" * 10, "v" * 2000, "f" * 26))

    assert line.split() == ["n" * 10, "v" * 37 + "…", "f" * 26]


def test_a_wide_terminal_cuts_the_source_first(fitted: Any) -> None:
    (line,) = fitted(("n" * 30, "v" * 40, "f" * 40), columns=100)

    assert line.split() == ["n" * 30, "v" * 40, "f" * 23 + "…"]


def test_every_column_keeps_something(fitted: Any) -> None:
    (line,) = fitted(("n" * 90, "v" * 90, "f" * 90), columns=10)

    assert line.split() == ["n" * 11 + "…", "v" * 11 + "…", "f" * 11 + "…"]


def test_a_column_that_does_not_give_way_stays_whole(fitted: Any) -> None:
    assert fitted(("n" * 90, "v" * 90), flexible=(1,)) == [f"{'n' * 90}   {'v' * 11}…"]


def test_nothing_is_cut_in_a_pipe(capsys: pytest.CaptureFixture[str]) -> None:
    print_fitting_table(("N", "V"), [("n" * 90, "v" * 900)], flexible=(0, 1), no_headers=True)

    assert capsys.readouterr().out == f"{'n' * 90}   {'v' * 900}\n"


def test_nothing_is_cut_when_somebody_wants_it_wide(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("COLUMNS", "80")

    print_fitting_table(("N",), [("n" * 900,)], flexible=(0,), no_headers=True, wide=True)

    assert capsys.readouterr().out == f"{'n' * 900}\n"


@pytest.mark.parametrize(
    ("text", "columns", "shown"),
    [("abc", 3, "abc"), ("abcd", 3, "ab…"), ("日本語", 5, "日本…"), ("日本語", 4, "日…")],
)
def test_text_is_cut_by_columns_and_not_by_letters(text: str, columns: int, shown: str) -> None:
    assert clipped(text, columns) == shown


def test_headings_have_no_power_over_the_terminal_either(
    capsys: pytest.CaptureFixture[str],
) -> None:
    print_table(("\x1b]0;evil\x07", "B"), [("a", "b")], no_headers=False)

    assert capsys.readouterr().out.splitlines()[0].split() == ["\\x1b]0;evil\\x07", "B"]


CONTROLS = [
    *range(0x7F, 0xA0),
    0x61C,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
]


@pytest.mark.parametrize("number", [*range(0x20), *CONTROLS])
def test_nothing_visible_has_power(number: int) -> None:
    escape = f"\\x{number:02x}" if number < 0x100 else f"\\u{number:04x}"

    assert visible(f"a{chr(number)}b") == f"a{escape}b"


@pytest.mark.parametrize("number", CONTROLS)
@pytest.mark.parametrize("form", ["json", "yaml"])
def test_documents_have_no_power_and_hold_the_same_value(
    form: str, number: int, capsys: pytest.CaptureFixture[str]
) -> None:
    text = f"a {chr(number)}: b\n second line"
    document = {text: [text, "plain"], "z": text.replace("\n", "")}

    print_document(document, form)

    shown = capsys.readouterr().out
    assert chr(number) not in shown
    ((read,),) = [list(read_plain(shown, form))]
    assert read == document


def read_plain(text: str, form: str) -> Iterator[Any]:
    if form == "json":
        yield json.loads(text)
    else:
        yield from (node.value for node in documents(text, ManifestDialect("shown")))


@pytest.mark.parametrize(
    "document",
    [
        *({}, [], "", None, True, 0, -1, 2**64 - 1, 2**70, 1.5, 1.0),
        {"a": {}, "b": [], "c": [{}, [[]]], "d": [1, [2, {"e": None}]]},
        {"text": 'q"uote \\ / \b\f\n\r\t\x00\x1f <>& é 日本 🦀 \u2028'},
        "half \udcff a letter",
        {str(number): [number] * 3 for number in range(100)},
    ],
)
def test_json_is_what_the_standard_library_writes(
    document: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    assert json_text(document, indent=4) == json.dumps(document, indent=4, ensure_ascii=False)
    assert json_text(document) == json.dumps(document, separators=(",", ":"), ensure_ascii=False)


def test_no_row_begins_with_a_command_of_a_build(capsys: pytest.CaptureFixture[str]) -> None:
    print_table(("::error::A", "B"), [("::stop::x", "##[error]y")], no_headers=False)

    assert capsys.readouterr().out == ("\\x3a:error::A   B\n\\x3a:stop::x    \\x23#[error]y\n")


def test_a_file_keeps_its_lines_and_tabs() -> None:
    assert visible_lines("a\tb\n\x1b[2J\r\u202e") == "a\tb\n\\x1b[2J\\x0d\\u202e"


@click.command()
@click.option("--code", type=int)
@click.pass_context
def noting(context: click.Context, code: int) -> None:
    assert noted_exit_code(context) == 0
    assert ends_with(code) == code
    assert noted_exit_code(context) == code


def test_a_command_notes_how_it_will_end() -> None:
    noting.main(["--code", "1"], standalone_mode=False)


def test_outside_of_a_command_nothing_is_noted() -> None:
    assert ends_with(4) == 4
