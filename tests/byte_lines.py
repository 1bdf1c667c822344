"""Two ends of a line in memory, for whoever speaks over a ``ByteStream``."""

from __future__ import annotations

import asyncio

from reflet.errors import TransportError


class MemoryLine:
    """One end: what is written here is read there."""

    def __init__(self) -> None:
        self._arrived: asyncio.Queue[bytes] = asyncio.Queue()
        self._other: MemoryLine | None = None
        self.is_closed = False

    async def read(self) -> bytes:
        if self.is_closed and self._arrived.empty():
            return b""
        return await self._arrived.get()

    async def write(self, data: bytes, /) -> None:
        if self.is_closed or self._other is None:
            raise TransportError("the line is closed")
        self._other._arrived.put_nowait(data)

    async def flush(self) -> None:
        pass  # nothing waits here

    async def close(self) -> None:
        self.is_closed = True
        self._arrived.put_nowait(b"")
        if self._other is not None and not self._other.is_closed:
            self._other._arrived.put_nowait(b"")

    def arrived(self) -> list[bytes]:
        """All that has arrived and was not read."""
        found = []
        while not self._arrived.empty():
            found.append(self._arrived.get_nowait())
        return found

    @classmethod
    def pair(cls) -> tuple[MemoryLine, MemoryLine]:
        here, there = cls(), cls()
        here._other, there._other = there, here
        return here, there


class FullLine(MemoryLine):
    """A line whose other side does not read: what is written waits for ever."""

    async def write(self, data: bytes, /) -> None:
        await asyncio.Event().wait()
