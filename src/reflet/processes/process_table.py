"""What the kernel says about processes, and which process a number means.

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
from typing import Final

from reflet.processes.darwin_processes import DarwinProcesses
from reflet.processes.proc_files import ProcFiles
from reflet.processes.process_source import ProcessEntry, ProcessSource
from reflet.runtime.platforms import HERE

PR_SET_DUMPABLE: Final = 4

SOURCE: Final[ProcessSource] = ProcFiles() if HERE.proc else DarwinProcesses()


def process_entry(pid: int) -> ProcessEntry | None:
    """The process with this number, None if there is none."""
    return SOURCE.entry(pid)


def process_entries() -> Iterator[ProcessEntry]:
    """Every process that can be seen from here."""
    return SOURCE.entries()


def environment_of(pid: int) -> dict[str, str]:
    """Give the variables that a process was started with, whatever it has made of them."""
    texts = (pair.decode(errors="surrogateescape") for pair in SOURCE.environment(pid))
    pairs = (text.partition("=") for text in texts)
    return {name: value for name, equals, value in pairs if equals}


def variable_of(pid: int, name: str) -> str | None:
    """One of the variables that a process was started with; None too if it is kept from us."""
    mark = f"{name}=".encode()
    try:
        found = SOURCE.environment(pid)
    except OSError:
        return None
    for variable in found:
        if variable.startswith(mark):
            return variable.removeprefix(mark).decode(errors="replace")
    return None


def processes_called(wanted: str) -> list[int]:
    """The processes, but this one, with a number or a name: of the program, or of its file."""
    others = (entry.pid for entry in process_entries() if entry.pid != os.getpid())
    return sorted(pid for pid in others if wanted in {str(pid), *SOURCE.names(pid)})


def group_members(group: int) -> list[ProcessEntry]:
    """The processes of one process group that have not ended."""
    return [entry for entry in process_entries() if entry.group == group and not entry.has_ended]


def children_of(pid: int) -> list[ProcessEntry]:
    """The children of a process, those included that ended and were not waited for."""
    entries = (process_entry(number) for number in sorted(SOURCE.children(pid)))
    return [entry for entry in entries if entry is not None and entry.parent == pid]


def descendants_of(pid: int) -> list[ProcessEntry]:
    """The children of a process and all of theirs; those whose parent has ended are no more."""
    found = children_of(pid)
    for entry in found:  # which grows meanwhile
        found += children_of(entry.pid)
    return found


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
    return SOURCE.boot()


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
