"""What containers write, as lines in files that do not grow without end.

A line has the form of the CRI: time, stream, ``F`` for a whole line or ``P`` for a part of one, and
the text.  A file that is large enough is turned over.

Upstream: pkg/kubelet/logs/container_log_manager.go, rotateLog
Upstream: cri-client/pkg/logs/logs.go, parseCRILog
"""

from __future__ import annotations

import os
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, final

LARGEST_FILE: Final = 10 * 2**20  # bytes; the kubelet's containerLogMaxSize
MOST_FILES: Final = 5  # the kubelet's containerLogMaxFiles
LONGEST_PART: Final = 16 * 1024  # bytes of one line that are kept together

_FLAGS: Final = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC


def utc_now() -> datetime:
    """The time, for lines."""
    return datetime.now(UTC)


def stamp(moment: datetime) -> bytes:
    """The time as lines carry it."""
    return moment.strftime("%Y-%m-%dT%H:%M:%S.%f000Z").encode()


def rotated(path: Path, number: int) -> Path:
    """Where a file is after it was turned over *number* times."""
    return path.with_name(f"{path.name}.{number}") if number else path


@final
class LogFile:
    """The log of one life of a container; several streams share it.

    What cannot be written, because the disk is full, is dropped: a container must not stand
    still because of its log.
    """

    def __init__(
        self,
        path: Path,
        *,
        largest: int = LARGEST_FILE,
        most: int = MOST_FILES,
        now: Callable[[], datetime] = utc_now,
    ) -> None:
        self._path = path
        self._largest = largest
        self._most = most
        self._now = now
        self._descriptor = os.open(path, _FLAGS, 0o600)
        self._size = os.fstat(self._descriptor).st_size
        self._is_torn = False

    def write(self, lines: bytes) -> None:
        """Append whole lines."""
        if self._size and self._size + len(lines) > self._largest:
            self._turn_over()
        if self._is_torn:
            lines = b"\n" + lines  # so that only the line is lost that could not be finished
        rest = memoryview(lines)
        try:
            while rest:
                rest = rest[os.write(self._descriptor, rest) :]
        except OSError:
            self._is_torn = len(rest) < len(lines) or self._is_torn
        else:
            self._is_torn = False
        self._size += len(lines) - len(rest)

    def close(self) -> None:
        """Close the file; nothing is lost, because nothing waits."""
        os.close(self._descriptor)

    def stamped(self, stream: bytes, texts: list[bytes], *, rest: bytes = b"") -> bytes:
        """Give whole lines, and a part of one, the form of the file."""
        head = stamp(self._now()) + b" " + stream
        lines = [head + b" F " + text + b"\n" for text in texts]
        if rest:
            lines.append(head + b" P " + rest + b"\n")
        return b"".join(lines)

    def _turn_over(self) -> None:
        """Go on in a new file; where there can be none, in the one that is open."""
        try:
            if self._path.exists():  # else the last attempt has come this far
                for number in range(self._most - 1, 0, -1):
                    older = rotated(self._path, number - 1)
                    if older.exists():
                        older.replace(rotated(self._path, number))
            descriptor = os.open(self._path, _FLAGS, 0o600)
        except OSError:
            return
        os.close(self._descriptor)
        self._descriptor, self._size, self._is_torn = descriptor, 0, False


@final
class LineCutter:
    """Cuts a stream of bytes into lines; a line without an end is given in parts.

    With *eager*, what has arrived of a line is a part at once: somebody may wait for a prompt.
    """

    def __init__(self, log: LogFile, stream: str, *, eager: bool = False) -> None:
        self._log = log
        self._stream = stream.encode()
        self._longest = 1 if eager else LONGEST_PART
        self._rest = b""

    def feed(self, data: bytes) -> None:
        """Write the lines that are whole."""
        *texts, rest = (self._rest + data).split(b"\n")
        part, self._rest = b"", rest
        if len(rest) >= self._longest:
            part, self._rest = rest, b""
        if texts or part:
            self._log.write(self._log.stamped(self._stream, texts, rest=part))

    def finish(self) -> None:
        """Write what is left without an end of line."""
        rest, self._rest = self._rest, b""
        if rest:
            self._log.write(self._log.stamped(self._stream, [], rest=rest))
