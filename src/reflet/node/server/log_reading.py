"""Reading the log of a container, as ``kubectl logs`` asks for it.

A log is read in pieces, each in a thread, and readers take turns: however long a log is and however
many read, the event loop only hands pieces on.

Upstream: cri-client/pkg/logs/logs.go, ReadLogs
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from contextlib import aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from io import FileIO
from pathlib import Path
from typing import Final, Self, TypeVar

from reflet.node.shim.log_files import MOST_FILES, rotated, stamp
from reflet.runtime.clock import Clock, SystemClock

LOOK_EVERY: Final = 0.25  # seconds between two looks for more
AT_ONCE: Final = 64 * 1024  # bytes
LAST_WORDS: Final = 2 * AT_ONCE  # bytes of a log in which they are: more than its longest line has

_WHOLE: Final = len("2006-01-02T15:04:05.000000000Z")
_FLAG: Final = 2
_FIELDS: Final = 3

Result = TypeVar("Result")
IsRunning = Callable[[], Awaitable[bool]]


@dataclass(frozen=True, slots=True, kw_only=True)
class LogChoice:
    """How much of a log, and in which form.  *since* is a time as lines carry it.

    One that is *raw* is as the file has it: time, stream, flag and text of each line.
    """

    follow: bool = False
    raw: bool = False
    timestamps: bool = False
    tail_lines: int | None = None
    limit_bytes: int | None = None
    since: str = ""


async def read_log(
    path: Path,
    choice: LogChoice,
    *,
    is_running: IsRunning | None = None,
    clock: Clock | None = None,
    turns: asyncio.Semaphore | None = None,
) -> AsyncGenerator[bytes, None]:
    """Yield the chosen part of a log, and with *follow* what comes until the container ends."""
    async with (
        LogReader(path, choice, turns=turns) as reader,
        aclosing(reader.pieces(is_running, clock=clock)) as pieces,
    ):
        async for piece in pieces:
            yield piece


class LogReader:
    """A log that is open while the context is: what comes after that is missed by nobody.

    Readers that share *turns* read their pieces one after the other, in the order in which they
    want them.
    """

    def __init__(
        self, path: Path, choice: LogChoice, *, turns: asyncio.Semaphore | None = None
    ) -> None:
        self._log = _Log(path)
        self._choice = choice
        self._form = _Form(choice)
        self._turns = turns or asyncio.Semaphore()

    async def __aenter__(self) -> Self:
        try:
            async with self._turns:
                await _in_thread(self._log.open)
        except BaseException:
            self._log.close()  # who was cancelled meanwhile has opened it all the same
            raise
        return self

    async def __aexit__(self, *_: object) -> None:
        self._log.close()

    async def pieces(
        self,
        is_running: IsRunning | None,
        *,
        clock: Clock | None = None,
        look_every: float = LOOK_EVERY,
    ) -> AsyncGenerator[bytes, None]:
        """Yield what is chosen; *is_running* tells whether more can come, None that nothing can.

        Where it is followed, there is a look for more every *look_every* seconds.
        """
        choice, clock = self._choice, clock or SystemClock()
        if choice.tail_lines != 0:
            existing = self._log.existing(choice.tail_lines)
            while (piece := await self._next(existing)) is not None:
                if piece:
                    yield piece
        while choice.follow and not self._form.is_spent:
            goes_on = (
                is_running is not None and await is_running()
            )  # asked before looking, so that the last words are not missed
            more = self._log.more()
            while (piece := await self._next(more)) is not None:
                if piece:
                    yield piece
            if not goes_on:
                return
            await clock.sleep(look_every)

    async def _next(self, blocks: Iterator[bytes]) -> bytes | None:
        """The next piece, which may be empty; None when there is none or the limit is reached."""
        if self._form.is_spent:
            return None
        async with self._turns:
            return await _in_thread(lambda: self._piece(blocks))

    def _piece(self, blocks: Iterator[bytes]) -> bytes | None:
        block = next(blocks, None)
        return None if block is None else self._form.formed(block.split(b"\n")[:-1])


def last_words(path: Path, *, most_bytes: int, most_lines: int) -> bytes:
    """The end of a log without times, as the kubelet shows it for a failed container.

    Only the end is read, at once: for a process without threads.
    """
    *lines, _ = _end_of(path).split(b"\n")
    return _Form(LogChoice()).formed(lines[-most_lines:])[-most_bytes:]


async def _in_thread(call: Callable[[], Result]) -> Result:
    """Call in a thread and return when it is over, cancelled or not: then files can be closed."""
    job = asyncio.get_running_loop().run_in_executor(None, call)
    cancellation: asyncio.CancelledError | None = None
    while not job.done():
        try:
            await asyncio.wait((job,))
        except asyncio.CancelledError as error:
            cancellation = error
    if cancellation is not None:
        job.exception()  # is of no interest any more
        raise cancellation
    return job.result()


class _Form:
    """Gives lines the form that was asked for, up to the limit."""

    def __init__(self, choice: LogChoice) -> None:
        self._timestamps = choice.timestamps
        self._raw = choice.raw
        self._since = choice.since.encode()
        self._left = choice.limit_bytes

    @property
    def is_spent(self) -> bool:
        return self._left is not None and self._left <= 0

    def formed(self, lines: list[bytes]) -> bytes:
        """The texts of lines, which come without their ends; what is no line is left out."""
        if self._raw:
            return b"".join(line + b"\n" for line in lines)
        texts: list[bytes] = []
        for line in lines:
            fields = line.split(b" ", _FIELDS)
            if len(fields) <= _FIELDS or (self._since and _instant(fields[0]) < self._since):
                continue
            if self._timestamps:
                texts += (fields[0], b" ")
            texts.append(fields[_FIELDS])
            if fields[_FLAG] != b"P":
                texts.append(b"\n")
        text = b"".join(texts)
        if self._left is not None:
            text = text[: max(0, self._left)]
            self._left -= len(text)
        return text


def _instant(text: bytes) -> bytes:
    """The time of a line as it can be compared: a runtime writes its own zone, and cuts zeros."""
    if len(text) == _WHOLE and text.endswith(b"Z"):
        return text
    try:
        return stamp(datetime.fromisoformat(text.decode()).astimezone(UTC))
    except ValueError:
        return text


class _Log:
    """The lines of a log, each once, across files that are turned over meanwhile.

    They come in blocks of whole lines, for each of which about ``AT_ONCE`` bytes are read.  What
    is not read yet is kept open: while somebody reads slowly, a file gets another's name, and
    once it is removed, another may get even its number.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unread: list[FileIO] = []
        self._end = 0
        self._position = 0
        self._rest = b""

    def open(self) -> None:
        """Note what is there now."""
        self._unread = _opened(self._path)
        if self._unread:
            self._end = self._position = _whole_lines(self._unread[-1])

    def close(self) -> None:
        self._leave(len(self._unread))

    def existing(self, tail_lines: int | None) -> Iterator[bytes]:
        """Yield the lines that were there when it was opened, or the last of them.

        Nothing is yielded as an empty block for each that was only looked at.
        """
        if tail_lines is not None and tail_lines >= 0:
            yield from self._find_tail(tail_lines)
        while len(self._unread) > 1:
            yield from _blocks(self._unread[0])
            self._leave(1)
        for opened in self._unread:
            yield from _blocks(opened, end=self._end)

    def more(self) -> Iterator[bytes]:
        """Yield the lines that came since the last time, or since it was opened."""
        self._leave(len(self._unread) - 1)
        self._unread += self._new_files()
        while self._unread:
            self._unread[0].seek(self._position)
            while data := self._unread[0].read(AT_ONCE):
                self._position += len(data)
                whole, end, self._rest = (self._rest + data).rpartition(b"\n")
                yield whole + end
            if len(self._unread) == 1:
                return
            self._leave(1)
            self._position, self._rest = 0, b""

    def _find_tail(self, wanted: int) -> Iterator[bytes]:
        """Go back from the end to where the last lines begin, and leave what is before them."""
        end = self._end
        for place in range(len(self._unread) - 1, -1, -1):
            opened = self._unread[place]
            while end:
                begin = max(0, end - AT_ONCE)
                opened.seek(begin)
                data = opened.read(end - begin)
                found = data.count(b"\n")
                if found > wanted:
                    before = data.rsplit(b"\n", wanted + 1)[0]
                    opened.seek(begin + len(before) + 1)
                    self._leave(place)
                    return
                wanted -= found
                end = begin
                yield b""
            opened.seek(0)
            if place:
                end = os.fstat(self._unread[place - 1].fileno()).st_size

    def _new_files(self) -> list[FileIO]:
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


