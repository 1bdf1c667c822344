"""What sidecars are put through, one function a job; each gives the figures of everybody.

Owns: the moments and what is counted.  Must not know who the sidecars are.

- start: from the start of the process to ready, and its memory two seconds later.
- freshness: one write after the other; from the server's answer to the moment at which the new
  content is in the file, told by the kernel.
- burst: many objects changed at once; until every file is right, and how often a reload was asked.
- torn reads: one large object is changed ten times a second while somebody reads its file.
- idle: requests, bytes and CPU while nothing changes.
"""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any, Final

from benchmarks.file_events import CLOSED, MOVED_TO, FileEvents
from benchmarks.measuring import Child, RunFailed, percentile, summary
from benchmarks.node import cpu_of, gathered, resident
from benchmarks.sidecar_contestants import Sidecar
from benchmarks.sidecar_objects import (
    ARRIVES,
    SETTLE,
    Staged,
    change,
    file_name,
    object_name,
    running,
    shows,
    until,
)
from benchmarks.sidecar_reader import content
from reflet.api.core.config import ConfigMap

Sample = Mapping[str, float]
ByName = dict[str, dict[str, Any]]

QUIET: Final = 5.0  # seconds without a reload after which no more is expected
PER_SECOND: Final = 10.0  # changes of the file that is read all the time


# Start


def start_of(sidecar: Sidecar, began: float, objects: int) -> Sample:
    """Seconds to ready, and what it took."""
    ready = sidecar.wait_ready()
    cpu = cpu_of(sidecar.pid)
    there = len(list(sidecar.folder.glob("object-*.txt")))
    if there < objects:
        raise RunFailed(f"ready with {there} of {objects} files")
    time.sleep(SETTLE)
    return {
        "ready_seconds": ready - began,
        "cpu_seconds": cpu,
        "resident_bytes": resident(sidecar.pid),
    }


# Freshness


async def freshness(stage: Staged, *, followed: int, writes: int) -> ByName:
    """Milliseconds from a write to the file."""
    waits: dict[str, list[float]] = {name: [] for name in stage.names}
    async with running(stage, "fresh", followed) as (cluster, sidecars):
        with FileEvents() as events:
            for sidecar in sidecars.values():
                events.watch(sidecar.folder, MOVED_TO | CLOSED)
            for each in range(writes):
                number, text = each % followed, f"write {each}"

                async def write(number: int = number, text: str = text) -> float:
                    return await change(cluster, "fresh", number, text)

                written, seen = await _seen(events, sidecars, number, text, write)
                for name, moment in seen.items():
                    waits[name].append(max(0.0, moment - written) * 1000)
    return {
        name: {
            "p50_ms": percentile(each, 0.5),
            "p99_ms": percentile(each, 0.99),
            "most_ms": max(each),
        }
        for name, each in waits.items()
    }


async def _seen(
    events: FileEvents,
    sidecars: Mapping[str, Sidecar],
    number: int,
    text: str,
    write: Callable[[], Awaitable[float]],
) -> tuple[float, dict[str, float]]:
    """When a write was answered, and when each file had it."""
    loop = asyncio.get_running_loop()
    by_folder = {sidecar.folder: (name, sidecar) for name, sidecar in sidecars.items()}
    seen: dict[str, float] = {}
    done = asyncio.Event()

    def read() -> None:
        now = time.monotonic()
        for folder, file in events.take():
            name, sidecar = by_folder[folder]
            if file == file_name(number) and name not in seen and shows(sidecar, number, text):
                seen[name] = now
        if len(seen) == len(sidecars):
            done.set()

    loop.add_reader(events.descriptor, read)
    try:
        written = await write()
        async with asyncio.timeout(ARRIVES):
            await done.wait()
    except TimeoutError:
        raise RunFailed(f"{sidecars.keys() - seen.keys()} did not show a write") from None
    finally:
        loop.remove_reader(events.descriptor)
    return written, seen


# Many changes at once


class ReloadTarget:
    """Somebody who is asked to reload: counts who asks, and answers at once."""

    def __init__(self) -> None:
        self.calls: Counter[str] = Counter()
        self.last: dict[str, float] = {}

    def latest(self, otherwise: float) -> float:
        """When somebody asked last."""
        return max([otherwise, *self.last.values()])

    @contextmanager
    def listening(self) -> Iterator[str]:
        """Listen; the address ends in the name of who is to ask."""
        target = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                name = self.path.strip("/")
                target.calls[name] += 1
                target.last[name] = time.monotonic()
                self.send_response(200)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, name="reload target")
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_port}/{{name}}"
        finally:
            server.shutdown()
            thread.join()
            server.server_close()


