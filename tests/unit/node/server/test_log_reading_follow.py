from __future__ import annotations

import asyncio
import itertools
from pathlib import Path

import pytest

from reflet.node.server.log_reading import (
    AT_ONCE,
    LOOK_EVERY,
    LogChoice,
    read_log,
)
from reflet.node.shim.log_files import MOST_FILES, LogFile
from reflet.testing.virtual_time import VirtualClock
from tests.unit.node.server.log_scenes import add, followed, line, shown, written


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
