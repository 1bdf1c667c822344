"""Modes, users and the group of a volume's files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.volumes import folders
from reflet.volumes.ownership import Ownership, file_mode, folder_mode
from tests.unit.volumes.scenes import MAY_GIVE, NOBODY, mode_of


def refuse(*arguments: object, **options: object) -> None:
    raise PermissionError(1, "Operation not permitted")


@pytest.mark.parametrize(
    ("mode", "with_group"), [(0o600, 0o640), (0o400, 0o440), (0o000, 0o440), (0o755, 0o755)]
)
def test_a_group_may_read_every_file(mode: int, with_group: int) -> None:
    assert (file_mode(mode, group=None), file_mode(mode, group=7)) == (mode, with_group)


def test_a_group_may_enter_every_folder_and_passes_itself_on() -> None:
    assert (folder_mode(group=None), folder_mode(group=7)) == (0o755, 0o2755)
    assert folder_mode(0o700, group=7) == 0o2750


@pytest.mark.skipif(not MAY_GIVE, reason="files may not be given away here")
def test_what_can_be_given_is_given(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    (tmp_path / "folder").mkdir()
    (tmp_path / "link").symlink_to("nowhere")
    ownership = Ownership(2000)

    with folders.opened(tmp_path) as here:
        ownership.ask_for_group(here, "folder")
        ownership.take_folder(here, "folder")
        ownership.take_file(here, "file", 0o600, NOBODY)
        ownership.take_link(here, "link", NOBODY)
        ownership.open_folder(here)

    file, folder = (tmp_path / "file").stat(), (tmp_path / "folder").stat()
    link, top = (tmp_path / "link").lstat(), tmp_path.stat()
    assert [(each.st_uid, each.st_gid) for each in (file, folder, link, top)] == [
        (NOBODY, 2000),
        (0, 2000),
        (NOBODY, 2000),
        (0, 2000),
    ]
    assert (mode_of(tmp_path / "file"), mode_of(tmp_path / "folder")) == (0o640, 0o2755)
    assert (mode_of(tmp_path), ownership.notes) == (0o2750, ())


def test_what_cannot_be_given_is_said_once_and_opens_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("a", "b"):
        (tmp_path / name).touch()
    monkeypatch.setattr(folders, "set_owner", refuse)
    ownership = Ownership(2000)

    with folders.opened(tmp_path) as here:
        ownership.ask_for_group(here, "a")
        for name in ("a", "b"):
            ownership.take_file(here, name, 0o600, 7)
        ownership.open_folder(here)

    assert ownership.notes == (
        "cannot give files to group 2000: operation not permitted",
        "cannot give files to user 7: operation not permitted",
    )
    assert [mode_of(tmp_path / name) for name in ("a", "b")] == [0o600, 0o600]


def test_a_folder_of_somebody_else_is_not_opened_and_that_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = mode_of(tmp_path)
    monkeypatch.setattr(folders, "set_owner", refuse)
    ownership = Ownership(os.getegid() + 1)

    with folders.opened(tmp_path) as here:
        ownership.open_folder(here)

    assert mode_of(tmp_path) == before
    assert len(ownership.notes) == 1
    assert ownership.notes[0].startswith("cannot give the volume's own folder to group ")


def test_a_failing_disk_is_not_a_refusal(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()

    def fail(*arguments: object, **options: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(folders, "set_owner", fail)
    with folders.opened(tmp_path) as here, pytest.raises(OSError, match="Input/output"):
        Ownership(7).ask_for_group(here, "file")
