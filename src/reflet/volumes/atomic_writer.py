"""A folder kept equal to a volume's contents, swapped in one step.

Which version counts, the visible links, and what a crash may leave behind; one version by itself is
``version_folders``.

::

    ..2026_11_15_19_21_55.123456789/   the files of one version
    ..data -> ..2026_…                 which version counts; swapped by a rename
    foo    -> ..data/foo               a link for each name at the top of the volume

The layout is the kubelet's; the order of the steps is not quite:

===  ======================================  ==============================================
 1   clear a left-over ``..data_tmp``        nothing a reader looks at
 2   write the new version, for us alone     the old version counts
 3   add the links of new names              they lead nowhere yet: as if they were not there
 4   make ``..data_tmp``                     the old version counts
 5   rename it to ``..data``                 the new version counts, all names at once
 6   remove the links of names that went     they led nowhere: as if they were not there
 7   remove every other version
===  ======================================  ==============================================

A crash before 5 leaves the old version, after it the new one; the next write, of whatever,
removes what was left over.  Nothing is written to disk on purpose (``fsync``) unless it is asked
for: see ``AtomicWriter``.

Upstream: pkg/volume/util/atomic_writer.go, AtomicWriter.Write
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from reflet.resolution.volumes.file_contents import FileContent, VolumeContents
from reflet.runtime.clock import Clock, SystemClock
from reflet.volumes import folders, tear_down
from reflet.volumes.case_folding import stored_name
from reflet.volumes.folder_locks import locked, unlocked
from reflet.volumes.ownership import Ownership
from reflet.volumes.payload_paths import Layout, laid_out
from reflet.volumes.tear_down import Kept
from reflet.volumes.version_folders import (
    Tree,
    TreeDifference,
    difference,
    is_version_name,
    new_version,
    read_version,
    wanted_tree,
    write_version,
)
from reflet.volumes.volume_errors import VolumeError, VolumeRefused, in_folder

DATA: Final = "..data"
DATA_IN_WAITING: Final = "..data_tmp"

# A version that cannot be read as one is no version, and the next one replaces it.
_UNREADABLE: Final = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.EACCES})


class AtomicWriter:
    """Keeps the folder *target* equal to the contents that are written.

    A reader that reads ``..data`` once, and the files below its target, sees one whole version.  A
    reader that opens a file by its visible name sees its old or its new bytes, never a part, at
    every moment and after a crash at any moment.  A version is removed when the next one counts, so
    a reader that walks the files should look at ``..data`` again when one of them is gone.

    What is equal already, bytes, modes and owners, is left alone: not a file changes.  What is
    not the writer's own is left alone as well, and links that lead out of the folder are never
    followed: files of others stay, and ``notes`` says when one hides a file of the volume.

    A folder that is missing is made with *mode*; folders above it, too.  Inside, modes are the
    kubelet's.  Owners are given where the system allows it, and ``notes`` says where not.

    With *durable*, a version has reached the disk before it counts, and that it counts before
    ``write`` returns: a power failure then is a crash like any other.  Without it, as with the
    kubelet, a power failure may lose files of the last versions; the next write compares bytes
    and puts them right.  A process that is killed loses nothing either way.

    Writers of one folder, in any process, wait for each other.  With *alone*, because the caller
    has a lock of its own, it does not wait: any user who may read a folder may lock it.  Blocks;
    may be used from any thread, by one at a time.
    """

    def __init__(
        self,
        target: Path,
        *,
        mode: int = folders.PRIVATE,
        durable: bool = False,
        alone: bool = False,
        clock: Clock | None = None,
    ) -> None:
        self.target = target
        self._entered = unlocked if alone else locked
        self._mode = mode
        self._durable = durable
        self._clock = clock or SystemClock()
        self._notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return f"<AtomicWriter {self.target}>"

    @property
    def notes(self) -> tuple[str, ...]:
        """What the last write could not do, though it succeeded, in words."""
        return self._notes

    def write(self, contents: VolumeContents) -> bool:
        """Make the folder equal to *contents*; whether a new version had to be written.

        Raises VolumeRefused, and touches nothing, when the contents have an error or a path
        that cannot be written; VolumeError when the system refuses, and then the version
        that counted before still does, unless only the disk of a *durable* one failed.
        """
        self._notes = ()
        if contents.error is not None:
            raise VolumeRefused(contents.error)
        layout = laid_out(contents.files)
        with in_folder(self.target), self._entered(self.target, create_mode=self._mode) as folder:
            writing = _Writing(folder, self.target, layout, Ownership(contents.fs_group))
            try:
                return writing.run(self._clock, durable=self._durable)
            finally:
                self._notes = writing.notes

    def remove(self) -> tuple[Kept, ...]:
        """Remove all that writers made, and the folder when it is then empty.

        The answer is what was there besides, which is kept.  Harmless when nothing is there.
        """
        try:
            with in_folder(self.target), self._entered(self.target, create_mode=None) as folder:
                kept = remove_versions(folder)
                if not kept:
                    self.target.rmdir()
        except VolumeError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                return ()
            raise
        return kept


class _Writing:
    """One write, under the lock: the steps of the table above."""

    def __init__(
        self, folder: int, target: Path, layout: Layout[FileContent], ownership: Ownership
    ) -> None:
        self._folder = folder
        self._target = target
        self._layout = layout
        self._ownership = ownership
        self._wanted_group = ownership.group
        self._others: list[str] = []

    @property
    def notes(self) -> tuple[str, ...]:
        return (*self._ownership.notes, *self._others)

    def run(self, clock: Clock, *, durable: bool) -> bool:
        self._refuse_strangers()
        self._clear_waiting()
        current = current_version(self._folder)
        found = None if current is None else self._read(current)
        step = self._difference(found)
        new = None
        if step is not TreeDifference.NONE:
            new = new_version(self._folder, clock.now())
        made: list[str] = []
        try:
            if new is not None:
                write_version(self._folder, new, self._layout, self._ownership, durable=durable)
                if step is TreeDifference.RIGHTS and self._read(new) == found:
                    # The system gave what it could the last time, and gives no more now.
                    self._remove_version(new)
                    new = None
            self._ownership.open_folder(self._folder)
            self._add_links(made)
            if new is not None:
                self._swap(new, durable=durable)
        except BaseException:
            self._undo(new, made)
            raise
        self._remove_links()
        self._sweep(new or current)
        return new is not None

    def _refuse_strangers(self) -> None:
        for name in (DATA, DATA_IN_WAITING):
            found = folders.facts(self._folder, name)
            if found is not None and not stat.S_ISLNK(found.st_mode):
                raise VolumeError(
                    f"{self._target / name} is not a link: something else than a volume is kept "
                    f"there; move it away"
                )

    def _clear_waiting(self) -> None:
        if folders.facts(self._folder, DATA_IN_WAITING) is not None:
            folders.unlink(self._folder, DATA_IN_WAITING)

    def _read(self, version: str) -> Tree | None:
        try:
            return read_version(self._folder, version)
        except OSError as error:
            if error.errno in _UNREADABLE:
                return None
            raise

    def _difference(self, found: Tree | None) -> TreeDifference:
        if found is None:
            return TreeDifference.CONTENT
        wanted = wanted_tree(self._layout, group=self._wanted_group, user=os.geteuid())
        return difference(wanted, found)

    def _add_links(self, made: list[str]) -> None:
        """Make the links that are missing; *made* names them even when one cannot be made."""
        users = _users_by_name(self._layout)
        for name in self._layout.names:
            found = stored_name(self._folder, name)
            if found is not None and found != name and _is_own_link(self._folder, found):
                # A key that is now written in another case; the link would keep the old name.
                folders.unlink(self._folder, found)
                found = None
            if found is None:
                folders.make_link(self._folder, name, f"{DATA}/{name}")
                made.append(name)
                self._ownership.take_link(self._folder, name, users[name])
            elif folders.link_text(self._folder, name) != f"{DATA}/{name}":
                self._others.append(f"{name} was there before and hides the volume's own {name}")

    def _swap(self, new: str, *, durable: bool) -> None:
        folders.make_link(self._folder, DATA_IN_WAITING, new)
        self._ownership.take_link(self._folder, DATA_IN_WAITING, None)
        if durable:
            folders.settle(self._folder)
        folders.rename(self._folder, DATA_IN_WAITING, DATA)
        if durable:
            folders.settle(self._folder)

    def _undo(self, new: str | None, made: list[str]) -> None:
        """Leave nothing of a write that failed; what cannot be removed, the next write removes."""
        if new is None or current_version(self._folder) == new:
            return
        for name in (DATA_IN_WAITING, *made):
            try:
                folders.unlink(self._folder, name)
            except OSError as error:
                if error.errno != errno.ENOENT:
                    self._others.append(f"{name} is left over: {error.strerror}")
        self._remove_version(new)

    def _remove_links(self) -> None:
        for name in folders.names_in(self._folder):
            if name in self._layout.names or not _is_own_link(self._folder, name):
                continue
            try:
                folders.unlink(self._folder, name)
            except OSError as error:
                self._others.append(f"the link {name} is left over: {error.strerror}")

    def _sweep(self, current: str | None) -> None:
        for name in folders.names_in(self._folder):
            if name != current and is_version_name(name):
                self._remove_version(name)

    def _remove_version(self, name: str) -> None:
        for kept in tear_down.remove_tree(self._folder, name):
            self._others.append(f"an old version is left over: {kept}")


def current_version(folder: int) -> str | None:
    """The version that counts in an open folder; None when there is none.

    A ``..data`` that leads anywhere else than to a version right beside it was not made by a
    writer, and is not followed.

    - *folder*: file descriptor of the open folder
    """
    text = folders.link_text(folder, DATA)
    if text is None or not is_version_name(text) or not folders.is_folder(folder, text):
        return None
    return text


def _users_by_name(layout: Layout[FileContent]) -> Mapping[str, int | None]:
    users: dict[str, int | None] = {}
    for path, file in layout.files.items():
        users.setdefault(path.partition("/")[0], file.user)
    return users


def _is_own_link(folder: int, name: str) -> bool:
    return folders.link_text(folder, name) == f"{DATA}/{name}"


def remove_versions(folder: int) -> tuple[Kept, ...]:
    """Remove what writers made in an open folder; the answer is everything else in it."""
    kept: list[Kept] = []
    for name in folders.names_in(folder):
        is_link = folders.link_text(folder, name) is not None
        if _is_own_link(folder, name) or (name in {DATA, DATA_IN_WAITING} and is_link):
            folders.unlink(folder, name)
        elif is_version_name(name) and folders.is_folder(folder, name):
            kept += tear_down.remove_tree(folder, name)
        else:
            kept.append(Kept(name, "not made by a writer of volumes"))
    return tuple(kept)
