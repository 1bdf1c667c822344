"""Options that name files: any text will do, and Tab offers files."""

from __future__ import annotations

import click
import pytest

from reflet.cli.options.arguments import FILE_NAME


@click.command()
@click.option("-f", "files", type=FILE_NAME, multiple=True)
def show(files: tuple[str, ...]) -> None:
    click.echo(" ".join(files))


@pytest.mark.parametrize("name", ["-", "not/there.yaml", "héllo"])
def test_what_was_typed_stays_as_it_is(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    show.main(["-f", name], standalone_mode=False)

    assert capsys.readouterr().out == f"{name}\n"


def test_the_shell_completes_it_as_a_file() -> None:
    option = show.params[0]

    [item] = option.shell_complete(click.Context(show), "man")

    assert (item.value, item.type) == ("man", "file")
