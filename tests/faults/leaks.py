"""What this process holds, so that a test can say what it must not hold any more.

Owns: measuring memory, and naming tasks, child processes and open files.  Must not know whose
they are.
"""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Self

from reflet.node.shim.strays import own_children

MOST_GROWTH: Final = 16 * 2**20
"""Bytes that the process may grow by once it is warm."""
OF_A_CONNECTION: Final = 2**19
"""Bytes of the buffers of a connection over TLS, at all its ends that are in this process."""
MOST_NEW_OBJECTS: Final = 12_000


@dataclass(frozen=True, slots=True)
class Weight:
    """How much memory this process holds, for how many connections, and how many objects."""

    resident: int
    connections: int
    objects: int

    @classmethod
    def now(cls, connections: int) -> Self:
        gc.collect()
        _give_back_what_is_free()
        pages = int(Path("/proc/self/statm").read_text().split()[1])
        return cls(pages * os.sysconf("SC_PAGE_SIZE"), connections, len(gc.get_objects()))

    def complaint(self, baseline: Weight) -> str:
        """What there is much more of than there was; empty when it is as it was."""
        grown, new = self.resident - baseline.resident, self.objects - baseline.objects
        connected = max(0, self.connections - baseline.connections)
        if grown > MOST_GROWTH + connected * OF_A_CONNECTION:
            return f"memory grew by {grown / 2**20:.1f} MiB"
        return f"{new} objects more than when it was warm" if new > MOST_NEW_OBJECTS else ""


@dataclass(frozen=True, slots=True)
class Belongings:
    """Everything that must end with those who began it."""

    tasks: frozenset[asyncio.Task[object]]
    children: frozenset[int]
    files: Counter[str]

    @classmethod
    def now(cls) -> Self:
        return cls(frozenset(asyncio.all_tasks()), frozenset(own_children()), _open_files())

    def missing_from(self, before: Belongings) -> list[str]:
        """What there is now and was not before, by name."""
        return [
            *(task.get_name() for task in self.tasks - before.tasks),
            *(f"child process {pid}" for pid in self.children - before.children),
            *(f"open file {name}" for name in (self.files - before.files).elements()),
        ]


def _open_files() -> Counter[str]:
    """What every open descriptor is; of sockets and the like only what kind of thing.

    A listener that was closed and opened again is another socket, and no leak.
    """
    found: Counter[str] = Counter()
    for path in Path("/proc/self/fd").iterdir():
        with contextlib.suppress(FileNotFoundError):  # the one through which this is read
            found[str(path.readlink()).partition(":[")[0]] += 1
    return found


def _give_back_what_is_free() -> None:
    """Without this, a process holds as much as it ever held at a time."""
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # GNU only
    if trim is not None:
        trim(0)
