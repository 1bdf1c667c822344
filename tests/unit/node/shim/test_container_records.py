from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from reflet.node.shim.container_records import ContainerRecord, records_below, write_private
from reflet.pleg.runtime_status import RuntimeState
from reflet.processes.exit_status import Exited, Killed, Vanished
from reflet.processes.process_table import ProcessIdentity

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def record(folder: Path, attempt: int = 0) -> ContainerRecord:
    return ContainerRecord(id="c1", uid="u1", name="main", attempt=attempt, folder=str(folder))


def test_a_life_goes_from_created_to_running_to_exited(tmp_path: Path) -> None:
    created = record(tmp_path)
    running = created.running(ProcessIdentity(pid=7, start=8, boot="b"), NOW)
    ended = running.ended(Exited(3), NOW, message="bye")

    assert [each.state for each in (created, running, ended)] == [
        RuntimeState.CREATED,
        RuntimeState.RUNNING,
        RuntimeState.EXITED,
    ]
    assert (ended.exit_code, ended.reason, ended.message) == (3, "Error", "bye")


def test_how_it_ended_is_told_as_runtimes_do(tmp_path: Path) -> None:
    endings = [record(tmp_path).ended(each, NOW) for each in (Exited(0), Killed(9), Vanished())]

    assert [(each.exit_code, each.signal, each.reason) for each in endings] == [
        (0, 0, "Completed"),
        (137, 9, "Error"),
        (None, 0, ""),
    ]


def test_what_could_not_be_started_has_ended(tmp_path: Path) -> None:
    failed = record(tmp_path).not_started("no such file", NOW)

    assert (failed.state, failed.exit_code, failed.reason) == (
        RuntimeState.EXITED,
        128,
        "StartError",
    )


def test_a_record_is_read_as_it_was_written_and_is_private(tmp_path: Path) -> None:
    folder = tmp_path / "u1" / "containers" / "main"
    folder.mkdir(parents=True)
    written = record(folder).running(ProcessIdentity(pid=7, start=8, boot="b"), NOW)
    written.write()

    assert list(records_below(tmp_path)) == [written]
    assert written.path.stat().st_mode & 0o777 == 0o600


def test_what_is_no_record_is_left_out(tmp_path: Path) -> None:
    folder = tmp_path / "u1" / "containers" / "main"
    folder.mkdir(parents=True)
    (folder / "0.json").write_text("{half")
    (folder / "1.json").write_text('{"other": 1}')

    assert list(records_below(tmp_path)) == []


def test_only_the_files_of_one_life_are_removed(tmp_path: Path) -> None:
    for name in ("1.json", "1.log", "1.log.1", "10.json", "11.log"):
        (tmp_path / name).touch()

    record(tmp_path, attempt=1).remove_files()

    assert {path.name for path in tmp_path.iterdir()} == {"10.json", "11.log"}


def test_a_file_is_replaced_in_one_step_whatever_a_crash_left(tmp_path: Path) -> None:
    (tmp_path / ".a.new").write_text("left over")
    write_private(tmp_path / "a", b"one")
    write_private(tmp_path / "a", b"two")

    assert [(path.name, path.read_bytes()) for path in tmp_path.iterdir()] == [("a", b"two")]


def test_folders_that_go_while_they_are_looked_at_hold_no_records(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "b" / "containers" / "main"
    folder.mkdir(parents=True)
    stays = record(folder)
    stays.write()
    (tmp_path / "a").mkdir()
    (tmp_path / "file").touch()
    listed = Path.iterdir

    def list_late(folder: Path) -> Iterator[Path]:
        if folder.name == "containers" and folder.parent.name == "a":
            raise FileNotFoundError(folder)
        return listed(folder)

    monkeypatch.setattr(Path, "iterdir", list_late)

    assert list(records_below(tmp_path)) == [stays]
