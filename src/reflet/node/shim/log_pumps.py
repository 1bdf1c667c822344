"""What containers and commands in them write, read from pipes on the event loop.

A container's pipes are named ones, and the container itself keeps its end open for reading too: so
it neither ends nor fails when whoever reads is gone, it waits when a pipe is full, and the next
reader goes on where the last one stopped.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
from pathlib import Path
from typing import Final, Self, final

from reflet.node.shim.log_files import LineCutter, LogFile

STREAMS: Final = ("stdout", "stderr")
AT_ONCE: Final = 64 * 1024  # bytes, what a pipe holds
MOST_ROUNDS: Final = 64  # reads of what is left at the end, which is more than any pipe holds

_ROOM: Final = memoryview(bytearray(AT_ONCE))
"""Where everything is read to, by the one thread of a shim: a read takes no more memory than what
there is to read, and a shim that is short of it still finishes its logs."""


@final
class LogPump:
    """Writes what comes out of the pipes into the log, on the running event loop.

    With *eager*, before a line is whole.
    """

    def __init__(self, pipes: dict[str, Path], log: LogFile, *, eager: bool = False) -> None:
        self._loop = asyncio.get_running_loop()
        self._eager = eager
        self._log = log
        self._pipes = pipes
        self._cutters: dict[int, LineCutter] = {}
        try:
            for stream, path in pipes.items():
                self._open(stream, path)
        except OSError:
            self.close()  # where descriptors are short, none may be lost
            raise

    def _open(self, stream: str, path: Path) -> None:
        if not path.exists():
            os.mkfifo(path, 0o600)
        # Both ways: a pipe without a writer would always be ready, with nothing in it.
        descriptor = os.open(path, os.O_RDWR | os.O_NONBLOCK | os.O_CLOEXEC)
        self._cutters[descriptor] = LineCutter(self._log, stream, eager=self._eager)
        self._loop.add_reader(descriptor, self._read, descriptor)

    def open_for_container(self, user: int | None = None, group: int | None = None) -> list[int]:
        """Open the container's ends, in the order of the streams; the caller closes them.

        They are the container's user's, so that it can open ``/dev/stdout`` once more: a web
        server whose log is a link to that does.
        """
        ends: list[int] = []
        owner, owning = -1 if user is None else user, -1 if group is None else group
        try:
            for path in self._pipes.values():
                ends.append(os.open(path, os.O_RDWR | os.O_CLOEXEC))
                os.fchown(ends[-1], owner, owning)
        except OSError:
            for descriptor in ends:
                os.close(descriptor)
            raise
        return ends

    def finish(self) -> None:
        """Write what is left and remove the pipes."""
        try:
            for descriptor in tuple(self._cutters):
                # Somebody who still writes must not keep us here for ever.
                for _ in range(MOST_ROUNDS):
                    if not self._read(descriptor):
                        break
                self._cutters[descriptor].finish()
        finally:
            self.close()
        for path in self._pipes.values():
            path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go of the pipes, which stay for the next reader."""
        for descriptor in tuple(self._cutters):
            self._loop.remove_reader(descriptor)
            os.close(descriptor)
        self._cutters.clear()
        self._log.close()

    def _read(self, descriptor: int) -> bool:
        try:
            data = _read(descriptor)
        except BlockingIOError:
            return False
        if data:
            self._cutters[descriptor].feed(data)
        return bool(data)


class CommandOutput:
    """Reads what is written to ``end`` while the context is open, on the running event loop.

    The first *most* bytes are kept and the others are read and dropped.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._kept = b""
        self._loop = asyncio.get_running_loop()
        self._reading, self.end = os.pipe()
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
            while data := _read(self._reading):
                self._kept += data[: self._most - len(self._kept)]


def _read(descriptor: int) -> bytes:
    return bytes(_ROOM[: os.readv(descriptor, (_ROOM,))])
