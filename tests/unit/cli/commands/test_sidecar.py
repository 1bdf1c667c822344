"""The flags of the sidecar: one for each variable that may be one, and what they mean."""

from __future__ import annotations

import pytest

from reflet.cli.commands.sidecar import sidecar
from reflet.cli.main import run
from reflet.sidecar.sidecar_variables import VARIABLES


def test_every_variable_has_its_flag_unless_it_may_have_none() -> None:
    flags = {name for parameter in sidecar.params for name in parameter.opts}

    wanted = {"--color", *(each.flag for each in VARIABLES.values() if each.on_command_line)}
    assert flags == wanted
    assert "--req-password" not in flags


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--nope"], "No such option '--nope'"),
        (["--label", "x"], "FOLDER is missing"),
        (["--label", "", "--folder", "/x"], "--label: is empty"),
        (["--label", "x", "--folder", "/x", "--resource", "pods"], "--resource: 'pods' is none of"),
        (["--req-timeout"], "requires an argument"),
    ],
)
def test_a_mistake_in_the_flags_is_named(
    arguments: list[str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    for name in ("LABEL", "FOLDER"):
        monkeypatch.delenv(name, raising=False)

    assert run(["reflet", "sidecar", *arguments]) == 2
    assert words in capsys.readouterr().err


def test_help_says_what_holds_without_a_flag(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "sidecar", "-h"]) == 0

    said = " ".join(capsys.readouterr().out.split())
    assert "Seconds between two lists of METHOD=SLEEP. [default: 60]" in said
