"""A kernel of macOS made of paper: answers ``sysctl`` as XNU does, from what Linux knows.

Written after xnu/bsd/sys/sysctl.h and proc.h, so that what is tested reads the real layout: the
structs are declared here as C has them, and the code under test knows offsets only.
"""

from __future__ import annotations

import ctypes
import errno
import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

STATES: Final = {"Z": 5, "X": 5, "T": 4, "t": 4, "R": 2}
MAXCOMLEN: Final = 16
MEMORY, VARIABLES_END = 20, 48  # positions in Linux's stat, behind the name

_POINTER, _INT, _UINT = ctypes.c_uint64, ctypes.c_int32, ctypes.c_uint32


class TimeVal(ctypes.Structure):
    _fields_ = (("tv_sec", ctypes.c_int64), ("tv_usec", _INT))


class ExternProc(ctypes.Structure):
    _fields_ = (
        ("p_starttime", TimeVal),
        ("p_vmspace", _POINTER),
        ("p_sigacts", _POINTER),
        ("p_flag", _INT),
        ("p_stat", ctypes.c_char),
        ("p_pid", _INT),
        ("p_oppid", _INT),
        ("p_dupfd", _INT),
        ("user_stack", _POINTER),
        ("exit_thread", _POINTER),
        ("p_debugger", _INT),
        ("sigwait", _INT),
        ("p_estcpu", _UINT),
        ("p_cpticks", _INT),
        ("p_pctcpu", _UINT),
        ("p_wchan", _POINTER),
        ("p_wmesg", _POINTER),
        ("p_swtime", _UINT),
        ("p_slptime", _UINT),
        ("p_realtimer", TimeVal * 2),
        ("p_rtime", TimeVal),
        ("p_ticks", ctypes.c_uint64 * 3),
        ("p_traceflag", _INT),
        ("p_tracep", _POINTER),
        ("p_siglist", _INT),
        ("p_textvp", _POINTER),
        ("p_holdcnt", _INT),
        ("p_sigmask", _UINT),
        ("p_sigignore", _UINT),
        ("p_sigcatch", _UINT),
        ("p_priority", ctypes.c_uint8),
        ("p_usrpri", ctypes.c_uint8),
        ("p_nice", ctypes.c_int8),
        ("p_comm", ctypes.c_char * (MAXCOMLEN + 1)),
        ("p_pgrp", _POINTER),
        ("p_addr", _POINTER),
        ("p_xstat", ctypes.c_uint16),
        ("p_acflag", ctypes.c_uint16),
        ("p_ru", _POINTER),
    )


class ProcessCredentials(ctypes.Structure):
    _fields_ = (
        ("pc_lock", ctypes.c_char * 72),
        ("pc_ucred", _POINTER),
        ("p_ids", _UINT * 4),
        ("p_refcnt", _INT),
    )


class UserCredentials(ctypes.Structure):
    _fields_ = (
        ("cr_ref", _INT),
        ("cr_uid", _UINT),
        ("cr_ngroups", ctypes.c_int16),
        ("cr_groups", _UINT * 16),
    )


class VmSpace(ctypes.Structure):
    _fields_ = (
        ("dummy", _INT),
        ("dummy2", _POINTER),
        ("dummy3", _INT * 5),
        ("dummy4", _POINTER * 3),
    )


class ExternalProcess(ctypes.Structure):
    _fields_ = (
        ("e_paddr", _POINTER),
        ("e_sess", _POINTER),
        ("e_pcred", ProcessCredentials),
        ("e_ucred", UserCredentials),
        ("e_vm", VmSpace),
        ("e_ppid", _INT),
        ("e_pgid", _INT),
        ("e_jobc", ctypes.c_int16),
        ("e_tdev", _INT),
        ("e_tpgid", _INT),
        ("e_tsess", _POINTER),
        ("e_wmesg", ctypes.c_char * 8),
        ("e_xsize", _INT),
        ("e_xshort", ctypes.c_int16 * 4),
        ("e_flag", _INT),
        ("e_login", ctypes.c_char * 12),
        ("e_spare", _INT * 4),
    )


