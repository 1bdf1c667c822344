"""What has arrived on one channel and is not read yet, bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

MOST_UNREAD: Final = 256 * 1024  # bytes


class Room:
    """How much the inboxes of one connection may hold together: *most* bytes."""

    def __init__(self, most: int) -> None:
        self.most = most
        self.taken = 0
        self._changed = asyncio.Event()

    @property
    def is_full(self) -> bool:
        """Whether nothing more is to be taken for now."""
        return self.taken >= self.most

    def change(self, size: int) -> None:
        """Take room, or give it back; who waits looks again."""
        self.taken += size
        self._changed.set()

    async def changed(self) -> None:
        """Wait until somebody has taken room or given it back."""
        self._changed.clear()
        await self._changed.wait()


class Inbox:
    """Bytes between the task that reads a connection and whoever reads one channel of it.

    Whoever puts waits while *most* bytes are unread, or while the *room* that this shares with
    others is full, so that a slow reader slows the sender.
    """

    def __init__(self, *, most: int = MOST_UNREAD, room: Room | None = None) -> None:
        self._most = most
        self._room = room or Room(most)
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._error: Exception | None = None
        self._arrived = asyncio.Event()

    async def put(self, data: bytes) -> None:
        """Add *data*; after the end it is dropped."""
        while (self._size >= self._most or self._room.is_full) and not self._ended:
            await self._room.changed()
        if data and not self._ended:
            self._pieces.append(data)
            self._size += len(data)
            self._room.change(len(data))
            self._arrived.set()

    def end(self, error: Exception | None = None) -> None:
        """Nothing more comes; *error* is raised after what has come, when it broke off."""
        if not self._ended:
            self._ended, self._error = True, error
            self._arrived.set()
            self._room.change(0)

    def drop(self) -> None:
        """Nobody reads any more: forget what has come and whatever comes."""
        self._emptied()
        self.end()

    async def read(self) -> bytes:
        """Everything that has arrived, at least one byte; ``b""`` at the end."""
        while not self._pieces:
            if self._ended:
                if self._error is not None:
                    raise self._error
                return b""
            self._arrived.clear()
            await self._arrived.wait()
        data = b"".join(self._pieces)
        self._emptied()
        return data

    def _emptied(self) -> None:
        self._pieces.clear()
        size, self._size = self._size, 0
        self._room.change(-size)
