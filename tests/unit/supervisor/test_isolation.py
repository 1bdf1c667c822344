"""A wrapped program is told with whom to die and what to mount; what went wrong is read back."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from reflet.processes.program import NotStarted, Program
from reflet.supervisor.isolation import SCRIPT, TetheredStarts
from reflet.supervisor.mount_tree import MountedPath
from reflet.supervisor.private_root import PrivateRoot


def starts(folder: Path, *, isolated: bool = False) -> TetheredStarts:
    root = PrivateRoot(folder)
    root.own.mkdir()
    return TetheredStarts(root, isolated=isolated)


def test_a_program_is_wrapped_with_its_own_arguments_last(tmp_path: Path) -> None:
    program = Program(["echo", "hunter2"], {"A": "1"}, directory=Path("/usr"))

    wrapped = starts(tmp_path).wrap(program, [])

    assert list(wrapped.arguments[-3:]) == ["--", "echo", "hunter2"]
    assert str(SCRIPT) in wrapped.arguments
    assert (wrapped.environment, wrapped.directory) == ({"A": "1"}, Path("/usr"))
    assert wrapped.arguments[5:8] == (
        str(os.getpid()),
        str(tmp_path / ".reflet/start-failure.json"),
        "",
    )


def test_an_isolated_program_is_told_what_to_mount(tmp_path: Path) -> None:
    program = Program(["echo", "hunter2"], {}, directory=Path("/usr"))
    source = MountedPath(tmp_path / ".reflet/volumes/v", "/etc/app", read_only=True)

    wrapped = starts(tmp_path, isolated=True).wrap(program, [source])

    told = json.loads(Path(wrapped.arguments[7]).read_text())
    assert [mount["path"] for mount in told["mounts"]] == ["/etc/app", f"{tmp_path}/etc/app"]
    assert (told["directory"], told["root"]) == ("/usr", str(tmp_path))
    assert wrapped.directory is None
    assert "hunter2" not in json.dumps(told)


def test_what_is_meant_for_the_containers_libraries_does_not_reach_ours(tmp_path: Path) -> None:
    program = Program(["true"], {"LD_PRELOAD": "/app/lib.so", "OLD_PATH": "x"})

    wrapped = starts(tmp_path).wrap(program, [])

    assert wrapped.environment == {"REFLET_SHELTERED_LD_PRELOAD": "/app/lib.so", "OLD_PATH": "x"}


def test_a_single_file_runs_the_starter_by_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sys.frozen", True, raising=False)

    wrapped = starts(tmp_path).wrap(Program(["true"], {}), [])

    assert wrapped.arguments[:3] == (sys.executable, "-m", "reflet.processes.isolated_start")


def test_a_failure_is_read_once_it_is_there(tmp_path: Path) -> None:
    subject = starts(tmp_path)
    program = Program(["true"], {})
    subject.wrap(program, [])
    before = subject.failure()
    failure = tmp_path / ".reflet/start-failure.json"
    failure.write_text('{"code": 127, "message": "the command is not found"}')

    after = subject.failure()
    subject.wrap(program, [])

    assert before is None
    assert after is not None
    assert (after.exit_code, str(after)) == (127, "the command is not found")
    assert subject.failure() is None


@pytest.mark.parametrize(
    ("command", "words"),
    [([""], "the command is empty"), (["echo", "a\0b"], "argument 1 of the command has a NUL")],
)
def test_what_no_system_starts_is_told_of_the_program_itself(
    command: list[str], words: str, tmp_path: Path
) -> None:
    with pytest.raises(NotStarted, match=words):
        starts(tmp_path).wrap(Program(command, {}), [])
