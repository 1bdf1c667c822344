"""The only door to the file system of this room, and it never follows a link.

Every call that reads or changes the disk is here, relative to an open folder, so that nobody who
may write there can lead us elsewhere by a link.

Folders are walked one name at a time with a bounded number of them open, so that neither deep
paths nor many files run into the limit of open files.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Self

PRIVATE: Final = 0o700
MOST_OPEN: Final = 64  # folders that one walk keeps open

_FOLDER: Final = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
# A pipe that somebody planted must not make us wait for its other end.
_READ: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
NEW_FILE: Final = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW | os.O_CLOEXEC
_AT_ONCE: Final = 1 << 20  # bytes


@contextmanager
def opened(path: Path) -> Iterator[int]:
    """Open a folder by its path, the last part of which must not be a link."""
    descriptor = os.open(path, _FOLDER)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


@contextmanager
def opened_below(folder: int, path: str) -> Iterator[int]:
    """Open the folder at a relative path, no part of which may be a link; empty for itself."""
    descriptor = os.open(".", _FOLDER, dir_fd=folder)
    try:
        for name in path.split("/") if path else ():
            below = os.open(name, _FOLDER, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


class FolderWalk:
    """Opens one folder after the other below *folder*, each from the nearest that is still open.

    A walk down or up a tree, or along a list of sorted paths, opens each folder about once.
    """

    def __init__(self, folder: int) -> None:
        self._folder = folder
        self._open: list[tuple[str, int]] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *failure: object) -> None:
        while self._open:
            os.close(self._open.pop()[1])

    def at(self, path: str) -> int:
        """The folder at a relative path, as ``opened_below`` opens it, until the next call."""
        while self._open and not _is_below(path, self._open[-1][0]):
            os.close(self._open.pop()[1])
        if not self._open:
            self._open.append(("", os.open(".", _FOLDER, dir_fd=self._folder)))
        here, descriptor = self._open[-1]
        for name in path[len(here) :].split("/"):
            if not name:
                continue
            descriptor = os.open(name, _FOLDER, dir_fd=descriptor)
            here = f"{here}/{name}" if here else name
            self._open.append((here, descriptor))
            if len(self._open) > MOST_OPEN:
                os.close(self._open.pop(0)[1])
        return descriptor


def _is_below(path: str, folder: str) -> bool:
    return not folder or path == folder or path.startswith(f"{folder}/")


def make_path(path: Path, *, mode: int = PRIVATE) -> None:
    """Make a folder and the folders above it that are missing, all with exactly *mode*."""
    missing: list[Path] = []
    above = path
    while not os.path.lexists(above):
        missing.append(above)
        above = above.parent
    for each in reversed(missing):
        try:
            os.mkdir(each, PRIVATE)  # noqa: PTH102 - all calls of this room are in sight here
        except FileExistsError:
            continue  # somebody else was faster, and it is theirs
        if mode != PRIVATE:
            os.chmod(each, mode)  # noqa: PTH101 - as above


def make_folder(folder: int, name: str) -> None:
    """Make a private folder that was not there."""
    os.mkdir(name, PRIVATE, dir_fd=folder)


def names_in(folder: int) -> list[str]:
    """The names in a folder, sorted."""
    with opened_below(folder, "") as fresh:  # listing moves a position that descriptors share
        return sorted(os.listdir(fresh))  # noqa: PTH208 - a descriptor, not a path


def facts(folder: int, name: str) -> os.stat_result | None:
    """What is there under a name, a link itself included; None when nothing is."""
    try:
        return os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None


def facts_of(descriptor: int) -> os.stat_result:
    """What an open folder is."""
    return os.fstat(descriptor)


def is_folder(folder: int, name: str) -> bool:
    """Whether a real folder is there, not a link to one."""
    found = facts(folder, name)
    return found is not None and stat.S_ISDIR(found.st_mode)


def link_text(folder: int, name: str) -> str | None:
    """Where a link points; None when there is no link."""
    found = facts(folder, name)
    if found is None or not stat.S_ISLNK(found.st_mode):
        return None
    return os.readlink(name, dir_fd=folder)


def make_link(folder: int, name: str, text: str) -> None:
    """Make a link that was not there."""
    os.symlink(text, name, dir_fd=folder)


def rename(folder: int, name: str, new_name: str) -> None:
    """Give something another name, over whatever has it, in one step."""
    os.rename(name, new_name, src_dir_fd=folder, dst_dir_fd=folder)


def unlink(folder: int, name: str) -> None:
    """Remove a file or a link itself."""
    os.unlink(name, dir_fd=folder)


def remove_folder(folder: int, name: str) -> None:
    """Remove an empty folder."""
    os.rmdir(name, dir_fd=folder)


def write_file(folder: int, name: str, data: bytes, *, durable: bool) -> None:
    """Write a file that was not there, readable by its owner only."""
    descriptor = os.open(name, NEW_FILE, 0o600, dir_fd=folder)
    try:
        rest = memoryview(data)
        while rest:
            rest = rest[os.write(descriptor, rest) :]
        if durable:
            os.fsync(descriptor)
    finally:
        os.close(descriptor)


def read_file(folder: int, name: str) -> bytes | None:
    """The bytes of a plain file; None for anything else, and for one that we may not read."""
    try:
        descriptor = os.open(name, _READ, dir_fd=folder)
    except PermissionError:
        return None
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            return None
        pieces: list[bytes] = []
        while piece := os.read(descriptor, _AT_ONCE):
            pieces.append(piece)
        return b"".join(pieces)
    finally:
        os.close(descriptor)


def set_mode(folder: int, name: str, mode: int) -> None:
    """Give a file or folder that we may read exactly a mode; a link is an error."""
    descriptor = os.open(name, _READ, dir_fd=folder)
    try:
        os.fchmod(descriptor, mode)
    finally:
        os.close(descriptor)


def set_owner(folder: int, name: str, *, user: int = -1, group: int = -1) -> None:
    """Give something, a link itself included, to a user or a group; -1 changes nothing."""
    os.chown(name, user, group, dir_fd=folder, follow_symlinks=False)


def settle(folder: int) -> None:
    """Have the names of a folder reach the disk."""
    os.fsync(folder)
