"""Processes that a test finds again by the time they sleep, wherever they have gone.

Owns: times that no other test has, in this run or in one beside it: a process that left its group,
its session and its environment behind has nothing else to be known by.
"""

from __future__ import annotations

import contextlib
import itertools
import os
from pathlib import Path
from typing import Final

_TIMES: Final = itertools.count(1)


def own_time() -> str:
    """Seconds for ``sleep``, more than any test takes, that nobody else sleeps."""
    return str(10**7 + os.getpid() * 1000 + next(_TIMES))


def sleepers(seconds: str) -> list[Path]:
    """Every process that sleeps so long, whatever started it."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        with contextlib.suppress(OSError):
            if path.read_bytes().endswith(f"sleep\0{seconds}\0".encode()):
                found.append(path.parent)
    return found
