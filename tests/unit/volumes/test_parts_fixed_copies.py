"""Copies of parts of volumes, which never change again."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.resolution.origins import ConfigMapOrigin
from reflet.resolution.volumes.file_contents import FileContent
from reflet.volumes.parts import write_fixed_copy

ORIGIN = ConfigMapOrigin(namespace="shop", name="settings", key="k")


def file(text: str, mode: int = 0o640) -> FileContent:
    return FileContent(data=text.encode(), mode=mode, origin=ORIGIN)


def test_a_single_file_lies_in_a_folder_of_its_own(tmp_path: Path) -> None:
    beneath = write_fixed_copy(tmp_path / "v/c/0", {"": file("red")}, None)

    shown = tmp_path / "v/c/0" / beneath
    assert (shown.read_text(), shown.stat().st_mode & 0o777) == ("red", 0o640)


def test_a_folder_of_files_is_all_of_the_copy(tmp_path: Path) -> None:
    beneath = write_fixed_copy(tmp_path / "0", {"a": file("1"), "deep/b": file("2")}, None)

    assert beneath == ""
    assert (tmp_path / "0/deep/b").read_text() == "2"
    assert (tmp_path / "0/deep").stat().st_mode & 0o777 == 0o755


def test_nothing_is_an_empty_folder(tmp_path: Path) -> None:
    write_fixed_copy(tmp_path / "0", {}, None)

    assert list((tmp_path / "0").iterdir()) == []


@pytest.mark.parametrize("before", ["folder", "file", "link"])
def test_the_copy_takes_the_place_of_whatever_was_there(tmp_path: Path, before: str) -> None:
    target, elsewhere = tmp_path / "0", tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "kept").write_text("x")
    if before == "folder":
        write_fixed_copy(target, {"old": file("1")}, None)
    elif before == "file":
        target.write_text("x")
    else:
        target.symlink_to(elsewhere)

    write_fixed_copy(target, {"new": file("2")}, None)

    assert [path.name for path in target.iterdir()] == ["new"]
    assert [path.name for path in elsewhere.iterdir()] == ["kept"]


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to a group")
def test_the_copy_belongs_to_the_group_of_the_volume(tmp_path: Path) -> None:
    beneath = write_fixed_copy(tmp_path / "0", {"": file("1", 0o400)}, 77)

    facts = (tmp_path / "0" / beneath).stat()
    assert (facts.st_gid, facts.st_mode & 0o777) == (77, 0o440)
