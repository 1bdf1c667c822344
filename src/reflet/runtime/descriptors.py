"""How many descriptors a process may have open: the limit of the system, asked for and raised."""

from __future__ import annotations

import errno
import os
import resource
from typing import Final

PLENTY: Final = 65_536
"""As many as a node agent and its shim ever need.  Children inherit the limit, and there are
programs that close every number up to it when they start: a limit of a billion, as some container
runtimes set it, would stop them for minutes."""

OPEN_MAX: Final = 10_240
"""As many as macOS always gives."""


def descriptor_limit(pid: int = 0) -> int:
    """How many descriptors a process may have; this one when no other is named.

    Raises OSError for a process that is gone or somebody else's, and on macOS for any other.
    """
    if hasattr(resource, "prlimit"):
        return int(resource.prlimit(pid, resource.RLIMIT_NOFILE)[0])
    if pid not in {0, os.getpid()}:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    return resource.getrlimit(resource.RLIMIT_NOFILE)[0]


def raise_descriptor_limit(most: int | None = None) -> int:
    """Raise this process's own limit as far as the system lets, at most to *most*; return it.

    A limit that is higher already stays.
    """
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = hard if most is None else min(most, hard)
    for limit in (wanted, OPEN_MAX):
        if limit > soft:
            try:
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            except (OSError, ValueError):
                continue  # macOS says that it has no limit, and refuses more than it has
            return limit
    return soft
