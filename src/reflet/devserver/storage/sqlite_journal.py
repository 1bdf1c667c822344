"""Keeps a storage's objects and history in one SQLite file.

What was recorded is there again after the process was killed at any moment.  A power cut may cost
the last moments, never the file: SQLite's log is not forced to the disk with every write, which is
what makes hundreds of writes a second cheap.  A lock keeps a second server out of the folder.

History is kept as an undo log: a row holds the state before a change.  The state after it is
the state before the next change of the same object, or the object itself, so nothing is kept
twice and the rows that are left need none of those that were forgotten.
"""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Final, NamedTuple, Self, final

import msgspec

from reflet.devserver.storage.storage import FIRST_REVISION, JournalContents
from reflet.devserver.storage.stored import JsonObject, Key, Stored, StoredChange, moved_to
from reflet.errors import ConfigurationError, InternalError

FILE_NAME: Final = "reflet.db"
LOCK_NAME: Final = "lock"
APPLICATION: Final = 0x52464C54  # "RFLT", by which SQLite files can be told apart
FORMAT: Final = 1

EVERYTHING: Final = ""  # the row of floors that stands for all resources without one

_SCHEMA: Final = (
    """
    CREATE TABLE objects (
        resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        revision INTEGER NOT NULL, created INTEGER NOT NULL, body BLOB NOT NULL,
        PRIMARY KEY (resource, namespace, name)
    )
    """,
    """
    CREATE TABLE history (
        revision INTEGER PRIMARY KEY,
        resource TEXT NOT NULL, namespace TEXT NOT NULL, name TEXT NOT NULL,
        is_deletion INTEGER NOT NULL,
        previous_revision INTEGER, previous_created INTEGER, previous_body BLOB
    )
    """,
    "CREATE INDEX history_of_resource ON history (resource, revision)",
    "CREATE TABLE floors (resource TEXT PRIMARY KEY, revision INTEGER NOT NULL)",
    f"PRAGMA application_id = {APPLICATION}",
    f"PRAGMA user_version = {FORMAT}",
)
_PUT: Final = "INSERT OR REPLACE INTO objects VALUES (?, ?, ?, ?, ?, ?)"
_REMOVE: Final = "DELETE FROM objects WHERE resource = ? AND namespace = ? AND name = ?"
_REMEMBER: Final = "INSERT INTO history VALUES (?, ?, ?, ?, ?, ?, ?, ?)"
_FORGET: Final = "DELETE FROM history WHERE resource = ? AND revision <= ?"
_SET_FLOOR: Final = "INSERT OR REPLACE INTO floors VALUES (?, ?)"


class _Damaged(Exception):
    """What the file holds contradicts itself."""


class _HistoryRow(NamedTuple):
    revision: int
    resource: str
    namespace: str
    name: str
    is_deletion: int
    previous_revision: int | None
    previous_created: int
    previous_body: bytes


