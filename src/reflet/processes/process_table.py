"""What the kernel says about processes that run now.

Owns the reading of ``/proc``.  Every answer is a moment's picture: a process can be gone, and its
number taken by another, before the answer is read; ``process_identity`` tells these apart.
Must not know which processes are ours.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
ZOMBIE_STATES: Final = frozenset("ZX")

# Positions behind the command's name, which is in parentheses and may hold anything.
_STATE, _PARENT, _GROUP, _SESSION, _START = 0, 1, 2, 3, 19


@dataclass(frozen=True, slots=True)
class ProcessEntry:
    """One line of the table.  ``start`` counts clock ticks since the machine started."""

    pid: int
    parent: int
    group: int
    session: int
    state: str
    start: int

    @property
    def has_ended(self) -> bool:
        """Whether only its exit code is left, for its parent to ask for."""
        return self.state in ZOMBIE_STATES


def parse_entry(text: str) -> ProcessEntry:
    """Read the content of a ``/proc/PID/stat``."""
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


def process_entry(pid: int) -> ProcessEntry | None:
    """The process with this number, None if there is none."""
    try:
        text = (PROC / str(pid) / "stat").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return parse_entry(text)


def hears_signal(pid: int, number: int) -> bool:
    """Whether a process catches, ignores or holds back a signal, rather than leave it to Linux."""
    try:
        text = (PROC / str(pid) / "status").read_text(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return False
    masks = [
        int(rest, 16)
        for name, _, rest in (line.partition(":") for line in text.splitlines())
        if name in {"SigBlk", "SigIgn", "SigCgt"}
    ]
    return any(mask >> (number - 1) & 1 for mask in masks)


def process_entries() -> Iterator[ProcessEntry]:
    """Every process that can be seen from here."""
    for name in os.listdir(PROC):  # noqa: PTH208 - names only, and thousands
        if name.isdecimal():
            entry = process_entry(int(name))
            if entry is not None:
                yield entry


def group_members(group: int) -> list[ProcessEntry]:
    """The processes of one process group that have not ended."""
    return [entry for entry in process_entries() if entry.group == group and not entry.has_ended]


def children_of(pid: int) -> list[ProcessEntry]:
    """The children of a process, those included that ended and were not waited for."""
    numbers: set[int] = set()
    try:
        for listing in (PROC / str(pid) / "task").glob("*/children"):
            numbers.update(map(int, listing.read_text().split()))
    except (FileNotFoundError, ProcessLookupError):
        return []
    if not numbers:
        # Kernels built without that listing have to be asked the long way round, and to them
        # "no children" looks the same.
        return _children_by_parent(pid)
    entries = (process_entry(number) for number in sorted(numbers))
    return [entry for entry in entries if entry is not None and entry.parent == pid]


def descendants_of(pid: int) -> list[ProcessEntry]:
    """The children of a process and all of theirs; those whose parent has ended are no more."""
    found = children_of(pid)
    for entry in found:  # which grows meanwhile
        found += children_of(entry.pid)
    return found


def _children_by_parent(pid: int) -> list[ProcessEntry]:
    if (PROC / str(pid) / "task" / str(pid) / "children").exists():
        return []
    return [entry for entry in process_entries() if entry.parent == pid]
