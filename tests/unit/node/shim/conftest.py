"""What every shim in this process needs."""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterator

import pytest

from reflet.node.shim.strays import own_children
from reflet.processes.reaping import PR_SET_CHILD_SUBREAPER


@pytest.fixture
def heir() -> Iterator[None]:
    """A shim makes its process the heir of orphans: here only as long as a test lasts."""
    before = own_children()
    yield
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 0, 0, 0, 0)
    for pid in own_children() - before:
        os.waitpid(pid, 0)
