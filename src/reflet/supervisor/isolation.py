"""Starting a program so that it sees its files at their real mount paths.

Owns: the plan that ``isolated_start`` follows, and reading what went wrong there.  Must not know
how mounts are made.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from reflet.processes import isolated_start
from reflet.processes.program import NotStarted, Program
from reflet.supervisor.mount_tree import MountSource
from reflet.supervisor.private_root import PrivateRoot

SCRIPT = Path(isolated_start.__file__)


class Isolation:
    """Wraps programs, whose files are then at their mount paths and below *root* as well."""

    def __init__(self, root: PrivateRoot) -> None:
        self._root = root
        self._plan = root.own / "isolation.json"
        self._failure = root.own / "isolation-failure.json"
        self._staging = root.own / "staging"

    def wrap(self, program: Program, sources: Sequence[MountSource]) -> Program:
        """The program that becomes *program* in a mount namespace of its own."""
        self._failure.unlink(missing_ok=True)
        self._staging.mkdir(mode=0o700, exist_ok=True)
        mounts = [
            {"source": str(each.source), "path": f"{above}{each.path}", "read_only": each.read_only}
            for above in ("", self._root.path)
            for each in sources
        ]
        plan = {
            "mounts": mounts,
            "directory": str(program.directory or Path.cwd()),
            "root": str(self._root.path),
            "staging": str(self._staging),
            "failure": str(self._failure),
        }
        self._plan.write_text(json.dumps(plan))
        interpreter = os.path.realpath(sys.executable)
        return replace(
            program,
            arguments=(
                *(interpreter, "-I", "-S", "-B", str(SCRIPT), str(self._plan), "--"),
                *program.arguments,
            ),
            directory=None,
        )

    def failure(self) -> NotStarted | None:
        """Why the wrapped program never started; None if it did."""
        try:
            told = json.loads(self._failure.read_text())
        except FileNotFoundError:
            return None
        return NotStarted(told["message"], exit_code=told["code"])
