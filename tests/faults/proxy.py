"""A proxy on loopback between a client and a server, which does wrong what it is told to.

Owns: the sockets, who is harmed, and the counting.  What can go wrong is ``harms``, the framing
of HTTP/1.1 is ``http_answers``.  Must not know Kubernetes.  Everything that is left to chance
comes from the ``chance`` that it is given, so that a seed tells the same story again.

::

    async with FaultProxy("127.0.0.1", server.port, chance=random.Random(1)) as proxy:
        proxy.weather = Weather(latency=0.05)
        proxy.strike(Harm.RESET)
        proxy.lay(Ambush(harm=Harm.CUT, after=200))
        proxy.refuse()
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import random
import socket
import ssl
from collections import Counter
from dataclasses import dataclass
from types import TracebackType
from typing import Final, Self, final

from reflet.runtime.tasks import TaskOwner
from tests.faults.harms import (
    FAIR,
    IMMEDIATE,
    OF_CHUNKS,
    Ambush,
    ChunkChoice,
    Harm,
    any_chunk,
)
from tests.faults.http_answers import AnswerFraming, Part, framed
from tests.faults.sockets import close, deaf, reset

LOOPBACK: Final = "127.0.0.1"
READ_AT_ONCE: Final = 64 * 1024
STEPS_OF_A_CONNECTION: Final = 3  # rounds of the loop from accepting one to knowing it


@dataclass(frozen=True, slots=True)
class SpokenTls:
    """TLS that the proxy itself speaks: with clients by *serving*, with the server by *trusting*.

    Both must offer the same protocols by ALPN.
    """

    serving: ssl.SSLContext
    trusting: ssl.SSLContext
    server_name: str = LOOPBACK


class _Over(Exception):
    """The connection has been ended on purpose."""


@final
class FaultProxy:
    """Forwards every connection to *host* and *port*, until something else is asked of it.

    With ``http=True`` it understands HTTP/1.1 answers, and harms of chunks are possible.  ``port``
    stays the same while it refuses.  ``struck`` counts what was done.  Belongs to one event loop.
    """

    port: int

    def __init__(
        self,
        host: str,
        port: int,
        *,
        chance: random.Random,
        http: bool = False,
        tls: SpokenTls | None = None,
    ) -> None:
        self.upstream = (host, port)
        self.chance = chance
        self.http = http
        self.tls = tls
        self.weather = FAIR
        self.struck: Counter[Harm] = Counter()
        self.accepted = 0
        self.deaf: list[socket.socket] = []
        self._ambushes: list[Ambush] = []
        self._links: set[_Link] = set()
        self._listener: asyncio.Server | None = None
        self._tasks = TaskOwner("fault proxy")

    async def __aenter__(self) -> Self:
        # Held while nobody listens, so that no other program takes the port meanwhile.
        self._reserved = socket.socket()
        self._reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
        self._reserved.bind((LOOPBACK, 0))
        self.port = self._reserved.getsockname()[1]
        await self._tasks.__aenter__()
        await self.accept()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._close_listener()
        await self._tasks.__aexit__(kind, error, trace)
        self._forget_the_deaf()
        self._reserved.close()

    # What goes wrong

    @property
    def connections(self) -> int:
        """How many are open, half-open ones included."""
        return len(self._links)

    @property
    def refuses(self) -> bool:
        """Whether nobody can connect."""
        return self._listener is None

    def strike(self, harm: Harm, *, share: float = 1.0, chooses: ChunkChoice = any_chunk) -> int:
        """Harm open connections, each with the chance *share*; how many are or will be harmed.

        *chooses* tells which chunk is harmed, where *harm* is one of chunks.
        """
        self._check(harm)
        chosen = [
            link
            for link in sorted(self._links, key=lambda link: link.number)
            if not link.half_open and self.chance.random() < share
        ]
        for link in chosen:
            link.harm(harm, chooses)
        return len(chosen)

    def lay(self, ambush: Ambush) -> None:
        """Harm connections that are to come."""
        self._check(ambush.harm)
        self._ambushes.append(ambush)

    async def refuse(self) -> None:
        """Refuse new connections; those that are open go on."""
        await self._close_listener()

    async def accept(self) -> None:
        """Take connections again, at the same port."""
        if self._listener is None:
            self._listener = await asyncio.start_server(
                self._accepted,
                LOOPBACK,
                self.port,
                reuse_port=True,
                limit=READ_AT_ONCE,
                ssl=None if self.tls is None else self.tls.serving,
            )

    async def heal(self) -> None:
        """Let nothing more go wrong; connections that are half-open stay so.

        Those of a machine that is gone end: it is back, and does not know them.
        """
        self._forget_the_deaf()
        self.weather = FAIR
        self._ambushes.clear()
        for link in self._links:
            link.forgive()
        await self.accept()

    def _forget_the_deaf(self) -> None:
        deaf, self.deaf = self.deaf, []
        for connection in deaf:
            connection.close()

    def _check(self, harm: Harm) -> None:
        if harm in OF_CHUNKS and not self.http:
            raise ValueError(f"{harm} needs a proxy that understands HTTP")

    # Connections

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.accepted += 1
        link = _Link(self, self.accepted, reader, writer, self._next_ambush())
        self._links.add(link)
        self._tasks.start(self._carry(link), name=f"link {link.number} of the fault proxy")

    def _next_ambush(self) -> Ambush | None:
        if not self._ambushes:
            return None
        first = self._ambushes.pop(0)
        if first.times > 1:
            self._ambushes.insert(0, dataclasses.replace(first, times=first.times - 1))
        return first

    async def _carry(self, link: _Link) -> None:
        try:
            await link.run()
        finally:
            self._links.discard(link)

    async def _close_listener(self) -> None:
        listener, self._listener = self._listener, None
        if listener is None:
            return
        loop = asyncio.get_running_loop()
        for listening in listener.sockets:
            loop.remove_reader(listening)
        # asyncio forgets to close what a listener took in the moment in which it is closed.
        for _ in range(STEPS_OF_A_CONNECTION):
            await asyncio.sleep(0)
        listener.close()


@final
class _Link:
    """One client's connection, and the proxy's own to the server for it."""

    def __init__(
        self,
        proxy: FaultProxy,
        number: int,
        reader: asyncio.StreamReader,
        writer: asyncio.StreamWriter,
        ambush: Ambush | None,
    ) -> None:
        self.number = number
        self.half_open = False
        self._proxy = proxy
        self._from_client = reader
        self._to_client = writer
        self._to_server: asyncio.StreamWriter | None = None
        self._ambush = ambush
        self._pending: Harm | None = None
        self._chooses: ChunkChoice = any_chunk
        self._framing = AnswerFraming() if proxy.http else None
        self._received = 0
        self._ended = asyncio.Event()

    # Harm

    def harm(self, harm: Harm, chooses: ChunkChoice = any_chunk) -> None:
        """Do it now, or with the next bytes of the server."""
        if harm in IMMEDIATE:
            self._proxy.struck[harm] += 1
            self._do(harm)
        else:
            self._pending, self._chooses = harm, chooses

    def forgive(self) -> None:
        """Forget what has not been done."""
        self._pending = self._ambush = None

    def _do(self, harm: Harm) -> None:
        match harm:
            case Harm.HALF_OPEN:
                self.half_open = True
                return
            case Harm.VANISH:
                left_behind = deaf(self._to_client)
                if left_behind is not None:
                    self._proxy.deaf.append(left_behind)
                self._to_client.transport.abort()
            case Harm.RESET:
                for writer in self._writers():
                    reset(writer)
            case Harm.FAREWELL:
                close(self._to_client)
            case _:
                self._hang_up()
        self._ended.set()

    def _hang_up(self) -> None:
        if self._proxy.tls is None:
            close(self._to_client)
        else:
            self._to_client.transport.abort()  # closing would say the farewell of TLS

    def _writers(self) -> list[asyncio.StreamWriter]:
        return [each for each in (self._to_client, self._to_server) if each is not None]

    # Forwarding

    async def run(self) -> None:
        """Forward both ways until one end is gone, or the harm is done."""
        try:
            if self._ambush is not None and self._ambush.after == 0:
                self._spring()
            if not self._ended.is_set():
                await self._forward()
        finally:
            for writer in self._writers():
                close(writer)
            # A peer that reads no more must not hold up the end.
            with contextlib.suppress(OSError, TimeoutError):
                async with asyncio.timeout(0.2):
                    for writer in self._writers():
                        await writer.wait_closed()
            for writer in self._writers():
                writer.transport.abort()

    async def _forward(self) -> None:
        host, port = self._proxy.upstream
        tls = self._proxy.tls
        try:
            from_server, self._to_server = await asyncio.open_connection(
                host,
                port,
                limit=READ_AT_ONCE,
                ssl=None if tls is None else tls.trusting,
                server_hostname=None if tls is None else tls.server_name,
            )
        except OSError:
            reset(self._to_client)
            return
        tasks = [
            asyncio.create_task(self._up(self._to_server), name=f"link {self.number} up"),
            asyncio.create_task(self._down(from_server), name=f"link {self.number} down"),
            asyncio.create_task(self._ended.wait(), name=f"link {self.number} ends"),
        ]
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in tasks:
                task.cancel()
            results = await asyncio.gather(*tasks, return_exceptions=True)
        for result in results:
            # A connection that breaks is what this is for; anything else is a mistake here.
            if isinstance(result, Exception) and not isinstance(result, (OSError, _Over)):
                raise result

    async def _up(self, to_server: asyncio.StreamWriter) -> None:
        while data := await self._from_client.read(READ_AT_ONCE):
            await self._endure(len(data))
            if not self.half_open:
                to_server.write(data)
                await to_server.drain()

    async def _down(self, from_server: asyncio.StreamReader) -> None:
        while data := await from_server.read(READ_AT_ONCE):
            if not self._received:
                await asyncio.sleep(self._proxy.weather.first_byte)
            await self._endure(len(data))
            await self._deliver(data)
        if self.half_open:
            await self._ended.wait()  # the client is not to learn of the end
        if self._framing is not None:
            self._to_client.write(self._framing.rest())
        await self._to_client.drain()

    async def _endure(self, size: int) -> None:
        weather = self._proxy.weather
        pause = weather.latency + weather.jitter * self._proxy.chance.random()
        if weather.bytes_per_second:
            pause += size / weather.bytes_per_second
        if pause:
            await asyncio.sleep(pause)

    async def _deliver(self, data: bytes) -> None:
        before, self._received = self._received, self._received + len(data)
        ambush = self._ambush
        if ambush is not None and self._received >= ambush.after:
            await self._send(data[: ambush.after - before])
            self._spring()
            if self._ended.is_set():
                raise _Over
            data = data[ambush.after - before :]
        await self._send(data)

    def _spring(self) -> None:
        ambush, self._ambush = self._ambush, None
        if ambush is not None:
            self.harm(ambush.harm, ambush.chooses)

    async def _send(self, data: bytes) -> None:
        if self.half_open or not data:
            return
        if self._framing is None:
            self._to_client.write(self._bytes_harmed(data))
        else:
            for piece in self._framing.feed(data):
                raw = piece.raw
                if piece.part is Part.CHUNK and self._pending in OF_CHUNKS:
                    raw = self._chunk_harmed(raw, piece.content)
                self._to_client.write(self._bytes_harmed(raw))
                if self._ended.is_set():
                    break
        await self._to_client.drain()
        if self._ended.is_set():
            raise _Over

    def _bytes_harmed(self, data: bytes) -> bytes:
        match self._pending:
            case Harm.CUT:
                self._done(ends=True)
                return data[: self._proxy.chance.randrange(len(data))]
            case Harm.REPEAT:
                self._done()
                return data + data
            case _:
                return data

    def _chunk_harmed(self, raw: bytes, content: bytes) -> bytes:
        if not self._chooses(content):
            return raw
        part = self._proxy.chance.randrange(1, max(2, len(content)))
        match self._pending:
            case Harm.CUT_CHUNK:
                self._done(ends=True)
                return raw[: len(raw) - len(content) - 2 + part]
            case Harm.SHORTEN_CHUNK:
                self._done()
                return framed(content[:part])
            case _:
                self._done()
                return raw + raw

    def _done(self, *, ends: bool = False) -> None:
        if self._pending is not None:
            self._proxy.struck[self._pending] += 1
        self._pending = None
        if ends:
            self._ended.set()
