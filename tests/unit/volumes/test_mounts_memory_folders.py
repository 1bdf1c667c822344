"""A private place in memory."""

from __future__ import annotations

import os
from pathlib import Path

from reflet.volumes.mounts import (
    Mount,
    NoMemoryFolder,
    memory_backed_root,
    memory_candidates,
    remove_empty_folders,
)
from tests.unit.volumes.scenes import mode_of


def in_memory(path: Path) -> list[Mount]:
    return [Mount(Path("/"), "ext4"), Mount(path.resolve(), "tmpfs")]


def test_the_users_own_place_comes_first() -> None:
    places = memory_candidates({"XDG_RUNTIME_DIR": "/run/user/7/own"}, 7)

    assert [str(place) for place in places] == ["/run/user/7/own", "/run/user/7", "/dev/shm"]


def test_root_has_a_place_of_its_own_and_relative_places_are_none() -> None:
    places = memory_candidates({"XDG_RUNTIME_DIR": "here"}, 0)

    assert [str(place) for place in places] == ["/run/user/0", "/run", "/dev/shm"]


def test_a_new_folder_is_private(tmp_path: Path) -> None:
    root = memory_backed_root(candidates=[tmp_path], mounts=in_memory(tmp_path))

    assert isinstance(root, Path)
    assert (root.parent, mode_of(root)) == (tmp_path.resolve(), 0o700)
    assert root.name.startswith("reflet-")


def test_a_named_folder_is_found_again(tmp_path: Path) -> None:
    roots = [
        memory_backed_root("node", candidates=[tmp_path], mounts=in_memory(tmp_path))
        for _ in range(2)
    ]

    assert roots == [tmp_path.resolve() / f"reflet-{os.geteuid()}-node"] * 2


def test_a_folder_that_others_may_write_to_is_not_used(tmp_path: Path) -> None:
    taken = tmp_path / f"reflet-{os.geteuid()}-node"
    taken.mkdir()
    taken.chmod(0o777)

    answer = memory_backed_root("node", candidates=[tmp_path], mounts=in_memory(tmp_path))

    assert isinstance(answer, NoMemoryFolder)
    assert "is not ours" in answer.reason


def test_a_planted_link_is_not_used(tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (tmp_path / f"reflet-{os.geteuid()}-node").symlink_to(elsewhere)

    answer = memory_backed_root("node", candidates=[tmp_path], mounts=in_memory(tmp_path))

    assert isinstance(answer, NoMemoryFolder)


def test_every_place_that_does_not_do_is_named_with_its_reason(tmp_path: Path) -> None:
    unsafe = tmp_path / "unsafe"
    unsafe.mkdir()
    unsafe.chmod(0o777)
    candidates = [tmp_path / "missing", tmp_path, unsafe]

    answer = memory_backed_root(
        candidates=candidates,
        mounts=[Mount(Path("/"), "ext4"), Mount(unsafe.resolve(), "tmpfs")],
    )

    assert answer == NoMemoryFolder(
        f"no private place in memory; {tmp_path}/missing: no such file or directory; "
        f"{tmp_path}: not in memory (ext4); {unsafe}: everybody may remove what is there"
    )


def test_a_folder_of_empty_folders_is_removed(tmp_path: Path) -> None:
    (tmp_path / "root/pods/u1/volumes").mkdir(parents=True)

    gone = remove_empty_folders(tmp_path / "root")

    assert (gone, list(tmp_path.iterdir())) == (True, [])


def test_a_file_is_never_removed_and_a_link_is_never_followed(tmp_path: Path) -> None:
    (tmp_path / "elsewhere/empty").mkdir(parents=True)
    for path in ("root/pods/u1/empty", "root/pods/u2"):
        (tmp_path / path).mkdir(parents=True)
    (tmp_path / "root/pods/u1/file").touch()
    (tmp_path / "root/pods/u2/link").symlink_to(tmp_path / "elsewhere")

    gone = remove_empty_folders(tmp_path / "root")

    left = sorted(str(path.relative_to(tmp_path)) for path in (tmp_path / "root/pods").rglob("*"))
    assert (gone, (tmp_path / "elsewhere/empty").is_dir()) == (False, True)
    assert left == ["root/pods/u1", "root/pods/u1/file", "root/pods/u2", "root/pods/u2/link"]


def test_the_folder_of_a_pod_that_runs_is_left_though_it_is_empty(tmp_path: Path) -> None:
    (tmp_path / "root/pods/u1").mkdir(parents=True)

    before = remove_empty_folders(tmp_path / "root", below=False)
    (tmp_path / "root/pods/u1").rmdir()

    assert (before, remove_empty_folders(tmp_path / "root", below=False)) == (False, True)


def test_a_folder_that_is_not_there_is_gone(tmp_path: Path) -> None:
    assert remove_empty_folders(tmp_path / "root")
