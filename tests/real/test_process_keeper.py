"""No server outlives the program that started it, however that program ends."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from tests.real.process_keeper import KeeperFailed, ProcessKeeper

PROGRAM = """
import sys
from tests.real.process_keeper import ProcessKeeper

keeper = ProcessKeeper(prefix="reflet-keeper-")
print(keeper._keeper.pid, keeper.run("server", ["sleep", "1000"]), keeper.folder, flush=True)
sys.stdin.read()
"""
IGNORES_TERM = ["/bin/sh", "-c", "trap '' TERM; echo ready; exec sleep 1000"]


@pytest.fixture
def keeper() -> Iterator[ProcessKeeper]:
    with closing(ProcessKeeper(prefix="reflet-keeper-")) as keeper:
        yield keeper


def is_there(process_id: int) -> bool:
    return Path(f"/proc/{process_id}").exists()


def wait_for_the_end_of(process_id: int) -> None:
    descriptor = os.pidfd_open(process_id)
    try:
        select.select([descriptor], [], [])
    finally:
        os.close(descriptor)


def test_a_killed_program_leaves_neither_processes_nor_files() -> None:
    root = str(Path(__file__).parents[2])
    with subprocess.Popen(
        [sys.executable, "-c", PROGRAM],
        cwd=root,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    ) as program:
        assert program.stdout is not None
        keeper, server, folder = program.stdout.readline().split()
        was_there = is_there(int(server))

        program.send_signal(signal.SIGKILL)
        wait_for_the_end_of(int(keeper))

    assert (was_there, is_there(int(server)), Path(folder).exists()) == (True, False, False)


def test_a_process_that_does_not_want_to_end_is_killed(keeper: ProcessKeeper) -> None:
    process_id = keeper.run("stubborn", IGNORES_TERM)
    log = keeper.folder / "stubborn.log"
    while "ready" not in log.read_text():
        assert keeper.exit_code("stubborn") is None

    keeper.stop("stubborn", patience=0.05)

    assert not is_there(process_id)


def test_a_signal_reaches_a_process(keeper: ProcessKeeper) -> None:
    process_id = keeper.run("server", ["sleep", "1000"])

    keeper.signal("server", signal.SIGKILL)
    wait_for_the_end_of(process_id)

    assert keeper.exit_code("server") == -signal.SIGKILL


def test_a_command_afterwards_runs_when_the_processes_are_gone(tmp_path: Path) -> None:
    report = tmp_path / "report"
    script = f'kill -0 "$(cat {tmp_path}/process)" 2>/dev/null || echo gone >{report}'

    with closing(ProcessKeeper(prefix="reflet-keeper-", afterwards=["sh", "-c", script])) as keeper:
        (tmp_path / "process").write_text(str(keeper.run("server", ["sleep", "1000"])))

    assert report.read_text() == "gone\n"


def test_the_exit_code_of_a_process_is_known(keeper: ProcessKeeper) -> None:
    wait_for_the_end_of(keeper.run("short", ["/bin/sh", "-c", "exit 7"]))

    assert keeper.exit_code("short") == 7


def test_a_program_that_is_not_there_is_named(keeper: ProcessKeeper) -> None:
    with pytest.raises(KeeperFailed, match=r"run etcd: .*'/no/such/etcd'"):
        keeper.run("etcd", ["/no/such/etcd"])


def test_a_closed_keeper_says_so(keeper: ProcessKeeper) -> None:
    keeper.close()

    with pytest.raises(KeeperFailed, match="the keeper is closed"):
        keeper.run("late", ["true"])
