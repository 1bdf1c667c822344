from __future__ import annotations

import os
import random
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import msgspec
import pytest

from reflet.devserver.storage.sqlite_journal import FILE_NAME, LOCK_NAME, SqliteJournal
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import StoredChange
from reflet.errors import ConfigurationError, Expired, InternalError
from tests.unit.devserver.watch_scene import config_map, key

KILLS = 10


def fill(storage: Storage) -> None:
    """Write a little of everything: revisions 2 to 7."""
    storage.create(key("kept"), config_map("kept"))
    storage.create(key("gone"), config_map("gone"))
    storage.replace(key("kept"), config_map("kept", "new"))
    storage.delete(key("gone"))
    storage.create(key("gone"), config_map("gone", "again"))
    storage.delete(key("gone"))


def contents(storage: Storage) -> object:
    changes = storage.changes_since("configmaps", storage.oldest_revision("configmaps"))
    return storage.revision, storage.list("configmaps"), list(changes)


def sql(folder: Path, *statements: str) -> None:
    with closing(sqlite3.connect(folder / FILE_NAME)) as connection, connection:
        for statement in statements:
            connection.execute(statement)


def complaint_about(folder: Path) -> str:
    with pytest.raises(ConfigurationError) as caught, SqliteJournal(folder) as journal:
        Storage(journal)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_everything_is_there_after_a_restart(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal)
        fill(storage)
        before = contents(storage)

    with SqliteJournal(tmp_path) as journal:
        assert contents(Storage(journal)) == before


def test_revisions_go_on_growing_after_a_restart(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        fill(Storage(journal))

    with SqliteJournal(tmp_path) as journal:
        stored = Storage(journal).create(key("new"), config_map("new"))

    assert stored.revision == 8


def test_revisions_go_on_growing_when_nothing_but_deletions_are_left(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal, history_changes=1)
        for _ in range(5):
            storage.create(key("a"), config_map("a"))
            storage.delete(key("a"))
        newest = storage.revision

    with SqliteJournal(tmp_path) as journal:
        assert Storage(journal).revision == newest


def test_a_watcher_resumes_across_a_restart(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        fill(Storage(journal))

    with SqliteJournal(tmp_path) as journal:
        changes = Storage(journal).changes_since("configmaps", 3)

    assert [(change.type, change.key.name, change.revision) for change in changes] == [
        ("MODIFIED", "kept", 4),
        ("DELETED", "gone", 5),
        ("ADDED", "gone", 6),
        ("DELETED", "gone", 7),
    ]


def test_history_is_cut_in_the_file_too(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal, history_changes=10)
        for number in range(50):
            storage.create(key(f"n{number}"), config_map("n"))
        before = contents(storage)
        oldest = storage.oldest_revision("configmaps")

    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal, history_changes=10)

        assert contents(storage) == before
        assert storage.oldest_revision("configmaps") == oldest
        with pytest.raises(Expired):
            storage.changes_since("configmaps", oldest - 1)


def test_an_expiry_survives_a_restart_for_every_resource(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal)
        fill(storage)
        storage.expire_history()

    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal)

        assert storage.revision == 8
        assert storage.oldest_revision("configmaps") == storage.oldest_revision("secrets") == 8
        assert [stored.key.name for stored in storage.list("configmaps")] == ["kept"]


def test_only_the_owner_may_read_what_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "data"

    with SqliteJournal(folder) as journal:
        Storage(journal).create(key("a", resource="secrets"), config_map("a"))
        modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}

    assert folder.stat().st_mode & 0o777 == 0o700
    assert set(modes.values()) == {0o600}


def test_a_folder_in_use_is_refused_and_left_in_peace(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal)

        assert complaint_about(tmp_path) == (
            f"{tmp_path} is in use by another server (process {os.getpid()}): "
            "stop it, or choose another folder"
        )
        storage.create(key("a"), config_map("a"))


def test_a_folder_is_free_again_after_its_server_was_killed(tmp_path: Path) -> None:
    (tmp_path / LOCK_NAME).write_text("1")

    with SqliteJournal(tmp_path) as journal:
        assert Storage(journal).revision == 1


def overwrite_the_head(file: Path) -> None:
    with file.open("r+b") as opened:
        opened.write(b"not a database at all")


