"""A process is told from a later one with the same number."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest

from reflet.processes.process_table import ProcessIdentity


def own() -> ProcessIdentity:
    identity = ProcessIdentity.of(os.getpid())
    assert identity is not None
    return identity


def test_this_process_is_running() -> None:
    assert own().is_running()


def test_another_with_the_same_number_is_not_it() -> None:
    assert not replace(own(), start=own().start - 1).is_running()


def test_one_of_an_earlier_life_of_the_machine_is_gone() -> None:
    assert not replace(own(), boot="another").is_running()


def test_a_number_without_process_has_no_identity() -> None:
    assert ProcessIdentity.of(2**22 + 1) is None


def test_an_ended_process_that_nobody_waited_for_is_not_running() -> None:
    pid = os.spawnv(os.P_NOWAIT, "/bin/true", ["true"])
    try:
        os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)
        identity = ProcessIdentity.of(pid)

        assert identity is not None
        assert not identity.is_running()
    finally:
        os.waitpid(pid, 0)


def test_it_can_be_written_down() -> None:
    assert ProcessIdentity.parse(str(own())) == own()


@pytest.mark.parametrize("text", ["", "1 2", "a b c", "1 2 3 4"])
def test_other_text_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"unpack|invalid literal"):
        ProcessIdentity.parse(text)