class KinfoProc(ctypes.Structure):
    _fields_ = (("kp_proc", ExternProc), ("kp_eproc", ExternalProcess))


class DarwinKernel:
    """Answers from the ``/proc`` at *proc*, wherever that is mounted, and *facts* by name."""

    def __init__(self, proc: Path, facts: Mapping[str, bytes] | None = None) -> None:
        self._proc = proc
        self._facts = facts or {
            "kern.bootsessionuuid": b"5F0E0B5A-0C5B-4E0A-9D5B-0123456789AB\0",
            "hw.memsize": (16 * 2**30).to_bytes(8, "little"),
            "kern.memorystatus_level": (60).to_bytes(4, "little"),
            "kern.maxproc": (4000).to_bytes(4, "little"),
        }

    def sysctl(
        self, names: Any, count: int, room: Any, size: Any, _new: object, _length: object
    ) -> int:
        """Answer a question by numbers."""
        match list(names)[:count]:
            case [1, 14, 0, 0]:
                found = b"".join(map(self.kinfo, self._pids()))
            case [1, 14, 1, pid]:
                found = self.kinfo(pid)  # of nobody: no bytes, and no error
            case [1, 49, pid]:
                try:
                    found = self._arguments(pid)
                except OSError:
                    return _refused(errno.EINVAL)
            case _:
                return _refused(errno.ENOENT)
        return _answer(found, room, size)

    def sysctlbyname(self, name: bytes, room: Any, size: Any, _new: object, _length: object) -> int:
        """Answer a question by name."""
        found = self._facts.get(name.decode())
        return _refused(errno.ENOENT) if found is None else _answer(found, room, size)

    def kinfo(self, pid: int) -> bytes:
        """The struct of one process; nothing when there is none."""
        try:
            text = (self._proc / str(pid) / "stat").read_text(errors="replace")
        except OSError:
            return b""
        name, _, rest = text.partition(" (")[2].rpartition(")")
        state, parent, group, *others = rest.split()
        seconds, ticks = divmod(int(others[16]), os.sysconf("SC_CLK_TCK"))
        process = KinfoProc()
        process.kp_proc.p_pid = pid
        process.kp_proc.p_stat = STATES.get(state, 3)
        process.kp_proc.p_starttime = TimeVal(1_790_000_000 + seconds, ticks * 10_000)
        process.kp_proc.p_comm = name.encode()[:MAXCOMLEN]
        process.kp_eproc.e_ppid, process.kp_eproc.e_pgid = int(parent), int(group)
        return bytes(process)

    def _pids(self) -> list[int]:
        return [int(each.name) for each in self._proc.iterdir() if each.name.isdecimal()]

    def _arguments(self, pid: int) -> bytes:
        folder = self._proc / str(pid)
        while not (folder / "environ").read_bytes() and self._is_in_execve(pid):
            time.sleep(0.001)
        arguments, variables = (folder / "cmdline").read_bytes(), (folder / "environ").read_bytes()
        path = arguments.partition(b"\0")[0]
        count = arguments.count(b"\0").to_bytes(4, "little")
        return count + path + b"\0" * (8 - len(path) % 8) + arguments + variables + b"\0\0"

    def _is_in_execve(self, pid: int) -> bool:
        """Whether the process has memory and no variables: Linux then tells nothing of them."""
        text = (self._proc / str(pid) / "stat").read_text(errors="replace")
        fields = text.rpartition(")")[2].split()
        return fields[MEMORY] != "0" == fields[VARIABLES_END]


def _answer(found: bytes, room: Any, size: Any) -> int:
    known = size._obj
    if room is not None:
        if known.value < len(found):
            return _refused(errno.ENOMEM)
        ctypes.memmove(room, found, len(found))
    known.value = len(found)
    return 0


def _refused(number: int) -> int:
    ctypes.set_errno(number)
    return -1
