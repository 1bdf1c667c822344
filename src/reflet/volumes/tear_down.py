"""Taking a tree of files away without ever leaving it.

Links are removed, never followed.  What another file system is mounted on is kept, and so is
everything above it.

Upstream: pkg/util/removeall/removeall.go, RemoveAllOneFilesystem
"""

from __future__ import annotations

import errno
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from reflet.volumes import folders

MOUNTED: Final = "something is mounted there"


@dataclass(frozen=True, slots=True)
class Kept:
    """What is still there, by its path, and why.

    - *path*: what is still there
    - *reason*: why
    """

    path: str
    reason: str

    def __str__(self) -> str:
        return f"{self.path}: {self.reason}"


def _never(path: str) -> bool:  # noqa: ARG001 - the shape of the question
    return False


def remove_tree(
    folder: int, name: str, *, is_mounted: Callable[[str], bool] = _never
) -> tuple[Kept, ...]:
    """Remove a folder and everything in it; the answer is what could not be removed.

    *is_mounted* tells of a path, relative to *folder*, whether something is mounted there;
    another file system is noticed without it.  A folder that is not there is no mistake.
    """
    if not folders.is_folder(folder, name):
        return ()
    device = folders.facts_of(folder).st_dev
    kept: list[Kept] = []
    emptied: list[str] = []
    with folders.FolderWalk(folder) as walk:
        waiting = [name]
        while waiting:
            path = waiting.pop()
            try:
                here = walk.at(path)
                if is_mounted(path) or folders.facts_of(here).st_dev != device:
                    kept.append(Kept(path, MOUNTED))
                    continue
                waiting += _remove_files(here, path, kept)
            except OSError as error:
                kept.append(Kept(path, _reason(error)))
            else:
                emptied.append(path)
        for path in reversed(emptied):
            above, _, last = path.rpartition("/")
            try:
                folders.remove_folder(walk.at(above), last)
            except OSError as error:
                if error.errno != errno.ENOTEMPTY or not _lies_above(path, kept):
                    kept.append(Kept(path, _reason(error)))
    return tuple(kept)


def remove_empty(folder: int, name: str) -> bool:
    """Remove a folder that holds nothing but such folders; whether it was one."""
    found: list[str] = []
    with folders.FolderWalk(folder) as walk:
        waiting = [name]
        while waiting:
            path = waiting.pop()
            above, _, last = path.rpartition("/")
            if not folders.is_folder(walk.at(above), last):
                return False
            waiting += [f"{path}/{each}" for each in folders.names_in(walk.at(path))]
            found.append(path)
        for path in reversed(found):
            above, _, last = path.rpartition("/")
            folders.remove_folder(walk.at(above), last)
    return True


def _remove_files(here: int, path: str, kept: list[Kept]) -> list[str]:
    """Remove all but the folders, and return those."""
    below: list[str] = []
    for name in folders.names_in(here):
        if folders.is_folder(here, name):
            below.append(f"{path}/{name}")
            continue
        try:
            folders.unlink(here, name)
        except OSError as error:
            kept.append(Kept(f"{path}/{name}", _reason(error)))
    return below


def _lies_above(path: str, kept: list[Kept]) -> bool:
    return any(each.path.startswith(f"{path}/") for each in kept)


def _reason(error: OSError) -> str:
    return (error.strerror or str(error)).lower()
