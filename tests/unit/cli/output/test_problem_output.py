"""Problems are told with their place, the kubelet's words and the fix, in colour for terminals."""

from __future__ import annotations

import sys

import pytest

from reflet.cli.output.problem_output import (
    MOST_LINES,
    Notice,
    few,
    notices_of,
    problem_document,
    tell,
    tell_few,
)
from reflet.resolution.places import Place
from reflet.resolution.problems import MissingObject, UnresolvedReference

MISSING = MissingObject(
    place=Place(path="spec.containers[0].envFrom[0].configMapRef", container="web"),
    kubelet='configmap "settings" not found',
    object_kind="ConfigMap",
    namespace="shop",
    name="settings",
)
UNRESOLVED = UnresolvedReference(place=Place(container="web", variable="A"), name="B")


def test_a_problem_is_told_with_everything_that_is_known(
    capsys: pytest.CaptureFixture[str],
) -> None:
    notices = notices_of([MISSING, UNRESOLVED], fixes=["create it", ""])
    tell_few(notices, verbose=False)

    assert capsys.readouterr().err == (
        "error: container web: ConfigMap shop/settings does not exist\n"
        '  kubelet: configmap "settings" not found\n'
        "  fix: create it\n"
        "warning: container web, variable A: $(B) stays as it is: B is not set\n"
    )


def test_programs_get_the_same() -> None:
    assert problem_document(MISSING, "create it") == {
        "type": "MissingObject",
        "message": "ConfigMap shop/settings does not exist",
        "place": {"path": "spec.containers[0].envFrom[0].configMapRef", "container": "web"},
        "blocking": True,
        "kubelet": 'configmap "settings" not found',
        "fix": "create it",
    }


@pytest.mark.parametrize(("no_colour", "styled"), [("", True), ("1", False)])
def test_colour_is_for_terminals_that_want_it(
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    no_colour: str,
    styled: bool,
) -> None:
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    monkeypatch.setenv("NO_COLOR", no_colour)
    monkeypatch.setenv("TERM", "xterm")

    tell("error", "it is\nso")

    said = capsys.readouterr().err
    assert ("\x1b[" in said) is styled
    assert "it is so" in said


def test_control_characters_have_no_power(capsys: pytest.CaptureFixture[str]) -> None:
    tell("warning", "a\x1b[2Jb")

    assert capsys.readouterr().err == "warning: a\\x1b[2Jb\n"


def test_equal_notices_are_told_once_with_their_number() -> None:
    same = Notice("note", "it is so")

    assert few([same, Notice("warning", "look"), same], verbose=False) == [
        Notice("note", "it is so (2 times)"),
        Notice("warning", "look"),
    ]


def test_a_few_are_told_warnings_first_and_how_to_see_the_others() -> None:
    notes = [Notice("note", f"note {number}") for number in range(10)]
    warnings = [Notice("warning", f"warning {number}") for number in range(4)]

    told = few([*notes, notes[9], *warnings], verbose=False)

    assert told == [
        *notes[: MOST_LINES - 4],
        *warnings,
        Notice("note", "9 more remarks: -v shows them all"),
    ]


def test_what_is_below_a_line_counts() -> None:
    long = [Notice("warning", f"{number}", (("kubelet", "a"), ("fix", "b"))) for number in range(3)]

    assert few(long, verbose=False) == [*long[:2], Notice("note", "1 more remark: -v shows it")]


def test_errors_are_all_told() -> None:
    errors = [Notice("error", str(number)) for number in range(50)]

    assert few(errors, verbose=False) == errors


def test_everything_is_told_to_whoever_wants_it() -> None:
    notes = [Notice("note", str(number)) for number in range(50)]

    assert few(notes, verbose=True) == notes
