from __future__ import annotations

import contextlib
import ctypes
import os
import subprocess
import sys
import traceback
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.frozen import EMPTY
from reflet.api.meta import ObjectMeta
from reflet.node.pods.container_mounts import MountSource, mount_layout
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.volume_contents import configuration_volumes, resolve_volume
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError
from tests.unit.node.pod_scenes import container, only, pod

CONF = {"name": "conf", "configMap": {"name": "settings", "defaultMode": 0o644}}


def resolved(of: Pod, **data: str) -> ResolvedPod:
    settings = ConfigMap(metadata=ObjectMeta(name="settings", namespace="shop"), data=data)
    objects = ObjectsInHand([settings] if data else [])
    return ResolvedPod(
        pod=of,
        environments={"main": resolve_environment(of, "main", objects)},
        volumes={name: resolve_volume(of, name, objects) for name in configuration_volumes(of)},
    )


@pytest.fixture
def volumes(tmp_path: Path) -> PodVolumes:
    return PodVolumes(PodDirectories(tmp_path), host_paths=(str(tmp_path / "shared"),))


def mounted(*mounts: dict[str, Any], **spec: Any) -> Pod:
    return pod(container(volumeMounts=list(mounts)), enableServiceLinks=True, **spec)


def laid_out(
    volumes: PodVolumes, contents: ResolvedPod, variables: Mapping[str, str] = EMPTY
) -> Path:
    """The root of the only container, laid out for a start."""
    of = contents.pod
    layout = mount_layout(only(of), variables)
    return volumes.lay_out(of, "main", layout, contents.volumes, Path("/dev/null"))


def sources_of(volumes: PodVolumes, contents: ResolvedPod) -> tuple[MountSource, ...]:
    of = contents.pod
    return volumes.mount_sources(of, "main", mount_layout(only(of), {}), contents.volumes)


