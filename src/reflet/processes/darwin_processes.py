"""The process table of macOS: ``kern.proc`` by ``sysctl``, the structs of 64-bit machines.

A process that is gone is an answer of no bytes.  Programs that are Apple's own keep their
variables and arguments from others than root.

Upstream: xnu/bsd/sys/sysctl.h, kinfo_proc; xnu/bsd/kern/kern_sysctl.c, sysctl_procargsx
"""

from __future__ import annotations

import os
import struct
from collections.abc import Iterator, Sequence
from typing import Final

from reflet.processes.process_source import STOPPED, ProcessEntry
from reflet.runtime.darwin_sysctl import sysctl, sysctl_by_name

CTL_KERN: Final = 1
KERN_PROC: Final = 14
KERN_PROC_ALL: Final = 0
KERN_PROC_PID: Final = 1
KERN_PROCARGS2: Final = 49

KINFO_SIZE: Final = 648
# Where the fields lie in a struct kinfo_proc: p_starttime, p_stat, p_pid, p_comm, e_ppid, e_pgid.
_START: Final = struct.Struct("<qi")
_START_AT, _STATE_AT, _PID_AT, _NAME_AT, _PARENT_AT = 0, 36, 40, 243, 560
_NAME_SIZE: Final = 17
_NUMBERS: Final = struct.Struct("<ii")

_STATES: Final = {1: "I", 2: "R", 3: "S", 4: STOPPED, 5: "Z"}  # SIDL SRUN SSLEEP SSTOP SZOMB


def parse_kinfo(data: bytes, at: int = 0) -> ProcessEntry:
    """Read a ``struct kinfo_proc``; starts are microseconds since 1970.

    The struct has no session, which the kernel is asked for.
    """
    seconds, microseconds = _START.unpack_from(data, at + _START_AT)
    parent, group = _NUMBERS.unpack_from(data, at + _PARENT_AT)
    pid = int.from_bytes(data[at + _PID_AT : at + _PID_AT + 4], "little")
    return ProcessEntry(
        pid=pid,
        parent=parent,
        group=group,
        session=_session(pid),
        state=_STATES.get(data[at + _STATE_AT], "R"),
        start=seconds * 1_000_000 + microseconds,
    )


def parse_arguments(data: bytes) -> tuple[list[bytes], list[bytes]]:
    """Read a ``KERN_PROCARGS2``: the file with the arguments, and the variables.

    The number of arguments, the file's path, padding, the arguments, the variables, an empty one.
    """
    count = int.from_bytes(data[:4], "little")
    path, _, rest = data[4:].partition(b"\0")
    texts = rest.lstrip(b"\0").split(b"\0")
    variables: list[bytes] = []
    for text in texts[count:]:
        if not text:
            break
        variables.append(text)
    return [path, *texts[:count]], variables


class DarwinProcesses:
    """Asks the kernel.  Is a ``ProcessSource``."""

    def entry(self, pid: int, /) -> ProcessEntry | None:
        """The process with this number, None if there is none."""
        found = sysctl((CTL_KERN, KERN_PROC, KERN_PROC_PID, pid))
        return parse_kinfo(found) if len(found) >= KINFO_SIZE else None

    def entries(self) -> Iterator[ProcessEntry]:
        """Every process of this machine."""
        found = sysctl((CTL_KERN, KERN_PROC, KERN_PROC_ALL, 0))
        for at in range(0, len(found) - KINFO_SIZE + 1, KINFO_SIZE):
            yield parse_kinfo(found, at)

    def children(self, pid: int, /) -> set[int]:
        """The numbers of a process's children, those too that ended and were not waited for."""
        return {entry.pid for entry in self.entries() if entry.parent == pid}

    def environment(self, pid: int, /) -> Sequence[bytes]:
        """The variables that a process was started with, as NAME=VALUE."""
        return parse_arguments(sysctl((CTL_KERN, KERN_PROCARGS2, pid)))[1]

    def names(self, pid: int, /) -> frozenset[str]:
        """What a process is called: the name of the program, and that of its file."""
        found = sysctl((CTL_KERN, KERN_PROC, KERN_PROC_PID, pid))
        names = {found[_NAME_AT : _NAME_AT + _NAME_SIZE].partition(b"\0")[0]}
        try:
            started = parse_arguments(sysctl((CTL_KERN, KERN_PROCARGS2, pid)))[0]
        except OSError:
            started = []  # it is another user's, or Apple's own
        names |= {text.rpartition(b"/")[2] for text in started[1:2]}
        return frozenset(name.decode(errors="replace") for name in names)

    def boot(self) -> str:
        """The name of this life of the machine."""
        return sysctl_by_name("kern.bootsessionuuid").rstrip(b"\0").decode()


def _session(pid: int) -> int:
    try:
        return os.getsid(pid)
    except OSError:
        return 0  # it has ended