def overwrite_the_middle(file: Path) -> None:
    size = file.stat().st_size
    with file.open("r+b") as opened:
        opened.seek(size // 3)
        opened.write(b"\xff" * (size // 2))


def cut_in_half(file: Path) -> None:
    os.truncate(file, file.stat().st_size // 2)


def spoil_an_object(file: Path) -> None:
    sql(file.parent, "UPDATE objects SET body = x'7b'")


def lose_an_object(file: Path) -> None:
    sql(file.parent, "DELETE FROM objects")


def bring_back_a_deleted_object(file: Path) -> None:
    sql(
        file.parent,
        "INSERT INTO objects SELECT resource, namespace, 'gone', revision, created, body "
        "FROM objects WHERE name = 'kept'",
    )


@pytest.mark.parametrize(
    "damage",
    [
        overwrite_the_head,
        overwrite_the_middle,
        cut_in_half,
        spoil_an_object,
        lose_an_object,
        bring_back_a_deleted_object,
    ],
)
def test_a_damaged_file_is_refused_in_one_line(
    tmp_path: Path, damage: Callable[[Path], None]
) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal)
        fill(storage)
        for number in range(50):
            storage.create(key(f"n{number}"), config_map("n", "x" * 1000))

    damage(tmp_path / FILE_NAME)

    complaint = complaint_about(tmp_path)
    assert complaint.startswith(f"{tmp_path / FILE_NAME} is damaged (")
    assert complaint.endswith("): move it away to begin with an empty server")


def test_the_database_of_another_program_is_refused(tmp_path: Path) -> None:
    sql(tmp_path, "CREATE TABLE music (title TEXT)")

    assert complaint_about(tmp_path) == (
        f"{tmp_path / FILE_NAME} is a database of another program: choose another folder"
    )


def test_a_format_of_the_future_is_refused(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path):
        pass
    sql(tmp_path, "PRAGMA user_version = 2")

    assert "has format 2 and this version of reflet reads format 1" in complaint_about(tmp_path)


def test_a_file_in_the_place_of_the_folder_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "data"
    folder.touch()

    assert complaint_about(folder) == f"{folder} cannot keep the server's data: File exists"


def test_an_empty_file_is_a_new_journal(tmp_path: Path) -> None:
    (tmp_path / FILE_NAME).touch()

    with SqliteJournal(tmp_path) as journal:
        assert Storage(journal).revision == 1


def test_a_refused_folder_can_be_used_once_it_is_free(tmp_path: Path) -> None:
    second = SqliteJournal(tmp_path)
    with SqliteJournal(tmp_path), pytest.raises(ConfigurationError):
        second.open()

    with second as journal:
        assert Storage(journal).revision == 1


def test_a_full_disk_refuses_the_write_and_takes_the_next(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal:
        storage = Storage(journal)
        storage.create(key("a"), config_map("a"))
        connection: Any = journal._connection
        ((pages,),) = connection.execute("PRAGMA page_count")
        connection.execute(f"PRAGMA max_page_count = {pages}")
        with pytest.raises(InternalError, match="database or disk is full"):
            storage.create(key("b"), config_map("b", "x" * 100_000))
        connection.execute("PRAGMA max_page_count = 1000000")

        stored = storage.create(key("b"), config_map("b"))
        before = contents(storage)

    assert stored.revision == 3
    with SqliteJournal(tmp_path) as journal:
        assert contents(Storage(journal)) == before


def test_a_journal_that_is_not_open_says_so(tmp_path: Path) -> None:
    with pytest.raises(RuntimeError, match="is not open"):
        Storage(SqliteJournal(tmp_path))


def test_a_journal_is_opened_once(tmp_path: Path) -> None:
    with SqliteJournal(tmp_path) as journal, pytest.raises(RuntimeError, match="open already"):
        journal.open()


WRITER = """
import sys
from pathlib import Path
from reflet.devserver.storage.stored import Key
from reflet.devserver.storage.sqlite_journal import SqliteJournal
from reflet.devserver.storage.storage import Storage

with SqliteJournal(Path(sys.argv[1])) as journal:
    storage = Storage(journal, history_changes=40)
    while True:
        number = storage.revision
        key = Key("configmaps", "shop", f"n{number * 7919 % 13}")
        content = {"metadata": {"name": key.name}, "number": number}
        if storage.get(key) is None:
            storage.create(key, content)
        elif number % 3:
            storage.replace(key, content)
        else:
            storage.delete(key)
        print(storage.revision, flush=True)
"""


def write_until_killed(folder: Path, lines: int) -> int:
    """Kill a writer after it printed some revisions; return the last that it printed."""
    command = [sys.executable, "-c", WRITER, str(folder)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as writer:
        assert writer.stdout is not None
        printed = [writer.stdout.readline() for _ in range(lines)]
        writer.send_signal(signal.SIGKILL)
        printed += writer.stdout.readlines()
    whole = [line for line in printed if line.endswith("\n")]
    return int(whole[-1]) if whole else 0


def redone(revision: int) -> dict[str, int]:
    """Do again, in a dictionary, what the writer did up to a revision."""
    state: dict[str, int] = {}
    for number in range(1, revision):
        name = f"n{number * 7919 % 13}"
        if name in state and number % 3 == 0:
            del state[name]
        else:
            state[name] = number
    return state


def numbers(storage: Storage, revision: int) -> dict[str, int]:
    listed = storage.list_at("configmaps", "shop", revision)
    return {stored.key.name: stored.object["number"] for stored in listed}


def replayed(changes: list[StoredChange], start: dict[str, int]) -> dict[str, int]:
    state = dict(start)
    for change in changes:
        if change.type == "DELETED":
            del state[change.key.name]
        else:
            state[change.key.name] = change.stored.object["number"]
    return state


def test_no_acknowledged_write_is_lost_when_the_server_is_killed(tmp_path: Path) -> None:
    moments = random.Random(3)
    acknowledged = 1
    for _ in range(KILLS):
        lines = moments.randrange(200)

        acknowledged = max(acknowledged, write_until_killed(tmp_path, lines))

        with SqliteJournal(tmp_path) as journal:
            storage = Storage(journal, history_changes=40)
        oldest = storage.oldest_revision("configmaps")
        # The one write that was under way may have been made; nobody was told.
        assert storage.revision - acknowledged in {0, 1}
        assert numbers(storage, storage.revision) == redone(storage.revision)
        assert numbers(storage, oldest) == redone(oldest)
        changes = list(storage.changes_since("configmaps", oldest))
        assert [change.revision for change in changes] == list(
            range(max(oldest, 1) + 1, storage.revision + 1)
        )
        assert replayed(changes, redone(oldest)) == redone(storage.revision)
        assert all(
            msgspec.json.decode(change.stored.encoded) == change.stored.object for change in changes
        )
        acknowledged = storage.revision
    assert acknowledged > KILLS
