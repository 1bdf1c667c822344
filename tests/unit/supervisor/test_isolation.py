"""A wrapped program is told what to mount where, and what went wrong is read back."""

from __future__ import annotations

import json
from pathlib import Path

from reflet.processes.program import Program
from reflet.supervisor.isolation import SCRIPT, Isolation
from reflet.supervisor.mount_tree import MountSource
from reflet.supervisor.private_root import PrivateRoot


def isolation(folder: Path) -> Isolation:
    root = PrivateRoot(folder)
    root.own.mkdir()
    return Isolation(root)


def test_a_program_is_wrapped_with_its_own_arguments_last(tmp_path: Path) -> None:
    program = Program(["echo", "hunter2"], {"A": "1"}, directory=Path("/usr"))
    source = MountSource(tmp_path / ".reflet/volumes/v", "/etc/app", read_only=True)

    wrapped = isolation(tmp_path).wrap(program, [source])

    assert list(wrapped.arguments[-3:]) == ["--", "echo", "hunter2"]
    assert str(SCRIPT) in wrapped.arguments
    assert wrapped.environment == {"A": "1"}
    plan = json.loads((tmp_path / ".reflet/isolation.json").read_text())
    assert [mount["path"] for mount in plan["mounts"]] == ["/etc/app", f"{tmp_path}/etc/app"]
    assert (plan["directory"], plan["root"]) == ("/usr", str(tmp_path))
    assert "hunter2" not in json.dumps(plan)


def test_a_failure_is_read_once_it_is_there(tmp_path: Path) -> None:
    subject = isolation(tmp_path)
    program = Program(["true"], {})
    subject.wrap(program, [])
    before = subject.failure()
    failure = tmp_path / ".reflet/isolation-failure.json"
    failure.write_text('{"code": 127, "message": "the command is not found"}')

    after = subject.failure()
    subject.wrap(program, [])

    assert before is None
    assert after is not None
    assert (after.exit_code, str(after)) == (127, "the command is not found")
    assert subject.failure() is None
