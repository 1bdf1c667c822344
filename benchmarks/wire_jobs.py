"""What a contestant of the wire benchmark does in its process, and what it reports.

Owns: the three jobs and where each starts and stops its clocks.  Must not know how a contestant
works or how many runs there are.

A child of its own (see ``measuring.Child``).  Everything that happens once, imports and the
first connection above all, happens before a clock starts.
"""

from __future__ import annotations

import asyncio
import gc
import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from benchmarks.measuring import answer, cpu_seconds, first_line, open_sockets, resident_bytes
from benchmarks.wire_clients import (
    CONTESTANTS,
    INITIAL_EVENTS_END,
    STREAMING_LIST,
    Client,
    Events,
    Query,
    Target,
)


class Countdown:
    """Waits until *count* things have happened, or the client fails."""

    def __init__(self, client: Client, count: int) -> None:
        self._client = client
        self._left = count
        self._done: asyncio.Future[None] = asyncio.get_running_loop().create_future()

    def happened(self, times: int = 1) -> None:
        """Count *times* more."""
        self._left -= times
        if self._left <= 0 and not self._done.done():
            self._done.set_result(None)

    async def finished(self) -> None:
        """Return when all have happened."""
        failure = self._client.failure
        await asyncio.wait((self._done, failure), return_when=asyncio.FIRST_COMPLETED)
        if not self._done.done():
            raise failure.result()


def ends(events: Events) -> bool:
    """Whether the last of these events is the bookmark behind the initial ones."""
    last = events[-1]
    return last.type == "BOOKMARK" and INITIAL_EVENTS_END in last.object.metadata.annotations


def one_object(path: str) -> tuple[str, Query]:
    """The streaming list of a single object, as a kubelet watches it."""
    collection, _, name = path.rpartition("/")
    return collection, (*STREAMING_LIST, ("fieldSelector", f"metadata.name={name}"))


async def opened(client: Client, paths: Sequence[str], take: Callable[[Events], None]) -> None:
    """Open a watch for each object, all at once, and return when each is complete."""
    complete = Countdown(client, len(paths))

    def take_first(events: Events) -> None:
        if ends(events):
            complete.happened()
        take(events)

    for path in paths:
        client.watch(*one_object(path), take_first)
    await complete.finished()


def ignore(_events: Events) -> None:
    """Take events and do nothing with them."""


async def open_many(client: Client, task: Mapping[str, Any]) -> None:
    """Open watches of single objects; say what they cost while nothing happens."""
    sockets = open_sockets()
    await opened(client, task["paths"][:1], ignore)
    paths = task["paths"][1:]
    gc.collect()
    memory, cpu, begun = resident_bytes(), cpu_seconds(), time.monotonic()
    await opened(client, paths, ignore)
    seconds, cpu = time.monotonic() - begun, cpu_seconds() - cpu
    gc.collect()
    answer(
        {
            "seconds": seconds,
            "cpu_seconds": cpu,
            "connections": open_sockets() - sockets,
            "bytes_per_watch": (resident_bytes() - memory) / len(paths),
        }
    )


async def read_busy(client: Client, task: Mapping[str, Any]) -> None:
    """Read one stream of many events as fast as it comes."""
    for path, query, count in (task["warm_up"], task["stream"]):
        complete = Countdown(client, count)
        cpu, begun = cpu_seconds(), time.monotonic()
        batches = 0

        def take(events: Events, complete: Countdown = complete) -> None:
            nonlocal batches
            batches += 1
            complete.happened(len(events))

        client.watch(path, tuple((name, value) for name, value in query), take)
        await complete.finished()
        seconds, cpu = time.monotonic() - begun, cpu_seconds() - cpu
    answer(
        {
            "events_per_second": count / seconds,
            "cpu_microseconds": cpu / count * 1e6,
            "events_per_batch": count / batches,
        }
    )


async def take_updates(client: Client, task: Mapping[str, Any]) -> None:
    """Hold many watches while their objects change; note when each change is known."""
    expected: int = task["updates"]
    complete = Countdown(client, expected)
    arrivals: dict[str, float] = {}

    def take(events: Events) -> None:
        now = time.monotonic()
        for event in events:
            if event.type == "MODIFIED":
                arrivals[event.object.data["sequence"]] = now
                complete.happened()

    await opened(client, task["paths"], take)
    arrivals.clear()
    gc.collect()
    cpu, begun = cpu_seconds(), time.monotonic()
    answer({"ready": True})
    await complete.finished()
    cpu, seconds = cpu_seconds() - cpu, time.monotonic() - begun
    answer({"cpu_microseconds": cpu / expected * 1e6, "seconds": seconds, "arrivals": arrivals})


JOBS: Mapping[str, Callable[[Client, Mapping[str, Any]], Awaitable[None]]] = {
    "open": open_many,
    "busy": read_busy,
    "updates": take_updates,
}


async def work(task: Mapping[str, Any]) -> None:
    """Do one job with one contestant."""
    client = CONTESTANTS[task["contestant"]].make(Target(**task["target"]))
    try:
        async with asyncio.timeout(task["patience"]):
            await JOBS[task["job"]](client, task)
    finally:
        await client.close()


def main() -> None:
    """Do the task of standard input.

    The answer is out before the connections are closed: taking down is not measured.
    """
    task = first_line()
    CONTESTANTS[task["contestant"]].run(work(task))


if __name__ == "__main__":
    main()
