"""The process table of Linux: the files of ``/proc``."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Final

from reflet.processes.process_source import ProcessEntry

PROC: Final = Path("/proc")

# Positions behind the command's name, which is in parentheses and may hold anything.
_STATE, _PARENT, _GROUP, _SESSION, _START = 0, 1, 2, 3, 19
_MEMORY, _VARIABLES_END = 20, 48

STARTING_LOOKS: Final = 100  # how often a process is asked that is just starting a program
STARTING_PAUSE: Final = 0.001  # seconds in between


def parse_entry(text: str) -> ProcessEntry:
    """Read the content of a ``/proc/PID/stat``; starts are clock ticks since the machine's."""
    pid, _, rest = text.partition(" (")
    fields = rest.rpartition(")")[2].split()
    return ProcessEntry(
        pid=int(pid),
        parent=int(fields[_PARENT]),
        group=int(fields[_GROUP]),
        session=int(fields[_SESSION]),
        state=fields[_STATE],
        start=int(fields[_START]),
    )


def hears_signal(pid: int, number: int) -> bool:
    """Whether a process catches or ignores a signal, rather than leave it to Linux."""
    return _is_in_mask(pid, number, "SigIgn", "SigCgt")


def holds_signal_back(pid: int, number: int) -> bool:
    """Whether a process blocks a signal: to take it later, as ``tini`` does, or for a moment."""
    return _is_in_mask(pid, number, "SigBlk")


def _is_in_mask(pid: int, number: int, *names: str) -> bool:
    try:
        text = (PROC / str(pid) / "status").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    lines = (line.partition(":") for line in text.splitlines())
    masks = [int(rest, 16) for name, _, rest in lines if name in names]
    return any(mask >> (number - 1) & 1 for mask in masks)


def _is_starting(pid: int) -> bool:
    """Whether a process is in the middle of an ``execve``: its new memory has no variables yet.

    On a busy machine every fourth process is, if it is asked as soon as whoever started it goes on.
    One that was started without variables has a place for them; a thread of the kernel and whoever
    just ends have no memory.
    """
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    fields = text.rpartition(")")[2].split()
    return fields[_MEMORY] != "0" == fields[_VARIABLES_END]


class ProcFiles:
    """Reads ``/proc``.  Is a ``ProcessSource``."""

    def entry(self, pid: int, /) -> ProcessEntry | None:
        """The process with this number, None if there is none."""
        try:
            text = (PROC / str(pid) / "stat").read_text(errors="replace")
        except (FileNotFoundError, ProcessLookupError):
            return None
        return parse_entry(text)

    def entries(self) -> Iterator[ProcessEntry]:
        """Every process that can be seen from here."""
        for name in os.listdir(PROC):  # noqa: PTH208 - names only, and thousands
            if name.isdecimal():
                entry = self.entry(int(name))
                if entry is not None:
                    yield entry

    def children(self, pid: int, /) -> set[int]:
        """The numbers of a process's children, those too that ended and were not waited for."""
        numbers: set[int] = set()
        try:
            for listing in (PROC / str(pid) / "task").glob("*/children"):
                numbers.update(map(int, listing.read_text().split()))
        except (FileNotFoundError, ProcessLookupError):
            return set()
        if not numbers:
            # Kernels built without that listing have to be asked the long way round, and to them
            # "no children" looks the same.
            return self._children_by_parent(pid)
        return numbers

    def _children_by_parent(self, pid: int) -> set[int]:
        if (PROC / str(pid) / "task" / str(pid) / "children").exists():
            return set()
        return {entry.pid for entry in self.entries() if entry.parent == pid}

    def environment(self, pid: int, /) -> Sequence[bytes]:
        """The variables that a process was started with, as NAME=VALUE."""
        variables = PROC / str(pid) / "environ"
        found = variables.read_bytes()
        if not found:
            for _ in range(STARTING_LOOKS):
                if not _is_starting(pid):
                    break
                time.sleep(STARTING_PAUSE)
            found = variables.read_bytes()  # also if the start was over by the first look
        return found.split(b"\0")

    def names(self, pid: int, /) -> frozenset[str]:
        """What a process is called: the name of the program, and that of its file."""
        with suppress(OSError):
            name = (PROC / str(pid) / "comm").read_text(errors="replace").strip()
            program = (PROC / str(pid) / "cmdline").read_bytes().partition(b"\0")[0]
            return frozenset({name, program.rpartition(b"/")[2].decode(errors="replace")})
        return frozenset()

    def boot(self) -> str:
        """The name of this life of the machine."""
        return (PROC / "sys/kernel/random/boot_id").read_text().strip()
