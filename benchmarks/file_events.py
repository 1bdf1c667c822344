"""When files change, told by the kernel: inotify, which the standard library does not have.

Owns: the calls.  Must not know what is watched, nor why.
"""

from __future__ import annotations

import ctypes
import os
import struct
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Final, Self

MOVED_TO: Final = 0x80
CLOSED: Final = 0x08  # after it was written to
_HEAD: Final = struct.Struct("iIII")


class FileEvents:
    """Watches folders; ``take`` gives what happened in them, in order."""

    def __init__(self) -> None:
        self._library = ctypes.CDLL(None, use_errno=True)
        self.descriptor = self._library.inotify_init1(os.O_NONBLOCK | os.O_CLOEXEC)
        if self.descriptor < 0:
            raise OSError(ctypes.get_errno(), "inotify_init1")
        self._folders: dict[int, Path] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        os.close(self.descriptor)

    def watch(self, folder: Path, events: int) -> None:
        """Be told of these events in a folder."""
        number = self._library.inotify_add_watch(self.descriptor, os.fsencode(folder), events)
        if number < 0:
            raise OSError(ctypes.get_errno(), f"inotify_add_watch {folder}")
        self._folders[number] = folder

    def take(self) -> Iterator[tuple[Path, str]]:
        """What happened since the last time: the folder and the name in it."""
        try:
            data = os.read(self.descriptor, 1 << 20)
        except BlockingIOError:
            return
        position = 0
        while position < len(data):
            number, _, _, length = _HEAD.unpack_from(data, position)
            position += _HEAD.size
            name = data[position : position + length].rstrip(b"\0")
            position += length
            if number in self._folders:
                yield self._folders[number], os.fsdecode(name)
