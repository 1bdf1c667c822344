"""Load for a development server: thousands of watches and a few writers, on bare sockets.

Owns: the connections, the moments at which events arrive, and what the server's process costs
meanwhile.  Must not know which jobs are run or how large they are (``devserver``), and shares
nothing with the package: a client of ours would be part of what is measured.

A child of its own (see ``measuring.Child``): the task names the job, the answer has its figures.
"""

from __future__ import annotations

import asyncio
import json
import math
import os
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, Final, Self
from urllib.parse import urlsplit

import msgspec

from benchmarks.measuring import answer, first_line, percentile

CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
OPENED_AT_ONCE: Final = 64
WRITERS: Final = 16
READING_PAUSE: Final = 0.03  # seconds
SETTLED: Final = 1 / 6  # of a soak, after which memory is looked at
VALUE: Final = "v" * 1000  # what an object holds besides its number
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICK: Final = os.sysconf("SC_CLK_TCK")

# asyncio receives into 256 KiB a TLS connection; five thousand of them would be what is measured.
SSLProtocol.max_size = 16 * 1024

_received: Final = memoryview(bytearray(256 * 1024))
"""Every connection receives into this: what arrives is counted before the next can arrive."""

Job = Callable[["Target", Mapping[str, Any]], Awaitable[dict[str, Any]]]


