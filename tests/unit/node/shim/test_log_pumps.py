from __future__ import annotations

import asyncio
import errno
import os
import tracemalloc
from pathlib import Path

import pytest

from reflet.node.shim import log_pumps
from reflet.node.shim.log_files import LogFile
from reflet.node.shim.log_pumps import AT_ONCE, STREAMS, LogPump


def pump_in(folder: Path) -> LogPump:
    return LogPump({stream: folder / stream for stream in STREAMS}, LogFile(folder / "log"))


def texts(folder: Path) -> list[str]:
    """The lines of the log without their times."""
    return [line.split(" ", 1)[1] for line in (folder / "log").read_text().splitlines()]


async def until_read(folder: Path, lines: int) -> None:
    while len(texts(folder)) < lines:  # noqa: ASYNC110 - a file tells nobody that it grew
        await asyncio.sleep(0)


async def test_what_a_container_writes_is_in_its_log_by_stream(tmp_path: Path) -> None:
    pump = pump_in(tmp_path)
    out, err = pump.open_for_container()
    os.write(out, b"hello\n")
    await until_read(tmp_path, 1)
    os.write(err, b"oh\n")
    await until_read(tmp_path, 2)
    for descriptor in (out, err):
        os.close(descriptor)
    pump.finish()

    assert texts(tmp_path) == ["stdout F hello", "stderr F oh"]


async def test_the_end_writes_what_has_no_end_of_line_and_removes_the_pipes(
    tmp_path: Path,
) -> None:
    pump = pump_in(tmp_path)
    out, err = pump.open_for_container()
    os.write(out, b"bye")
    for descriptor in (out, err):
        os.close(descriptor)

    pump.finish()

    assert texts(tmp_path) == ["stdout P bye"]
    assert [path.name for path in tmp_path.iterdir()] == ["log"]


async def test_the_next_reader_goes_on_where_the_last_one_stopped(tmp_path: Path) -> None:
    first = pump_in(tmp_path)
    out, err = first.open_for_container()
    os.write(out, b"one\n")
    await until_read(tmp_path, 1)
    first.close()
    os.write(out, b"two\n")  # neither fails nor ends the container
    second = pump_in(tmp_path)
    await until_read(tmp_path, 2)
    for descriptor in (out, err):
        os.close(descriptor)
    second.finish()

    assert texts(tmp_path) == ["stdout F one", "stdout F two"]


async def test_the_pipes_are_private(tmp_path: Path) -> None:
    pump = pump_in(tmp_path)
    modes = {(tmp_path / stream).stat().st_mode & 0o777 for stream in STREAMS}
    pump.finish()

    assert modes == {0o600}


async def test_somebody_who_never_stops_writing_does_not_keep_the_end_from_coming(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pump = pump_in(tmp_path)

    with monkeypatch.context() as patch:
        patch.setattr(log_pumps, "_read", lambda _: b"and another thing\n")
        pump.finish()

    assert texts(tmp_path)[0] == "stdout F and another thing"
    assert not (tmp_path / "stdout").exists()


async def test_a_pump_that_cannot_have_all_its_pipes_keeps_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = tmp_path / "stdout", tmp_path / "stderr"
    take = os.open

    def fails(path: Path, *flags: int) -> int:
        if path == second:
            raise OSError(errno.EMFILE, "Too many open files")
        return take(path, *flags)

    log = LogFile(tmp_path / "log")
    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - how many
    monkeypatch.setattr(os, "open", fails)
    with pytest.raises(OSError, match="Too many open files"):
        LogPump({"stdout": first, "stderr": second}, log)
    monkeypatch.undo()

    # The log's own is closed, too.
    assert len(os.listdir("/proc/self/fd")) == before - 1  # noqa: PTH208 - as above


async def test_an_end_that_lacks_memory_lets_go_of_everything(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def fails(_: int) -> bytes:
        raise MemoryError

    before = len(os.listdir("/proc/self/fd"))  # noqa: PTH208 - how many
    pump = pump_in(tmp_path)
    with monkeypatch.context() as patched:
        patched.setattr(log_pumps, "_read", fails)
        with pytest.raises(MemoryError):
            pump.finish()

    assert len(os.listdir("/proc/self/fd")) == before  # noqa: PTH208 - as above


def test_a_read_takes_no_more_memory_than_what_there_is_to_read() -> None:
    reading, writing = os.pipe()
    os.write(writing, b"a few words\n")
    tracemalloc.start()
    try:
        data, most = log_pumps._read(reading), tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
        os.close(reading)
        os.close(writing)

    assert data == b"a few words\n"
    assert most < AT_ONCE
