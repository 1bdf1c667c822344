"""One writer at a time in a folder."""

from __future__ import annotations

import fcntl
import shutil
import threading
from pathlib import Path

import pytest

from reflet.volumes.folder_locks import locked
from reflet.volumes.volume_errors import VolumeBusy, VolumeError
from tests.unit.volumes.scenes import mode_of


def test_a_missing_folder_is_made_with_the_mode(tmp_path: Path) -> None:
    with locked(tmp_path / "v", create_mode=0o700):
        assert mode_of(tmp_path / "v") == 0o700


def test_a_missing_folder_that_is_not_to_be_made_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), locked(tmp_path / "v", create_mode=None):
        pass


def test_the_second_writer_is_told_that_the_first_is_still_there(tmp_path: Path) -> None:
    with (
        locked(tmp_path, create_mode=None),
        pytest.raises(VolumeBusy, match="another writer"),
        locked(tmp_path, create_mode=None, timeout=0),
    ):
        pass


def test_the_second_writer_waits_for_the_first(tmp_path: Path) -> None:
    order: list[str] = []
    entered = threading.Event()

    def first() -> None:
        with locked(tmp_path, create_mode=None):
            entered.set()
            order.append("first in")
            order.append("first out")

    thread = threading.Thread(target=first)
    with locked(tmp_path, create_mode=None):
        thread.start()
        order.append("we are out")
    entered.wait(10)
    thread.join()

    assert order == ["we are out", "first in", "first out"]


def test_a_link_or_a_file_is_not_a_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    (tmp_path / "file").touch()

    for name in ("link", "file"):
        with (
            pytest.raises(VolumeError, match=f"{name} is a link or a file, not a folder"),
            locked(tmp_path / name, create_mode=0o700),
        ):
            pass


def test_a_folder_that_was_removed_while_we_waited_is_made_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "v"
    removals = iter([True])

    def lock(*arguments: object) -> None:
        if next(removals, False):
            shutil.rmtree(target)

    monkeypatch.setattr(fcntl, "flock", lock)

    with locked(target, create_mode=0o700):
        assert target.is_dir()


def test_a_file_system_without_locks_is_used_without_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def lock(*arguments: object) -> None:
        raise OSError(37, "No locks available")

    monkeypatch.setattr(fcntl, "flock", lock)

    with locked(tmp_path, create_mode=None) as folder:
        assert folder >= 0
