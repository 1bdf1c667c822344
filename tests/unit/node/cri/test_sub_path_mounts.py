from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.node.cri import sub_path_mounts
from reflet.node.cri.sub_path_mounts import SubPathMounts
from reflet.node.pods.container_mounts import MountSource
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError


@pytest.fixture
def bound(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """What was bound where; nothing is mounted."""
    made: list[tuple[str, str]] = []

    def mount(source: str, target: str, *_: object) -> None:
        made.append((os.readlink(source), target))  # noqa: PTH115 - of a descriptor

    monkeypatch.setattr(sub_path_mounts, "mount", mount)
    return made


def test_a_whole_volume_needs_no_place_of_its_own(
    tmp_path: Path, bound: list[tuple[str, str]]
) -> None:
    source = MountSource(tmp_path, "", "data", False)

    assert SubPathMounts(PodDirectories(tmp_path)).held("u1", "main", source, 0) is source
    assert bound == []


@pytest.mark.parametrize("is_folder", [True, False])
def test_a_part_is_bound_to_a_place_that_containers_cannot_reach(
    tmp_path: Path, bound: list[tuple[str, str]], is_folder: bool
) -> None:
    part = tmp_path / "volume" / "a"
    part.parent.mkdir()
    part.mkdir() if is_folder else part.touch()
    source = MountSource(tmp_path / "volume", "a", "data", True)

    held = SubPathMounts(PodDirectories(tmp_path)).held("u1", "main", source, 3)

    place = tmp_path / "pods/u1/volume-subpaths/.bound/main/3"
    assert held == MountSource(place, "", "data", True)
    assert bound == [(str(part), str(place))]
    assert place.is_dir() is is_folder


def test_a_link_that_a_container_put_there_is_not_followed(
    tmp_path: Path, bound: list[tuple[str, str]]
) -> None:
    (tmp_path / "volume").mkdir()
    (tmp_path / "volume" / "a").symlink_to("/etc")
    source = MountSource(tmp_path / "volume", "a", "data", True)

    with pytest.raises(VolumeError, match="the mount at /data cannot be made"):
        SubPathMounts(PodDirectories(tmp_path)).held("u1", "main", source, 0)
    assert bound == []
