"""The folders that other mounts need inside a volume."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.parts import make_mount_points
from reflet.volumes.volume_errors import InvalidPath, VolumeError
from tests.unit.volumes.scenes import mode_of, seen, volume


def test_folders_are_made_with_the_kubelets_mode(tmp_path: Path) -> None:
    make_mount_points(tmp_path / "v", ["a/b", "c"])

    modes = {path: mode_of(tmp_path / "v" / path) for path in ("", "a", "a/b", "c")}
    assert modes == {"": 0o700, "a": 0o755, "a/b": 0o755, "c": 0o755}


def test_a_folder_that_is_there_stays_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir(mode=0o700)

    make_mount_points(tmp_path, ["a/b"])

    assert mode_of(tmp_path / "a") == 0o700


def test_without_points_nothing_is_made(tmp_path: Path) -> None:
    make_mount_points(tmp_path / "v", [])

    assert not (tmp_path / "v").exists()


def test_a_link_in_the_way_is_not_followed(tmp_path: Path) -> None:
    (tmp_path / "outside").mkdir()
    (tmp_path / "v").mkdir()
    (tmp_path / "v/a").symlink_to(tmp_path / "outside")

    with pytest.raises(VolumeError, match="cannot be mounted on, because a is not a folder"):
        make_mount_points(tmp_path / "v", ["a/b"])

    assert list((tmp_path / "outside").iterdir()) == []


def test_a_point_outside_of_the_volume_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidPath):
        make_mount_points(tmp_path / "v", ["../w"])


def test_a_volume_is_written_around_its_mount_points(tmp_path: Path) -> None:
    make_mount_points(tmp_path / "v", ["ssl"])
    writer = AtomicWriter(tmp_path / "v")

    writer.write(volume({"a": "1", "ssl/key": "2"}))

    assert seen(tmp_path / "v") == {"a": "1"}
    assert writer.notes == ("ssl was there before and hides the volume's own ssl",)
