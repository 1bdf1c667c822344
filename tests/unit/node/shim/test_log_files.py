from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reflet.node.shim.log_files import LONGEST_PART, LineCutter, LogFile

NOW = datetime(2026, 1, 2, 3, 4, 5, 6, tzinfo=UTC)
STAMP = b"2026-01-02T03:04:05.000006000Z"


def log_in(folder: Path, **options: int) -> LogFile:
    return LogFile(folder / "0.log", now=lambda: NOW, **options)


def test_lines_carry_their_time_and_stream(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    LineCutter(log, "stdout").feed(b"one\ntwo\n")
    LineCutter(log, "stderr").feed(b"three\n")
    log.close()

    assert (tmp_path / "0.log").read_bytes() == (
        STAMP + b" stdout F one\n" + STAMP + b" stdout F two\n" + STAMP + b" stderr F three\n"
    )


def test_a_line_waits_for_its_end(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    cutter = LineCutter(log, "stdout")
    cutter.feed(b"be")
    empty = (tmp_path / "0.log").read_bytes()
    cutter.feed(b"gin\nre")
    cutter.finish()
    log.close()

    assert empty == b""
    assert (tmp_path / "0.log").read_bytes() == (
        STAMP + b" stdout F begin\n" + STAMP + b" stdout P re\n"
    )


def test_what_somebody_may_wait_for_is_a_part_at_once(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    cutter = LineCutter(log, "stdout", eager=True)
    cutter.feed(b"one\nname? ")
    cutter.feed(b"\n")
    cutter.finish()
    log.close()

    lines = (b" stdout F one\n", b" stdout P name? \n", b" stdout F \n")
    assert (tmp_path / "0.log").read_bytes() == b"".join(STAMP + line for line in lines)


def test_a_line_without_an_end_is_given_in_parts(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    LineCutter(log, "stdout").feed(b"x" * LONGEST_PART)
    log.close()

    assert (tmp_path / "0.log").read_bytes().count(b" P ") == 1


def test_a_file_is_turned_over_and_old_ones_go(tmp_path: Path) -> None:
    log = log_in(tmp_path, largest=60, most=3)
    cutter = LineCutter(log, "stdout")
    for number in range(5):
        cutter.feed(b"line %d of many\n" % number)
    log.close()

    kept = {path.name: path.read_bytes().split()[4] for path in tmp_path.iterdir()}
    assert kept == {"0.log": b"4", "0.log.1": b"3", "0.log.2": b"2"}


def test_a_log_goes_on_where_it_was(tmp_path: Path) -> None:
    for word in (b"one\n", b"two\n"):
        log = log_in(tmp_path)
        LineCutter(log, "stdout").feed(word)
        log.close()

    assert (tmp_path / "0.log").read_bytes().count(b"\n") == 2


def test_the_end_of_a_line_that_was_given_in_parts_is_a_line(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    cutter = LineCutter(log, "stdout")
    cutter.feed(b"x" * LONGEST_PART)
    cutter.feed(b"end\n")
    log.close()

    assert (tmp_path / "0.log").read_bytes().endswith(b"x\n" + STAMP + b" stdout F end\n")


def test_a_line_just_short_of_a_part_still_waits(tmp_path: Path) -> None:
    log = log_in(tmp_path)
    LineCutter(log, "stdout").feed(b"x" * (LONGEST_PART - 1))
    log.close()

    assert (tmp_path / "0.log").read_bytes() == b""


def test_lines_larger_than_a_file_are_kept_whole_in_one(tmp_path: Path) -> None:
    log = log_in(tmp_path, largest=10)
    log.write(b"x" * 99 + b"\n")
    log.close()

    assert [path.name for path in tmp_path.iterdir()] == ["0.log"]


def test_what_an_earlier_shim_wrote_counts_for_the_size_of_the_file(tmp_path: Path) -> None:
    (tmp_path / "0.log").write_bytes(b"12345678\n")
    log = log_in(tmp_path, largest=10)
    log.write(b"new\n")
    log.close()

    assert (tmp_path / "0.log.1").read_bytes() == b"12345678\n"


def test_only_the_owner_reads_a_log(tmp_path: Path) -> None:
    log = log_in(tmp_path, largest=10)
    log.write(b"12345678\n")
    log.write(b"new\n")
    log.close()

    assert {path.stat().st_mode & 0o777 for path in tmp_path.iterdir()} == {0o600}


def test_a_full_disk_costs_lines_and_nothing_else() -> None:
    log = LogFile(Path("/dev/full"))

    log.write(b"lost\n")

    log.close()


@contextmanager
def room_for(monkeypatch: pytest.MonkeyPatch, left: int) -> Iterator[None]:
    """A disk on which there is room for so many bytes."""
    real = os.write

    def write(descriptor: int, data: memoryview) -> int:
        nonlocal left
        if not left:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        taken = real(descriptor, data[:left])
        left -= taken
        return taken

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", write)
        yield


HEAD = len(STAMP + b" stdout F ")


@pytest.mark.parametrize("lost", [0, 1, 2])
def test_a_line_that_a_full_disk_tore_does_not_spoil_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, lost: int
) -> None:
    log = log_in(tmp_path)
    cutter = LineCutter(log, "stdout")
    with room_for(monkeypatch, HEAD + 2):
        for _ in range(1 + lost):
            cutter.feed(b"torn\n")
    cutter.feed(b"next\n")
    cutter.feed(b"last\n")
    log.close()

    assert (tmp_path / "0.log").read_bytes().splitlines() == [
        STAMP + b" stdout F " + text for text in (b"to", b"next", b"last")
    ]


def test_lines_that_a_full_disk_did_not_take_at_all_leave_no_trace(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_in(tmp_path)
    with room_for(monkeypatch, 0):
        log.write(b"lost\n")
    log.write(b"next\n")
    log.close()

    assert (tmp_path / "0.log").read_bytes() == b"next\n"


def test_a_line_that_is_torn_again_by_its_first_byte_is_closed_all_the_same(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_in(tmp_path)
    for room in (2, 1):
        with room_for(monkeypatch, room):
            log.write(b"torn\n")
    log.write(b"next\n")
    log.close()

    lines = (tmp_path / "0.log").read_bytes().splitlines()
    assert (lines[0], lines[-1]) == (b"to", b"next")


def test_a_new_file_does_not_begin_with_the_end_of_a_torn_line(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_in(tmp_path, largest=10)
    with room_for(monkeypatch, 7):
        log.write(b"12345678\n")
    log.write(b"next\n")
    log.close()

    assert (tmp_path / "0.log").read_bytes() == b"next\n"


def test_what_is_torn_counts_for_the_size_of_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    log = log_in(tmp_path, largest=10)
    with room_for(monkeypatch, 2):
        log.write(b"12345678\n")
    log.write(b"next\n")
    log.close()

    assert [path.name for path in tmp_path.iterdir()] == ["0.log"]


def test_a_log_goes_on_in_its_file_where_there_can_be_no_new_one(tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    log = log_in(folder, largest=10)
    witness = os.dup(log._descriptor)
    (folder / "0.log").unlink()
    folder.rmdir()

    for _ in range(3):
        log.write(b"12345678\n")
    log.close()

    assert os.fstat(witness).st_size == 27
    os.close(witness)


def test_files_are_not_turned_over_again_and_again_while_there_can_be_no_new_one(
    tmp_path: Path,
) -> None:
    log = log_in(tmp_path, largest=10)
    log.write(b"first 89\n")
    (tmp_path / "0.log").rename(tmp_path / "0.log.1")
    (tmp_path / "0.log").symlink_to(tmp_path / "nowhere" / "0.log")  # it can be made by nobody

    for _ in range(9):
        log.write(b"more\n")
    log.close()

    assert (tmp_path / "0.log.1").read_bytes() == b"first 89\n" + b"more\n" * 9


def test_a_file_that_is_just_full_is_not_turned_over(tmp_path: Path) -> None:
    log = log_in(tmp_path, largest=18)
    log.write(b"12345678\n")
    log.write(b"12345678\n")
    log.close()

    assert [path.name for path in tmp_path.iterdir()] == ["0.log"]


def test_no_file_is_kept_open_after_it_was_turned_over_or_closed(tmp_path: Path) -> None:
    log = log_in(tmp_path, largest=10)
    for _ in range(3):
        log.write(b"12345678\n")
    log.close()

    targets = [each.readlink() for each in Path("/proc/self/fd").iterdir() if each.is_symlink()]
    assert not any(each.is_relative_to(tmp_path) for each in targets)
