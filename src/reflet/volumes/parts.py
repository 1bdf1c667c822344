"""A part of a volume: a path below an open folder, found or made without following a link.

Owns: the walk, and that nothing changes its mode but what this walk has just made.  Must not know
what volumes are, nor who asks for the part.

A container may write to what is walked here, and may move and replace it at any moment.  Each
step therefore begins at an open folder, never at a path, and a link is an error wherever it is.

Files of a volume that never change again: what a mount with a sub-path shows of them.

Owns: writing such a copy in the place of the one before.  Made from contents in memory, never
from what is on disk.  Must not know whose copy it is.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from reflet.resolution.file_contents import FileContent
from reflet.resolution.variables import exact_bytes
from reflet.volumes import folders
from reflet.volumes.ownership import FOLDER_MODE, Ownership
from reflet.volumes.payload_paths import laid_out
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.versions import write_version
from reflet.volumes.volume_errors import VolumeError, in_folder

LINK: Final = "a link is in the way, and links are not followed there"

# To look at something without opening it: neither devices nor pipes notice, and a link is itself.
_LOOK: Final = os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC


@contextmanager
def opened_part(folder: int, path: str, *, make: int | None = None) -> Iterator[int]:
    """Open whatever is at a relative path, to look at it or to go on from it; empty for itself.

    With *make*, folders that are missing are made with exactly that mode.  What is there keeps
    the mode that it has.  Raises OSError, with ELOOP for a link.
    """
    descriptor = os.open(".", _LOOK, dir_fd=folder)
    try:
        for name in path.split("/") if path else ():
            below = _step(descriptor, name, make)
            os.close(descriptor)
            descriptor = below
        yield descriptor
    finally:
        os.close(descriptor)


def make_part(volume: int, path: str) -> None:
    """Make a folder at a path of a volume, if nothing is there, as open as the volume is."""
    with opened_part(volume, path, make=stat.S_IMODE(os.fstat(volume).st_mode)):
        pass


def as_named(path: str) -> str:
    """A path as the file system takes it: exactly the bytes of the object or the variable."""
    if "\0" in path:
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL))
    return os.fsdecode(exact_bytes(path))


def make_file(folder: int, path: str, mode: int) -> None:
    """Make an empty file with exactly *mode* if nothing is at the path, in a folder that is."""
    above, _, name = path.rpartition("/")
    with opened_part(folder, above) as here:
        try:
            descriptor = os.open(name, folders.NEW_FILE, 0o600, dir_fd=here)
        except FileExistsError:
            return  # it is somebody's, and stays as it is
        try:
            os.fchmod(descriptor, mode)
        finally:
            os.close(descriptor)


def reason_of(error: OSError) -> str:
    """Why a part could not be had, without the path, which may hold what nobody is to read."""
    if error.errno == errno.ELOOP:
        return LINK
    return os.strerror(error.errno or 0).lower()


def _step(folder: int, name: str, make: int | None) -> int:
    is_made = False
    try:
        descriptor = os.open(name, _LOOK, dir_fd=folder)
    except FileNotFoundError:
        if make is None:
            raise
        is_made = _is_made(folder, name)
        descriptor = os.open(name, _LOOK, dir_fd=folder)
    try:
        found = os.fstat(descriptor)
        if stat.S_ISLNK(found.st_mode):
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))
        if is_made and make is not None and _is_still_ours(found):
            with folders.opened_below(descriptor, "") as made:
                os.fchmod(made, make)
    except BaseException:
        os.close(descriptor)
        raise
    return descriptor


def _is_made(folder: int, name: str) -> bool:
    try:
        folders.make_folder(folder, name)
    except FileExistsError:
        return False  # somebody else was faster, and it is theirs
    return True


def _is_still_ours(found: os.stat_result) -> bool:
    """Whether this is what was just made, and not what a container has put in its place.

    A container has nothing to put there that is ours and private: to move a folder takes the
    right to write in it.
    """
    is_folder = stat.S_ISDIR(found.st_mode)
    return is_folder and found.st_uid == os.geteuid() and found.st_mode & 0o777 == folders.PRIVATE


SINGLE: Final = "file"


def write_fixed_copy(target: Path, files: Mapping[str, FileContent], group: int | None) -> str:
    """Make the folder *target* anew, with these files; the answer is the path in it to be shown.

    A single file has the empty path; no files at all are an empty folder.  The files belong to
    *group*, where the system allows it.  Folders above *target* that are missing are made, 0755.
    """
    is_single = "" in files
    layout = laid_out({SINGLE: files[""]} if is_single else files)
    with in_folder(target):
        folders.make_path(target.parent, mode=FOLDER_MODE)
        with folders.opened(target.parent) as here:
            _remove(here, target.name)
            folders.make_folder(here, target.name)
            write_version(here, target.name, layout, Ownership(group), durable=False)
    return SINGLE if is_single else ""


def _remove(folder: int, name: str) -> None:
    if folders.facts(folder, name) is not None and not folders.is_folder(folder, name):
        folders.unlink(folder, name)
    kept = remove_tree(folder, name)
    if kept:
        raise VolumeError(f"a copy of earlier cannot be replaced: {kept[0]}")
