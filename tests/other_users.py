"""Users that are not whoever runs the tests, and folders that they reach.

Owns: which numbers the users of a test have.  Each process of a test run has numbers of its own, so
that what one test does to everything of a user's is nothing to another test, in this run or in one
beside it.  Only root can be another user, so only root has a use for this.
"""

from __future__ import annotations

import itertools
import os
import shutil
import socket
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

import pytest

FIRST: Final = 20_000  # above those that machines give to people and services
EACH: Final = 10  # users that a process has

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def _claim() -> tuple[int, socket.socket | None]:
    """A number that no other process of any run has, and what keeps it ours until we end."""
    if sys.platform != "linux":
        return 0, None
    for number in itertools.count():
        claim = socket.socket(socket.AF_UNIX)
        try:
            claim.bind(f"\0reflet tests: users {number}")
        except OSError:
            claim.close()
        else:
            return number, claim
    raise AssertionError("counting ended")


_NUMBER, _HELD = _claim()
AGENT, VICTIM, ATTACKER, NOBODY, GRANTED = range(FIRST + _NUMBER * EACH, FIRST + _NUMBER * EACH + 5)


@contextmanager
def reachable_folder(name: str) -> Iterator[Path]:
    """A folder that every user reaches, though only its owner reads it; it is gone at the end.

    Not one of pytest's: whenever another pytest begins, also one that a test starts, it closes the
    folder above all of them to other users.
    """
    own = Path(tempfile.mkdtemp(prefix="reflet-tests-")).resolve()
    # Three names are its own, which is what tells processes of two runs apart.
    folder = own / "of-all" / name
    try:
        for above in own.parents:
            if above.stat().st_mode & 0o001 == 0:
                pytest.skip(f"{above} is closed to other users: TMPDIR=/tmp would do")
        for each in (own, folder.parent, folder):
            each.mkdir(exist_ok=True)
            each.chmod(0o711)
        yield folder
    finally:
        shutil.rmtree(own)
