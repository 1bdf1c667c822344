"""Files written beside and renamed: the way to the disk that the ledger and all files take.

A reader sees the old bytes or the new ones, with the right mode, at every moment and after a crash
at any moment.  Nothing is forced to the disk (``fsync``): a killed process loses nothing, and after
a power failure the next start compares bytes and repairs.  Root file systems may be read-only, and
nobody needs a home: what is temporary lies beside what it becomes.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from reflet.volumes import folders
from reflet.volumes.parts import opened_part

TEMPORARY: str = ".tmp"
_LOOK = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_CLOEXEC


def usual_modes() -> tuple[int, int]:
    """The modes of files and folders that nobody says anything about: the umask decides."""
    mask = os.umask(0o022)
    os.umask(mask)
    return 0o666 & ~mask, 0o777 & ~mask


@contextmanager
def opened(folder: str, *, make: bool = False) -> Iterator[int]:
    """Open a folder by its path, wherever links on the way lead; missing ones are made."""
    if make:
        os.makedirs(folder, exist_ok=True)  # noqa: PTH103 - all calls of this module are in sight
    descriptor = os.open(folder, _LOOK)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_beneath(root: str, below: str, *, make: int | None = None) -> Iterator[int]:
    """Open a folder below *root* without following a link; with *make*, with that mode."""
    with opened(root, make=make is not None) as top, opened_part(top, below, make=make) as found:
        yield found


def replace_file(folder: int, name: str, data: bytes, *, mode: int, temporary: str) -> None:
    """Give a name new contents in one step; *temporary* is the name until then."""
    with suppress(FileNotFoundError):
        folders.unlink(folder, temporary)
    try:
        folders.write_file(folder, temporary, data, durable=False)
        folders.set_mode(folder, temporary, mode)
        folders.rename(folder, temporary, name)
    except BaseException:
        with suppress(OSError):
            folders.unlink(folder, temporary)
        raise


def sweep(folder: str, prefix: str) -> None:
    """Remove what writers that were killed left in a folder: names of ours that are temporary."""
    with suppress(OSError), opened(folder) as here:
        for name in folders.names_in(here):
            if name.startswith(prefix) and name.endswith(TEMPORARY):
                with suppress(FileNotFoundError):
                    folders.unlink(here, name)


def nearest_folder(path: str) -> str:
    """The folder itself, or the nearest one above it that is there."""
    here = Path(path)
    while not here.is_dir() and here != here.parent:
        here = here.parent
    return str(here)
