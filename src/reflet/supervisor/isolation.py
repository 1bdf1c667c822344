"""Starting a program so that it dies with us, and may see its files at their real mount paths.

Only the process itself can ask to be killed with its parent.  ``subprocess`` would do so in a
copy of ours, with Python's ``preexec_fn``, where a lock that a thread held at that moment is held
for ever; a small program in between, ``processes.isolated_start``, costs some ten milliseconds and
has no such moment.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from reflet.processes import isolated_start
from reflet.processes.program import NotStarted, Program
from reflet.runtime.platforms import HERE
from reflet.supervisor.mount_tree import MountedPath
from reflet.supervisor.private_root import PrivateRoot

SCRIPT = Path(isolated_start.__file__)


class TetheredStarts:
    """Wraps programs, which then die with this process.

    With *isolated*, their files are at their mount paths, and below *root* as well.
    """

    def __init__(self, root: PrivateRoot, *, isolated: bool) -> None:
        self._root = root
        self._isolated = isolated
        self._plan = root.own / "isolation.json"
        self._failure = root.own / "start-failure.json"
        self._staging = root.own / "staging"

    def wrap(self, program: Program, sources: Sequence[MountedPath]) -> Program:
        """The program that becomes *program*; raises NotStarted for one that no system starts."""
        program.check()
        if not HERE.death_signal:
            return program  # ``death_watch`` kills it
        self._failure.unlink(missing_ok=True)
        plan = self._written_plan(program, sources) if self._isolated else ""
        return replace(
            program,
            arguments=(
                *_starter(),
                *(str(os.getpid()), str(self._failure), plan, "--"),
                *program.arguments,
            ),
            environment=_sheltered(program.environment),
            directory=None if self._isolated else program.directory,
        )

    def _written_plan(self, program: Program, sources: Sequence[MountedPath]) -> str:
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
        }
        self._plan.write_text(json.dumps(plan))
        return str(self._plan)

    def failure(self) -> NotStarted | None:
        """Why the wrapped program never started; None if it did."""
        try:
            told = json.loads(self._failure.read_text())
        except FileNotFoundError:
            return None
        return NotStarted(told["message"], exit_code=told["code"])


def _starter() -> tuple[str, ...]:
    """The command that runs the script, before its arguments."""
    if getattr(sys, "frozen", False):
        # The single-file archive has no interpreter: its one program runs modules by name.
        return (sys.executable, "-m", isolated_start.__name__)
    return (os.path.realpath(sys.executable), "-I", "-S", "-B", str(SCRIPT))


def _sheltered(environment: Mapping[str, str]) -> dict[str, str]:
    return {
        f"{isolated_start.SHELTERED}{name}"
        if name.startswith(isolated_start.OF_THE_LOADER)
        else name: value
        for name, value in environment.items()
    }
