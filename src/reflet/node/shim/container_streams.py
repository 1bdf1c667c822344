"""What a container reads and writes: its log behind two pipes, and with ``stdin`` a third to read.

That pipe is empty until somebody is attached.  Agents write into it themselves, by its name; the
shim only makes it and ends it.  A container holds its end open for writing too, and so never sees
an end, whoever comes and goes.  With ``stdinOnce`` the shim holds the other end instead, and lets
go when the first who was attached has left: a shim that is killed ends such an input, and the next
one notes that.

Upstream: containerd/internal/cri/io/container_io.go, Attach
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Final, final

from reflet.node.shim.container_records import ContainerRecord
from reflet.node.shim.log_files import LogFile
from reflet.node.shim.log_pumps import STREAMS, LogPump

STDIN: Final = "stdin"


@final
class ContainerInput:
    """The pipe at *path*, which has an end if it is read *once* only."""

    def __init__(self, path: Path, *, once: bool) -> None:
        self._path = path
        self._once = once
        self._held: int | None = None

    def open_for_container(self, user: int | None = None, group: int | None = None) -> int:
        """Make the pipe and open the container's end, which the caller closes.

        It is the container's user's, so that it can open ``/dev/stdin`` once more.
        """
        os.mkfifo(self._path, 0o600)
        both = os.open(self._path, os.O_RDWR | os.O_CLOEXEC)
        try:
            os.fchown(both, -1 if user is None else user, -1 if group is None else group)
            if not self._once:
                return both
            end = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            os.close(both)
            raise
        self._held = both
        return end

    def end(self) -> bool:
        """Let the container see the end, and take no more; False when that was done before.

        One that is not read once only has no end.
        """
        if not self._once or self._held is None:
            return False
        self.finish()
        return True

    def finish(self) -> None:
        """Remove the pipe: nobody is attached any more."""
        self.close()
        self._path.unlink(missing_ok=True)

    def close(self) -> None:
        """Let go, without removing it."""
        held, self._held = self._held, None
        if held is not None:
            os.close(held)


@final
class ContainerStreams:
    """All of one life of a container; what it writes is in its log while this is not closed."""

    def __init__(self, record: ContainerRecord) -> None:
        pipes = {stream: record.pipe(stream) for stream in STREAMS}
        # Whoever is attached may wait for a prompt, which has no end of line.
        self._pump = LogPump(pipes, LogFile(record.log), eager=record.stdin)
        self._input = ContainerInput(record.pipe(STDIN), once=record.stdin_once)
        self._record = record

    def open_for_container(self) -> tuple[int, int, int]:
        """Open the container's ends of its input, output and errors; the caller closes them."""
        record = self._record
        if record.stdin:
            stdin = self._input.open_for_container(record.user, record.group)
        else:
            stdin = os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC)
        try:
            out, err = self._pump.open_for_container(record.user, record.group)
        except OSError:
            os.close(stdin)
            raise
        return stdin, out, err

    def adopted(self) -> None:
        """Note that another shim is gone, and with it an input that it held."""
        if self._record.stdin_once:
            self._input.finish()

    def end_input(self) -> bool:
        """Let a container that reads once only see the end; False when that was done before."""
        return self._input.end()

    def finish(self) -> None:
        """Write what is left and remove the pipes."""
        try:
            self._pump.finish()
        finally:
            self._input.finish()

    def close(self) -> None:
        """Let go of the pipes, which stay for the next shim."""
        self._input.close()
        self._pump.close()
