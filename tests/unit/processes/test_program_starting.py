"""What the system refuses is told as ``env`` tells it, and without secrets."""

from __future__ import annotations

import os
import traceback
from dataclasses import replace
from pathlib import Path

import pytest

from reflet.processes.program import Grouping, NotStarted, Program, start_process

SECRET = "hunter" + "2"
PATH = {"PATH": "/usr/bin:/bin"}


def ended_well(pid: int) -> bool:
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0


def output_of(program: Program, folder: Path) -> str:
    assert ended_well(start_process(replace(program, standard_output=folder / "output")))
    return (folder / "output").read_text()


def test_the_environment_is_all_there_is(tmp_path: Path) -> None:
    program = Program(["/usr/bin/env"], {"A": "1", "B": "x y"})

    assert output_of(program, tmp_path) == "A=1\nB=x y\n"


def test_the_command_is_found_by_the_path_of_its_own_environment(tmp_path: Path) -> None:
    (tmp_path / "greet").write_text("#!/bin/sh\necho hello\n")
    (tmp_path / "greet").chmod(0o755)

    assert output_of(Program(["greet"], {"PATH": str(tmp_path)}), tmp_path) == "hello\n"


def test_it_runs_in_its_directory(tmp_path: Path) -> None:
    assert output_of(Program(["pwd"], PATH, directory=Path("/usr")), tmp_path) == "/usr\n"


def test_both_outputs_go_to_one_file_that_only_its_owner_reads(tmp_path: Path) -> None:
    both = tmp_path / "both"
    both_streams = {"standard_output": both, "standard_error": both}
    script = ["sh", "-c", "echo one; echo two >&2; echo three"]

    for _ in range(2):
        assert ended_well(start_process(Program(script, PATH, **both_streams)))  # type: ignore[arg-type] # both are streams

    assert both.read_text() == "one\ntwo\nthree\n" * 2
    assert both.stat().st_mode & 0o777 == 0o600


def test_a_file_is_its_input(tmp_path: Path) -> None:
    (tmp_path / "input").write_text("from a file")

    program = Program(["cat"], PATH, standard_input=tmp_path / "input")

    assert output_of(program, tmp_path) == "from a file"


@pytest.mark.parametrize("grouping", Grouping)
def test_it_leads_its_group(tmp_path: Path, grouping: Grouping) -> None:
    script = ["sh", "-c", "cut -d' ' -f1,5,6 /proc/$$/stat"]

    pid, group, session = output_of(Program(script, PATH, grouping=grouping), tmp_path).split()

    assert pid == group
    assert (session == pid) == (grouping is Grouping.SESSION)
    assert grouping is Grouping.SESSION or int(session) == os.getsid(0)


@pytest.mark.parametrize(
    ("command", "code", "words"),
    [
        ("no-such-command", 127, "the command is not found"),
        ("/no/such/command", 127, "the command is not found"),
        ("/", 126, "the command cannot be run: permission denied"),
        ("{folder}/not-executable", 126, "the command cannot be run: permission denied"),
        ("{folder}/not-a-program", 126, "the command cannot be run: exec format error"),
    ],
)
def test_a_refusal_has_the_code_of_env_and_no_argument(
    tmp_path: Path, command: str, code: int, words: str
) -> None:
    (tmp_path / "not-executable").write_text("#!/bin/sh\n")
    (tmp_path / "not-a-program").write_text("hello")
    (tmp_path / "not-a-program").chmod(0o755)

    with pytest.raises(NotStarted) as refused:
        start_process(Program([command.format(folder=tmp_path), SECRET], PATH))

    assert refused.value.exit_code == code
    assert words in str(refused.value)
    assert SECRET not in "".join(traceback.format_exception(refused.value))


def test_a_missing_directory_is_named() -> None:
    with pytest.raises(
        NotStarted, match="cannot start in /no/such/folder: no such file"
    ) as refused:
        start_process(Program(["true"], PATH, directory=Path("/no/such/folder")))

    assert refused.value.exit_code == 125


def test_an_output_that_cannot_be_opened_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotStarted, match="missing/output: no such file or directory") as refused:
        start_process(Program(["true"], PATH, standard_output=tmp_path / "missing/output"))

    assert refused.value.exit_code == 125


def test_a_command_line_that_is_too_long_is_refused() -> None:
    with pytest.raises(NotStarted, match="argument list too long"):
        start_process(Program(["true", "x" * 4_000_000], PATH))
