"""Down a path from an open folder, without following a link.

Whoever may write to what is walked here, a container above all, may move and replace it at any
moment.  Each step therefore begins at an open folder, never at a path, and a link is an error
wherever it is.  Nothing is opened but looked at (``O_PATH``): neither devices nor pipes notice.

Upstream: pkg/volume/util/subpath/subpath_linux.go, doSafeOpen
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable
from typing import Final

# macOS cannot look without opening: there, what may not be read cannot be looked at either.
LOOK: Final = getattr(os, "O_PATH", os.O_RDONLY | os.O_NONBLOCK) | os.O_NOFOLLOW | os.O_CLOEXEC

Step = Callable[[int, str], int]
"""From an open folder to what is in it under a name, as ``step`` does it."""


def step(folder: int, name: str) -> int:
    """Open what is in a folder under a name, to look at it or to go on from it.

    OSError when nothing is there, with ELOOP for a link and for the way back up.
    """
    descriptor = os.open(name, LOOK, dir_fd=folder)
    if stat.S_ISLNK(os.fstat(descriptor).st_mode) or name == "..":
        os.close(descriptor)
        raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
    return descriptor


def open_beneath(folder: int, path: str, *, by: Step = step) -> int:
    """Open what is at a relative path below an open folder; an empty path is that itself."""
    descriptor = os.dup(folder)
    try:
        for name in path.split("/") if path else ():
            below = by(descriptor, name)
            os.close(descriptor)
            descriptor = below
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor
