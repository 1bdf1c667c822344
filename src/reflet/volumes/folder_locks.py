"""One writer at a time in a folder, whichever process it is in.

The folder that is locked is still the one at its path.

The lock is the system's advisory lock on the folder itself: it leaves no file behind, and ends
with the process that holds it, however that ends.
"""

from __future__ import annotations

import errno
import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Final

from reflet.volumes import folders
from reflet.volumes.volume_errors import VolumeBusy, VolumeError

LOCK_TIMEOUT: Final = 10.0
"""Seconds to wait for another writer; one needs milliseconds."""

_BETWEEN_LOOKS: Final = 0.005  # seconds
_WITHOUT_LOCKS: Final = frozenset({errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOSYS})


@contextmanager
def locked(path: Path, *, create_mode: int | None, timeout: float = LOCK_TIMEOUT) -> Iterator[int]:
    """Open a folder and keep every other writer out; made with *create_mode* when missing.

    FileNotFoundError when it is missing and is not to be made.  VolumeBusy after *timeout*
    seconds.  A file system without such locks is used without one.
    """
    deadline = time.monotonic() + timeout
    with ExitStack() as closing:
        while True:
            if create_mode is not None:
                folders.make_path(path, mode=create_mode)
            folder = closing.enter_context(_opened(path))
            _lock(folder, path, deadline)
            if _is_still(folder, path):
                break
            closing.close()
        yield folder


@contextmanager
def unlocked(path: Path, *, create_mode: int | None) -> Iterator[int]:
    """Open a folder as ``locked`` does, for whoever is its only writer by other means."""
    if create_mode is not None:
        folders.make_path(path, mode=create_mode)
    with _opened(path) as folder:
        yield folder


@contextmanager
def _opened(path: Path) -> Iterator[int]:
    with ExitStack() as closing:
        try:
            folder = closing.enter_context(folders.opened(path))
        except OSError as error:
            if error.errno in {errno.ENOTDIR, errno.ELOOP}:
                raise VolumeError(f"{path} is a link or a file, not a folder") from error
            raise
        yield folder


def _lock(folder: int, path: Path, deadline: float) -> None:
    while True:
        try:
            fcntl.flock(folder, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() >= deadline:
                raise VolumeBusy(f"{path}: another writer has been at work for long") from None
            time.sleep(_BETWEEN_LOOKS)
        except OSError as error:
            if error.errno in _WITHOUT_LOCKS:
                return
            raise
        else:
            return


def _is_still(folder: int, path: Path) -> bool:
    """Whether nobody has removed the folder while we waited for it."""
    try:
        there = path.lstat()
    except FileNotFoundError:
        return False
    here = os.fstat(folder)
    return (there.st_dev, there.st_ino) == (here.st_dev, here.st_ino)
