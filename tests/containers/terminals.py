"""A terminal with kubectl in it, and somebody who types, reads and changes its size.

Owns: the pseudo terminal, and waiting for what it must show.  Must not know what a test claims.
"""

from __future__ import annotations

import fcntl
import os
import pty
import select
import signal
import struct
import subprocess
import termios
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Final, Self

from tests.patience import Deadline

PATIENCE: Final = 30.0  # seconds on a quiet machine
AT_ONCE: Final = 65536  # bytes


class Terminal:
    """A program that runs in a terminal of *rows* by *columns*, until the ``with`` block ends."""

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], *, rows: int, columns: int
    ) -> None:
        self._command = command
        self._environment = environment
        self._size = rows, columns
        self.shown = b""

    def __enter__(self) -> Self:
        self._ours, theirs = pty.openpty()
        _set_size(self._ours, *self._size)
        self._program = subprocess.Popen(
            self._command, env=self._environment, stdin=theirs, stdout=theirs, stderr=theirs
        )
        os.close(theirs)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._program.kill()
        self._program.wait()
        os.close(self._ours)

    def type(self, text: str) -> None:
        """Type; a line ends with a newline."""
        os.write(self._ours, text.encode())

    def resize(self, rows: int, columns: int) -> None:
        """Give the terminal another size, as a window does that is dragged."""
        _set_size(self._ours, rows, columns)
        self._program.send_signal(signal.SIGWINCH)

    def until(self, text: str) -> None:
        """Return once the terminal has shown *text* since it was last waited for."""
        deadline = Deadline(PATIENCE)
        while text.encode() not in self.shown:
            assert not deadline.passed, f"never shown: {text!r}; but {self.shown!r}"
            assert self._read(), f"ended without {text!r}; but {self.shown!r}"
        self.shown = self.shown.partition(text.encode())[2]

    def exit_code(self) -> int:
        """Read until the program has ended, and say how."""
        deadline = Deadline(PATIENCE)
        while self._read():
            assert not deadline.passed, f"does not end: {self.shown!r}"
        return self._program.wait(PATIENCE)

    def _read(self) -> bool:
        """Read what is shown within a moment; False when nobody shows anything any more."""
        ready, _, _ = select.select([self._ours], [], [], 0.5)
        if not ready:
            return True
        try:
            data = os.read(self._ours, AT_ONCE)
        except OSError:  # the other side is closed
            return False
        self.shown += data
        return bool(data)


def _set_size(terminal: int, rows: int, columns: int) -> None:
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