@final
class SqliteJournal:
    """The file in a folder, which is this process's alone while the journal is open.

    ::

        with SqliteJournal(folder) as journal:
            storage = Storage(journal)

    Opening raises ConfigurationError when another server uses the folder, when the file is
    damaged or not ours, and when there is no way to read or write it.  What cannot be recorded
    later (the disk is full) is an InternalError, and has not happened.

    Only the owner may read the file: it holds Secrets.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._file = folder / FILE_NAME
        self._closing = ExitStack()
        self._connection: sqlite3.Connection | None = None

    def __enter__(self) -> Self:
        self.open()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def open(self) -> None:
        """Make the folder and the file where needed, lock them, and see that all is well."""
        if self._connection is not None:
            raise RuntimeError(f"the journal in {self._folder} is open already")
        with ExitStack() as undo, self._complaints():
            self._folder.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._lock(undo)
            # SQLite gives its other files the mode of this one.
            os.close(os.open(self._file, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
            connection = sqlite3.connect(self._file, isolation_level=None)
            undo.callback(connection.close)
            # The lock file keeps others out, so SQLite need not look for them at each write.
            connection.execute("PRAGMA locking_mode = EXCLUSIVE")
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            self._check(connection)
            self._connection = connection
            self._closing = undo.pop_all()

    def close(self) -> None:
        """Close the file and leave the folder to others; harmless when it is not open."""
        self._connection = None
        self._closing.close()

    def read(self) -> JournalContents:
        """Give back everything that was recorded, changes oldest first."""
        with self._complaints():
            connection = self._opened()
            floors: dict[str, int] = dict(connection.execute("SELECT * FROM floors"))
            objects = {
                (key := Key(*row[:3])): _stored(key, *row[3:])
                for row in connection.execute("SELECT * FROM objects")
            }
            rows = connection.execute("SELECT * FROM history ORDER BY revision DESC")
            changes = tuple(_changes(map(_HistoryRow._make, rows), objects))[::-1]
            newest = [change.revision for change in changes[-1:]]
            return JournalContents(
                # Forgotten revisions are at most their floor, so this misses none.
                revision=max([FIRST_REVISION, *floors.values(), *newest]),
                expired=floors.pop(EVERYTHING, 0),
                floors=floors,
                objects=tuple(objects.values()),
                changes=changes,
            )

    def record(self, change: StoredChange, /, *, floor: int | None) -> None:
        """Keep a change and, in the same step, forget its resource's changes up to a floor."""
        stored, previous = change.stored, change.previous
        before = (
            (None, None, None)
            if previous is None
            else (previous.revision, previous.created, previous.encoded)
        )
        is_deletion = change.type == "DELETED"
        with self._transaction() as execute:
            execute(_REMEMBER, (change.revision, *stored.key, is_deletion, *before))
            if is_deletion:
                execute(_REMOVE, stored.key)
            else:
                execute(_PUT, (*stored.key, stored.revision, stored.created, stored.encoded))
            if floor is not None:
                execute(_FORGET, (stored.key.resource, floor))
                execute(_SET_FLOOR, (stored.key.resource, floor))

    def expire(self, revision: int, /) -> None:
        """Forget the changes of all resources up to a revision, which is the newest."""
        with self._transaction() as execute:
            execute("DELETE FROM history", ())
            execute("DELETE FROM floors", ())
            execute(_SET_FLOOR, (EVERYTHING, revision))

    @contextmanager
    def _transaction(self) -> Iterator[Callable[[str, tuple[object, ...]], object]]:
        connection = self._opened()
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection.execute
            connection.execute("COMMIT")
        except sqlite3.Error as error:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise InternalError(
                f"Internal error occurred: {self._file} cannot be written: {error}",
                code=500,
                reason="InternalError",
            ) from error

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            raise RuntimeError(f"the journal in {self._folder} is not open")
        return self._connection

    def _lock(self, undo: ExitStack) -> None:
        path = self._folder / LOCK_NAME
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        undo.callback(os.close, descriptor)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            owner = os.read(descriptor, 20).decode("ascii", "replace").strip() or "unknown"
            raise ConfigurationError(
                f"{self._folder} is in use by another server (process {owner}): "
                "stop it, or choose another folder"
            ) from None
        os.truncate(descriptor, 0)
        os.pwrite(descriptor, str(os.getpid()).encode(), 0)

    def _check(self, connection: sqlite3.Connection) -> None:
        """Make an empty file ours; refuse one that is not, or that is not whole."""
        ((application,),) = connection.execute("PRAGMA application_id")
        ((version,),) = connection.execute("PRAGMA user_version")
        ((tables,),) = connection.execute("SELECT count(*) FROM sqlite_schema")
        if application == 0 and tables == 0:
            connection.execute("BEGIN IMMEDIATE")
            for statement in _SCHEMA:
                connection.execute(statement)
            connection.execute("COMMIT")
            return
        if application != APPLICATION:
            raise ConfigurationError(
                f"{self._file} is a database of another program: choose another folder"
            )
        if version != FORMAT:
            raise ConfigurationError(
                f"{self._file} has format {version} and this version of reflet reads format "
                f"{FORMAT}: use the version that wrote it, or choose another folder"
            )
        ((verdict,),) = connection.execute("PRAGMA quick_check(1)")
        if verdict != "ok":
            raise _Damaged(str(verdict).splitlines()[-1])

    @contextmanager
    def _complaints(self) -> Iterator[None]:
        """Say in one line what is wrong with the folder or the file."""
        try:
            yield
        except OSError as error:
            raise ConfigurationError(
                f"{self._folder} cannot keep the server's data: {error.strerror or error}"
            ) from error
        except sqlite3.OperationalError as error:
            raise ConfigurationError(f"{self._file} cannot be opened: {error}") from error
        except (sqlite3.DatabaseError, msgspec.MsgspecError, UnicodeDecodeError, _Damaged) as error:
            raise ConfigurationError(
                f"{self._file} is damaged ({error}): move it away to begin with an empty server"
            ) from error


def _stored(key: Key, revision: int, created: int, body: bytes) -> Stored:
    return Stored(key, msgspec.json.decode(body, type=JsonObject), body, revision, created)


def _changes(rows: Iterator[_HistoryRow], objects: dict[Key, Stored]) -> Iterator[StoredChange]:
    """Make changes of rows, both from the newest to the oldest."""
    after = dict(objects)
    for row in rows:
        key = Key(row.resource, row.namespace, row.name)
        previous = None
        if row.previous_revision is not None:
            previous = _stored(key, row.previous_revision, row.previous_created, row.previous_body)
        stored = after.pop(key, None)
        if previous is not None:
            after[key] = previous
        if row.is_deletion:
            if previous is None or stored is not None:
                raise _Damaged(f"revision {row.revision} deletes what was not there")
            yield StoredChange("DELETED", moved_to(previous, row.revision), previous)
            continue
        if stored is None or stored.revision != row.revision:
            raise _Damaged(f"the object written at revision {row.revision} is missing")
        yield StoredChange("ADDED" if previous is None else "MODIFIED", stored, previous)
