"""A part of a volume, found or made without following a link: sub-paths and mount points.

A container may write to what is walked here, and nothing changes its mode but what this walk has
just made.  A mount with a sub-path shows a copy of the files that never changes again; it is
made from contents in memory, never from what is on disk.

Upstream: pkg/volume/util/subpath/subpath_linux.go, doSafeMakeDir
Upstream: pkg/volume/util/nested_volumes.go, MakeNestedMountpoints
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Final

from reflet.resolution.environment.variables import exact_bytes
from reflet.resolution.volumes.file_contents import FileContent
from reflet.runtime.no_follow import open_beneath, step
from reflet.volumes import folders
from reflet.volumes.folder_locks import locked
from reflet.volumes.ownership import FOLDER_MODE, Ownership
from reflet.volumes.payload_paths import laid_out, valid_path
from reflet.volumes.tear_down import remove_tree
from reflet.volumes.version_folders import write_version
from reflet.volumes.volume_errors import VolumeError, in_folder

LINK: Final = "a link is in the way, and links are not followed there"

SINGLE: Final = "file"


@contextmanager
def opened_part(folder: int, path: str, *, make: int | None = None) -> Iterator[int]:
    """Open whatever is at a relative path, to look at it or to go on from it; empty for itself.

    With *make*, folders that are missing are made with exactly that mode.  What is there keeps
    the mode that it has.  Raises OSError, with ELOOP for a link.
    """
    by = step if make is None else partial(_making_step, make)
    descriptor = open_beneath(folder, path, by=by)
    try:
        yield descriptor
    finally:
        os.close(descriptor)


def make_part(volume: int, path: str) -> None:
    """Make a folder at a path of a volume, if nothing is there, as open as the volume is."""
    with opened_part(volume, path, make=stat.S_IMODE(os.fstat(volume).st_mode)):
        pass


def make_mount_points(target: Path, points: Iterable[str], *, mode: int = folders.PRIVATE) -> None:
    """Make the folders, 0755, in the volume *target*, which is made with *mode* when missing.

    Those that are there stay as they are.  VolumeError when a file or a link is in the way, and
    InvalidPath for a point outside of the volume.
    """
    paths = [valid_path(point) for point in points]
    if not paths:
        return
    with in_folder(target), locked(target, create_mode=mode) as folder:
        for path in paths:
            _make_point(folder, target, path)


def _make_point(folder: int, target: Path, path: str) -> None:
    above = ""
    for name in path.split("/"):
        with folders.opened_below(folder, above) as here:
            if folders.facts(here, name) is None:
                folders.make_folder(here, name)
                folders.set_mode(here, name, FOLDER_MODE)
            elif not folders.is_folder(here, name):
                raise VolumeError(
                    f"{target / path}: cannot be mounted on, because {name} is not a folder"
                )
        above = f"{above}/{name}" if above else name


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


def _making_step(mode: int, folder: int, name: str) -> int:
    """A step that makes a folder where nothing is, with exactly *mode*."""
    try:
        return step(folder, name)
    except FileNotFoundError:
        is_made = _is_made(folder, name)
    descriptor = step(folder, name)
    try:
        if is_made and _is_still_ours(os.fstat(descriptor)):
            with folders.opened_below(descriptor, "") as made:
                os.fchmod(made, mode)
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
