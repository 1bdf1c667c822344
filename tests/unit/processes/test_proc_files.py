"""A moment in a process's life in which it has no variables: between two programs."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reflet.processes import proc_files
from reflet.processes.proc_files import STARTING_LOOKS, ProcFiles

PID = 42
RUNNING = f"{PID} (sh) S" + " 1" * 49
STARTING = RUNNING.removesuffix(" 1 1") + " 0 1"
WITHOUT_MEMORY = f"{PID} (kthreadd) S" + " 0" * 49


class Table:
    """A /proc with one process, and what becomes of it while somebody waits."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder / str(PID)
        self.folder.mkdir()
        self.is_now(STARTING)
        self.pauses = 0
        self.then: Callable[[], None] = lambda: None

    def is_now(self, stat: str, variables: bytes = b"") -> None:
        (self.folder / "stat").write_text(stat)
        (self.folder / "environ").write_bytes(variables)

    def sleep(self, _: float) -> None:
        self.pauses += 1
        self.then()


@pytest.fixture
def table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Table:
    found = Table(tmp_path)
    monkeypatch.setattr(proc_files, "PROC", tmp_path)
    monkeypatch.setattr("time.sleep", found.sleep)
    return found


def test_a_process_that_is_just_starting_a_program_is_asked_again(table: Table) -> None:
    table.then = lambda: table.is_now(RUNNING, b"A=b\0")

    assert list(ProcFiles().environment(PID)) == [b"A=b", b""]
    assert table.pauses == 1


@pytest.mark.parametrize("stat", [RUNNING, WITHOUT_MEMORY], ids=["none", "thread of the kernel"])
def test_one_that_has_no_variables_is_asked_once(table: Table, stat: str) -> None:
    table.is_now(stat)

    assert list(ProcFiles().environment(PID)) == [b""]
    assert table.pauses == 0


def test_a_start_that_is_over_between_two_looks_is_seen(
    table: Table, monkeypatch: pytest.MonkeyPatch
) -> None:
    def over(_: int) -> bool:
        table.is_now(RUNNING, b"A=b\0")
        return False

    monkeypatch.setattr(proc_files, "_is_starting", over)

    assert list(ProcFiles().environment(PID)) == [b"A=b", b""]


def test_one_that_ends_meanwhile_has_none(table: Table) -> None:
    table.then = (table.folder / "stat").unlink

    assert list(ProcFiles().environment(PID)) == [b""]


def test_nobody_waits_for_a_start_that_takes_for_ever(table: Table) -> None:
    assert list(ProcFiles().environment(PID)) == [b""]
    assert table.pauses == STARTING_LOOKS