def _opened(path: Path) -> list[FileIO]:
    """The files of a log, from the oldest."""
    found: dict[int, FileIO] = {}
    # From the newest, the way that they go when they are turned over: so none slips through.
    for number in range(MOST_FILES + 1):
        try:
            opened = rotated(path, number).open("rb", buffering=0)
        except FileNotFoundError:
            continue
        except OSError:
            for each in found.values():
                each.close()
            raise
        if found.setdefault(_number(opened), opened) is not opened:
            opened.close()
    return list(reversed(found.values()))


def _number(opened: FileIO) -> int:
    """What tells a file from all others, as long as it is open."""
    return os.fstat(opened.fileno()).st_ino


def _blocks(opened: FileIO, *, end: int | None = None) -> Iterator[bytes]:
    """Yield what is left of a file in whole lines; a last line that was never finished is lost."""
    left = AT_ONCE if end is None else end - opened.tell()
    parts: list[bytes] = []
    while data := opened.read(min(AT_ONCE, left)):
        if end is not None:
            left -= len(data)
        whole, newline, rest = data.rpartition(b"\n")
        if newline:
            yield b"".join((*parts, whole, newline))
            parts = [rest]
        else:
            parts.append(rest)
            yield b""


def _whole_lines(opened: FileIO) -> int:
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


def _end_of(path: Path) -> bytes:
    """The last lines of a log, as far as they can be read."""
    end = b""
    for number in range(MOST_FILES + 1):
        try:
            with rotated(path, number).open("rb", buffering=0) as opened:
                size = os.fstat(opened.fileno()).st_size
                begin = max(0, size + len(end) - LAST_WORDS)
                opened.seek(begin)
                end = opened.read(size - begin) + end
        except OSError:
            continue
        if begin:
            return end.partition(b"\n")[2]  # where it begins is the middle of a line
    return end
