"""The objects that benchmarks watch, and the writer that changes them.

Owns: creating ConfigMaps quickly and updating them at a steady pace, with the moments at which
each write was sent and acknowledged.  Must not know who watches.

As a child of its own (see ``measuring.Child``) it is the writer, the same for all contestants.
Moments are of CLOCK_MONOTONIC, which all processes of a machine share.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Sequence
from contextlib import asynccontextmanager
from typing import Any, Final

from benchmarks.measuring import answer, first_line
from benchmarks.wire_clients import Target
from reflet.transport.connection import Connection
from reflet.transport.interface import Request, Transport

AT_ONCE: Final = 32  # requests in flight
PAYLOAD: Final = "x" * 560  # makes the event of a whole object about 1 KiB, metadata included
JSON: Final = "application/json"

Make = Callable[[str, str], object]
"""From the name of an object and its sequence to the object."""
Change = Callable[[Transport, str, str, float], Awaitable[None]]
"""Changes the object of a path, to a sequence, at a moment."""


def object_paths(namespace: str, count: int, *, resource: str = "configmaps") -> list[str]:
    """The paths of the objects that ``create`` makes."""
    return [f"/api/v1/namespaces/{namespace}/{resource}/settings-{n:05}" for n in range(count)]


async def create(
    target: Target, namespace: str, count: int, *, resource: str = "configmaps"
) -> None:
    """Create a namespace and *count* ConfigMaps in it, or Secrets with the same content."""
    make = {"configmaps": _config_map, "secrets": _secret}[resource]
    await fill(target, namespace, object_paths(namespace, count, resource=resource), make)


async def fill(target: Target, namespace: str, paths: Iterable[str], make: Make) -> None:
    """Create a namespace, and an object at each of the paths in it."""
    async with connected(target) as connection:
        await write(connection, "POST", "/api/v1/namespaces", {"metadata": {"name": namespace}})
        # They share one iterator, so that nobody waits for the slowest.
        left = iter(paths)

        async def work() -> None:
            for path in left:
                collection, _, name = path.rpartition("/")
                await write(connection, "POST", collection, make(name, "0"))

        async with asyncio.TaskGroup() as workers:
            for number in range(AT_ONCE):
                workers.create_task(work(), name=f"creator {number}")


async def rewrite(target: Target, paths: Iterable[str], sequence: str) -> None:
    """Change every object once, as fast as the server takes it; return when all are changed."""
    left = iter(paths)
    async with connected(target) as connection:

        async def work() -> None:
            for path in left:
                body = _config_map(path.rpartition("/")[2], sequence)
                await write(connection, "PUT", path, body)

        async with asyncio.TaskGroup() as workers:
            for number in range(AT_ONCE):
                workers.create_task(work(), name=f"writer {number}")


async def update(
    target: Target,
    paths: Sequence[str],
    count: int,
    per_second: float,
    *,
    at_once: int = AT_ONCE,
    put: Change | None = None,
) -> dict[str, tuple[float, float]]:
    """Change the objects in turn; for each change, when it was sent and acknowledged.

    With one *at_once* an object's changes happen in their order.  They are ConfigMaps, unless
    *put* says how to change one.
    """
    put = put or _put_config_map
    moments: dict[str, tuple[float, float]] = {}
    room = asyncio.Semaphore(at_once)
    async with connected(target) as connection:

        async def change(sequence: str, path: str) -> None:
            sent = time.monotonic()
            await put(connection, path, sequence, sent)
            moments[sequence] = (sent, time.monotonic())
            room.release()

        begun = time.monotonic()
        async with asyncio.TaskGroup() as changes:
            for number in range(count):
                due = begun + number / per_second
                await asyncio.sleep(max(0.0, due - time.monotonic()))
                await room.acquire()
                path = paths[turn(number, len(paths))]
                changes.create_task(change(str(number), path), name=f"change {number}")
    return moments


def turn(number: int, objects: int) -> int:
    """Which object is changed by the change of a number."""
    # A prime stride, so that neighbours on one connection do not change in a row.
    return number * 7919 % objects


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


def _secret(name: str, sequence: str) -> dict[str, Any]:
    made = _config_map(name, sequence)
    return {"metadata": made["metadata"], "stringData": made["data"]}


async def _put_config_map(connection: Transport, path: str, sequence: str, sent: float) -> None:
    body = _config_map(path.rpartition("/")[2], sequence, sent=sent)
    await write(connection, "PUT", path, body)


async def write(
    connection: Transport, method: str, path: str, body: object, *, content_type: str = JSON
) -> None:
    """Send one request; an answer that is no success spoils the run."""
    headers = (("content-type", content_type), ("accept", JSON))
    request = Request(method=method, path=path, headers=headers, body=json.dumps(body).encode())
    response = await connection.send(request)
    if response.status not in (200, 201):
        raise RuntimeError(f"{method} {path}: {response.status}, {response.body!r}")


def main() -> None:
    """Be the writer: write, then say when."""
    task = first_line()
    target = Target(**task["target"])
    written = update(
        target,
        task["paths"],
        task["updates"],
        task["per_second"],
        at_once=task.get("at_once", AT_ONCE),
    )
    moments = asyncio.run(written)
    answer({"moments": moments})


if __name__ == "__main__":
    main()
