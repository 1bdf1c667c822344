"""Progress shows on a terminal, after a while, and leaves nothing behind."""

from __future__ import annotations

import io
import threading
from collections.abc import Callable

import pytest

from reflet.cli.output import progress as module
from reflet.cli.output.progress import Progress, progress


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


def told_by(tell: Callable[[Progress], object]) -> str:
    """What the first line says when the body has counted before it."""
    screen = Screen()
    with progress("listing pods", stream=screen, patience=0.0) as told:
        tell(told)
        screen.written.clear()
        assert screen.written.wait(10)
    return screen.getvalue().split("\r")[-3].rstrip()


@pytest.mark.parametrize(
    ("tell", "line"),
    [
        (lambda told: told.add(412), "listing pods … 412"),
        (lambda told: [told.expect(10_000), told.add(3_500)], "3,500 of about 10,000"),
        (lambda told: [told.expect(20), told.add(20)], "listing pods … 20"),
        (lambda told: told.listing()(500, 9_500), "500 of about 10,000"),
        (lambda told: [told.listing()(500, 500), told.listing()(7, 0)], "507 of about 1,007"),
        (lambda told: [told.listing()(500, None), told.listing()(1, 5)], "listing pods … 501"),
    ],
)
def test_what_is_counted_is_told(
    tell: Callable[[Progress], object], line: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "STEP", 0.01)

    assert told_by(tell).endswith(line)


def test_the_pages_of_a_list_are_expected_once() -> None:
    told = Progress()
    page = told.listing()

    page(500, 700)
    page(500, 200)

    assert str(told) == "1,000 of about 1,200"


def test_any_thread_may_count() -> None:
    told = Progress()

    def count() -> None:
        for _ in range(1_000):
            told.add()

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert str(told) == "4,000"


def test_what_nobody_sees_is_counted_all_the_same() -> None:
    with progress("reading files", stream=Screen(terminal=False)) as told:
        told.add(3)

    assert str(told) == "3"
