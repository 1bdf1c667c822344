"""Files at their mount paths, refreshed where they are live and fixed where they are not."""

from __future__ import annotations

import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import RefletError
from reflet.resolution.volumes.file_contents import VolumeContents
from reflet.supervisor.mount_tree import MountPlan, MountTree, plan_mounts
from reflet.supervisor.private_root import PrivateRoot
from tests.unit.supervisor.scenes import config_map, pod, resolved

VOLUMES: list[Mapping[str, Any]] = [
    {"name": "settings", "configMap": {"name": "settings", "defaultMode": 420}},
    {"name": "more", "configMap": {"name": "more", "defaultMode": 256}},
    {"name": "scratch", "emptyDir": {}},
]


class Scene:
    """A tree whose mounts and contents are changed."""

    def __init__(self, folder: Path, *mounts: dict[str, Any], linked: bool = True) -> None:
        self.root = PrivateRoot(folder)
        self.root.own.mkdir(mode=0o700, parents=True)
        self.tree = MountTree(self.root, linked=linked)
        self._pod = pod({"volumeMounts": list(mounts)}, VOLUMES)
        self.settings = {"a": "1"}
        self.more = {"b": "1"}

    @property
    def volumes(self) -> Mapping[str, VolumeContents]:
        objects = config_map("settings", **self.settings), config_map("more", **self.more)
        return resolved(self._pod, *objects).volumes

    @property
    def plan(self) -> MountPlan:
        return plan_mounts(self._pod, "main", {})

    def start(self) -> None:
        self.tree.write(self.volumes)
        self.tree.arrange(self.plan, self.volumes)

    def read(self, path: str) -> str:
        return (self.root.path / path.lstrip("/")).read_text()


def mount(name: str, path: str, **more: Any) -> dict[str, Any]:
    return {"name": name, "mountPath": path, **more}


def test_files_are_at_their_mount_paths_and_follow(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("settings", "/etc/app"), mount("settings", "/again"))
    scene.start()
    scene.settings = {"a": "2", "new": "3"}

    scene.tree.write(scene.volumes)

    assert [scene.read(path) for path in ("/etc/app/a", "/again/a", "/etc/app/new")] == [
        "2",
        "2",
        "3",
    ]


def test_what_has_a_sub_path_stays_until_the_next_start(tmp_path: Path) -> None:
    scene = Scene(
        tmp_path, mount("settings", "/a.conf", subPath="a"), mount("more", "/b", subPath="b")
    )
    scene.start()
    scene.settings = {"a": "2"}
    scene.tree.write(scene.volumes)

    before = scene.read("/a.conf")
    scene.start()

    assert (before, scene.read("/a.conf")) == ("1", "2")
    assert (tmp_path / "b").stat().st_mode & 0o777 == 0o400
    assert [path.name for path in (scene.root.own / "fixed").iterdir()] == ["2"]


def test_a_sub_path_that_is_not_there_is_an_empty_folder(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("settings", "/x", subPath="nothing"))
    scene.start()

    assert list((tmp_path / "x").iterdir()) == []


def test_an_empty_folder_keeps_what_was_put_there_over_starts(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("scratch", "/tmp"), mount("scratch", "/sub", subPath="deep/er"))
    scene.start()
    (tmp_path / "tmp/mine").write_text("x")
    (tmp_path / "sub/mine").write_text("y")

    scene.start()

    assert (scene.read("/tmp/mine"), scene.read("/tmp/deep/er/mine")) == ("x", "y")


def test_a_mount_inside_another_is_seen_there_and_survives_new_versions(tmp_path: Path) -> None:
    scene = Scene(
        tmp_path,
        mount("settings", "/etc/app"),
        mount("more", "/etc/app/nested"),
        mount("more", "/etc/app/a", subPath="b"),
    )
    scene.more = {"b": "inside"}
    scene.start()
    for text in ("2", "3"):
        scene.settings = {"a": text, "other": text}
        scene.tree.write(scene.volumes)

    assert scene.read("/etc/app/nested/b") == "inside"
    assert scene.read("/etc/app/a") == "inside"
    assert scene.read("/etc/app/other") == "3"


def test_mounts_that_are_no_longer_planned_go(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("settings", "/etc/app"))
    scene.start()

    scene.tree.arrange(MountPlan(), {})

    assert not (tmp_path / "etc/app").exists()


def test_without_links_the_sources_are_only_named(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("settings", "/etc/app"), mount("scratch", "/tmp"), linked=False)
    scene.start()

    assert {(each.path, each.read_only) for each in scene.tree.sources} == {
        ("/etc/app", True),
        ("/tmp", False),
    }
    assert all(each.source.is_dir() for each in scene.tree.sources)
    assert [path.name for path in tmp_path.iterdir()] == [".reflet"]


def test_a_mount_over_our_own_files_is_refused(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("settings", "/.reflet/volumes"))

    with pytest.raises(RefletError, match=r"/\.reflet/volumes cannot be a mount path"):
        scene.start()


def test_a_volume_with_an_error_stays_as_it_is(tmp_path: Path) -> None:
    scene = Scene(tmp_path, mount("settings", "/etc/app"))
    scene.start()

    scene.tree.write(resolved(scene._pod).volumes)

    assert scene.read("/etc/app/a") == "1"


def test_a_sub_path_that_cannot_be_made_is_told_without_its_text(tmp_path: Path) -> None:
    """A variable in it may hold a secret."""
    scene = Scene(tmp_path, mount("scratch", "/work", subPath="CANARY" * 60))

    with pytest.raises(RefletError) as refused:
        scene.start()

    told = "".join(traceback.format_exception(refused.value))
    assert str(refused.value) == "the mount at /work cannot be made: file name too long"
    assert "CANARY" not in told


def test_a_link_that_the_process_left_in_its_volume_is_not_followed(tmp_path: Path) -> None:
    scene = Scene(tmp_path / "root", mount("scratch", "/work", subPath="link/x"))
    volume = scene.root.own / "volumes/scratch"
    volume.mkdir(parents=True)
    (volume / "link").symlink_to(tmp_path)

    with pytest.raises(RefletError, match="a link is in the way"):
        scene.start()

    assert not (tmp_path / "x").exists()