async def burst(stage: Staged, *, changes: int) -> ByName:
    """Seconds until all files are right, and how many reloads that was."""
    target = ReloadTarget()
    with target.listening() as url:
        async with running(stage, "burst", changes, REQ_URL=url, REQ_METHOD="POST") as (
            cluster,
            sidecars,
        ):
            target.calls.clear()  # those of the start

            async def make(number: str) -> None:
                await change(cluster, "burst", int(number), "burst")

            await gathered([str(number) for number in range(changes)], make)
            written = time.monotonic()
            moments = await asyncio.gather(
                *(
                    until(partial(_all_show, sidecar, changes), ARRIVES)
                    for sidecar in sidecars.values()
                )
            )
            right = dict(zip(sidecars, moments, strict=True))
            await until(lambda: time.monotonic() > target.latest(written) + QUIET, 60.0 + ARRIVES)
    return {
        name: {
            "calls": target.calls[name],
            "right_seconds": None if moment is None else max(0.0, moment - written),
            "last_call_seconds": max(0.0, target.last.get(name, written) - written),
        }
        for name, moment in right.items()
    }


def _all_show(sidecar: Sidecar, changes: int) -> bool:
    return all(shows(sidecar, number, "burst") for number in range(changes))


# Torn reads


async def torn_reads(stage: Staged, *, seconds: float) -> ByName:
    """How many of the reads of a file that changes saw something that nobody wrote."""
    large = "large.txt"
    async with running(stage, "torn", 1) as (cluster, sidecars):
        maps = cluster.resource(ConfigMap, namespace="torn")
        await maps.patch(object_name(0), {"data": {large: content(0)}})
        files = {name: sidecar.folder / large for name, sidecar in sidecars.items()}
        for file in files.values():
            if await until(partial(_has, file, content(0)), ARRIVES) is None:
                raise RunFailed(f"{file.name} did not arrive")
        readers = {
            name: Child("benchmarks.sidecar_reader", {"file": str(file), "seconds": seconds})
            for name, file in files.items()
        }
        try:
            for reader in readers.values():
                await asyncio.to_thread(reader.hear, ARRIVES)
            deadline, number = time.monotonic() + seconds, 0
            while time.monotonic() < deadline:
                number += 1
                await maps.patch(object_name(0), {"data": {large: content(number)}})
                await asyncio.sleep(1 / PER_SECOND)
            counts = {
                name: await asyncio.to_thread(reader.hear, seconds + ARRIVES)
                for name, reader in readers.items()
            }
        finally:
            for reader in readers.values():
                reader.__exit__(None, None, None)
    return {
        name: {**each, "changes": number, "share": (each["torn"] + each["missing"]) / each["reads"]}
        for name, each in counts.items()
    }


def _has(file: Path, text: str) -> bool:
    try:
        return file.read_text() == text
    except FileNotFoundError:
        return False


# While nothing changes


async def idle(stage: Staged, *, objects: int, windows: int, seconds: float) -> ByName:
    """Requests, bytes and CPU a minute."""
    samples: dict[str, list[dict[str, float]]] = {name: [] for name in stage.names}
    with stage.server.relay(len(stage.names)) as (relay, ports):
        doors = dict(zip(stage.names, ports, strict=True))
        async with running(stage, "idle", objects, doors=doors) as (_, sidecars):

            async def look() -> dict[str, dict[str, float]]:
                relay.say({})
                relayed = await asyncio.to_thread(relay.hear, ARRIVES)
                return {
                    name: {
                        "requests": stage.server.requests(relayed, door),
                        "bytes": relayed["counts"][door]["sent"]
                        + relayed["counts"][door]["received"],
                        "cpu_ms": cpu_of(sidecar.pid) * 1000,
                    }
                    for door, (name, sidecar) in enumerate(sidecars.items())
                }

            before = await look()
            for _ in range(windows):
                await asyncio.sleep(seconds)
                after = await look()
                for name, each in after.items():
                    rate = {key: (each[key] - before[name][key]) * 60 / seconds for key in each}
                    samples[name].append(rate)
                before = after
    return {
        name: {key: summary([each[key] for each in found]) for key in found[0]}
        for name, found in samples.items()
    }
