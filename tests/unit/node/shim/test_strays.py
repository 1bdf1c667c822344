from __future__ import annotations

import os
import subprocess
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

import pytest

from reflet.node.shim.strays import (
    CONTAINER_ID,
    all_strays,
    container_of,
    kill_left_to_us,
    kill_processes,
    own_children,
)
from reflet.processes.process_source import ProcessEntry
from reflet.processes.process_table import process_entry


@contextmanager
def sleeper(container: str | None) -> Iterator[subprocess.Popen[bytes]]:
    """A process that was started in a container."""
    environment = {"PATH": os.environ["PATH"]}
    if container is not None:
        environment[CONTAINER_ID] = container
    with subprocess.Popen(["sleep", "60"], env=environment) as process:
        try:
            yield process
        finally:
            process.kill()


def entry_of(process: subprocess.Popen[bytes]) -> ProcessEntry:
    entry = process_entry(process.pid)
    assert entry is not None
    return entry


def unique() -> str:
    return uuid.uuid4().hex


def test_a_process_is_known_by_the_container_it_was_started_in() -> None:
    container = unique()
    with sleeper(container) as inside, sleeper(None) as outside:
        found = container_of(inside.pid), container_of(outside.pid)
        strays = all_strays()

    assert found == (container, None)
    assert [entry.pid for entry in strays[container]] == [inside.pid]


def test_a_process_that_is_gone_was_in_no_container() -> None:
    with sleeper(unique()) as process:
        process.kill()
        process.wait()

        assert container_of(process.pid) is None


def test_exactly_the_processes_that_were_found_are_killed() -> None:
    with sleeper(unique()) as one, sleeper(unique()) as other:
        killed = kill_processes([entry_of(one)])
        code = one.wait(5)

        assert (killed, code, other.poll()) == (1, -9, None)


def test_a_process_that_got_the_number_of_another_is_spared() -> None:
    with sleeper(unique()) as process:
        entry = entry_of(process)
        killed = kill_processes([replace(entry, start=entry.start - 1)])

        assert (killed, process.poll()) == (0, None)


async def test_what_a_container_left_to_us_is_killed_and_nothing_else() -> None:
    container = unique()
    with (
        sleeper(container) as left,
        sleeper(container) as spared,
        sleeper(unique()) as of_another,
        sleeper(None) as of_nobody,
    ):
        killed = await kill_left_to_us(container, spare={spared.pid})
        code = left.wait(5)

        assert (killed, code) == (1, -9)
        assert [each.poll() for each in (spared, of_another, of_nobody)] == [None] * 3


async def test_a_process_that_is_slow_to_die_is_counted_once(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tries: list[int] = []

    def slow_to_die(pid: int, number: int) -> None:
        tries.append(pid)
        if len(tries) == 3:
            kill(pid, number)

    kill = os.kill
    container = unique()
    with sleeper(container) as left:
        monkeypatch.setattr(os, "kill", slow_to_die)
        killed = await kill_left_to_us(container, spare=())
        monkeypatch.undo()

        assert (killed, left.wait(5)) == (1, -9)
    assert len(tries) >= 3


def test_our_own_children_are_those_we_started() -> None:
    with sleeper(None) as process:
        assert process.pid in own_children()
    assert process.pid not in own_children()
