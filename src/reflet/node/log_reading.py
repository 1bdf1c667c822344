"""Reading the log of a container, as ``kubectl logs`` asks for it.

Owns: which lines are chosen, and going on with what comes.  Must not know HTTP, nor who may read.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Final

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
    with closing(_Log(path)) as log:
        if choice.tail_lines != 0:
            for piece in _existing(log, choice, form):
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
            for lines in log.more():
                piece = form.lines(lines)
                if piece:
                    yield piece
            if not goes_on:
                return
            await clock.sleep(LOOK_EVERY)


def last_words(path: Path, *, most_bytes: int, most_lines: int) -> bytes:
    """The end of a log without times, as the kubelet shows it for a failed container."""
    choice = LogChoice(tail_lines=most_lines)
    with closing(_Log(path)) as log:
        text = b"".join(_existing(log, choice, _Form(choice)))
    return text[-most_bytes:]


def _existing(log: _Log, choice: LogChoice, form: _Form) -> Iterator[bytes]:
    lines = log.lines()
    if choice.since:
        since = choice.since.encode()
        lines = (line for line in lines if line.partition(b" ")[0] >= since)
    if choice.tail_lines is not None and choice.tail_lines >= 0:
        lines = iter(deque(lines, maxlen=choice.tail_lines))
    for line in lines:
        yield form.line(line)


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


class _Log:
    """The lines of a log, each once, across files that are turned over meanwhile.

    What is not read yet is kept open: while somebody reads slowly, a file gets another's name, and
    once it is removed, another may get even its number.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unread = _opened(path)
        self._end = _whole_lines(self._unread[-1]) if self._unread else 0
        self._position = self._end
        self._rest = b""

    def close(self) -> None:
        self._leave(len(self._unread))

    def lines(self) -> Iterator[bytes]:
        """Yield the whole lines that were there when this was made."""
        while len(self._unread) > 1:
            yield from self._unread[0]
            self._leave(1)
        left = self._end
        for opened in self._unread:
            for line in opened:
                left -= len(line)
                if left < 0:
                    return
                yield line

    def more(self) -> Iterator[list[bytes]]:
        """Yield the lines that came since the last time, or since this was made."""
        self._leave(len(self._unread) - 1)
        self._unread += self._new_files()
        while self._unread:
            self._unread[0].seek(self._position)
            while data := self._unread[0].read(AT_ONCE):
                self._position += len(data)
                *lines, self._rest = (self._rest + data).split(b"\n")
                yield [line + b"\n" for line in lines]
            if len(self._unread) == 1:
                return
            self._leave(1)
            self._position, self._rest = 0, b""

    def _new_files(self) -> list[BinaryIO]:
        """The files after the one that was read last; all when that is there no more."""
        files = _opened(self._path)
        known = {_number(opened) for opened in self._unread}
        places = [place for place, opened in enumerate(files) if _number(opened) in known]
        for opened in files[: places[-1] + 1 if places else 0]:
            opened.close()
        return files[places[-1] + 1 :] if places else files

    def _leave(self, files: int) -> None:
        for opened in self._unread[: max(0, files)]:
            opened.close()
        del self._unread[: max(0, files)]


def _opened(path: Path) -> list[BinaryIO]:
    """The files of a log, from the oldest."""
    found: dict[int, BinaryIO] = {}
    # From the newest, the way that they go when they are turned over: so none slips through.
    for number in range(MOST_FILES + 1):
        try:
            opened = rotated(path, number).open("rb")
        except FileNotFoundError:
            continue
        if found.setdefault(_number(opened), opened) is not opened:
            opened.close()
    return list(reversed(found.values()))


def _number(opened: BinaryIO) -> int:
    """What tells a file from all others, as long as it is open."""
    return os.fstat(opened.fileno()).st_ino


def _whole_lines(opened: BinaryIO) -> int:
    """How much of a file is whole lines: the last may still be written."""
    end = os.fstat(opened.fileno()).st_size
    while end:
        begin = max(0, end - AT_ONCE)
        opened.seek(begin)
        last = opened.read(end - begin).rfind(b"\n")
        if last >= 0:
            end = begin + last + 1
            break
        end = begin
    opened.seek(0)
    return end
