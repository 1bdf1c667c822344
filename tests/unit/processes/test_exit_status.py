"""Every way to end has a code that a shell understands."""

from __future__ import annotations

import signal

import pytest

from reflet.processes.exit_status import (
    Ending,
    Exited,
    Killed,
    Vanished,
    ending_of,
    signal_name,
    signal_number,
)


@pytest.mark.parametrize(
    ("ending", "code", "words"),
    [
        (Exited(3), 3, "ended with code 3"),
        (Killed(15), 143, "was ended by SIGTERM"),
        (Killed(40), 168, "was ended by signal 40"),
        (Vanished(), 137, "ended while nobody who could ask for its code was there"),
    ],
)
def test_an_ending_has_a_code_and_words(ending: Ending, code: int, words: str) -> None:
    assert (ending.exit_code, str(ending)) == (code, words)


@pytest.mark.parametrize(
    ("status", "ending"), [(0, Exited(0)), (3 << 8, Exited(3)), (9, Killed(9))]
)
def test_the_status_of_waitpid_is_read(status: int, ending: Ending) -> None:
    assert ending_of(status) == ending


@pytest.mark.parametrize("name", ["HUP", "SIGHUP", "sighup", "hup", " 1 "])
def test_a_signal_has_many_names(name: str) -> None:
    assert signal_number(name) == signal.SIGHUP


@pytest.mark.parametrize("name", ["", "KILLER", "0", "99", "_DFL", "-1"])
def test_what_names_no_signal_is_refused(name: str) -> None:
    with pytest.raises(ValueError, match=r"signal|Signals"):
        signal_number(name)


def test_a_signal_is_shown_by_its_name() -> None:
    assert signal_name(signal.SIGUSR1) == "SIGUSR1"
