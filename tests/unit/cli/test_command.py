"""Help pages: examples, flags in groups, and colour."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

import click
import pytest

from reflet.cli import main
from reflet.cli.command import CONNECTION, FILES, GLOBAL, OWN, WithHelpPage, command
from reflet.cli.main import COMMANDS, GROUPS, run

SECTIONS = ("Examples", OWN, FILES, CONNECTION, GLOBAL)
EMPTY_PAGES = {"crd"}  # has commands of its own


def the_command(name: str) -> WithHelpPage:
    context = click.Context(main.reflet, **main.reflet.context_settings)
    found = main.reflet.get_command(context, name)
    assert isinstance(found, WithHelpPage), f"{name} is made with click.command, not with ours"
    return found


def pages() -> Iterator[tuple[str, WithHelpPage]]:
    for name in COMMANDS:
        found = the_command(name)
        if not isinstance(found, click.Group):
            yield name, found
        for part, inner in found.commands.items() if isinstance(found, click.Group) else ():
            assert isinstance(inner, WithHelpPage)
            yield f"{name} {part}", inner


def help_of(name: str, capsys: pytest.CaptureFixture[str]) -> str:
    assert run(["reflet", *name.split(), "--help"]) == 0
    return capsys.readouterr().out


PAGES = dict(pages())


@pytest.mark.parametrize("name", PAGES)
def test_every_command_has_examples_that_can_be_typed(name: str) -> None:
    examples = PAGES[name].examples

    assert examples
    for line in examples:
        words = shlex.split(line.replace("<(", "").replace(")", "").split(" > ")[0].split(" | ")[0])
        begin = words.index("reflet") + 1
        path = name.split()
        assert words[begin : begin + len(path)] == path
        # A flag that does not exist, and a value that it does not take, are usage errors.
        PAGES[name].make_context(path[-1], words[begin + len(path) :])


@pytest.mark.parametrize("name", PAGES)
def test_sections_stand_in_one_order(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    lines = help_of(name, capsys).splitlines()

    found = [line.removesuffix(":") for line in lines if line.endswith(":") and line[0] != " "]
    assert found == [section for section in SECTIONS if section in found]
    assert found[0] == "Examples"
    assert found[-1] == GLOBAL


def test_connection_flags_come_after_those_of_the_command(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = help_of("why", capsys)

    order = [page.index(flag) for flag in ("--output", "--filename", "--kubeconfig", "--color")]
    assert order == sorted(order)


@pytest.mark.parametrize("name", PAGES)
@pytest.mark.parametrize("columns", [60, 80, 140])
def test_no_line_is_longer_than_the_terminal_or_broken_inside_a_word(
    name: str, columns: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("COLUMNS", "1000")
    words = set(help_of(name, capsys).split())
    monkeypatch.setenv("COLUMNS", str(columns))

    page = help_of(name, capsys)

    usage, _, rest = page.partition("\n\n")
    assert usage.startswith("Usage: ")
    too_long = [line for line in rest.splitlines() if len(line) > min(columns, 100)]
    assert [line for line in too_long if " " in line.strip().replace(", ", ",")] == []
    assert set(rest.split()) <= words


def test_the_first_page_groups_the_commands_and_says_where_to_begin(
    capsys: pytest.CaptureFixture[str],
) -> None:
    page = help_of("", capsys)

    assert "Start with: reflet demo" in page
    assert "Documentation: https://" in page
    places = [page.index(f"\n{group}:\n") for group in GROUPS]
    assert places == sorted(places)
    for group, commands in GROUPS.items():
        section = page.partition(f"\n{group}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == list(commands)


def test_every_purpose_fits_on_a_line(capsys: pytest.CaptureFixture[str]) -> None:
    page = help_of("", capsys)

    for name, purpose in COMMANDS.items():
        assert any(line.split(maxsplit=1) == [name, purpose] for line in page.splitlines())


@pytest.mark.parametrize(
    "arguments",
    [
        ["--color", "always", "why", "--help"],
        ["why", "--color", "always", "--help"],
    ],
)
def test_colour_can_be_asked_for_anywhere(
    arguments: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reflet", *arguments]) == 0

    assert "\x1b[1mExamples:\x1b[0m" in capsys.readouterr().out


def test_colour_of_one_command_is_not_that_of_the_next(capsys: pytest.CaptureFixture[str]) -> None:
    run(["reflet", "--color", "always", "--help"])
    coloured = capsys.readouterr().out

    run(["reflet", "--help"])

    assert capsys.readouterr().out == click.unstyle(coloured)


def test_an_error_has_the_colour_that_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "--color", "always", "env", "--nope"]) == 2

    assert "\x1b[31m\x1b[1merror: \x1b[0m" in capsys.readouterr().err


def test_a_colour_that_does_not_exist_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "why", "--color", "blue"]) == 2

    assert "'blue' is not one of" in capsys.readouterr().err


def test_paragraphs_and_long_terms_have_lines_of_their_own() -> None:
    @command(examples={"reflet x --with-a-flag-that-is-long-enough-for-it": "below"})
    def x() -> None:
        """Do one thing.

        And more
        of it.
        """

    with click.Context(x, info_name="x") as context:
        assert x.get_help(x.context_class(x, info_name="x", parent=context)).split("\n")[1:9] == [
            "",
            "  Do one thing.",
            "",
            "  And more of it.",
            "",
            "Examples:",
            "  reflet x --with-a-flag-that-is-long-enough-for-it",
            " " * 50 + "below",
        ]
