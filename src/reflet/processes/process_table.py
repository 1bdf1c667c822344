"""What the kernel says about processes: ``/proc``, and which process a number means.

Every answer is a moment's picture: a process can be gone, and its number taken by another, before
the answer is read.  ``ProcessIdentity`` tells these apart, also after this program was started
again: its number, the moment it started and the life of the machine in which it did.

A process may read the environment and the memory of every other process of its user, and stop
and change it with a debugger.  Where commands of strangers run as the same user, that would give
them our credentials; ``refuse_inspection`` closes this process to them.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

PROC: Final = Path("/proc")
ZOMBIE_STATES: Final = frozenset("ZX")

# Positions behind the command's name, which is in parentheses and may hold anything.
_STATE, _PARENT, _GROUP, _SESSION, _START = 0, 1, 2, 3, 19

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")
PR_SET_DUMPABLE: Final = 4


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


def environment_of(pid: int) -> dict[str, str]:
    """Give the variables that a process was started with, whatever it has made of them."""
    pairs = (PROC / str(pid) / "environ").read_bytes().decode(errors="surrogateescape").split("\0")
    return {
        name: value for name, equals, value in (pair.partition("=") for pair in pairs) if equals
    }


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


@dataclass(frozen=True, slots=True)
class ProcessIdentity:
    """A process and no other.  ``str()`` is for files and is read by ``parse``."""

    pid: int
    start: int
    boot: str

    def __str__(self) -> str:
        return f"{self.pid} {self.start} {self.boot}"

    @classmethod
    def parse(cls, text: str) -> ProcessIdentity:
        """Read what ``str()`` wrote; raises ``ValueError`` for anything else."""
        pid, start, boot = text.split()
        return cls(pid=int(pid), start=int(start), boot=boot)

    @classmethod
    def of(cls, pid: int) -> ProcessIdentity | None:
        """The process that has this number now, None if there is none."""
        entry = process_entry(pid)
        return None if entry is None else cls(pid=pid, start=entry.start, boot=boot_id())

    def is_running(self) -> bool:
        """Whether it is there and has not ended; one that nobody waited for has ended."""
        if self.boot != boot_id():
            return False
        entry = process_entry(self.pid)
        return entry is not None and entry.start == self.start and not entry.has_ended


@cache
def boot_id() -> str:
    """The name of this life of the machine; another after every start of it."""
    return BOOT_ID.read_text().strip()


def refuse_inspection() -> bool:
    """Close this process to others of its user, root apart; False where that cannot be done.

    It leaves no core dump either.  Programs that it starts are as open as any.  Files of
    ``/proc/self`` that only the owner may read, ``environ`` and ``mem`` say, become root's: this
    process itself cannot open them any more.
    """
    library = ctypes.CDLL(None, use_errno=True)
    try:
        control = library.prctl
    except AttributeError:
        return False
    return bool(control(PR_SET_DUMPABLE, 0, 0, 0, 0) == 0)