class Target(msgspec.Struct, frozen=True):
    """A running server."""

    url: str
    token: str
    authority: str
    process: int

    @property
    def address(self) -> tuple[str, int]:
        """Its host and port."""
        parts = urlsplit(self.url)
        assert parts.hostname is not None
        assert parts.port is not None
        return parts.hostname, parts.port

    @property
    def context(self) -> ssl.SSLContext | None:
        """What TLS needs, if there is TLS."""
        return ssl.create_default_context(cadata=self.authority) if self.authority else None

    def resident_bytes(self) -> int:
        """Memory of the server that is in RAM."""
        return int(Path(f"/proc/{self.process}/statm").read_text().split()[1]) * PAGE

    def cpu_seconds(self) -> float:
        """CPU time of the server."""
        fields = Path(f"/proc/{self.process}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / TICK

    def head(self, method: str, path: str, more: str = "") -> bytes:
        """The head of a request."""
        lines = (
            f"{method} {path} HTTP/1.1",
            f"Host: {self.address[0]}:{self.address[1]}",
            f"Authorization: Bearer {self.token}",
            more,
        )
        return "\r\n".join(filter(None, lines)).encode() + b"\r\n\r\n"


class Crowd:
    """Watches that are counted together."""

    def __init__(self, target: Target) -> None:
        self.target = target
        self.watchers: list[Watcher] = []
        self.arrivals: list[float] = []
        self.broken: list[str] = []
        self._wanted = 0
        self._complete: asyncio.Future[None] | None = None

    async def open(self, paths: Sequence[str], *, whole: int = 0) -> list[float]:
        """Open a watch for each path and say how long each took; the first *whole* keep it all."""
        begin = len(self.watchers)
        self.watchers += [Watcher(self, number < whole) for number in range(len(paths))]
        context, gate = self.target.context, asyncio.Semaphore(OPENED_AT_ONCE)
        loop = asyncio.get_running_loop()

        async def one(watcher: Watcher, path: str) -> float:
            async with gate:
                began = monotonic()
                watcher.request = self.target.head("GET", path)
                watcher.is_open = loop.create_future()
                await loop.create_connection(lambda: watcher, *self.target.address, ssl=context)
                await watcher.is_open
                return monotonic() - began

        jobs = zip(self.watchers[begin:], paths, strict=True)
        return await asyncio.gather(*(one(watcher, path) for watcher, path in jobs))

    def expect(self, events: int) -> asyncio.Future[None]:
        """Forget what arrived, and give a future that is done when so many have arrived."""
        self.arrivals = []
        self._wanted = events
        self._complete = asyncio.get_running_loop().create_future()
        return self._complete

    def arrived(self, events: int) -> None:
        """Note events."""
        self.arrivals.extend([monotonic()] * events)
        if self._complete is not None and len(self.arrivals) >= self._wanted:
            self._complete.set_result(None)
            self._complete = None

    def read_for_a_moment(self) -> None:
        """Receive what is there, and nothing more until the next call."""
        for watcher in self.watchers:
            watcher.read_once()

    def close(self) -> None:
        """Close all connections."""
        for watcher in self.watchers:
            watcher.close()


class Watcher(asyncio.BufferedProtocol):
    """One watch, whose events are counted and not read.

    Every event is a line, and JSON has no line breaks inside, so counting them is enough.
    """

    def __init__(self, crowd: Crowd, whole: bool) -> None:
        self.request = b""
        self.is_open: asyncio.Future[None] | None = None
        self.events = 0
        self.content: bytearray | None = bytearray() if whole else None
        self._crowd = crowd
        self._transport: asyncio.Transport | None = None
        self._last = b""
        self._reads_once = False

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport
        transport.write(self.request)

    def get_buffer(self, sizehint: int) -> memoryview:
        del sizehint
        return _received

    def buffer_updated(self, nbytes: int) -> None:
        if self._reads_once and self._transport is not None:
            self._transport.pause_reading()
        content = self._last + bytes(_received[:nbytes])
        if self.is_open is not None:
            head, end, content = content.partition(b"\r\n\r\n")
            if not end:
                self._last = head
                return
            if not head.startswith(b"HTTP/1.1 200 "):
                self._crowd.broken.append(head.decode())
            self.is_open.set_result(None)
            self.is_open = None
        events = content.count(b"}\n")
        self._last = b"}" if content.endswith(b"}") else b""
        if self.content is not None:
            self.content += content[: len(content) - len(self._last)]
        if events:
            self.events += events
            self._crowd.arrived(events)

    def connection_lost(self, exc: Exception | None) -> None:
        if self._transport is not None:
            self._crowd.broken.append(f"a watch has ended: {exc}")

    def close(self) -> None:
        transport, self._transport = self._transport, None
        if transport is not None:
            transport.abort()

    def read_once(self) -> None:
        """Receive once, and then nothing until the next call."""
        assert self._transport is not None
        self._transport.resume_reading()
        self._reads_once = True

    def versions(self) -> list[int]:
        """The versions of the objects seen, in order; only for a watch that keeps it all."""
        assert self.content is not None
        lines = (line for line in self.content.split(b"\r\n") if line.startswith(b"{"))
        return [int(json.loads(line)["object"]["metadata"]["resourceVersion"]) for line in lines]


class Writer:
    """One connection that writes, one request after the other."""

    def __init__(
        self, target: Target, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self._target = target
        self._reader = reader
        self._writer = writer

    @classmethod
    async def open(cls, target: Target) -> Self:
        return cls(target, *await asyncio.open_connection(*target.address, ssl=target.context))

    async def request(self, method: str, path: str, body: bytes) -> Any:
        """Send a request and give the answer's document; any refusal is an error."""
        more = f"Content-Type: application/json\r\nContent-Length: {len(body)}"
        self._writer.write(self._target.head(method, path, more) + body)
        head = (await self._reader.readuntil(b"\r\n\r\n")).decode()
        length = next(
            int(line.partition(":")[2])
            for line in head.splitlines()
            if line.lower().startswith("content-length:")
        )
        content = await self._reader.readexactly(length)
        if not head.startswith(("HTTP/1.1 200 ", "HTTP/1.1 201 ")):
            raise RuntimeError(f"{method} {path}: {head}{content.decode()}")
        return json.loads(content)

    async def create(self, name: str) -> None:
        await self.request("POST", CONFIG_MAPS, config_map(name, 0))

    async def write(self, name: str, number: int) -> int:
        """Change an object and give its new version."""
        made = await self.request("PUT", f"{CONFIG_MAPS}/{name}", config_map(name, number))
        return int(made["metadata"]["resourceVersion"])

    def close(self) -> None:
        self._writer.transport.abort()


@asynccontextmanager
async def writers(target: Target, number: int) -> Any:
    """Open connections that write."""
    opened = [await Writer.open(target) for _ in range(number)]
    try:
        yield opened
    finally:
        for each in opened:
            each.close()


def config_map(name: str, number: int) -> bytes:
    """An object of a bit more than one KiB."""
    data = {"number": str(number), "value": VALUE}
    return json.dumps({"metadata": {"name": name}, "data": data}).encode()


async def shared(
    opened: Sequence[Writer], numbers: int, work: Callable[[Writer, int], Awaitable[None]]
) -> None:
    """Let the writers do the numbers from 0, each the next as soon as it is free."""
    following = count()

    async def one(writer: Writer) -> None:
        while (number := next(following)) < numbers:
            await work(writer, number)

    await asyncio.gather(*(one(writer) for writer in opened))


# The jobs


async def hold(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Open watches of one object each, then write to some of the objects."""
    watches, writes = task["watches"], task["writes"]
    written = [index * watches // writes for index in range(writes)]
    crowd = Crowd(target)
    async with writers(target, 1) as (writer,):
        for index in written:
            await writer.create(f"c{index}")
        version = await writer.write("c0", -1)
        query = f"watch=1&timeoutSeconds=3600&resourceVersion={version}&fieldSelector="
        paths = [f"{CONFIG_MAPS}?{query}metadata.name%3Dc{index}" for index in range(watches)]
        memory, cpu, began = target.resident_bytes(), target.cpu_seconds(), monotonic()
        opening = await crowd.open(paths)
        seconds = monotonic() - began
        cpu = target.cpu_seconds() - cpu
        memory = target.resident_bytes() - memory
        latencies = []
        for number, index in enumerate(written):
            complete = crowd.expect(1)
            began = monotonic()
            await writer.write(f"c{index}", number + 1)
            await complete
            latencies.append(crowd.arrivals[0] - began)
        told = [watcher.events for watcher in crowd.watchers]
    crowd.close()
    wanted = [0] * watches
    for index in written:
        wanted[index] += 1
    return {
        "open_seconds": seconds,
        "open_p50_ms": percentile(opening, 0.50) * 1000,
        "open_p99_ms": percentile(opening, 0.99) * 1000,
        "open_cpu_microseconds": cpu / watches * 1e6,
        "bytes_per_watch": memory / watches,
        "event_p50_ms": percentile(latencies, 0.50) * 1000,
        "event_p99_ms": percentile(latencies, 0.99) * 1000,
        "wrong": sum(one != other for one, other in zip(told, wanted, strict=True)),
        "broken": len(crowd.broken),
    }


async def fan_out(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Open watches of everything, then write, one write after everybody has heard of the last."""
    watches, writes, warm_up = task["watches"], task["writes"], 3
    crowd = Crowd(target)
    each: list[float] = []
    last: list[float] = []
    async with writers(target, 1) as (writer,):
        await writer.create("shared")
        version = await writer.write("shared", -1)
        path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=3600&resourceVersion={version}"
        await crowd.open([path] * watches)
        cpu = 0.0
        for number in range(warm_up + writes):
            if number == warm_up:
                cpu, each, last = target.cpu_seconds(), [], []
            complete = crowd.expect(watches)
            began = monotonic()
            await writer.write("shared", number)
            await complete
            each += [moment - began for moment in crowd.arrivals]
            last.append(crowd.arrivals[-1] - began)
        cpu = target.cpu_seconds() - cpu
    crowd.close()
    return {
        "each_p50_ms": percentile(each, 0.50) * 1000,
        "each_p99_ms": percentile(each, 0.99) * 1000,
        "last_p50_ms": percentile(last, 0.50) * 1000,
        "last_p99_ms": percentile(last, 0.99) * 1000,
        "cpu_microseconds": cpu / writes / watches * 1e6,
        "lost": sum(writes + warm_up - watcher.events for watcher in crowd.watchers),
        "broken": len(crowd.broken),
    }


async def soak_write(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Write at a steady rate for a while, once the watches are open.

    A write's latency counts from the moment at which it is due, so a server that falls behind
    cannot hide it.
    """
    rate, objects, warm_up = task["rate"], task["objects"], task["warm_up"]
    total = int(rate * task["seconds"])
    versions: list[int] = []
    latencies: list[float] = []
    async with writers(target, WRITERS) as opened:
        await shared(opened, objects, lambda writer, number: writer.create(f"c{number}"))

        async def write(writer: Writer, number: int) -> None:
            versions.append(await writer.write(f"c{number % objects}", number + 1))

        # The server remembers so many changes; before that, its memory has to grow.
        began = monotonic()
        await shared(opened, warm_up, write)
        fastest = warm_up / (monotonic() - began)
        answer({"version": max(versions)})
        await asyncio.to_thread(first_line)
        versions.clear()
        memory = [target.resident_bytes()]
        sampling = asyncio.create_task(sample(target, memory))
        cpu, began = target.cpu_seconds(), monotonic()

        async def write_when_due(writer: Writer, number: int) -> None:
            due = began + number / rate
            await asyncio.sleep(max(0.0, due - monotonic()))
            await write(writer, warm_up + number)
            latencies.append(monotonic() - due)

        await shared(opened, total, write_when_due)
        seconds = monotonic() - began
        cpu = target.cpu_seconds() - cpu
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
        memory.append(target.resident_bytes())
    return {
        "versions": sorted(versions),
        "figures": {
            "fastest_writes_per_second": fastest,
            "writes_per_second": total / seconds,
            "write_p50_ms": percentile(latencies, 0.50) * 1000,
            "write_p99_ms": percentile(latencies, 0.99) * 1000,
            "write_worst_ms": max(latencies) * 1000,
            "cpu_share": cpu / seconds,
            # By then every watch has what it needs for its first events, and never again.
            "memory_at_start": memory[math.ceil(len(memory) * SETTLED)],
            "memory_at_end": memory[-1],
            "memory_most": max(memory),
        },
    }


async def soak_watch(target: Target, task: Mapping[str, Any]) -> dict[str, Any]:
    """Watch everything, and say at the end what was seen.

    What arrives is read a few dozen times a second: this process should not take the time
    that the server needs.
    """
    crowd = Crowd(target)
    total = int(task["rate"] * task["seconds"])
    path = f"{CONFIG_MAPS}?watch=1&timeoutSeconds=3600&resourceVersion={task['version']}"
    await crowd.open([path] * task["watches"], whole=1)
    complete = crowd.expect(total * task["watches"])
    answer({"open": len(crowd.watchers)})
    while not complete.done() and not crowd.broken:
        crowd.read_for_a_moment()
        await asyncio.sleep(READING_PAUSE)
    crowd.close()
    return {
        "versions": crowd.watchers[0].versions(),
        "figures": {
            "lost": sum(total - watcher.events for watcher in crowd.watchers),
            "broken": len(crowd.broken),
        },
    }


async def sample(target: Target, memory: list[int]) -> None:
    """Note the server's memory every second."""
    while True:
        await asyncio.sleep(1)
        memory.append(target.resident_bytes())


JOBS: Final[Mapping[str, Job]] = {
    "hold": hold,
    "fan_out": fan_out,
    "soak_write": soak_write,
    "soak_watch": soak_watch,
}


async def main() -> None:
    """Do the job of the task."""
    task = first_line()
    target = msgspec.convert(task["target"], Target)
    async with asyncio.timeout(task["patience"]):
        answer(await JOBS[task["job"]](target, task))


if __name__ == "__main__":
    asyncio.run(main())
