from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.api.config import ConfigMap
from reflet.api.meta import ObjectMeta
from reflet.api.pods import Pod
from reflet.delivery.resolved_pod import ResolvedPod
from reflet.node.mount_layout import mount_layout
from reflet.node.pod_volumes import PodVolumes
from reflet.resolution.environment import resolve_environment
from reflet.resolution.objects import ObjectsInHand
from reflet.resolution.volume_contents import configuration_volumes, resolve_volume
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.volume_errors import VolumeError
from tests.unit.node.pods import container, only, pod

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


def laid_out(volumes: PodVolumes, of: Pod) -> Path:
    return volumes.lay_out(of, "main", mount_layout(only(of), {}), Path("/dev/null"))


def test_volumes_are_written_and_found_at_their_mount_paths(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/app"}, volumes=[CONF])

    written = volumes.write(resolved(of, color="red"))
    root = laid_out(volumes, of)

    assert written.changed == {"conf"}
    assert not written.errors
    assert (root / "etc/app/color").read_text() == "red"


def test_a_volume_that_cannot_be_filled_is_told_and_left_as_it_was(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/app"}, volumes=[CONF])
    volumes.write(resolved(of, color="red"))

    written = volumes.write(resolved(of))

    assert written.errors == {"conf": 'configmap "settings" not found'}
    assert (laid_out(volumes, of) / "etc/app/color").read_text() == "red"


def test_a_part_of_a_volume_never_changes_for_a_container(volumes: PodVolumes) -> None:
    of = mounted({"name": "conf", "mountPath": "/etc/color", "subPath": "color"}, volumes=[CONF])
    volumes.write(resolved(of, color="red"))
    root = laid_out(volumes, of)
    volumes.write(resolved(of, color="blue"))
    before = (root / "etc/color").read_text()

    after = (laid_out(volumes, of) / "etc/color").read_text()

    assert (before, after) == ("red", "blue")


def test_an_empty_folder_can_be_written_to_by_all_containers(volumes: PodVolumes) -> None:
    of = mounted({"name": "work", "mountPath": "/work"}, volumes=[{"name": "work", "emptyDir": {}}])
    volumes.write(resolved(of))
    root = laid_out(volumes, of)
    (root / "work/file").write_text("x")
    volumes.write(resolved(of))

    assert (laid_out(volumes, of) / "work/file").read_text() == "x"


def test_a_path_of_the_host_must_not_lead_elsewhere_by_a_link(
    volumes: PodVolumes, tmp_path: Path
) -> None:
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared/link").symlink_to("/etc")
    volume = {"name": "v", "hostPath": {"path": str(tmp_path / "shared/link")}}
    of = mounted(volumes=[volume])

    written = volumes.write(resolved(of))

    assert "is not below a path that is allowed here" in written.errors["v"]
    with pytest.raises(VolumeError):
        volumes.source(of, of.spec.volumes[0])


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

    volumes.clear(of)
    volumes.clear(of)

    assert not volumes.source(of, of.spec.volumes[0]).exists()
