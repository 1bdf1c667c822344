"""The layout of plain files: each is written beside and renamed, and known again afterwards.

Somebody else's file in the way is replaced, and a link in the way is replaced itself: nothing is
written through it.  With ALLOWED_FOLDERS, no link below them is followed either.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from posixpath import basename, dirname, join

from reflet.sidecar.files.folder_writes import opened, opened_beneath, replace_file, usual_modes
from reflet.sidecar.files.ledger import digest_of
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.volumes import folders
from reflet.volumes.case_folding import refuse_twin, stored_name

_Signature = tuple[int, int, int, int]


class PlainFiles:
    """Writes, removes and recognises files by their paths.  Blocks; used by one thread at a time.

    Every method raises OSError when the system refuses.
    """

    def __init__(self, settings: SidecarSettings, *, temporary: str) -> None:
        self._temporary = temporary
        file_mode, self._folder_mode = usual_modes()
        mode = settings.default_file_mode
        self._mode = file_mode if mode is None else mode
        self._jails = (
            None
            if settings.allowed_folders is None
            else tuple(each.rstrip("/") for each in (settings.folder, *settings.allowed_folders))
        )
        self._left: dict[str, _Signature] = {}

    def holds(self, path: str, data: bytes) -> bool:
        """Whether that is what is there; then it counts as left by us."""
        try:
            with self._parent(path) as here:
                name = basename(path)
                found = folders.facts(here, name)
                if found is None or not stat.S_ISREG(found.st_mode) or found.st_size != len(data):
                    return False
                if folders.read_file(here, name) != data:
                    return False
        except FileNotFoundError:
            return False
        self._left[path] = _signature(found)
        return True

    def is_there(self, path: str) -> bool:
        """Whether a plain file is there."""
        try:
            with self._parent(path) as here:
                found = folders.facts(here, basename(path))
        except FileNotFoundError:
            return False
        return found is not None and stat.S_ISREG(found.st_mode)

    def is_as_left(self, path: str) -> bool:
        """Whether nobody has touched the file since; cheap, and never wrong about contents."""
        try:
            with self._parent(path) as here:
                found = folders.facts(here, basename(path))
        except OSError:
            return False
        return found is not None and _signature(found) == self._left.get(path)

    def write(self, path: str, data: bytes, *, is_wanted: Callable[[str], bool]) -> None:
        """Put a file there, over whatever is.

        OSError with EEXIST where that is a file under another name, to the file system the same,
        whose path *is_wanted*.
        """
        with self._parent(path, make=True) as here:
            name = basename(path)
            stored = stored_name(here, name)
            if stored is not None and stored != name:
                if is_wanted(join(dirname(path), stored)):
                    raise refuse_twin(name, stored)
                folders.unlink(here, stored)  # a key that is now written in another case
            replace_file(here, name, data, mode=self._mode, temporary=self._temporary)
            found = folders.facts(here, name)
        if found is not None:
            self._left[path] = _signature(found)

    def remove(self, path: str, *, digests: Collection[str]) -> bool:
        """Remove what we left there in this life, or what has one of *digests*; whether it was."""
        was_ours = self._left.pop(path, None) is not None
        try:
            with self._parent(path) as here:
                name = basename(path)
                if stored_name(here, name) != name:
                    return False  # nothing is there, or another key's file
                if not _is_removable(here, name, was_ours=was_ours, digests=digests):
                    return False
                folders.unlink(here, name)
        except (FileNotFoundError, NotADirectoryError):
            return False
        return True

    @contextmanager
    def _parent(self, path: str, *, make: bool = False) -> Iterator[int]:
        folder = dirname(path)
        if self._jails is None:
            with opened(folder, make=make) as here:
                yield here
            return
        for jail in self._jails:
            if folder == jail or folder.startswith(f"{jail}/"):
                below = folder[len(jail) + 1 :]
                mode = self._folder_mode if make else None
                with opened_beneath(jail, below, make=mode) as here:
                    yield here
                return
        raise OSError(errno.EACCES, os.strerror(errno.EACCES), folder)


def _is_removable(folder: int, name: str, *, was_ours: bool, digests: Collection[str]) -> bool:
    found = folders.facts(folder, name)
    if found is None or stat.S_ISDIR(found.st_mode):
        return False
    if was_ours or folders.link_text(folder, name) == f"..data/{name}":
        return True  # the link is one of the other layout
    if not stat.S_ISREG(found.st_mode):
        return False
    data = folders.read_file(folder, name)
    return data is not None and digest_of(data) in digests


def _signature(found: os.stat_result) -> _Signature:
    return found.st_ino, found.st_size, found.st_mtime_ns, found.st_ctime_ns
