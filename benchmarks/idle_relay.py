"""A relay between clients and a server that counts what passes: connections and bytes.

Owns: the doors, one for each client, and their counts.  Must not know what is said: mostly the
clients and the server speak TLS, and bytes are counted as they travel.  Of those that do not,
requests are counted too.

A child (see ``measuring.Child``): says the ports of its doors, and then, for every line it is
sent, what has come through each of them so far.  After ``{"hush": 1}`` nothing passes any more on
the connections that the second door has: they stay open, as after the loss of a route.  Behind each
door the server is called from a loopback address of its own, by which its log tells the clients
apart.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, dataclass
from functools import partial
from typing import Final

from benchmarks.measuring import answer, first_line

HOST: Final = "127.0.0.1"
CHUNK: Final = 64 * 1024
DOORS_OF_A_NETWORK: Final = 250
REQUEST: Final = b" HTTP/1.1\r\n"  # the end of a request's first line, where nothing is encrypted


def calling_address(door: int) -> str:
    """The address from which the server is called for those who came in by a door."""
    network, last = divmod(door, DOORS_OF_A_NETWORK)
    return f"127.0.{network + 1}.{last + 1}"


@dataclass(slots=True)
class Count:
    """What came through a door: *sent* and *received* are the client's bytes."""

    opened: int = 0
    open: int = 0
    sent: int = 0
    received: int = 0


class Door:
    """A port of its own, and what came through."""

    def __init__(self, number: int, server: tuple[str, int]) -> None:
        self._calling = (calling_address(number), 0)
        self._server = server
        self._listening: asyncio.Server | None = None
        self._hushes = 0
        self.count = Count()
        self.requests = 0

    async def listen(self) -> int:
        """Open the door, and say where."""
        self._listening = await asyncio.start_server(self._entered, HOST, 0)
        port: int = self._listening.sockets[0].getsockname()[1]
        return port

    async def close(self) -> None:
        """Let nobody in any more."""
        if self._listening is not None:
            self._listening.close()
            await self._listening.wait_closed()

    def hush(self) -> None:
        """Swallow what comes on the connections that there are; others are not concerned."""
        self._hushes += 1

    async def _entered(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.count.opened += 1
        self.count.open += 1
        try:
            with closing(writer), suppress(ConnectionError):
                await self._pass(reader, writer)
        finally:
            self.count.open -= 1

    async def _pass(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Carry both ways, until one side goes."""
        answers, questions = await asyncio.open_connection(*self._server, local_addr=self._calling)
        hushes = self._hushes

        def take(count: Callable[[bytes], None], data: bytes) -> bytes:
            if hushes != self._hushes:
                return b""
            count(data)
            return data

        sent, received = partial(take, self._sent), partial(take, self._received)
        with closing(questions):
            ways = (
                asyncio.create_task(_carry(reader, questions, sent), name="to the server"),
                asyncio.create_task(_carry(answers, writer, received), name="to the client"),
            )
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
            for way in ways:
                way.cancel()
            await asyncio.gather(*ways, return_exceptions=True)

    def _sent(self, data: bytes) -> None:
        self.count.sent += len(data)
        self.requests += data.count(REQUEST)

    def _received(self, data: bytes) -> None:
        self.count.received += len(data)


async def _carry(
    reader: asyncio.StreamReader, writer: asyncio.StreamWriter, take: Callable[[bytes], bytes]
) -> None:
    while data := await reader.read(CHUNK):
        writer.write(take(data))
        await writer.drain()


async def main() -> None:
    """Be the relay, until killed or left alone."""
    task = first_line()
    server = (task["host"], task["port"])
    doors = [Door(number, server) for number in range(task["doors"])]
    answer({"ports": [await door.listen() for door in doors]})
    while line := await asyncio.to_thread(sys.stdin.readline):
        hushed = json.loads(line).get("hush")
        if hushed is not None:
            doors[hushed].hush()
        counts = [asdict(door.count) for door in doors]
        answer({"counts": counts, "requests": [door.requests for door in doors]})


if __name__ == "__main__":
    asyncio.run(main())
