"""Taking a tree of files away without ever leaving it."""

from __future__ import annotations

from pathlib import Path

from reflet.volumes import folders
from reflet.volumes.tear_down import MOUNTED, Kept, remove_empty, remove_tree


def removed(folder: Path, name: str, *, mounted: tuple[str, ...] = ()) -> tuple[Kept, ...]:
    with folders.opened(folder) as here:
        return remove_tree(here, name, is_mounted=lambda path: path in mounted)


def test_a_tree_is_removed_and_its_links_are_not_followed(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").touch()
    tree = tmp_path / "tree"
    (tree / "a/b").mkdir(parents=True)
    (tree / "a/file").touch()
    (tree / "a/b/link").symlink_to(outside)

    assert removed(tmp_path, "tree") == ()
    assert [path.name for path in tmp_path.iterdir()] == ["outside"]
    assert (outside / "file").exists()


def test_what_is_mounted_is_kept_with_everything_above_it(tmp_path: Path) -> None:
    (tmp_path / "tree/a/mount/inside").mkdir(parents=True)
    (tmp_path / "tree/b").mkdir()

    kept = removed(tmp_path, "tree", mounted=("tree/a/mount",))

    assert kept == (Kept("tree/a/mount", MOUNTED),)
    assert (tmp_path / "tree/a/mount/inside").is_dir()
    assert not (tmp_path / "tree/b").exists()


def test_what_is_not_a_folder_is_left_alone(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/")

    assert removed(tmp_path, "link") == removed(tmp_path, "missing") == ()
    assert (tmp_path / "link").is_symlink()


def test_a_deep_tree_is_removed(tmp_path: Path) -> None:
    with folders.opened(tmp_path) as here, folders.FolderWalk(here) as walk:
        for depth in range(1500):
            folders.make_folder(walk.at("/".join("d" * depth)), "d")

    assert removed(tmp_path, "d") == ()
    assert list(tmp_path.iterdir()) == []


def test_folders_that_hold_only_folders_are_empty(tmp_path: Path) -> None:
    (tmp_path / "empty/a/b").mkdir(parents=True)
    (tmp_path / "full/a").mkdir(parents=True)
    (tmp_path / "full/a/file").touch()

    with folders.opened(tmp_path) as here:
        answers = [remove_empty(here, name) for name in ("empty", "full")]

    assert answers == [True, False]
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    assert (tmp_path / "full/a/file").exists()


def test_what_is_kept_says_why() -> None:
    assert str(Kept("a/b", "device or resource busy")) == "a/b: device or resource busy"
