"""What /proc says, read without being fooled by names."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator

import pytest

from reflet.processes.proc_files import parse_entry
from reflet.processes.process_table import (
    children_of,
    group_members,
    process_entries,
    process_entry,
)

TAIL = "S 7 70 700 0 -1 4194560 1 2 3 4 5 6 7 8 20 0 1 0 987654 1000 200\n"


@pytest.fixture
def sleeper() -> Iterator[subprocess.Popen[bytes]]:
    with subprocess.Popen(["/bin/cat"], stdin=subprocess.PIPE, process_group=0) as process:
        yield process
        process.communicate()


@pytest.mark.parametrize("name", ["sh", "a b", "a) S 1 2 (b", ")", "(("])
def test_a_name_that_looks_like_fields_changes_nothing(name: str) -> None:
    entry = parse_entry(f"42 ({name}) {TAIL}")

    assert (entry.pid, entry.parent, entry.group, entry.session) == (42, 7, 70, 700)
    assert (entry.state, entry.start, entry.has_ended) == ("S", 987654, False)


def test_a_zombie_has_ended() -> None:
    assert parse_entry("42 (sh) " + TAIL.replace("S", "Z", 1)).has_ended


def test_this_process_is_found() -> None:
    entry = process_entry(os.getpid())

    assert entry is not None
    assert (entry.parent, entry.group) == (os.getppid(), os.getpgrp())


def test_a_number_without_process_is_none() -> None:
    assert process_entry(2**22 + 1) is None


def test_a_child_is_found_by_parent_and_by_group(sleeper: subprocess.Popen[bytes]) -> None:
    assert sleeper.pid in {entry.pid for entry in children_of(os.getpid())}
    assert [entry.pid for entry in group_members(sleeper.pid)] == [sleeper.pid]
    assert sleeper.pid in {entry.pid for entry in process_entries()}


def test_one_who_is_not_there_has_no_children() -> None:
    assert children_of(2**22 + 1) == []
