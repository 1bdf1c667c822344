"""Somebody who reads a file while it is written again and again: Grafana, say, or Loki.

Owns: what a whole file looks like, and the counting of those that are not.  Must not know who
writes.

A child (see ``measuring.Child``): reads the file of its task as often as it can for some seconds,
and says how often that was, how often the file was not whole, and how often it was not there.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Final

from benchmarks.measuring import answer, first_line

LINE: Final = "{:010}\n"
LINES: Final = 24_000
LENGTH: Final = len(LINE.format(0)) * LINES  # bytes


def content(number: int) -> str:
    """A file whose every line is the same."""
    return LINE.format(number) * LINES


def is_whole(data: bytes) -> bool:
    """Whether a file is one that somebody wanted to write."""
    return len(data) == LENGTH and data == data[: LENGTH // LINES] * LINES


def main() -> None:
    """Read, and count."""
    task = first_line()
    path = Path(task["file"])
    answer({})
    reads = torn = missing = 0
    deadline = time.monotonic() + task["seconds"]
    while time.monotonic() < deadline:
        reads += 1
        try:
            torn += not is_whole(path.read_bytes())
        except FileNotFoundError:
            missing += 1
    answer({"reads": reads, "torn": torn, "missing": missing})


if __name__ == "__main__":
    main()
