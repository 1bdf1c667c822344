"""What a contestant of the controllers benchmark does in its process, and what it reports.

Owns: the jobs and where each starts and stops its clocks.  Must not know how a contestant works.
kopf runs this in an environment of its own, so it needs nothing but the standard library.

A child of its own (see ``measuring.Child``).  The jobs:

- reconcile: from nothing, connection included, until a call found of every object that there is
  nothing to do.  Without a ``mark`` the first one does: it only reads the object.  With one it
  patches the status that has another, and the event of that patch brings the call that finds it.
- follow: say when the first call saw each change of the writer, by CLOCK_MONOTONIC, which all
  processes of a machine share.  The first line says that the writer may begin.
- lead: be a candidate; the first line says so, the second when it leads.

Everything that happens once in the life of a process happens before a clock runs: a small
namespace is worked on first.  ``benchmarks/go/controller`` is the same thing in Go.
"""

from __future__ import annotations

import asyncio
import gc
import re
import time
from collections.abc import Awaitable, Callable, Mapping
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from benchmarks.measuring import answer, cpu_seconds, first_line


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done.

    ``mark`` is what each status is to say, empty for no-op; ``writes`` is of the job follow, the
    lease and its seconds of the job lead.
    """

    job: str
    url: str
    ca_file: str
    token: str
    namespace: str
    patience: float
    warm_up_namespace: str = ""
    objects: int = 0
    warm_up_objects: int = 0
    workers: int = 1
    mark: str = ""
    writes: int = 0
    lease: str = ""
    lease_duration: float = 0.0
    renew_deadline: float = 0.0
    retry_period: float = 0.0


class Calls:
    """What the benchmark notes of each call of a contestant's function."""

    def __init__(self, objects: int, writes: int = 0) -> None:
        self.count = 0
        self.moments: dict[str, float] = {}
        self.all = asyncio.Event()
        self.seen = asyncio.Event()
        self._names: set[str] = set()
        self._objects = objects
        # The last write of each object: no later one can take its place.
        self._unseen = {str(number) for number in range(max(0, writes - objects), writes)}

    def began(self, sequence: str) -> None:
        """A call has read its object."""
        self.count += 1
        if sequence and sequence not in self.moments:
            self.moments[sequence] = time.monotonic()
            self._unseen.discard(sequence)
            if not self._unseen:
                self.seen.set()

    def ended(self, name: str) -> None:
        """A call found nothing to do for an object."""
        self._names.add(name)
        if len(self._names) == self._objects:
            self.all.set()


class Operated(Protocol):
    """Makes a contestant work on a namespace for the length of a context, with new connections.

    Its function calls ``began`` when it has read the object, and ``ended`` if that is all there was
    to do.
    """

    def __call__(
        self, task: Task, namespace: str, calls: Calls, /
    ) -> AbstractAsyncContextManager[None]:
        """Begin."""
        ...


Lead = Callable[[Task], Awaitable[None]]


async def reconcile(task: Task, operated: Operated) -> None:
    """Work on everything once."""
    warm_up = Calls(task.warm_up_objects)
    async with operated(task, task.warm_up_namespace, warm_up):
        await warm_up.all.wait()
    gc.collect()
    calls = Calls(task.objects)
    cpu, begun = cpu_seconds(), time.monotonic()
    async with operated(task, task.namespace, calls):
        await calls.all.wait()
        answer(
            {
                "seconds": time.monotonic() - begun,
                "cpu_seconds": cpu_seconds() - cpu,
                "peak_bytes": float(peak_bytes()),
                "calls": float(calls.count),
            }
        )


async def follow(task: Task, operated: Operated) -> None:
    """Say when each change was seen."""
    calls = Calls(task.objects, task.writes)
    async with operated(task, task.namespace, calls):
        await calls.all.wait()
        answer({})
        await calls.seen.wait()
        answer({"moments": calls.moments})


def peak_bytes() -> int:
    """The most that was resident of this program; getrusage would count the one before exec."""
    status = Path("/proc/self/status").read_text()
    found = re.search(r"VmHWM:\s*(\d+) kB", status)
    assert found is not None
    return int(found[1]) * 1024


def work(operated: Operated, lead: Lead | None = None) -> None:
    """Do the task of standard input."""
    task = Task(**first_line())
    jobs: Mapping[str, Callable[[], Awaitable[None]]] = {
        "reconcile": lambda: reconcile(task, operated),
        "follow": lambda: follow(task, operated),
    }
    if lead is not None:
        jobs = {**jobs, "lead": lambda: lead(task)}

    async def main() -> None:
        try:
            async with asyncio.timeout(task.patience):
                await jobs[task.job]()
        except TimeoutError:
            raise RuntimeError(f"not done within {task.patience:g} s") from None

    asyncio.run(main())
