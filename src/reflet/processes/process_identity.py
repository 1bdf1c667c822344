"""Which process a number means, also after this program was started again.

Owns the name of a process that is never given twice: its number, the moment it started and the
life of the machine in which it did.  Must not know what the process does.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Final

from reflet.processes.process_table import process_entry

BOOT_ID: Final = Path("/proc/sys/kernel/random/boot_id")


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
