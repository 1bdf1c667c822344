"""The objects that the wire benchmark watches, and the writer that changes them.

Owns: creating ConfigMaps quickly and updating them at a steady pace, with the moments at which
each write was sent and acknowledged.  Must not know who watches.

As a child of its own (see ``measuring.Child``) it is the writer, the same for all contestants.
Moments are of CLOCK_MONOTONIC, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from benchmarks.measuring import answer, first_line
from benchmarks.wire_clients import Target
from reflet.transport.connection import Connection
from reflet.transport.interface import Request, Transport

AT_ONCE: Final = 32  # requests in flight
PAYLOAD: Final = "x" * 560  # makes the event of a whole object about 1 KiB, metadata included
JSON: Final = (("content-type", "application/json"), ("accept", "application/json"))


def object_paths(namespace: str, count: int) -> list[str]:
    """The paths of the objects that ``create`` makes."""
    return [f"/api/v1/namespaces/{namespace}/configmaps/settings-{n:05}" for n in range(count)]


async def create(target: Target, namespace: str, count: int) -> None:
    """Create a namespace and *count* ConfigMaps in it."""
    async with connected(target) as connection:
        await _write(connection, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        paths = iter(object_paths(namespace, count))

        async def work(paths: Iterable[str]) -> None:
            for path in paths:
                collection, _, name = path.rpartition("/")
                await _write(connection, "POST", collection, _config_map(name, "0"))

        # They share one iterator, so that nobody waits for the slowest.
        async with asyncio.TaskGroup() as workers:
            for number in range(AT_ONCE):
                workers.create_task(work(paths), name=f"creator {number}")


async def update(
    target: Target, paths: Sequence[str], count: int, per_second: float
) -> dict[str, tuple[float, float]]:
    """Change the objects in turn; for each change, when it was sent and acknowledged."""
    moments: dict[str, tuple[float, float]] = {}
    room = asyncio.Semaphore(AT_ONCE)
    async with connected(target) as connection:

        async def change(sequence: str, path: str) -> None:
            sent = time.monotonic()
            body = _config_map(path.rpartition("/")[2], sequence, sent=sent)
            await _write(connection, "PUT", path, body)
            moments[sequence] = (sent, time.monotonic())
            room.release()

        begun = time.monotonic()
        async with asyncio.TaskGroup() as changes:
            for number in range(count):
                due = begun + number / per_second
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                await room.acquire()
                # A prime stride, so that neighbours on one connection do not change in a row.
                path = paths[number * 7919 % len(paths)]
                changes.create_task(change(str(number), path), name=f"change {number}")
    return moments


@asynccontextmanager
async def connected(target: Target) -> AsyncIterator[Transport]:
    """A connection for the length of a ``with`` block."""
    connection = Connection(target.settings())
    try:
        yield connection
    finally:
        await connection.close()


def _config_map(name: str, sequence: str, *, sent: float = 0.0) -> dict[str, Any]:
    return {
        "metadata": {"name": name},
        "data": {"payload": PAYLOAD, "sent": repr(sent), "sequence": sequence},
    }


async def _write(connection: Transport, method: str, path: str, body: object) -> None:
    request = Request(method=method, path=path, headers=JSON, body=json.dumps(body).encode())
    response = await connection.send(request)
    if response.status not in (200, 201):
        raise RuntimeError(f"{method} {path}: {response.status}, {response.body!r}")


def main() -> None:
    """Be the writer: write, then say when."""
    task = first_line()
    target = Target(**task["target"])
    moments = asyncio.run(update(target, task["paths"], task["updates"], task["per_second"]))
    answer({"moments": moments})


if __name__ == "__main__":
    main()
