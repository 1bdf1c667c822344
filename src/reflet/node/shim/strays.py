"""Processes that belong to a container although they left its process group.

Every process of a container has a variable with the container's id, and by it they are found and
killed.  Only what sheds both group and variable gets away.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from signal import SIGKILL
from typing import Final

from reflet.processes.child import open_descriptor
from reflet.processes.process_source import ProcessEntry
from reflet.processes.process_table import SOURCE, process_entries, process_entry, variable_of
from reflet.runtime.clock import Clock, SystemClock

CONTAINER_ID: Final = "REFLET_CONTAINER_ID"
ROUNDS: Final = 50  # what a stray had started comes to light when it is gone
ROUND: Final = 0.005  # seconds for a killed process to leave its children to us


def container_of(pid: int) -> str | None:
    """The container that a process was started in, None when it was in none or we may not ask."""
    return variable_of(pid, CONTAINER_ID)


def all_strays() -> Mapping[str, list[ProcessEntry]]:
    """Every process of this machine that was started in a container, by the container's id."""
    found: dict[str, list[ProcessEntry]] = {}
    for entry in process_entries():
        container = None if entry.has_ended else container_of(entry.pid)
        if container is not None:
            found.setdefault(container, []).append(entry)
    return found


def kill_processes(entries: Iterable[ProcessEntry]) -> int:
    """Kill these processes, and none that got one of their numbers; return how many."""
    return sum(map(_kill, entries))


async def kill_left_to_us(
    container: str, *, spare: Collection[int], clock: Clock | None = None
) -> int:
    """Kill what a container left to this process, its heir; return how many processes that were.

    *spare* are known children.  Looks at our own children only, so that it costs next to nothing
    where nothing was left.
    """
    clock = clock or SystemClock()
    # By number and start: on a busy machine a killed process takes several rounds to die.
    killed: set[tuple[int, int]] = set()
    for _ in range(ROUNDS):
        strays = [
            entry
            for pid in own_children() - set(spare)
            if (entry := process_entry(pid)) is not None
            and not entry.has_ended
            and container_of(pid) == container
        ]
        if not strays:
            break
        killed |= {(each.pid, each.start) for each in strays if _kill(each)}
        await clock.sleep(ROUND)
    return len(killed)


def own_children() -> set[int]:
    """The numbers of our own children, those that have ended and were not waited for too."""
    return SOURCE.children(os.getpid())


def _kill(entry: ProcessEntry) -> bool:
    descriptor = open_descriptor(entry.pid)
    try:
        # Whoever has the number now must still be the one that was found.
        now = process_entry(entry.pid)
        if now is None or now.start != entry.start:
            return False
        os.kill(entry.pid, SIGKILL)
    except (PermissionError, ProcessLookupError):
        return False
    finally:
        if descriptor is not None:
            os.close(descriptor)
    return True
