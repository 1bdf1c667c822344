"""A line on the terminal for what takes longer than a second, and that goes away again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final, TextIO

PATIENCE: Final = 1.0  # seconds of silence that nobody minds
STEP: Final = 1.0  # seconds between two signs of life


class Progress:
    """How far something has come: what is done is added, by any thread.

    ``expect`` says how much there is, as far as it is known; without it there is only a count, and
    before the first of either only the seconds.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._done = 0
        self._expected = 0
        self._guessing = False

    def add(self, number: int = 1) -> None:
        """So many more are done."""
        with self._lock:
            self._done += number

    def expect(self, number: int) -> None:
        """So many more are to be done, those that are done already included."""
        with self._lock:
            self._expected += number

    def listing(self) -> Callable[[int, int | None], None]:
        """Follow one list of a server, which is told page by page.

        The answer takes the objects of a page and how many the server says are left: None when it
        does not say.  Then nothing is said about the whole any more.
        """
        first = True

        def page(number: int, left: int | None) -> None:
            nonlocal first
            with self._lock:
                self._done += number
                if first:
                    self._expected += number + (left or 0)
                    self._guessing = self._guessing or left is None
                first = False

        return page

    def __str__(self) -> str:
        with self._lock:
            if not self._done and not self._expected:
                return ""
            if self._done < self._expected and not self._guessing:
                return f"{self._done:,} of about {self._expected:,}"
            return f"{self._done:,}"


@contextmanager
def progress(
    text: str, *, stream: TextIO | None = None, patience: float = PATIENCE
) -> Iterator[Progress]:
    """Say *text* while the body goes on, if it goes on for long and somebody watches.

    The body may count in what it is given: ``listing pods … 3,500 of about 10,000``.  Nothing is
    ever written to what is not a terminal.
    """
    out = sys.stderr if stream is None else stream
    told = Progress()
    if not out.isatty():
        yield told
        return
    done = threading.Event()
    teller = threading.Thread(
        target=_tell, args=(text, told, out, done, patience), name="progress", daemon=True
    )
    teller.start()
    try:
        yield told
    finally:
        done.set()
        teller.join()


def _tell(text: str, told: Progress, out: TextIO, done: threading.Event, patience: float) -> None:
    if done.wait(patience):
        return
    seconds = patience
    widest = 0
    while True:
        shown = f"{text} … {str(told) or f'{seconds:.0f} s'}"
        widest = max(widest, len(shown))
        out.write(f"\r{shown.ljust(widest)}")
        out.flush()
        if done.wait(STEP):
            break
        seconds += STEP
    # Whatever comes next starts on a clean line.
    out.write("\r" + " " * widest + "\r")
    out.flush()