def test_volumes_are_written_and_found_at_their_mount_paths(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/app"}, volumes=[CONF])

    written = volumes.write(resolved(of, color="red"))
    root = laid_out(volumes, resolved(of, color="red"))

    assert written.changed == {"conf"}
    assert not written.errors
    assert (root / "etc/app/color").read_text() == "red"


def test_a_volume_that_cannot_be_filled_is_told_and_left_as_it_was(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/app"}, volumes=[CONF])
    volumes.write(resolved(of, color="red"))

    written = volumes.write(resolved(of))

    assert written.errors == {"conf": 'configmap "settings" not found'}
    assert (laid_out(volumes, resolved(of)) / "etc/app/color").read_text() == "red"


def test_a_part_of_a_volume_never_changes_for_a_container(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/color", "subPath": "color"}, volumes=[CONF])
    volumes.write(resolved(of, color="red"))
    root = laid_out(volumes, resolved(of, color="red"))
    volumes.write(resolved(of, color="blue"))
    before = (root / "etc/color").read_text()

    after = (laid_out(volumes, resolved(of, color="blue")) / "etc/color").read_text()

    assert (before, after) == ("red", "blue")


def test_an_empty_folder_can_be_written_to_by_all_containers(volumes: PodVolumes) -> None:
    of = mounted({"name": "work", "mountPath": "/work"}, volumes=[{"name": "work", "emptyDir": {}}])
    volumes.write(resolved(of))
    root = laid_out(volumes, resolved(of))
    (root / "work/file").write_text("x")
    volumes.write(resolved(of))

    assert (laid_out(volumes, resolved(of)) / "work/file").read_text() == "x"


def test_a_path_of_the_host_must_not_lead_elsewhere_by_a_link(
    volumes: PodVolumes, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/link").symlink_to("/etc")
    place = {"path": str(tmp_path / "shared/link"), "type": "Directory"}
    of = mounted({"name": "v", "mountPath": "/v"}, volumes=[{"name": "v", "hostPath": place}])

    written = volumes.write(resolved(of))

    assert "a link is in the way" in written.errors["v"]
    with pytest.raises(VolumeError, match="a link is in the way"):
        sources_of(volumes, resolved(of))


def test_a_path_of_the_host_that_is_not_there_is_told_at_the_mount(
    volumes: PodVolumes, tmp_path: Path
) -> None:
    place = {"path": str(tmp_path / "shared/nothing")}
    of = mounted({"name": "v", "mountPath": "/v"}, volumes=[{"name": "v", "hostPath": place}])

    with pytest.raises(VolumeError) as refused:
        sources_of(volumes, resolved(of))

    assert str(refused.value) == (
        'failed to prepare mount for volumeMount "v" of container "main": '
        "spec.containers[0].volumeMounts[0].name: no such file or directory"
    )


@pytest.mark.parametrize(
    ("kind", "problem"),
    [("DirectoryOrCreate", False), ("Directory", True), ("File", True), ("FileOrCreate", False)],
)
def test_a_path_of_the_host_is_what_it_should_be(
    volumes: PodVolumes, tmp_path: Path, kind: str, problem: bool
) -> None:
    (tmp_path / "shared").mkdir()
    volume = {"name": "v", "hostPath": {"path": str(tmp_path / "shared/x"), "type": kind}}

    written = volumes.write(resolved(mounted(volumes=[volume])))

    assert bool(written.errors) is problem


def test_an_environment_file_can_be_read_by_a_shell_and_by_nobody_else(
    volumes: PodVolumes,
) -> None:
    of = pod(
        container(env=[{"name": "A", "value": "it's"}, {"name": "B", "value": "x\ny"}]),
        enableServiceLinks=True,
    )
    environment = resolved(of).environments["main"]

    path = volumes.write_environment(of, "main", environment)

    assert path.read_text() == "A='it'\\''s'\nB='x\ny'\n"
    assert path.stat().st_mode & 0o777 == 0o600


def test_what_a_pod_had_of_configuration_can_be_cleared(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/app"}, volumes=[CONF])
    volumes.write(resolved(of, color="red"))

    volumes.clear("u1")
    volumes.clear("u1")

    assert not volumes.source(of, of.spec.volumes[0]).exists()


# Parts of volumes


def settings_and_key(of: Pod) -> ResolvedPod:
    """A pod with its ConfigMap and its Secret."""
    metadata = ObjectMeta(name="settings", namespace="shop")
    objects = ObjectsInHand(
        [
            ConfigMap(metadata=metadata, data={"color": "red"}),
            Secret(metadata=metadata, data={"key": b"s3cret", "other": b"x"}),
        ]
    )
    return ResolvedPod(
        pod=of,
        environments={},
        volumes={name: resolve_volume(of, name, objects) for name in configuration_volumes(of)},
    )


def with_parts() -> Pod:
    """A pod that mounts one file of a ConfigMap and a part of a Secret."""
    return mounted(
        {"name": "conf", "mountPath": "/color", "subPath": "color"},
        {"name": "key", "mountPath": "/key", "subPath": "key"},
        volumes=[
            CONF,
            {"name": "key", "secret": {"secretName": "settings", "defaultMode": 0o440}},
        ],
    )


def test_a_part_of_a_secret_never_reaches_the_disk(tmp_path: Path) -> None:
    disk, memory = tmp_path / "disk", tmp_path / "memory"
    volumes = PodVolumes(PodDirectories(disk, memory_root=memory))
    of = with_parts()
    volumes.write(settings_and_key(of))

    root = laid_out(volumes, settings_and_key(of))

    assert (root / "key").read_bytes() == b"s3cret"
    assert (root / "key").resolve().is_relative_to(memory)
    assert (root / "color").resolve().is_relative_to(disk)


def test_parts_and_variables_are_cleared_with_the_rest(tmp_path: Path) -> None:
    memory = tmp_path / "memory"
    volumes = PodVolumes(PodDirectories(tmp_path / "disk", memory_root=memory))
    of = with_parts()
    volumes.write(settings_and_key(of))
    laid_out(volumes, settings_and_key(of))
    volumes.write_environment(of, "main", resolved(of, color="red").environments["main"])

    volumes.clear("u1")

    assert [path for path in memory.rglob("*") if not path.is_dir()] == []
    assert not (volumes.container_folder(of, "main") / "environment").exists()


def test_what_was_cleared_can_be_written_again(volumes: PodVolumes) -> None:
    of = with_parts()
    for _ in range(2):
        volumes.write(settings_and_key(of))
        root = laid_out(volumes, settings_and_key(of))
        shown = (root / "key").read_bytes()
        volumes.clear("u1")

    assert shown == b"s3cret"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root may give a file to a group")
def test_a_folder_in_a_volume_belongs_to_whom_the_volume_belongs(volumes: PodVolumes) -> None:
    of = mounted(
        {"name": "key", "mountPath": "/keys", "subPath": "deep"},
        volumes=[
            {
                "name": "key",
                "secret": {
                    "secretName": "settings",
                    "defaultMode": 0o440,
                    "items": [{"key": "key", "path": "deep/key"}],
                },
            }
        ],
        securityContext={"fsGroup": 77},
    )
    volumes.write(settings_and_key(of))

    facts = (laid_out(volumes, settings_and_key(of)) / "keys/key").stat()

    assert (facts.st_gid, facts.st_mode & 0o777) == (77, 0o440)


def test_a_part_of_an_empty_folder_is_as_open_as_the_folder(volumes: PodVolumes) -> None:
    of = mounted(
        {"name": "work", "mountPath": "/work", "subPath": "deep/inside"},
        volumes=[{"name": "work", "emptyDir": {}}],
    )
    volumes.write(resolved(of))

    part = (laid_out(volumes, resolved(of)) / "work").resolve()

    assert [path.stat().st_mode & 0o777 for path in (part, part.parent)] == [0o777, 0o777]


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
