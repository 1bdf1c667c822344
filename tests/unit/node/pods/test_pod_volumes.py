from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.node.pods.pod_volumes import PodVolumes
from reflet.podconfig.resolved_pod import ResolvedPod
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.volumes.volume_contents import configuration_volumes, resolve_volume
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError
from tests.unit.node.pod_scenes import container, pod
from tests.unit.node.volume_scenes import CONF, laid_out, mounted, resolved, sources_of


@pytest.fixture
def volumes(tmp_path: Path) -> PodVolumes:
    return PodVolumes(PodDirectories(tmp_path), host_paths=(str(tmp_path / "shared"),))


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
