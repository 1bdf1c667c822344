from __future__ import annotations

from typing import Any

import click
from click.testing import CliRunner

from reflet.cli.options.choice_options import choice_options


def test_the_flags_arrive_as_one_choice_beside_the_commands_own() -> None:
    seen: dict[str, Any] = {}

    @click.command
    @click.option("--own")
    @choice_options(
        lambda arguments, connection, **chosen: (arguments, connection.namespace, chosen),
        click.argument("arguments", nargs=-1),
        selector_help="Some.",
        everywhere_help="All.",
    )
    def shown(**values: Any) -> None:
        seen.update(values)

    line = ["a", "b", "-n", "shop", "-l", "x=y", "-A", "-f", "web.yaml", "--own", "1"]
    assert CliRunner().invoke(shown, line).exit_code == 0

    words, namespace, chosen = seen["choice"]
    assert seen.keys() == {"choice", "own"}
    assert (words, namespace) == (("a", "b"), "shop")
    assert (chosen["selector"], chosen["all_namespaces"]) == ("x=y", True)
    assert chosen["files"].paths == ("web.yaml",)
