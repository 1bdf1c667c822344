"""The only door to the file system, which never follows a link."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.volumes import folders
from tests.unit.volumes.scenes import mode_of


def test_a_link_is_not_opened_as_a_folder(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")

    with folders.opened(tmp_path) as here:
        with pytest.raises(OSError, match=r"Not a directory|symbolic links"):
            folders.opened_below(here, "link").__enter__()
        with folders.opened_below(here, "real") as below:
            assert folders.names_in(below) == []


def test_a_link_in_the_middle_of_a_path_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")

    with (
        folders.opened(tmp_path) as here,
        pytest.raises(OSError, match=r"Not a directory|symbolic links"),
    ):
        folders.opened_below(here, "link/deep").__enter__()


def test_a_file_is_not_written_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "secret").write_text("old")
    (tmp_path / "link").symlink_to("secret")

    with folders.opened(tmp_path) as here, pytest.raises(FileExistsError):
        folders.write_file(here, "link", b"new", durable=False)

    assert (tmp_path / "secret").read_text() == "old"


def test_a_link_or_a_pipe_is_not_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"bytes")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to("file")

    with folders.opened(tmp_path) as here:
        assert folders.read_file(here, "file") == b"bytes"
        assert folders.read_file(here, "pipe") is None
        with pytest.raises(OSError, match="symbolic links"):
            folders.read_file(here, "link")


def test_a_mode_is_not_set_through_a_link(tmp_path: Path) -> None:
    (tmp_path / "file").touch(mode=0o600)
    (tmp_path / "link").symlink_to("file")

    with folders.opened(tmp_path) as here, pytest.raises(OSError, match="symbolic links"):
        folders.set_mode(here, "link", 0o666)

    assert mode_of(tmp_path / "file") == 0o600


def test_what_is_written_is_private_at_first_and_complete(tmp_path: Path) -> None:
    data = os.urandom(3 << 20)

    with folders.opened(tmp_path) as here:
        folders.write_file(here, "file", data, durable=True)
        folders.settle(here)
        assert folders.read_file(here, "file") == data

    assert mode_of(tmp_path / "file") == 0o600


def test_only_folders_that_are_missing_get_the_mode(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir(mode=0o750)

    folders.make_path(tmp_path / "there/a/b", mode=0o711)
    folders.make_path(tmp_path / "there/a/b", mode=0o755)

    modes = [mode_of(tmp_path / path) for path in ("there", "there/a", "there/a/b")]
    assert modes == [0o750, 0o711, 0o711]


def test_a_link_has_a_text_and_nothing_else_has(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with folders.opened(tmp_path) as here:
        folders.make_link(here, "link", "anywhere")

        texts = [folders.link_text(here, name) for name in ("link", "file", "missing")]

    assert texts == ["anywhere", None, None]


def open_files() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def test_a_walk_keeps_few_folders_open_and_finds_its_way_back(tmp_path: Path) -> None:
    before = open_files()
    with folders.opened(tmp_path) as here, folders.FolderWalk(here) as walk:
        for depth in range(200):
            folders.make_folder(walk.at("/".join("d" * depth)), "d")
        most = open_files() - before
        names = [folders.names_in(walk.at("/".join("d" * depth))) for depth in (199, 7, 0)]

    assert most <= folders.MOST_OPEN + 2
    assert names == [["d"]] * 3
    assert open_files() == before


def test_a_walk_follows_no_link(tmp_path: Path) -> None:
    (tmp_path / "real/deep").mkdir(parents=True)
    (tmp_path / "link").symlink_to("real")

    with (
        folders.opened(tmp_path) as here,
        folders.FolderWalk(here) as walk,
        pytest.raises(OSError, match=r"Not a directory|symbolic links"),
    ):
        walk.at("link/deep")
