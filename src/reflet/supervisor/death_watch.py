"""Killing the process with us, where it cannot ask the kernel for that.

On Linux ``processes.isolated_start`` asks.  Elsewhere a small program waits for the end of a line
that only we hold the other end of, which comes however we end, and then kills the process group
that it was told last.  Killed in the instant between a start and the word about it, we leave the
process behind.
"""

from __future__ import annotations

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

from reflet.processes.child import Child, start_child
from reflet.processes.program import Program
from reflet.runtime.clock import Clock
from reflet.runtime.platforms import HERE

_NOBODY: Final = 0
_WATCH: Final = """
import os
group = 0
while told := os.read(0, 4096):
    group = int(told.split()[-1])
if group:
    os.killpg(group, 9)
"""


class DeathWatch:
    """Tells the program whom to kill.  Made by ``death_watch``."""

    def __init__(self, line: int | None = None) -> None:
        self._line = line

    def follow(self, child: Child) -> None:
        """Have this process's group killed with us."""
        self._tell(child.group)

    def forget(self) -> None:
        """Have nobody killed with us: what was followed has ended."""
        self._tell(_NOBODY)

    def _tell(self, group: int) -> None:
        if self._line is not None:
            os.write(self._line, f"{group}\n".encode())


@asynccontextmanager
async def death_watch(
    *, needed: bool = not HERE.death_signal, clock: Clock | None = None
) -> AsyncIterator[DeathWatch]:
    """Watch while the block lasts; does nothing where processes die with us by themselves."""
    if not needed:
        yield DeathWatch()
        return
    theirs, ours = os.pipe()
    try:
        try:
            watcher = start_child(
                Program(
                    (sys.executable, "-I", "-S", "-c", _WATCH),
                    {},
                    directory=Path("/"),
                    standard_input=theirs,
                ),
                clock=clock,
            )
        finally:
            os.close(theirs)
        try:
            yield DeathWatch(ours)
        finally:
            watcher.kill()
            await watcher.wait()
    finally:
        os.close(ours)
