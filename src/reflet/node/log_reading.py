"""Reading the log of a container, as ``kubectl logs`` asks for it.

Owns: which lines are chosen, and going on with what comes.  Must not know HTTP, nor who may read.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from reflet.node.log_files import MOST_FILES, rotated
from reflet.runtime.clock import Clock, SystemClock

LOOK_EVERY: Final = 0.25  # seconds between two looks for more
AT_ONCE: Final = 256 * 1024  # bytes

_FLAG: Final = 2
_FIELDS: Final = 3


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChoice:
    """How much of a log, and in which form.  *since* is a time as lines carry it."""

    follow: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since: str = ""


async def read_log(
    path: Path,
    choice: LogChoice,
    *,
    is_running: Callable[[], Awaitable[bool]] | None = None,
    clock: Clock | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the chosen part of a log, and with *follow* what comes until the container ends.

    *is_running* tells whether more can come; None means that nothing can.
    """
    clock = clock or SystemClock()
    form = _Form(choice)
    tail = _Tail(path)
    if choice.tail_lines != 0:
        for piece in _existing(path, choice, form, until=tail):
            if piece:
                yield piece
            if form.is_spent:
                return
    if not choice.follow:
        return
    while not form.is_spent:
        goes_on = (
            is_running is not None and await is_running()
        )  # asked before looking, so that the last words are not missed
        for lines in tail.more():
            piece = form.lines(lines)
            if piece:
                yield piece
        if not goes_on:
            return
        await clock.sleep(LOOK_EVERY)


def last_words(path: Path, *, most_bytes: int, most_lines: int) -> bytes:
    """The end of a log without times, as the kubelet shows it for a failed container."""
    choice = LogChoice(tail_lines=most_lines)
    text = b"".join(_existing(path, choice, _Form(choice), until=_Tail(path)))
    return text[-most_bytes:]


def _existing(path: Path, choice: LogChoice, form: _Form, *, until: _Tail) -> Iterator[bytes]:
    lines: Iterator[bytes] = (line for file in _files(path) for line in _lines_of(file, until))
    if choice.since:
        since = choice.since.encode()
        lines = (line for line in lines if line.partition(b" ")[0] >= since)
    if choice.tail_lines is not None and choice.tail_lines >= 0:
        lines = iter(deque(lines, maxlen=choice.tail_lines))
    for line in lines:
        yield form.line(line)


def _files(path: Path) -> Iterator[Path]:
    for number in range(MOST_FILES, -1, -1):
        file = rotated(path, number)
        if file.exists():
            yield file


def _lines_of(file: Path, until: _Tail) -> Iterator[bytes]:
    """Yield the lines before those that *until* gives."""
    try:
        with file.open("rb") as opened:
            left = until.position if os.fstat(opened.fileno()).st_ino == until.inode else None
            for line in opened:
                if left is not None:
                    left -= len(line)
                    if left < 0:
                        return
                yield line
    except FileNotFoundError:
        return  # turned over or removed just now


class _Form:
    """Gives lines the form that was asked for, up to the limit."""

    def __init__(self, choice: LogChoice) -> None:
        self._timestamps = choice.timestamps
        self._left = choice.limit_bytes

    @property
    def is_spent(self) -> bool:
        return self._left is not None and self._left <= 0

    def lines(self, lines: list[bytes]) -> bytes:
        return b"".join(map(self.line, lines))

    def line(self, line: bytes) -> bytes:
        fields = line.split(b" ", _FIELDS)
        if len(fields) <= _FIELDS:
            return b""
        time, text = fields[0], fields[_FIELDS]
        if fields[_FLAG] == b"P":
            text = text.removesuffix(b"\n")
        if self._timestamps:
            text = time + b" " + text
        if self._left is not None:
            text = text[: max(0, self._left)]
            self._left -= len(text)
        return text


class _Tail:
    """The lines that come after this was made, across files that are turned over."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.inode, self.position = _whole_lines(path)
        self._rest = b""

    def more(self) -> Iterator[list[bytes]]:
        for path in self._unread():
            yield from self._read(path)

    def _unread(self) -> list[Path]:
        """The file that was read last, wherever it is by now, and those after it."""
        files = list(_files(self._path))
        places = [place for place, file in enumerate(files) if _inode(file) == self.inode]
        return files[places[0] :] if places else files

    def _read(self, path: Path) -> Iterator[list[bytes]]:
        try:
            with path.open("rb") as opened:
                inode = os.fstat(opened.fileno()).st_ino
                if inode != self.inode:
                    self.inode, self.position, self._rest = inode, 0, b""
                opened.seek(self.position)
                while data := opened.read(AT_ONCE):
                    self.position += len(data)
                    *lines, self._rest = (self._rest + data).split(b"\n")
                    yield [line + b"\n" for line in lines]
        except FileNotFoundError:
            return


def _whole_lines(path: Path) -> tuple[int, int]:
    """Which file this is, and how much of it is whole lines: the last may still be written."""
    try:
        with path.open("rb") as opened:
            status = os.fstat(opened.fileno())
            end = status.st_size
            while end:
                begin = max(0, end - AT_ONCE)
                opened.seek(begin)
                last = opened.read(end - begin).rfind(b"\n")
                if last >= 0:
                    return status.st_ino, begin + last + 1
                end = begin
    except FileNotFoundError:
        return 0, 0
    return status.st_ino, 0


def _inode(path: Path) -> int:
    try:
        return path.stat().st_ino
    except FileNotFoundError:
        return 0
