"""Orphans: the children that others left to us.

It knows nothing of our own children: whoever starts a process waits for it at once, so one that has
ended and was still not waited for a second later is an orphan.
"""

from __future__ import annotations

import ctypes
import logging
import os
import signal
from collections.abc import Collection
from typing import Final

from reflet.processes.process_source import ProcessEntry
from reflet.processes.process_table import children_of
from reflet.runtime.clock import Clock, SystemClock

PR_SET_CHILD_SUBREAPER: Final = 36
INTERVAL: Final = 1.0
"""Seconds between two looks, and for whoever has not waited for a child yet."""
KILL_INTERVAL: Final = 0.01
KILL_TIMEOUT: Final = 5.0
"""Seconds for killed processes to be gone."""

logger = logging.getLogger(__name__)


def become_reaper() -> bool:
    """Have orphans of our descendants left to us; False where the system cannot do that.

    The first process of a machine or container is their heir without asking.
    """
    if os.getpid() == 1:
        return True
    library = ctypes.CDLL(None, use_errno=True)
    try:
        control = library.prctl
    except AttributeError:
        return False
    return bool(control(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0)


class OrphanReaper:
    """Takes the exit codes of orphans, so that no zombie stays."""

    def __init__(self, *, clock: Clock | None = None) -> None:
        self._clock = SystemClock() if clock is None else clock
        self._seen: frozenset[tuple[int, int]] = frozenset()

    async def run(self) -> None:
        """Look once a second until cancelled."""
        fails = False
        while True:
            try:
                self.look()
            except OSError as error:
                # Descriptors or memory ran out; orphans wait, and the next look may find them.
                if not fails:
                    logger.warning("processes cannot be looked at: %s", error)
                fails = True
            else:
                fails = False
            await self._clock.sleep(INTERVAL)

    def look(self) -> int:
        """Reap what has ended and was seen ended by the look before; return how many."""
        if not _has_ended_child():
            self._seen = frozenset()
            return 0
        ended = {(entry.pid, entry.start) for entry in children_of(os.getpid()) if entry.has_ended}
        # Its number cannot be another's: nobody has waited for it.
        reaped = sum(_reap(pid) for pid, _ in ended & self._seen)
        self._seen = frozenset(ended - self._seen)
        return reaped


async def kill_orphans(*, spare: Collection[int] = (), clock: Clock | None = None) -> int:
    """Kill every child of this process but *spare*, and what these leave; return how many.

    For the end of a program whose only other children are those to spare.  One that became
    another user, or waits for a broken disk, is left after ``KILL_TIMEOUT``.
    """
    clock = SystemClock() if clock is None else clock
    deadline = clock.monotonic() + KILL_TIMEOUT
    killed: set[tuple[int, int]] = set()
    while (orphans := _others(spare)) and clock.monotonic() < deadline:
        for orphan in orphans:
            if orphan.has_ended:
                _reap(orphan.pid)
            elif _kill(orphan.pid):
                killed.add((orphan.pid, orphan.start))
        await clock.sleep(KILL_INTERVAL)
    return len(killed)


def _others(spare: Collection[int]) -> list[ProcessEntry]:
    return [entry for entry in children_of(os.getpid()) if entry.pid not in spare]


def _kill(pid: int) -> bool:
    try:
        os.kill(pid, signal.SIGKILL)
    except PermissionError:
        return False
    return True


def _has_ended_child() -> bool:
    """Whether any child has ended that nobody has waited for: one question instead of many files.

    As good as always none has, and a shim of hundreds of containers asks each second.  Python has
    no such question on macOS before 3.13.
    """
    if not hasattr(os, "waitid"):
        return True
    try:
        ended = os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG | os.WNOWAIT)
    except ChildProcessError:
        return False
    return ended is not None


def _reap(pid: int) -> bool:
    try:
        return os.waitpid(pid, os.WNOHANG)[0] == pid
    except ChildProcessError:
        return False
