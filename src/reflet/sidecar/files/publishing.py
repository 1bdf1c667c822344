"""From the table of owners to the disk: announce in the ledger, write, remove, and settle.

The order is what makes a kill at any moment harmless: see ``ledger`` for the invariant.
"""

from __future__ import annotations

import errno
import os
import secrets
from collections.abc import Collection, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from posixpath import dirname
from typing import Final

from reflet.resolution.environment.variables import exact_bytes
from reflet.runtime.clock import Clock
from reflet.sidecar.file_owners import Claim, OwnerTable
from reflet.sidecar.files.folder_writes import TEMPORARY, sweep
from reflet.sidecar.files.ledger import Ledger, LedgerEntry, UnreadableLedger, digest_of
from reflet.sidecar.files.linked_folders import LinkedFolders, folders_of, unlink_folder
from reflet.sidecar.files.plain_files import PlainFiles
from reflet.sidecar.log_lines import logger
from reflet.sidecar.sidecar_settings import SidecarSettings
from reflet.sidecar.targets import OWN_PREFIX, LastGood, Remembered
from reflet.volumes.volume_errors import VolumeError

OF_THE_OBJECT: Final = frozenset(
    {errno.EISDIR, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP, errno.EEXIST, errno.EINVAL}
)
"""What fails because of what an object asks for; all else is the folder's, and keeps us unready."""


@dataclass(frozen=True, slots=True)
class Unwritten:
    """Why a file is not what it should be; *is_own* when only its object can help that."""

    why: str
    is_own: bool


@dataclass(frozen=True, slots=True)
class Published:
    """The paths whose files have changed, and those whose files could not be."""

    changed: frozenset[str] = frozenset()
    failed: Mapping[str, Unwritten] = field(default_factory=dict)


