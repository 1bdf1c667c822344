"""What a contestant of the mirror benchmark does in its process, and what it reports.

Owns: the three jobs and where each starts and stops its clocks.  Must not know how a contestant
works.  Peers run this in environments of their own, so it needs nothing but the standard library.

A child of its own (see ``measuring.Child``).  The jobs:

- events: from the socket to the handler, for every update; the first ones only warm up;
- memory: what a collection costs to hold, after garbage collection;
- sync: from nothing, connection included, until the collection is held.

Everything that happens once in the life of a process happens before: a small collection is
mirrored first.  The answer is out before anything is taken down, which is not measured.
``benchmarks/go/informer`` is the same thing in Go.
"""

from __future__ import annotations

import asyncio
import gc
import resource
import time
from collections.abc import Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from benchmarks.measuring import answer, cpu_seconds, first_line, resident_bytes


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What is to be done.

    ``streaming`` asks for the objects as the beginning of a watch, where the contestant can.
    ``warm_up`` is how many of the updates do not count.  ``last_name`` and ``last_version`` are
    what must be held in the end.
    """

    contestant: str
    job: str
    url: str
    ca_file: str
    namespace: str
    warm_up_namespace: str
    objects: int
    streaming: bool
    protobuf: bool
    patience: float
    kind: str = "ConfigMap"
    token: str = ""
    updates: int = 0
    warm_up: int = 0
    last_name: str = ""
    last_version: str = ""


class Meter:
    """Counts updates, from any thread, and takes the time of all behind the first few."""

    def __init__(self, warm_up: int, updates: int) -> None:
        self._warm_up = warm_up
        self._updates = updates
        self._next = warm_up
        self._count = 0
        self._counted_before = 0
        self._loop = asyncio.get_running_loop()
        self._finished: asyncio.Future[None] = self._loop.create_future()
        self._cpu = self._wall = 0.0

    def one(self, _update: object = None) -> None:
        """One update came."""
        self._count += 1
        if self._count >= self._next:
            self._mark()

    def many(self, count: int) -> None:
        """So many came together."""
        self._count += count
        if self._count >= self._next:
            self._mark()

    async def finished(self) -> dict[str, float]:
        """Return the figures once every update has come."""
        await self._finished
        events = self._count - self._counted_before
        return {
            "events_per_second": events / self._wall,
            "cpu_microseconds": self._cpu / events * 1e6,
        }

    def _mark(self) -> None:
        cpu, wall = cpu_seconds(), time.monotonic()
        if self._next == self._updates:
            self._cpu, self._wall = cpu - self._cpu, wall - self._wall
            self._loop.call_soon_threadsafe(self._finish)
        else:
            self._cpu, self._wall = cpu, wall
            self._counted_before = self._count
            self._next = self._updates

    def _finish(self) -> None:
        if not self._finished.done():
            self._finished.set_result(None)


class Held(Protocol):
    """What a contestant holds."""

    def __len__(self) -> int:
        """How many objects there are."""
        ...

    def version(self, name: str) -> str:
        """The version of one object."""
        ...


class Mirrored(Protocol):
    """Makes a contestant mirror a namespace.

    The context is entered when all objects are held.  Inside it, the meter is told of every
    update.  Connections are new ones each time.
    """

    def __call__(
        self, task: Task, namespace: str, objects: int, meter: Meter | None, /
    ) -> AbstractAsyncContextManager[Held]:
        """Begin."""
        ...


async def events(task: Task, mirrored: Mirrored) -> None:
    """Take updates as fast as they come."""
    meter = Meter(task.warm_up, task.updates)
    async with mirrored(task, task.namespace, task.objects, meter) as held:
        figures = await meter.finished()
        check(len(held), task.objects, "objects held")
        check(held.version(task.last_name), task.last_version, f"version of {task.last_name}")
        answer(figures)


async def memory(task: Task, mirrored: Mirrored) -> None:
    """Hold a collection."""
    async with mirrored(task, task.warm_up_namespace, 100, None):
        pass
    gc.collect()
    before = resident_bytes()
    async with mirrored(task, task.namespace, task.objects, None) as held:
        gc.collect()
        figures = {
            "bytes_per_object": (resident_bytes() - before) / task.objects,
            "peak_bytes": float(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024),
        }
        check(len(held), task.objects, "objects held")
        answer(figures)


async def sync(task: Task, mirrored: Mirrored) -> None:
    """Get a collection for the first time."""
    async with mirrored(task, task.warm_up_namespace, 100, None):
        pass
    gc.collect()
    cpu, begun = cpu_seconds(), time.monotonic()
    async with mirrored(task, task.namespace, task.objects, None) as held:
        figures = {"seconds": time.monotonic() - begun, "cpu_seconds": cpu_seconds() - cpu}
        check(len(held), task.objects, "objects held")
        answer(figures)


def check(found: object, expected: object, what: str) -> None:
    """A contestant that is fast and wrong has not done the job."""
    if found != expected:
        raise RuntimeError(f"{what}: {found}, expected {expected}")


JOBS: dict[str, Callable[[Task, Mirrored], Awaitable[None]]] = {
    "events": events,
    "memory": memory,
    "sync": sync,
}


def work(mirrored: Mirrored, *, loop_factory: Callable[[], Any] | None = None) -> None:
    """Do the task of standard input."""
    task = Task(**first_line())

    async def main() -> None:
        try:
            async with asyncio.timeout(task.patience):
                await JOBS[task.job](task, mirrored)
        except TimeoutError:
            raise RuntimeError(f"not done within {task.patience:g} s") from None

    with asyncio.Runner(loop_factory=loop_factory) as runner:
        runner.run(main())
