"""The process table of macOS, read from a kernel that is made of paper."""

from __future__ import annotations

import ctypes
import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.processes.darwin_processes import KINFO_SIZE, DarwinProcesses, parse_arguments
from reflet.processes.proc_files import ProcFiles
from tests.darwin_kernel import DarwinKernel, KinfoProc

TABLE = DarwinProcesses()


@pytest.fixture(autouse=True)
def _kernel(monkeypatch: pytest.MonkeyPatch) -> None:
    made = DarwinKernel(Path("/proc"))
    monkeypatch.setattr(ctypes, "CDLL", lambda *_, **__: made)


@pytest.fixture
def cat() -> Iterator[subprocess.Popen[bytes]]:
    environment = {"COLOUR": "blue"}
    with subprocess.Popen(
        ["/bin/cat", "-"], stdin=subprocess.PIPE, process_group=0, env=environment
    ) as process:
        yield process
        process.communicate()


def test_the_struct_has_the_size_that_64_bit_macs_have() -> None:
    assert ctypes.sizeof(KinfoProc) == KINFO_SIZE


def test_a_process_is_told_as_linux_tells_it(cat: subprocess.Popen[bytes]) -> None:
    found, expected = TABLE.entry(cat.pid), ProcFiles().entry(cat.pid)

    assert found is not None
    assert expected is not None
    assert (found.pid, found.parent, found.group) == (cat.pid, os.getpid(), cat.pid)
    assert (found.session, found.has_ended) == (expected.session, False)


def test_nobody_is_none() -> None:
    assert TABLE.entry(2**22 + 1) is None


def test_who_ended_and_was_not_waited_for_has_ended(cat: subprocess.Popen[bytes]) -> None:
    cat.kill()
    os.waitid(os.P_PID, cat.pid, os.WEXITED | os.WNOWAIT)
    found = TABLE.entry(cat.pid)

    assert found is not None
    assert found.has_ended


def test_the_later_of_two_has_the_later_start(cat: subprocess.Popen[bytes]) -> None:
    mine, its = TABLE.entry(os.getpid()), TABLE.entry(cat.pid)

    assert mine is not None
    assert its is not None
    assert mine.start < its.start


def test_children_are_found_among_all(cat: subprocess.Popen[bytes]) -> None:
    assert cat.pid in TABLE.children(os.getpid())
    assert cat.pid in {entry.pid for entry in TABLE.entries()}


def test_variables_and_names_are_told(cat: subprocess.Popen[bytes]) -> None:
    assert TABLE.environment(cat.pid) == [b"COLOUR=blue"]
    assert TABLE.names(cat.pid) == {"cat"}


def test_a_process_that_is_gone_has_no_variables_to_read() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        TABLE.environment(2**22 + 1)


def test_an_empty_argument_is_not_the_end_of_them() -> None:
    told = (3).to_bytes(4, "little") + b"/bin/a\0\0\0\0a\0\0-x\0V=1\0W=2\0\0junk=1\0"

    assert parse_arguments(told) == ([b"/bin/a", b"a", b"", b"-x"], [b"V=1", b"W=2"])


def test_a_life_of_the_machine_has_a_name() -> None:
    assert TABLE.boot() == "5F0E0B5A-0C5B-4E0A-9D5B-0123456789AB"
