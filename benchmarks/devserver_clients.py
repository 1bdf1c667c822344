"""Connections for load on a development server: watches and writers, on bare sockets.

Shares nothing with the package: a client of ours would be part of what is measured.
"""

from __future__ import annotations

import asyncio
import json
import os
import ssl
from asyncio.sslproto import SSLProtocol
from collections.abc import Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from itertools import count
from pathlib import Path
from time import monotonic
from typing import Any, Final, Self
from urllib.parse import urlsplit

import msgspec

CONFIG_MAPS: Final = "/api/v1/namespaces/default/configmaps"
OPENED_AT_ONCE: Final = 64
VALUE: Final = "v" * 1000  # what an object holds besides its number
PAGE: Final = os.sysconf("SC_PAGE_SIZE")
TICK: Final = os.sysconf("SC_CLK_TCK")

# asyncio receives into 256 KiB a TLS connection; five thousand of them would be what is measured.
SSLProtocol.max_size = 16 * 1024

_received: Final = memoryview(bytearray(256 * 1024))
"""Every connection receives into this: what arrives is counted before the next can arrive."""


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
