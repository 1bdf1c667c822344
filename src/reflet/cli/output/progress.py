"""A line on the terminal for what takes longer than a second, and that goes away again."""

from __future__ import annotations

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, TextIO

PATIENCE: Final = 1.0  # seconds of silence that nobody minds
STEP: Final = 1.0  # seconds between two signs of life


@contextmanager
def progress(
    text: str, *, stream: TextIO | None = None, patience: float = PATIENCE
) -> Iterator[None]:
    """Say *text* while the body goes on, if it goes on for long and somebody watches.

    Nothing is ever written to what is not a terminal.
    """
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        yield
        return
    done = threading.Event()
    teller = threading.Thread(
        target=_tell, args=(text, out, done, patience), name="progress", daemon=True
    )
    teller.start()
    try:
        yield
    finally:
        done.set()
        teller.join()


def _tell(text: str, out: TextIO, done: threading.Event, patience: float) -> None:
    if done.wait(patience):
        return
    seconds = patience
    while True:
        shown = f"{text} … {seconds:.0f} s"
        out.write(f"\r{shown}")
        out.flush()
        if done.wait(STEP):
            break
        seconds += STEP
    # Whatever comes next starts on a clean line.
    out.write("\r" + " " * len(shown) + "\r")
    out.flush()
