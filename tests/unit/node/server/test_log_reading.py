from __future__ import annotations

import asyncio
import errno
import itertools
import threading
from collections.abc import Callable
from io import FileIO
from pathlib import Path
from typing import Any

import pytest

from reflet.node.server import log_reading
from reflet.node.server.log_reading import (
    AT_ONCE,
    LAST_WORDS,
    LOOK_EVERY,
    LogChoice,
    last_words,
    read_log,
)
from reflet.node.shim.log_files import MOST_FILES, LogFile, rotated
from reflet.testing.virtual_time import VirtualClock

LINES = "".join(
    f"2026-01-02T03:04:0{second}.000000000Z stdout F line {second}\n" for second in range(5)
)


def written(folder: Path, text: str = LINES) -> Path:
    path = folder / "0.log"
    path.write_text(text)
    return path


async def shown(path: Path, **choice: Any) -> str:
    return b"".join([piece async for piece in read_log(path, LogChoice(**choice))]).decode()


async def test_a_log_is_shown_without_times_unless_they_are_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert (await shown(path)).splitlines() == [f"line {number}" for number in range(5)]
    assert (await shown(path, timestamps=True)).startswith("2026-01-02T03:04:00.000000000Z line 0")


async def test_the_end_can_be_asked_for(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert await shown(path, tail_lines=2) == "line 3\nline 4\n"
    assert await shown(path, tail_lines=0) == ""
    assert await shown(path, since="2026-01-02T03:04:04") == "line 4\n"
    assert await shown(path, limit_bytes=9) == "line 0\nli"


async def test_parts_of_a_line_are_put_together(tmp_path: Path) -> None:
    time = "2026-01-02T03:04:05.000000000Z stdout"
    path = written(tmp_path, f"{time} P be\n{time} F gin\n")

    assert await shown(path) == "begin\n"


async def test_files_that_were_turned_over_come_first(tmp_path: Path) -> None:
    path = written(tmp_path, "2026-01-02T03:04:05.000000000Z stdout F new\n")
    (tmp_path / "0.log.1").write_text("2026-01-02T03:04:04.000000000Z stdout F old\n")

    assert await shown(path) == "old\nnew\n"


async def test_a_log_that_is_not_there_is_empty(tmp_path: Path) -> None:
    assert await shown(tmp_path / "0.log") == ""


@pytest.mark.virtual_time
async def test_following_ends_when_the_container_has_and_misses_nothing(tmp_path: Path) -> None:
    path = written(tmp_path)
    looks = iter([True, True, False])

    async def is_running() -> bool:
        more = next(looks)
        with path.open("a") as log:
            log.write(f"2026-01-02T03:04:09.000000000Z stdout F still {more}\n")
        return more

    pieces = read_log(path, LogChoice(follow=True, tail_lines=1), is_running=is_running)
    text = b"".join([piece async for piece in pieces]).decode()

    assert text == "line 4\nstill True\nstill True\nstill False\n"


@pytest.mark.virtual_time
async def test_following_goes_on_in_the_next_file(tmp_path: Path) -> None:
    path = written(tmp_path)
    looks = iter([True, False])

    async def is_running() -> bool:
        more = next(looks)
        if more:
            path.rename(tmp_path / "0.log.1")
            path.write_text("2026-01-02T03:04:09.000000000Z stdout F next\n")
        await asyncio.sleep(0)
        return more

    pieces = read_log(path, LogChoice(follow=True, tail_lines=0), is_running=is_running)

    assert [piece async for piece in pieces] == [b"next\n"]


def test_the_last_words_are_short(tmp_path: Path) -> None:
    assert last_words(written(tmp_path), most_bytes=100, most_lines=1) == b"line 4\n"
    assert last_words(written(tmp_path), most_bytes=3, most_lines=9) == b" 4\n"


def line(text: str) -> str:
    return f"2026-01-02T03:04:09.000000000Z stdout F {text}\n"


async def followed(path: Path, *deeds: Callable[[], object], **choice: Any) -> str:
    """What is shown to whoever follows while these things happen, one between two looks."""
    left = list(deeds)

    async def is_running() -> bool:
        if left:
            left.pop(0)()
        return bool(left)

    pieces = read_log(path, LogChoice(follow=True, **choice), is_running=is_running)
    return b"".join([piece async for piece in pieces]).decode()


def add(path: Path, text: str) -> None:
    with path.open("a") as log:
        log.write(text)


@pytest.mark.virtual_time
@pytest.mark.parametrize(("tail_lines", "before"), [(None, "whole\n"), (0, "")])
async def test_a_line_that_is_still_being_written_is_shown_once_it_is_whole(
    tmp_path: Path, tail_lines: int | None, before: str
) -> None:
    begin, end = line("half of it")[:-5], line("half of it")[-5:]
    path = written(tmp_path, line("whole") + begin)

    shown = await followed(path, lambda: add(path, end), tail_lines=tail_lines)

    assert shown == f"{before}half of it\n"


@pytest.mark.virtual_time
async def test_a_long_line_that_is_still_being_written_is_waited_for(tmp_path: Path) -> None:
    text = "x" * (2 * AT_ONCE)
    path = written(tmp_path, line("whole") + line(text)[:-1])

    assert await followed(path, lambda: add(path, "\n"), tail_lines=0) == f"{text}\n"


@pytest.mark.virtual_time
async def test_the_last_lines_of_a_file_are_shown_before_those_of_the_next(tmp_path: Path) -> None:
    path = written(tmp_path)

    def turn_over() -> None:
        add(path, line("last of the old"))
        path.rename(tmp_path / "0.log.1")
        path.write_text(line("first of the new"))

    assert await followed(path, turn_over, tail_lines=0) == "last of the old\nfirst of the new\n"


@pytest.mark.virtual_time
async def test_a_look_between_two_files_shows_nothing_twice(tmp_path: Path) -> None:
    path = written(tmp_path)

    shown = await followed(
        path,
        lambda: path.rename(tmp_path / "0.log.1"),
        lambda: path.write_text(line("next")),
        tail_lines=0,
    )

    assert shown == "next\n"


class Container:
    """Writes numbered lines, each of which fills a file of its log."""

    def __init__(self, folder: Path, first: int = 1) -> None:
        self.path = folder / "0.log"
        self._log = LogFile(self.path, largest=1)
        self._numbers = itertools.count()
        self.says(first)

    def says(self, lines: int) -> None:
        for number in itertools.islice(self._numbers, lines):
            self._log.write(line(str(number)).encode())

    def ends(self) -> None:
        self._log.close()


@pytest.mark.virtual_time
@pytest.mark.parametrize("often", [1, 2, 3, MOST_FILES - 1])
async def test_files_that_were_turned_over_between_two_looks_are_shown_once_and_in_order(
    tmp_path: Path, often: int
) -> None:
    container = Container(tmp_path)

    shown = await followed(
        container.path,
        lambda: container.says(often),
        lambda: container.says(often),
        container.ends,
        tail_lines=0,
    )

    assert shown.split() == [str(number) for number in range(1, 1 + 2 * often)]


@pytest.mark.virtual_time
@pytest.mark.parametrize("more", [1, 2, MOST_FILES])
async def test_of_files_that_were_removed_between_two_looks_only_their_own_lines_are_missed(
    tmp_path: Path, more: int
) -> None:
    container = Container(tmp_path)

    shown = await followed(
        container.path,
        lambda: container.says(MOST_FILES - 1 + more),
        lambda: container.says(1),
        container.ends,
        tail_lines=0,
    )

    last = MOST_FILES - 1 + more
    assert shown.split() == [str(number) for number in range(more, 2 + last)]


@pytest.mark.virtual_time
@pytest.mark.parametrize("read_before", [0, 1, 2])
async def test_files_that_turn_over_under_a_slow_reader_are_shown_once_and_in_order(
    tmp_path: Path, read_before: int
) -> None:
    container = Container(tmp_path)
    looks = iter([True, True, False])

    async def is_running() -> bool:
        goes_on = next(looks)
        if goes_on:
            container.says(2)
        return goes_on

    shown: list[bytes] = []
    choice = LogChoice(follow=True, tail_lines=0)
    async for piece in read_log(container.path, choice, is_running=is_running):
        if len(shown) == read_before:
            container.says(1)
        shown.append(piece)
    container.ends()

    assert b"".join(shown).split() == [b"%d" % number for number in range(1, 6)]


@pytest.mark.parametrize("follow", [False, True])
async def test_what_was_there_is_shown_whole_though_its_files_turn_over_under_a_slow_reader(
    tmp_path: Path, follow: bool
) -> None:
    container = Container(tmp_path, first=3)
    shown: list[bytes] = []
    async for piece in read_log(container.path, LogChoice(follow=follow)):
        if not shown:
            container.says(1)
        shown.append(piece)
    container.ends()

    assert b"".join(shown).split() == [b"0", b"1", b"2", b"3"][: 3 + follow]


@pytest.mark.virtual_time
async def test_a_file_that_is_gone_and_does_not_come_again_ends_nothing(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert await followed(path, path.unlink, lambda: None, tail_lines=1) == "line 4\n"


@pytest.mark.virtual_time
async def test_no_file_is_kept_open_when_following_ends(tmp_path: Path) -> None:
    container = Container(tmp_path)
    await followed(container.path, lambda: container.says(2), container.ends)

    targets = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert not any(each.is_relative_to(tmp_path) for each in targets)


@pytest.mark.virtual_time
async def test_a_log_that_is_not_there_yet_can_be_followed(tmp_path: Path) -> None:
    path = tmp_path / "0.log"

    assert await followed(path, lambda: path.write_text(line("first"))) == "first\n"


@pytest.mark.virtual_time
async def test_following_ends_at_the_limit_although_more_could_come(tmp_path: Path) -> None:
    path = written(tmp_path, "")

    shown = await followed(path, *[lambda: add(path, line("12345"))] * 9, limit_bytes=8)

    assert shown == "12345\n12"


async def test_following_a_container_that_has_ended_shows_what_there_is(tmp_path: Path) -> None:
    path = written(tmp_path)

    assert await shown(path, follow=True, tail_lines=1) == "line 4\n"


class NotingClock(VirtualClock):
    """Notes how long it is waited; what a thread needs is no part of that."""

    def __init__(self) -> None:
        super().__init__()
        self.sleeps: list[float] = []

    async def sleep(self, seconds: float) -> None:
        self.sleeps.append(seconds)
        await super().sleep(seconds)


@pytest.mark.virtual_time
async def test_whoever_follows_is_not_looked_after_all_the_time(tmp_path: Path) -> None:
    clock = NotingClock()
    looks = iter([True] * 4 + [False])

    async def is_running() -> bool:
        return next(looks)

    choice = LogChoice(follow=True, tail_lines=0)
    pieces = read_log(written(tmp_path), choice, is_running=is_running, clock=clock)

    assert [piece async for piece in pieces] == []
    assert clock.sleeps == [LOOK_EVERY] * 4


async def test_all_lines_are_shown_to_whoever_asks_for_less_than_none(tmp_path: Path) -> None:
    assert await shown(written(tmp_path), tail_lines=-1) == await shown(written(tmp_path))


async def test_what_is_no_line_of_a_log_is_left_out(tmp_path: Path) -> None:
    assert await shown(written(tmp_path, "torn\n" + line("good"))) == "good\n"


async def test_a_text_keeps_its_spaces(tmp_path: Path) -> None:
    assert await shown(written(tmp_path, line("  a  b "))) == "  a  b \n"


async def test_whoever_does_not_follow_does_not_wait_for_a_container_that_runs(
    tmp_path: Path,
) -> None:
    async def is_running() -> bool:
        raise AssertionError("nobody wants to know")

    pieces = read_log(written(tmp_path), LogChoice(tail_lines=1), is_running=is_running)

    assert [piece async for piece in pieces] == [b"line 4\n"]


async def test_nothing_is_given_where_there_is_nothing_to_show(tmp_path: Path) -> None:
    path = written(tmp_path, "torn\n" + line("good"))

    assert [piece async for piece in read_log(path, LogChoice())] == [b"good\n"]


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


def long_log(folder: Path, name: str = "0.log", pieces: int = 5) -> Path:
    path = folder / name
    numbers = itertools.count()
    with path.open("w") as log:
        while log.tell() < pieces * AT_ONCE:
            log.write(line(f"{next(numbers)} and some words"))
    return path


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

    await asyncio.gather(read("a"), read("b"), read("c"))

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


def bytes_read() -> int:
    """How much this process has read so far, by the system's own count."""
    counts = Path("/proc/self/io").read_text().splitlines()
    return int(counts[0].removeprefix("rchar: "))


def test_last_words_are_read_from_the_end_alone(tmp_path: Path) -> None:
    path = long_log(tmp_path, pieces=100)
    long_log(tmp_path, "0.log.1", pieces=100)
    before = bytes_read()

    words = last_words(path, most_bytes=2048, most_lines=80)

    assert bytes_read() - before < LAST_WORDS + 4096  # and the counts themselves
    whole = path.read_text().splitlines()
    expected = "".join(f"{text.split(' ', 3)[3]}\n" for text in whole[-80:])
    assert words.decode() == expected[-2048:]


def test_last_words_may_begin_in_the_file_before(tmp_path: Path) -> None:
    path = written(tmp_path, line("new"))
    (tmp_path / "0.log.1").write_text(line("older") + line("old"))

    assert last_words(path, most_bytes=100, most_lines=2) == b"old\nnew\n"


def test_last_words_of_one_long_line_are_its_end(tmp_path: Path) -> None:
    path = written(tmp_path, line("x" * (LAST_WORDS - 100)))

    assert last_words(path, most_bytes=5, most_lines=80) == b"xxxx\n"


def test_who_has_no_log_has_no_last_words(tmp_path: Path) -> None:
    assert last_words(tmp_path / "0.log", most_bytes=5, most_lines=80) == b""
