"""Mistakes are found before anything is asked, and none looks like the command's own code."""

from __future__ import annotations

import pytest

from reflet.cli.main import COMMANDS, run


def test_it_is_one_of_the_commands() -> None:
    assert "run" in COMMANDS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the pod"),
        (["pod/a", "pod/b", "--", "true"], "one pod at a time"),
        (["pod/a", "--on-change", "never", "--", "true"], "--on-change: 'never' is not restart"),
        (["pod/a", "--restart", "maybe", "--", "true"], "maybe"),
        (["pod/a", "--set", "hunter2", "--", "true"], "--set takes NAME=VALUE"),
        (["pod/a", "--set", "=hunter2", "--", "true"], "--set takes NAME=VALUE"),
        (["pod/a", "--unset", "A=hunter2", "--", "true"], "--unset takes the name of a variable"),
        (["pod/a", "--debounce", "-1", "--", "true"], "debounce"),
        (["-f", "a.yaml", "--forward", "--", "true"], "--forward needs the pods of a cluster"),
        (["pod/a", "--forward=db:", "--", "true"], "--forward=db:: name a Service, as in"),
        (["--forward", "db", "pod/a", "--", "true"], "behind an equals sign: --forward=NAME"),
        (["--no-such-flag", "--", "true"], "no-such-flag"),
    ],
)
def test_mistakes_are_found_before_anything_is_asked(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")

    code = run(["reflet", "run", *arguments])

    captured = capsys.readouterr()
    assert (code, captured.out) == (125, "")
    assert words in captured.err
    assert "hunter2" not in captured.err
    assert "/nowhere" not in captured.err


def test_the_usage_shows_where_the_command_stands(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["reflet", "run", "--help"]) == 0

    assert "[-- COMMAND...]" in capsys.readouterr().out


def test_flags_behind_the_dashes_are_the_commands_own(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")

    assert run(["reflet", "run", "pod/a", "--", "app", "--help", "--no-such-flag"]) == 125

    assert "/nowhere" in capsys.readouterr().err
