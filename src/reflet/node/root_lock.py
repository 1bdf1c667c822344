"""The folder in which an agent keeps everything, which has one agent at a time.

Two agents on one folder would each end the other's containers as orphans; the lock goes with the
process, however it ends.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from reflet.errors import ConfigurationError

LOCK: Final = "agent.lock"


@contextmanager
def locked_root(root: Path) -> Iterator[None]:
    """Make the folder and have it alone for the length of the block.

    Raises ConfigurationError when it cannot be used, or another agent uses it.
    """
    try:
        root.mkdir(mode=0o700, parents=True, exist_ok=True)
        lock = os.open(root / LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    except OSError as error:
        raise ConfigurationError(
            f"--root {root} cannot be used: {(error.strerror or str(error)).lower()}"
        ) from error
    try:
        _take(lock, root)
        yield
    finally:
        os.close(lock)


def memory_name(root: Path) -> str:
    """What the folder in memory of the agent that keeps everything in *root* is called."""
    return hashlib.sha256(str(root.absolute()).encode()).hexdigest()[:12]


def _take(lock: int, root: Path) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        raise ConfigurationError(
            f"--root {root} is in use by another agent: stop that one, or take another folder"
        ) from error
