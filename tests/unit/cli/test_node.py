from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from reflet.cli.main import run
from reflet.cli.node import node


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--pods-from", "/no/such/folder"], "neither 'api' nor a folder"),
        (["--user", "nobody-of-this-name"], "there is no user"),
        (["--user", "0:nobody-of-this-name"], "there is no group"),
        (["--node-address", "here"], "is no IP address"),
        (["--health-address", "10248"], "is not HOST:PORT"),
        (["--health-address", "127.0.0.1:70000"], "is not HOST:PORT"),
        (["--strategy", "guess"], "'guess' is not one of"),
        (["--selector", "a=b=c"], "a=b=c"),
    ],
)
def test_a_mistake_is_named_before_anything_is_done(
    arguments: list[str], words: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    root = tmp_path / "root"

    code = run(["reflet", "node", "--root", str(root), *arguments])

    assert (code, root.exists()) == (2, False)
    assert words in capsys.readouterr().err


def test_help_says_what_it_is_and_what_it_is_not() -> None:
    answer = CliRunner().invoke(node, ["--help"])

    assert answer.exit_code == 0
    assert "it is a runtime for processes" in " ".join(answer.output.split())
