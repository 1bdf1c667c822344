"""The bare loop: reads the socket, takes HTTP's framing off, decodes the lines, and counts them.

Nothing that mirrors can be faster with the same decoder, so this is the limit.  As ``keep`` it
also puts each object into a dict: what it costs that memory is not fresh any more, which no mirror
can avoid.  A blocking socket in a thread; chunked HTTP/1.1 without TLS, HTTP/2 with it.  Knows
exactly as much HTTP as the benchmark's own server speaks.
"""

from __future__ import annotations

import asyncio
import json
import os
import socket
import ssl
import struct
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any, Final, cast
from urllib.parse import urlsplit

import hpack

from benchmarks.event_server import DATA, END_HEADERS, END_STREAM, HEADERS, PREFACE, SETTINGS, frame
from benchmarks.mirror_peers.launch import LAYER
from benchmarks.mirror_work import Held, Meter, Task, work
from reflet.api.core.config import ConfigMap
from reflet.api.watch_events import BrokenLine, ErrorEvent, EventDecoder, WatchEvent

READ: Final = 256 * 1024
HEAD: Final = 9  # bytes of a frame's head
WINDOW_UPDATE: Final = 0x8
LARGEST_WINDOW: Final = 2**31 - 1
INITIAL_WINDOW_SIZE: Final = 0x4


class PlainExchange:
    """HTTP/1.1 without TLS."""

    def __init__(self, task: Task) -> None:
        address = urlsplit(task.url)
        self._socket = socket.create_connection((address.hostname, address.port))

    def body(self, target: str) -> Iterator[bytes]:
        """The body of the answer, as it comes."""
        self._socket.sendall(f"GET {target} HTTP/1.1\r\nhost: bench\r\n\r\n".encode())
        pending = b""
        while b"\r\n\r\n" not in pending:
            pending += self._socket.recv(READ)
        head, pending = pending.split(b"\r\n\r\n", 1)
        if b"chunked" in head:
            yield from self._chunks(pending)
            return
        length = int(head.rpartition(b"content-length: ")[2])
        while length:
            yield pending
            length -= len(pending)
            pending = self._socket.recv(READ) if length else b""

    def _chunks(self, pending: bytes) -> Iterator[bytes]:
        """The content of chunks, as many as are complete at a time."""
        while True:
            whole: list[bytes] = []
            begin = 0
            while (end_of_head := pending.find(b"\r\n", begin)) >= 0:
                end = end_of_head + 2 + int(pending[begin:end_of_head], 16)
                if end + 2 > len(pending):
                    break
                whole.append(pending[end_of_head + 2 : end])
                begin = end + 2
            if whole:
                yield b"".join(whole)
            data = self._socket.recv(READ)
            if not data:
                return
            pending = pending[begin:] + data


class Http2Exchange:
    """HTTP/2 over TLS, windows opened as far as they go."""

    def __init__(self, task: Task) -> None:
        address = urlsplit(task.url)
        context = ssl.create_default_context(cafile=task.ca_file)
        context.set_alpn_protocols(["h2"])
        plain = socket.create_connection((address.hostname, address.port))
        self._socket = context.wrap_socket(plain, server_hostname=address.hostname)
        settings = struct.pack("!HL", INITIAL_WINDOW_SIZE, LARGEST_WINDOW)
        window = (LARGEST_WINDOW - 65535).to_bytes(4, "big")
        self._socket.sendall(
            PREFACE + frame(SETTINGS, 0, 0, settings) + frame(WINDOW_UPDATE, 0, 0, window)
        )
        self._stream = -1
        self._encoder = hpack.Encoder()

    def body(self, target: str) -> Iterator[bytes]:
        """The body of the answer, as it comes."""
        self._stream += 2
        headers = ((":method", "GET"), (":scheme", "https"), (":authority", "bench"))
        block = self._encoder.encode([*headers, (":path", target)])
        self._socket.sendall(frame(HEADERS, END_HEADERS | END_STREAM, self._stream, block))
        pending = b""
        while True:
            whole: list[bytes] = []
            begin = 0
            ended = False
            while begin + HEAD <= len(pending):
                start = begin + HEAD
                end = start + int.from_bytes(pending[begin : begin + 3], "big")
                if end > len(pending):
                    break
                if pending[begin + 3] == DATA:
                    whole.append(pending[start:end])
                    ended = bool(pending[begin + 4] & END_STREAM)
                begin = end
            if whole:
                yield b"".join(whole)
            if ended:
                return
            data = self._socket.recv(READ)
            if not data:
                return
            pending = pending[begin:] + data


class Counted:
    """What the loop remembers: how many objects came, and the last event's."""

    def __init__(self, count: int) -> None:
        self._count = count
        self.last: Any = None

    def __len__(self) -> int:
        return self._count

    def version(self, name: str) -> str:
        """The version of the object that came last, if it has this name."""
        metadata = self.last.metadata
        return str(metadata.resource_version) if metadata.name == name else ""


def follow(
    exchange: PlainExchange | Http2Exchange, target: str, meter: Meter, counted: Counted
) -> None:
    """Read, decode, count."""
    decode = EventDecoder(ConfigMap).decode_lines
    keeping = os.environ.get(LAYER) == "keep"
    kept: dict[str, ConfigMap] = {}
    pending = b""
    for data in exchange.body(target):
        end = data.rfind(b"\n") + 1
        events = decode(pending + data[:end])
        pending = data[end:]
        match events[-1]:
            case ErrorEvent() | BrokenLine() as error:
                raise RuntimeError(f"the watch broke: {error}")
            case last:
                counted.last = last.object
        if keeping:
            for event in cast("list[WatchEvent[ConfigMap]]", events):
                kept[event.object.metadata.name] = event.object
        meter.many(len(events))


@asynccontextmanager
async def mirrored(
    task: Task,
    namespace: str,
    objects: int,  # noqa: ARG001 - the list says how many there are
    meter: Meter | None,
) -> AsyncIterator[Held]:
    """List, then read a watch."""
    exchange = Http2Exchange(task) if task.ca_file else PlainExchange(task)
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    counted = Counted(len(json.loads(b"".join(exchange.body(path)))["items"]))
    if meter is not None:
        arguments = (exchange, f"{path}?watch=true", meter, counted)
        threading.Thread(target=follow, args=arguments, daemon=True).start()
    await asyncio.sleep(0)
    yield counted


if __name__ == "__main__":
    work(mirrored)
