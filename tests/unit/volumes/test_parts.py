"""Parts of volumes, while somebody moves what is there."""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from reflet.volumes import folders
from reflet.volumes.parts import as_named, make_file, make_part, opened_part, reason_of


@pytest.fixture
def volume(tmp_path: Path) -> Path:
    path = tmp_path / "volume"
    path.mkdir()
    path.chmod(0o777)
    return path


@pytest.fixture
def here(volume: Path) -> Iterator[int]:
    with folders.opened(volume) as descriptor:
        yield descriptor


def mode_of(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def test_what_is_missing_is_made_as_open_as_the_volume(volume: Path, here: int) -> None:
    make_part(here, "a/b")

    assert [mode_of(volume / path) for path in ("a", "a/b")] == [0o777, 0o777]


def test_what_is_there_keeps_its_mode(volume: Path, here: int) -> None:
    (volume / "a").mkdir(mode=0o700)

    make_part(here, "a/b")

    assert [mode_of(volume / path) for path in ("a", "a/b")] == [0o700, 0o777]


def test_a_file_can_be_a_part(volume: Path, here: int) -> None:
    (volume / "file").write_text("x")

    make_part(here, "file")

    assert (volume / "file").read_text() == "x"


@pytest.mark.parametrize("path", ["link", "link/x", "a/link/x", "dangling"])
def test_a_link_is_not_followed_wherever_it_is(
    volume: Path, here: int, tmp_path: Path, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (volume / "a").mkdir()
    (volume / "link").symlink_to(outside)
    (volume / "a/link").symlink_to(outside)
    (volume / "dangling").symlink_to(tmp_path / "nowhere")

    with pytest.raises(OSError, match="symbolic links") as refused:
        make_part(here, path)

    assert refused.value.errno == errno.ELOOP
    assert (mode_of(outside), list(outside.iterdir())) == (0o700, [])
    assert not (tmp_path / "nowhere").exists()


def test_a_file_in_the_way_is_no_folder(volume: Path, here: int) -> None:
    (volume / "file").write_text("x")

    with pytest.raises(NotADirectoryError):
        make_part(here, "file/x")


def test_the_walk_stays_in_the_tree_that_it_entered(
    volume: Path, here: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The whole tree is exchanged for one whose end is a link, between two steps."""
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    planted = volume / "f/a/a"
    planted.mkdir(parents=True)
    (planted / "a").symlink_to(outside)
    make, made = folders.make_folder, []

    def make_and_exchange(folder: int, name: str) -> None:
        make(folder, name)
        made.append(name)
        if len(made) == 3:
            (volume / "x").rename(volume / "y")
            (volume / "f").rename(volume / "x")

    monkeypatch.setattr(folders, "make_folder", make_and_exchange)

    make_part(here, "x/a/a/a")

    assert (mode_of(outside), list(outside.iterdir())) == (0o700, [])
    assert (volume / "y/a/a/a").is_dir()


@pytest.mark.parametrize("planted", ["folder", "link"])
def test_what_takes_the_place_of_what_was_made_keeps_its_mode(
    volume: Path,
    here: int,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    planted: str,
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    other.chmod(0o755)
    make = folders.make_folder

    def make_and_replace(folder: int, name: str) -> None:
        make(folder, name)
        (volume / name).rename(volume / "taken")
        if planted == "link":
            (volume / name).symlink_to(other)
        else:
            other.rename(volume / name)

    monkeypatch.setattr(folders, "make_folder", make_and_replace)

    if planted == "link":
        with pytest.raises(OSError, match="symbolic links"):
            make_part(here, "x")
        assert mode_of(other) == 0o755
    else:
        make_part(here, "x")
        assert mode_of(volume / "x") == 0o755


def test_somebody_who_was_faster_keeps_what_he_made(
    volume: Path, here: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    make = folders.make_folder

    def too_late(folder: int, name: str) -> None:
        (volume / name).mkdir()
        (volume / name).chmod(0o711)
        make(folder, name)

    monkeypatch.setattr(folders, "make_folder", too_late)

    make_part(here, "x")

    assert mode_of(volume / "x") == 0o711


def test_looking_opens_neither_pipes_nor_links(volume: Path, here: int) -> None:
    os.mkfifo(volume / "pipe")

    with opened_part(here, "pipe") as found:
        assert stat.S_ISFIFO(os.fstat(found).st_mode)
    with pytest.raises(FileNotFoundError), opened_part(here, "nothing"):
        pass


def test_a_file_is_made_once(volume: Path, here: int) -> None:
    make_file(here, "new", 0o644)
    (volume / "new").write_text("x")
    (volume / "new").chmod(0o600)

    make_file(here, "new", 0o644)

    assert (mode_of(volume / "new"), (volume / "new").read_text()) == (0o600, "x")


def test_a_file_is_not_made_through_a_link(volume: Path, here: int, tmp_path: Path) -> None:
    (volume / "link").symlink_to(tmp_path / "elsewhere")

    make_file(here, "link", 0o644)

    assert not (tmp_path / "elsewhere").exists()


def test_a_name_that_no_file_can_have_is_refused_by_the_system_s_word() -> None:
    with pytest.raises(OSError, match="Invalid argument"):
        as_named("a\0b")


def test_a_reason_has_no_path(here: int) -> None:
    with pytest.raises(OSError, match="too long") as refused:
        make_part(here, "s3cret" * 60)

    assert reason_of(refused.value) == "file name too long"
