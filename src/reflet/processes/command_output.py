"""What a command says, up to a limit, while the event loop goes on.

Owns: the pipe, and that a command which says more is not held up.  Must not know the command.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from typing import Final, Self

AT_ONCE: Final = 64 * 1024  # bytes, what a pipe holds


class CommandOutput:
    """Reads what is written to ``end`` while the context is open, on the running event loop.

    The first *most* bytes are kept and the others are read and dropped.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = b""
        self._loop = asyncio.get_running_loop()
        self._reading, self.end = os.pipe2(os.O_CLOEXEC)
        os.set_blocking(self._reading, False)

    def __enter__(self) -> Self:
        self._loop.add_reader(self._reading, self._read)
        return self

    def __exit__(self, *failure: object) -> None:
        self._loop.remove_reader(self._reading)
        os.close(self._reading)
        os.close(self.end)

    def text(self) -> str:
        """What was said so far, also by those whom the command left behind."""
        self._read()
        return self._kept.decode(errors="replace")

    def _read(self) -> None:
        with contextlib.suppress(BlockingIOError):
            while data := os.read(self._reading, AT_ONCE):
                self._kept += data[: self._most - len(self._kept)]
