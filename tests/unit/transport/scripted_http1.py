"""A server on loopback that speaks HTTP/1.1 exactly as a test says, and a forward proxy.

Owns: the sockets, the recording of what arrived and the ways to misbehave.  A script is a
coroutine that gets each connection.  Must not import what it tests.
"""

from __future__ import annotations

import asyncio
import socket
import ssl
import struct
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Self

from tests.unit.transport.scripted_servers import Headers, ScriptedServer


class Http1Server(ScriptedServer):
    """Listens for HTTP/1.1, in clear or with TLS, and runs *script* for every connection."""

    def __init__(
        self,
        script: Callable[[Http1Peer], Awaitable[None]],
        *,
        host: str = "127.0.0.1",
        context: ssl.SSLContext | None = None,
    ) -> None:
        super().__init__()
        self.host = host
        self.scheme = "http" if context is None else "https"
        self.script = script
        self.requests: list[Http1Request] = []
        self.connections: list[Http1Peer] = []
        self._context = context

    async def __aenter__(self) -> Self:
        self._listener = await asyncio.start_server(
            self._accept, self.host, 0, ssl=self._context, limit=1 << 24
        )
        self.port = self._listener.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop_listening(self._listener)
        await self.stop_scripts()
        for peer in self.connections:
            peer.writer.transport.abort()
        for peer in self.connections:
            with suppress(OSError):
                await peer.writer.wait_closed()
        await self._listener.wait_closed()
        self.raise_failures()

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        peer = Http1Peer(self, reader, writer)
        self.connections.append(peer)
        self.start(self._run(peer))

    async def _run(self, peer: Http1Peer) -> None:
        with suppress(ConnectionError, asyncio.IncompleteReadError):
            await self.script(peer)


@dataclass(frozen=True)
class Http1Request:
    """One request as it stood on the wire."""

    method: str
    target: str
    headers: Headers
    body: bytes


class Http1Peer:
    """One connection, from the server's side."""

    def __init__(
        self, server: Http1Server, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        self.server = server
        self.reader = reader
        self.writer = writer

    async def request(self) -> Http1Request:
        """The next request; IncompleteReadError when the client is gone."""
        head = (await self.reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, *lines = head.rstrip("\r\n").split("\r\n")
        method, target, _ = first.split(" ")
        headers = [(name, value) for name, _, value in (line.partition(": ") for line in lines)]
        length = next((int(value) for name, value in headers if name == "Content-Length"), 0)
        request = Http1Request(method, target, headers, await self.reader.readexactly(length))
        self.server.requests.append(request)
        self.server.tell()
        return request

    def write(self, raw: bytes) -> None:
        """Send bytes as they are."""
        self.writer.write(raw)

    def answer(self, body: bytes = b"", *, status: str = "200 OK", headers: Headers = ()) -> None:
        """A whole answer with a content-length."""
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in headers]
        self.write("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def chunked(self, *, headers: Headers = ()) -> None:
        """The head of an answer that goes on."""
        lines = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked"]
        lines += [f"{name}: {value}" for name, value in headers]
        self.write("\r\n".join([*lines, "", ""]).encode("latin-1"))

    def chunk(self, data: bytes) -> None:
        """One chunk; the empty one is the last."""
        self.write(b"%x\r\n%s\r\n" % (len(data), data))

    def close(self) -> None:
        """End with a FIN."""
        self.writer.close()

    def reset(self) -> None:
        """End with a TCP reset."""
        linger = struct.pack("ii", 1, 0)
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()

    async def client_left(self) -> None:
        """Wait until the client has closed the connection."""
        with suppress(ConnectionError):
            while await self.reader.read(65536):
                pass


async def forward(peer: Http1Peer) -> None:
    """A script for Http1Server: a forward proxy that records CONNECT and carries the bytes."""
    request = await peer.request()
    host, _, port = request.target.rpartition(":")
    reader, writer = await asyncio.open_connection(host.strip("[]"), int(port))
    peer.write(b"HTTP/1.1 200 Connection established\r\n\r\n")
    try:
        async with asyncio.TaskGroup() as both:
            both.create_task(_carry(peer.reader, writer))
            both.create_task(_carry(reader, peer.writer))
    finally:
        writer.transport.abort()
        with suppress(OSError):
            await writer.wait_closed()


async def shake_hands(peer: Http1Peer, context: ssl.SSLContext) -> None:
    """Do a TLS handshake as real servers do, who say why they refuse; asyncio's does not."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    tls = context.wrap_bio(incoming, outgoing, server_side=True)
    while True:
        try:
            return tls.do_handshake()
        except ssl.SSLWantReadError:
            peer.write(outgoing.read())
            incoming.write(await peer.reader.read(65536))
        except ssl.SSLError:
            peer.write(outgoing.read())
            await peer.client_left()
            return None


async def _carry(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with suppress(ConnectionError):
        while data := await reader.read(65536):
            writer.write(data)
            await writer.drain()
        writer.close()
