from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest

from reflet.node.pods.container_mounts import MountSource, mount_layout
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError
from tests.unit.node.pod_scenes import only
from tests.unit.node.volume_scenes import CONF, laid_out, mounted, resolved, sources_of


@pytest.fixture
def volumes(tmp_path: Path) -> PodVolumes:
    return PodVolumes(PodDirectories(tmp_path), host_paths=(str(tmp_path / "shared"),))


# What a mount shows, for those who mount


def test_sources_say_where_everything_is_and_who_may_write(
    volumes: PodVolumes, tmp_path: Path
) -> None:
    (tmp_path / "shared/deep").mkdir(parents=True)
    of = mounted(
        {"name": "conf", "mountPath": "/all"},
        {"name": "conf", "mountPath": "/one", "subPath": "./color"},
        {"name": "work", "mountPath": "/work", "subPath": "a//b/"},
        {"name": "work", "mountPath": "/read", "readOnly": True},
        {"name": "host", "mountPath": "/host", "subPath": "deep"},
        volumes=[
            CONF,
            {"name": "work", "emptyDir": {}},
            {"name": "host", "hostPath": {"path": str(tmp_path / "shared")}},
        ],
    )
    volumes.write(resolved(of, color="red"))

    found = sources_of(volumes, resolved(of, color="red"))

    places = [volumes.source(of, each) for each in of.spec.volumes]
    kept = tmp_path / "pods/u1/volume-subpaths/conf/main/1"
    assert found == (
        MountSource(places[0], "", "all", True),
        MountSource(kept, "file", "one", True),
        MountSource(places[1], "a/b", "work", False),
        MountSource(places[1], "", "read", True),
        MountSource(Path("/"), str(tmp_path / "shared/deep").lstrip("/"), "host", False),
    )


def test_a_part_of_configuration_is_made_from_what_was_resolved_and_not_from_the_disk(
    volumes: PodVolumes,
) -> None:
    of = mounted({"name": "conf", "mountPath": "/color", "subPath": "color"}, volumes=[CONF])
    volumes.write(resolved(of, color="red"))
    place = volumes.source(of, of.spec.volumes[0])
    (place / "color").unlink()
    (place / "color").symlink_to("/etc/passwd")

    root = laid_out(volumes, resolved(of, color="red"))

    assert (root / "color").read_text() == "red"


def test_a_link_in_a_volume_is_not_followed(volumes: PodVolumes) -> None:
    of = mounted(
        {"name": "work", "mountPath": "/work", "subPath": "link/x"},
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    volumes.write(resolved(of))
    (volumes.source(of, of.spec.volumes[0]) / "link").symlink_to("/etc")

    with pytest.raises(VolumeError, match="a link is in the way"):
        laid_out(volumes, resolved(of))


DEPTH = 400


def racing(volumes: PodVolumes, tmp_path: Path) -> tuple[ResolvedPod, Path, Path]:
    """A pod with a deep sub-path, its volume with a tree that ends in a link, and its target."""
    deep = "/".join(["x", *["a"] * (DEPTH - 1)])
    of = mounted(
        {"name": "work", "mountPath": "/work", "subPath": deep},
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    volumes.write(resolved(of))
    place, target = volumes.source(of, of.spec.volumes[0]), tmp_path / "target"
    target.mkdir(mode=0o700)
    planted = place / "/".join(["f", *["a"] * (DEPTH - 2)])
    planted.mkdir(parents=True)
    (planted / "a").symlink_to(target)
    return resolved(of), place, target


@pytest.mark.parametrize("moment", [1, 200, DEPTH - 1])
def test_a_tree_that_is_exchanged_meanwhile_opens_nothing_else(
    volumes: PodVolumes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, moment: int
) -> None:
    contents, place, target = racing(volumes, tmp_path)
    make, made = os.mkdir, [0]

    def make_and_exchange(*arguments: Any, **options: Any) -> None:
        make(*arguments, **options)
        made[0] += (place / "x").exists()
        if made[0] == moment:
            made[0] += 1
            (place / "x").rename(place / "y")
            (place / "f").rename(place / "x")

    monkeypatch.setattr(os, "mkdir", make_and_exchange)

    with contextlib.suppress(VolumeError):  # the link was met, or the walk went on where it was
        laid_out(volumes, contents)

    assert made[0] > moment
    assert target.stat().st_mode & 0o777 == 0o700


EXCHANGE = """
import ctypes, os, sys
os.chdir(sys.argv[1])
exchange = ctypes.CDLL(None).renameat2
print("ready", flush=True)
while exchange(-100, b"x", -100, b"f", 2):
    pass
"""


@pytest.mark.skipif(not hasattr(ctypes.CDLL(None), "renameat2"), reason="no renameat2 here")
def test_a_container_that_exchanges_the_tree_under_the_walk_wins_nothing(
    volumes: PodVolumes, tmp_path: Path
) -> None:
    """The attacker waits for the first folder of the sub-path and exchanges it at once."""
    contents, place, target = racing(volumes, tmp_path)
    command = [sys.executable, "-c", EXCHANGE, str(place)]
    with subprocess.Popen(command, stdout=subprocess.PIPE) as attacker:
        assert attacker.stdout is not None
        assert attacker.stdout.readline() == b"ready\n"
        with contextlib.suppress(VolumeError):
            laid_out(volumes, contents)

    assert attacker.returncode == 0
    assert target.stat().st_mode & 0o777 == 0o700
    assert list(target.iterdir()) == []


# Errors that tell no path


@pytest.mark.parametrize(
    ("value", "planted", "reason"),
    [
        ("CANARY" * 60, None, "file name too long"),
        ("CANARY/below", "file", "not a directory"),
        ("CANARY", "link", "a link is in the way, and links are not followed there"),
        ("CANARY\0", None, "invalid argument"),
        ("/".join(["CANARY" * 40] * 20), None, "file name too long"),
    ],
)
def test_what_a_variable_holds_is_not_told(
    volumes: PodVolumes, value: str, planted: str | None, reason: str
) -> None:
    of = mounted(
        {"name": "work", "mountPath": "/work", "subPathExpr": "$(S)"},
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    volumes.write(resolved(of))
    place = volumes.source(of, of.spec.volumes[0])
    if planted == "file":
        (place / "CANARY").touch()
    elif planted == "link":
        (place / "CANARY").symlink_to("/etc")

    with pytest.raises(VolumeError) as refused:
        laid_out(volumes, resolved(of), {"S": value})

    told = "".join(traceback.format_exception(refused.value))
    assert str(refused.value).endswith(f": {reason}")
    assert "CANARY" not in told
    assert "volumeMounts[0].subPathExpr" in told or "the mount at /work" in told


def test_neither_links_nor_sources_show_what_a_variable_holds(volumes: PodVolumes) -> None:
    of = mounted(
        {"name": "work", "mountPath": "/work", "subPathExpr": "$(S)"},
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    volumes.write(resolved(of))
    layout = mount_layout(only(of), {"S": "CANARY"})

    sources = volumes.mount_sources(of, "main", layout, {})

    assert sources[0].beneath == "CANARY"
    assert "CANARY" not in f"{layout!r} {sources!r}"
