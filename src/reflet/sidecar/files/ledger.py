"""The ledger: which files are ours, kept in FOLDER so that the next start knows.

**The invariant.**  At every moment, a file that the sidecar has written and not removed is in the
ledger with the digest of its bytes, because the ledger is written before the files that it speaks
of and shortened after they are gone.  And a start removes a file only when the ledger names it and
its bytes have one of the digests there.  So whenever the sidecar is killed, no file of ours is
forgotten, and no file of somebody else is removed: not one that stood in the way of a file that was
announced and never written, nor one that took the name of a file that was removed.

A sidecar has a ledger of its own in a folder that several share: its name has the selection in it.
"""

from __future__ import annotations

import errno
import hashlib
import os
from collections.abc import Mapping
from contextlib import suppress
from typing import Final

import msgspec

from reflet.sidecar.files.folder_writes import nearest_folder, opened, replace_file
from reflet.sidecar.targets import OWN_PREFIX
from reflet.volumes import folders

MODE: Final = 0o600
VERSION: Final = 1


class LedgerEntry(msgspec.Struct, frozen=True, array_like=True):
    """Whose a file is, and the digests of what it may hold: two while it is being replaced."""

    kind: str
    namespace: str
    name: str
    digests: tuple[str, ...] = ()


class LedgerPage(msgspec.Struct, frozen=True):
    """All that is remembered; paths below FOLDER are relative to it."""

    version: int = VERSION
    layout: str = "files"
    files: dict[str, LedgerEntry] = {}


class UnreadableLedger(Exception):
    """There is a ledger, and it cannot be read or is broken."""


def digest_of(data: bytes) -> str:
    """What identifies the bytes of a file."""
    return hashlib.blake2b(data, digest_size=16).hexdigest()


class Ledger:
    """The file that remembers.

    While FOLDER does not exist, because all files go elsewhere, it is in the nearest folder above:
    the sidecar makes FOLDER only for files.
    """

    def __init__(self, folder: str, identity: str, *, temporary: str) -> None:
        self._folder = folder
        self._temporary = temporary
        self._name = f"{OWN_PREFIX}sidecar-{identity}.json"
        place = hashlib.sha256(folder.encode()).hexdigest()[:12]
        self._name_above = f"{OWN_PREFIX}sidecar-{identity}-{place}.json"
        self._saved = LedgerPage()
        self._is_above = False

    @property
    def places(self) -> tuple[str, str]:
        """The folders in which it may be."""
        return self._folder, self._above

    def load(self) -> LedgerPage:
        """What was saved last; an empty page where nothing was.

        Raises UnreadableLedger when the file cannot be read, or is broken.
        """
        above = self._read(self._above, self._name_above)
        inside = self._read(self._folder, self._name)
        self._is_above = above is not None
        page = inside or above or LedgerPage()
        if inside is not None and above is not None:
            page = LedgerPage(layout=inside.layout, files={**above.files, **inside.files})
        self._saved = page
        files = {self._absolute(path): each for path, each in page.files.items()}
        return LedgerPage(layout=page.layout, files=files)

    def look_again(self) -> None:
        """Write it at the next ``save``, whatever is in it, when somebody has removed it."""
        places = ((self._folder, self._name), (self._above, self._name_above))
        if not any(self._read(*place) for place in places):
            self._saved = LedgerPage()

    def save(self, layout: str, entries: Mapping[str, LedgerEntry]) -> None:
        """Write everything down, unless it is what was saved last."""
        files = {self._relative(path): entries[path] for path in sorted(entries)}
        page = LedgerPage(layout=layout, files=files)
        if page.files == self._saved.files and (page.layout == self._saved.layout or not files):
            return
        if os.path.isdir(self._folder):  # noqa: PTH112 - a text, as all paths here
            self._write(self._folder, self._name, page)
            if self._is_above:
                self._forget(self._above, self._name_above)
                self._is_above = False
        else:
            self._write(self._above, self._name_above, page)
            self._is_above = True
        self._saved = page

    @property
    def _above(self) -> str:
        return nearest_folder(os.path.dirname(self._folder))  # noqa: PTH120 - as above

    def _write(self, folder: str, name: str, page: LedgerPage) -> None:
        if not page.files:
            self._forget(folder, name)
            return
        with opened(folder) as here:
            data = msgspec.json.encode(page)
            replace_file(here, name, data, mode=MODE, temporary=self._temporary)

    def _forget(self, folder: str, name: str) -> None:
        with suppress(FileNotFoundError), opened(folder) as here:
            folders.unlink(here, name)

    def _read(self, folder: str, name: str) -> LedgerPage | None:
        try:
            with opened(folder) as here:
                data = folders.read_file(here, name)
        except OSError as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR}:
                return None
            raise UnreadableLedger(f"{folder}/{name}: {error.strerror}") from error
        try:
            return msgspec.json.decode(data or b"", type=LedgerPage)
        except msgspec.MsgspecError as error:
            raise UnreadableLedger(f"{folder}/{name}: {error}") from error

    def _relative(self, path: str) -> str:
        return path.removeprefix(f"{self._folder}/")

    def _absolute(self, path: str) -> str:
        return path if path.startswith("/") else f"{self._folder}/{path}"