class Publisher:
    """Makes the disk what the table wants.  Blocks; used by one thread at a time.

    ``ledger_problem`` says why the ledger cannot be written, None while it can.
    """

    def __init__(
        self, settings: SidecarSettings, table: OwnerTable, identity: str, *, clock: Clock
    ) -> None:
        self._settings = settings
        self._table = table
        self._own_prefix = f"{OWN_PREFIX}{identity}-"
        # Another process may have the same folder and selection, on a volume that pods share.
        temporary = f"{self._own_prefix}{secrets.token_hex(4)}{TEMPORARY}"
        self._ledger = Ledger(settings.folder, identity, temporary=temporary)
        self._plain = PlainFiles(settings, temporary=temporary)
        self._links = (
            LinkedFolders(settings, table, self._plain, clock=clock)
            if settings.layout == "links"
            else None
        )
        self._entries: dict[str, LedgerEntry] = {}
        self._was_linked: frozenset[str] = frozenset()
        self.ledger_problem: str | None = None

    def remember(self) -> Mapping[str, LedgerEntry]:
        """What the last life left, by path; also clears away what it was writing when it ended."""
        try:
            page = self._ledger.load()
        except UnreadableLedger as error:
            logger.warning("%s: files of an earlier start that nobody wants will stay", error)
            return {}
        self._entries = dict(page.files)
        for folder in {*self._ledger.places, *map(dirname, page.files)}:
            sweep(folder, self._own_prefix)
        if page.layout == "links" and self._links is None:
            self._was_linked = frozenset(map(dirname, page.files))
        return page.files

    def publish(self, paths: Collection[str]) -> Published:
        """Make the files at *paths* what the table wants there."""
        plan = {path: self._table.wanted(path) for path in sorted(paths)}
        # Before something is removed, what takes its place is there.
        plan = dict(sorted(plan.items(), key=lambda each: each[1] is None))
        digests = self._announce(plan)
        changed: set[str] = set()
        failed: dict[str, Unwritten] = {}
        links = self._links
        for path, outcome in self._one_by_one(plan) if links is None else self._swap(links, plan):
            if isinstance(outcome, Unwritten):
                failed[path] = outcome
                continue
            if outcome:
                changed.add(path)
            claim = plan[path]
            if claim is None:
                self._entries.pop(path, None)
            elif path in digests:
                self._entries[path] = _entry(claim, (digests[path],))
        self._save()
        return Published(frozenset(changed), failed)

    def finish_start(self) -> None:
        """Everything that is wanted is written: the links of another layout are not needed."""
        for folder in self._was_linked:
            unlink_folder(folder)
        self._was_linked = frozenset()

    def touched(self) -> set[str]:
        """The paths whose files are no longer as they were left.

        A ledger that is gone is written again.
        """
        with suppress(UnreadableLedger):
            self._ledger.look_again()
        self._save()
        if self._links is not None:
            return set(self._table)  # the writer of volumes compares, and leaves what is equal
        return {path for path in self._table if not self._plain.is_as_left(path)}

    # The ledger

    def _announce(self, plan: Mapping[str, Claim | None]) -> Mapping[str, str]:
        """Write down what will be written; the digests of files that will not stay as they are."""
        announced: dict[str, str] = {}
        for path, claim in plan.items():
            if claim is None:
                continue
            known = self._entries.get(path)
            digests = () if known is None else known.digests
            new = self._digest(path, claim)
            if new is not None:
                announced[path] = new
                digests = tuple(dict.fromkeys((*digests, new)))
            if digests:
                self._entries[path] = _entry(claim, digests)
        if any(path.startswith(f"{self._settings.folder}/") for path in announced):
            with suppress(OSError):  # each file will say so
                os.makedirs(self._settings.folder, exist_ok=True)  # noqa: PTH103 - a text
        self._save()
        return announced

    def _digest(self, path: str, claim: Claim) -> str | None:
        """What a file will hold; None where it stays what it is."""
        match claim.content:
            case Remembered():
                return None
            case LastGood():
                return None if self._is_there(path) else digest_of(b"")
            case content:
                return digest_of(_bytes(content))

    def _save(self) -> None:
        try:
            self._ledger.save(self._settings.layout, self._entries)
        except OSError as error:
            if self.ledger_problem is None:
                logger.warning(
                    "the list of our files cannot be kept in %s: %s; what is deleted while the "
                    "sidecar is down will stay",
                    self._settings.folder,
                    error.strerror or error,
                )
            self.ledger_problem = error.strerror or str(error)
        else:
            self.ledger_problem = None

    # The files

    def _one_by_one(
        self, plan: Mapping[str, Claim | None]
    ) -> Iterator[tuple[str, bool | Unwritten]]:
        for path, claim in plan.items():
            try:
                yield path, self._removed(path) if claim is None else self._written(path, claim)
            except OSError as error:
                yield path, self._unwritten(error)

    def _written(self, path: str, claim: Claim) -> bool:
        match claim.content:
            case Remembered():
                return False
            case LastGood():
                if self._plain.is_there(path):
                    return False
                data = b""
            case content:
                data = _bytes(content)
        if self._plain.holds(path, data):
            logger.debug("Contents of %s haven't changed. Not overwriting existing file", path)
            return False
        form = "binary" if isinstance(claim.content, bytes) else "ascii"
        logger.info("Writing %s (%s)", path, form)
        self._plain.write(path, data, is_wanted=lambda each: self._table.wanted(each) is not None)
        return True

    def _removed(self, path: str) -> bool:
        entry = self._entries.get(path)
        removed = self._plain.remove(path, digests=() if entry is None else entry.digests)
        if removed:
            logger.info("Removing %s", path)
        elif self._plain.is_there(path):
            logger.warning("%s stays: somebody else has written it", path)
        return removed

    def _swap(
        self, links: LinkedFolders, plan: Mapping[str, Claim | None]
    ) -> Iterator[tuple[str, bool | Unwritten]]:
        old = {path: each.digests for path, each in self._entries.items()}
        for folder, paths in folders_of(plan.keys()).items():
            try:
                is_new: bool | Unwritten = links.write(folder, old)
            except VolumeError as error:
                is_new = self._unwritten(error)
            if is_new is True:
                logger.info("Writing %s (links)", folder)
            yield from ((path, is_new) for path in paths)

    def _is_there(self, path: str) -> bool:
        try:
            return self._plain.is_there(path)
        except OSError:
            return False

    def _unwritten(self, error: OSError | VolumeError) -> Unwritten:
        cause = error.__cause__ if isinstance(error, VolumeError) else error
        number = getattr(cause, "errno", None)
        words = error.strerror if isinstance(error, OSError) else None
        # What an object asks for can be wrong only where FOLDER itself is right.
        is_own = number in OF_THE_OBJECT and os.path.isdir(self._settings.folder)  # noqa: PTH112
        return Unwritten(words or str(error), is_own)


def _bytes(content: str | bytes) -> bytes:
    return exact_bytes(content) if isinstance(content, str) else content


def _entry(claim: Claim, digests: tuple[str, ...]) -> LedgerEntry:
    owner = claim.owner
    return LedgerEntry(owner.kind, owner.namespace, owner.name, digests)
