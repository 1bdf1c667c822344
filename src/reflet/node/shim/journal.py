"""What the shim says of itself: ``shim.log``, which does not grow without end.

The file is the shim's standard error, so that what Python itself says at the end is there, too.  A
shim may run for years, and an agent that is away reads nothing.
"""

from __future__ import annotations

import contextlib
import logging
import os
import sys
from pathlib import Path
from typing import Final, TextIO

LARGEST: Final = 2**20  # bytes; as much again is in the file before
STREAMS: Final = (1, 2)  # standard output and standard error

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


class JournalHandler(logging.StreamHandler[TextIO]):
    """Writes to standard error, and turns the file over that this is.

    Where standard error is anything else than *path*, a terminal for one, nothing is turned over.
    """

    def __init__(self, path: Path, *, largest: int = LARGEST) -> None:
        super().__init__(sys.stderr)
        self._path = path
        self._largest = largest

    def emit(self, record: logging.LogRecord) -> None:
        """Write a line; first make room for it."""
        with contextlib.suppress(OSError):  # a full disk or no descriptor: it grows a little more
            self._make_room()
        super().emit(record)

    def _make_room(self) -> None:
        now = os.fstat(STREAMS[-1])
        if now.st_size < self._largest or not os.path.samestat(now, self._path.stat()):
            return
        self._path.replace(self._path.with_name(f"{self._path.name}.1"))
        descriptor = os.open(self._path, _FLAGS, 0o600)
        try:
            for stream in STREAMS:
                os.dup2(descriptor, stream)  # what Python itself says at the end goes there, too
        finally:
            os.close(descriptor)
