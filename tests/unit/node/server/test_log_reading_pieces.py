from __future__ import annotations

import asyncio
import errno
import threading
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from reflet.node.server import log_reading
from reflet.node.server.log_reading import (
    AT_ONCE,
    LogChoice,
    last_words,
    read_log,
)
from reflet.node.shim.log_files import rotated
from tests.unit.node.server.log_scenes import followed, line, long_log, shown, written

# How much at a time, and where


class Disk:
    """Notes what is read of the files of logs, and by which thread."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.reads: list[tuple[str, int]] = []
        self.on_the_loop = 0
        self.may_read = threading.Event()
        self.may_read.set()
        self.is_reading = threading.Event()
        really_opened = log_reading._opened
        disk, loop = self, threading.get_ident()

        class NotingFile(FileIO):
            def read(self, size: int | None = -1, /) -> bytes:
                data = super().read(size)
                disk.reads.append((Path(str(self.name)).name, len(data)))
                disk.on_the_loop += threading.get_ident() == loop
                disk.is_reading.set()
                disk.may_read.wait(10)
                return data

        def opened(path: Path) -> list[FileIO]:
            files: list[FileIO] = []
            for each in really_opened(path):
                with each:
                    files.append(NotingFile(str(each.name)))
            return files

        monkeypatch.setattr(log_reading, "_opened", opened)

    @property
    def largest(self) -> int:
        return max(size for _, size in self.reads)

    @property
    def total(self) -> int:
        return sum(size for _, size in self.reads)


@pytest.fixture
def disk(monkeypatch: pytest.MonkeyPatch) -> Disk:
    return Disk(monkeypatch)


@pytest.mark.parametrize("tail_lines", [None, 10**9])
async def test_a_long_log_is_read_in_pieces_and_never_on_the_loop(
    tmp_path: Path, disk: Disk, tail_lines: int | None
) -> None:
    path = long_log(tmp_path)
    expected = [text.split(" ", 3)[3] for text in path.read_text().splitlines()]

    shown_lines = (await shown(path, tail_lines=tail_lines)).splitlines()

    assert shown_lines == expected
    assert (disk.on_the_loop, disk.largest) == (0, AT_ONCE)


async def test_a_piece_that_is_shown_is_no_larger_than_what_is_read(tmp_path: Path) -> None:
    pieces = [len(piece) async for piece in read_log(long_log(tmp_path), LogChoice())]

    assert max(pieces) <= AT_ONCE
    assert len(pieces) > 2


async def test_the_end_of_a_long_log_is_read_from_the_end(tmp_path: Path, disk: Disk) -> None:
    path = long_log(tmp_path, pieces=50)
    long_log(tmp_path, "0.log.1", pieces=50)

    assert (await shown(path, tail_lines=2)).count("and some words") == 2
    assert disk.total <= 3 * AT_ONCE  # its last whole line, where the tail begins, and the tail


async def test_a_log_that_is_followed_is_read_in_pieces_too(tmp_path: Path, disk: Disk) -> None:
    path = tmp_path / "0.log"

    await followed(path, lambda: long_log(tmp_path), tail_lines=0)

    assert (disk.on_the_loop, disk.largest) == (0, AT_ONCE)


async def test_readers_take_turns(tmp_path: Path, disk: Disk) -> None:
    turns = asyncio.Semaphore()

    async def read(name: str) -> None:
        path = long_log(tmp_path, name, pieces=4)
        async for _ in read_log(path, LogChoice(), turns=turns):
            pass

    async with turns:
        readers = asyncio.gather(read("a"), read("b"), read("c"))
        await asyncio.sleep(0)  # all want the first turn before one has it
    await readers

    names = [name for name, _ in disk.reads]
    rounds = [names[place : place + 3] for place in range(0, 12, 3)]
    assert rounds == [["a", "b", "c"]] * 4


@pytest.mark.parametrize("at_once", [10, 64, 100, 1000])
@pytest.mark.parametrize("tail_lines", [1, 2, 3, 7, 8, 9, 20, 23, 24, 25, 99])
async def test_a_tail_is_found_wherever_it_begins(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: int, tail_lines: int
) -> None:
    monkeypatch.setattr(log_reading, "AT_ONCE", at_once)
    texts = [f"{number} {'x' * (7 * number % 50)}" for number in range(24)]
    for file in range(3):
        path = tmp_path / f"0.log.{2 - file}".removesuffix(".0")
        path.write_text("".join(map(line, texts[8 * file : 8 * file + 8])))

    shown_lines = (await shown(tmp_path / "0.log", tail_lines=tail_lines)).splitlines()

    assert shown_lines == texts[-tail_lines:]


async def test_whoever_leaves_in_the_middle_of_a_piece_leaves_no_file_open(
    tmp_path: Path, disk: Disk
) -> None:
    disk.may_read.clear()
    path = long_log(tmp_path)
    reading = asyncio.create_task(shown(path))
    await asyncio.to_thread(disk.is_reading.wait)
    reading.cancel()
    await asyncio.sleep(0)
    reading.cancel()  # and who is asked twice does not leave earlier
    await asyncio.sleep(0)
    waits = not reading.done()
    disk.may_read.set()
    await asyncio.wait((reading,))

    targets = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert (waits, reading.cancelled()) == (True, True)
    assert not any(each.is_relative_to(tmp_path) for each in targets)


async def test_a_log_of_which_not_all_files_can_be_opened_leaves_none_open(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Shortage:
        def open(self, *_: object, **__: object) -> FileIO:
            raise OSError(errno.EMFILE, "too many open files")

    def short(path: Path, number: int) -> Any:
        return Shortage() if number else rotated(path, 0)

    monkeypatch.setattr(log_reading, "rotated", short)
    with pytest.raises(OSError, match="too many"):
        await shown(written(tmp_path))

    assert last_words(tmp_path / "0.log", most_bytes=7, most_lines=1) == b"line 4\n"
