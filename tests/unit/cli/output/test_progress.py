"""Progress shows on a terminal, after a while, and leaves nothing behind."""

from __future__ import annotations

import io
import threading

import pytest

from reflet.cli.output.progress import progress


class Screen(io.StringIO):
    """A terminal that remembers, and tells when something is written."""

    def __init__(self, *, terminal: bool = True) -> None:
        super().__init__()
        self._terminal = terminal
        self.written = threading.Event()

    def isatty(self) -> bool:
        return self._terminal

    def write(self, text: str) -> int:
        self.written.set()
        return super().write(text)


def test_what_takes_long_is_told_and_cleared_away() -> None:
    screen = Screen()

    with progress("asking", stream=screen, patience=0.0):
        assert screen.written.wait(10)

    told, cleared = screen.getvalue().split("\r")[1:3]
    assert told == "asking … 0 s"
    assert cleared.strip() == ""


def test_what_is_done_at_once_says_nothing() -> None:
    screen = Screen()

    with progress("asking", stream=screen):
        pass

    assert screen.getvalue() == ""


def test_nothing_is_written_to_a_file() -> None:
    screen = Screen(terminal=False)

    with progress("asking", stream=screen, patience=0.0):
        pass

    assert screen.getvalue() == ""


def test_an_error_passes_through() -> None:
    with pytest.raises(ValueError, match="boom"), progress("asking", stream=Screen()):
        raise ValueError("boom")
