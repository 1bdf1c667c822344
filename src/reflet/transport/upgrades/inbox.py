"""What has arrived on one channel and is not read yet, bounded."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import Final

MOST_UNREAD: Final = 256 * 1024  # bytes


class Inbox:
    """Bytes between the task that reads a connection and whoever reads one channel of it.

    Whoever puts waits while *most* bytes are unread, so that a slow reader slows the sender.
    """

    def __init__(self, *, most: int = MOST_UNREAD) -> None:
        self._most = most
        self._pieces: deque[bytes] = deque()
        self._size = 0
        self._ended = False
        self._error: Exception | None = None
        self._changed = asyncio.Event()

    async def put(self, data: bytes) -> None:
        """Add *data*; after the end it is dropped."""
        while self._size >= self._most and not self._ended:
            await self._change()
        if data and not self._ended:
            self._pieces.append(data)
            self._size += len(data)
            self._changed.set()

    def end(self, error: Exception | None = None) -> None:
        """Nothing more comes; *error* is raised after what has come, when it broke off."""
        if not self._ended:
            self._ended, self._error = True, error
            self._changed.set()

    def drop(self) -> None:
        """Nobody reads any more: forget what has come and whatever comes."""
        self._pieces.clear()
        self._size = 0
        self.end()

    async def read(self) -> bytes:
        """Everything that has arrived, at least one byte; ``b""`` at the end."""
        while not self._pieces:
            if self._ended:
                if self._error is not None:
                    raise self._error
                return b""
            await self._change()
        data = b"".join(self._pieces)
        self._pieces.clear()
        self._size = 0
        self._changed.set()
        return data

    async def _change(self) -> None:
        self._changed.clear()
        await self._changed.wait()
