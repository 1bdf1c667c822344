from __future__ import annotations

import pytest

from reflet.cli.main import COMMANDS, run


def test_it_is_one_of_the_commands() -> None:
    assert "watch" in COMMANDS


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name the type"),
        (["cm", "a", "b"], "at a time"),
        (["cm,secrets"], "at a time"),
        (["cm/a", "-A"], "a name is of one namespace"),
        (["cm", "a", "-l", "x=y"], "a name needs no selector"),
        (["cm", "-l", "a in (b"], "a in (b"),
        (["cm", "--field-selector", "a"], "a"),
        (["cm", "-o", "wide"], "wide"),
    ],
)
def test_mistakes_are_found_before_anything_is_asked(
    arguments: list[str],
    words: str,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("KUBECONFIG", "/nowhere")

    code = run(["reflet", "watch", *arguments])

    assert code == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert words in captured.err
    assert "/nowhere" not in captured.err


def test_its_help_tells_the_form_of_documents(capsys: pytest.CaptureFixture[str]) -> None:
    code = run(["reflet", "watch", "--help"])

    assert code == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert '{"type": TYPE, "object": OBJECT}' in shown
    assert "the object of SYNCED is null" in shown
