"""Where a pod's volumes and containers live on disk."""

from __future__ import annotations

from pathlib import Path

import pytest

from reflet.volumes import pod_directories
from reflet.volumes.atomic_writer import AtomicWriter
from reflet.volumes.mounts import Mount
from reflet.volumes.pod_directories import PodDirectories
from reflet.volumes.tear_down import MOUNTED, Kept
from reflet.volumes.volume_errors import InvalidPath
from tests.unit.volumes.scenes import MAY_GIVE, mode_of, volume


@pytest.mark.parametrize(
    ("kind", "plugin"),
    [
        ("configMap", "kubernetes.io~configmap"),
        ("secret", "kubernetes.io~secret"),
        ("downwardAPI", "kubernetes.io~downward-api"),
        ("projected", "kubernetes.io~projected"),
        ("emptyDir", "kubernetes.io~empty-dir"),
    ],
)
def test_a_volume_lies_where_the_kubelet_puts_it(kind: str, plugin: str) -> None:
    directories = PodDirectories(Path("/r"))

    assert directories.volume("u", kind, "v") == Path(f"/r/pods/u/volumes/{plugin}/v")


def test_the_rest_of_a_pod_lies_where_the_kubelet_puts_it() -> None:
    directories = PodDirectories(Path("/r"))

    assert directories.container("u", "web") == Path("/r/pods/u/containers/web")
    assert directories.sub_path("u", "v", "web", 2) == Path("/r/pods/u/volume-subpaths/v/web/2")
    assert directories.etc_hosts("u") == Path("/r/pods/u/etc-hosts")


def test_what_must_not_reach_a_disk_lies_in_memory() -> None:
    directories = PodDirectories(Path("/r"), memory_root=Path("/m"))

    roots = {
        kind: directories.volume("u", kind, "v").parts[1]
        for kind in ("configMap", "emptyDir", "secret", "downwardAPI", "projected")
    }
    assert roots == {
        "configMap": "r",
        "emptyDir": "r",
        "secret": "m",
        "downwardAPI": "m",
        "projected": "m",
    }
    assert directories.sub_path("u", "v", "web", 0, kind="secret").parts[1] == "m"
    assert directories.sub_path("u", "v", "web", 0, kind="configMap").parts[1] == "r"


@pytest.mark.parametrize("name", ["", ".", "..", "a/b", "../../etc", "a\0"])
def test_a_name_that_leads_elsewhere_is_refused(name: str) -> None:
    directories = PodDirectories(Path("/r"))

    for asked in (
        lambda: directories.pod(name),
        lambda: directories.volume("u", "secret", name),
        lambda: directories.volume(name, "secret", "v"),
        lambda: directories.container("u", name),
        lambda: directories.tear_down(name),
    ):
        with pytest.raises(InvalidPath):
            asked()


def test_a_kind_without_a_folder_is_refused() -> None:
    with pytest.raises(InvalidPath, match="volume v: no folder for a volume of kind nfs"):
        PodDirectories(Path("/r")).volume("u", "nfs", "v")


def test_pods_are_closed_to_others_and_open_inside(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path / "r")

    written = directories.make_volume("u", "configMap", "v")
    scratch = directories.make_volume("u", "emptyDir", "s")
    container = directories.make_container("u", "web")

    gates = [mode_of(tmp_path / path) for path in ("r", "r/pods", "r/pods/u")]
    inside = [mode_of(path) for path in (written, scratch, container)]
    assert (gates, inside) == ([0o700] * 3, [0o755, 0o777, 0o755])
    assert directories.uids() == ("u",)


@pytest.mark.skipif(not MAY_GIVE, reason="folders may not be given away here")
def test_a_group_may_be_admitted(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path / "r")

    pod = directories.make_pod("u", group=2000)
    scratch = directories.make_volume("u", "emptyDir", "s", group=2000)

    gates = [mode_of(tmp_path / path) for path in ("r", "r/pods", "r/pods/u")]
    assert (gates, pod.stat().st_gid) == ([0o711, 0o711, 0o750], 2000)
    assert (mode_of(scratch), scratch.stat().st_gid) == (0o2777, 2000)


def test_a_pod_is_taken_down_in_both_places(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path / "r", memory_root=tmp_path / "m")
    for uid in ("u", "w"):
        for kind in ("configMap", "secret"):
            AtomicWriter(directories.make_volume(uid, kind, "v")).write(volume({"a": "1"}))
    scratch = directories.make_volume("u", "emptyDir", "s")
    (scratch / "deep").mkdir()
    (scratch / "deep/file").touch()
    (scratch / "link").symlink_to(directories.pod("w"))
    (directories.make_container("u", "web") / "termination-log").write_text("bye")
    directories.etc_hosts("u").write_text("127.0.0.1 localhost")
    (directories.volume("u", "configMap", "v") / "mount/point").mkdir(parents=True)

    assert directories.tear_down("u") == ()

    assert directories.uids() == ("w",)
    assert not directories.pod("u").exists()
    assert (directories.volume("w", "secret", "v") / "a").read_text() == "1"


def test_a_pod_without_a_folder_is_taken_down_already(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path / "r")

    assert (directories.tear_down("u"), directories.uids()) == ((), ())


def test_what_is_somebody_elses_is_kept_and_told(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path)
    written = directories.make_volume("u", "configMap", "v")
    AtomicWriter(written).write(volume({"a": "1"}))
    (written / "mine").write_text("mine")
    (directories.pod("u") / "notes").write_text("mine")
    (directories.pod("u") / "volumes/vendor~csi").mkdir()

    kept = directories.tear_down("u")

    pod = directories.pod("u")
    assert kept == (
        Kept(str(pod / "notes"), "not a part of a pod's folder"),
        Kept(str(written / "mine"), "not made by a writer of volumes"),
        Kept(str(pod / "volumes/vendor~csi"), "not a kind of volume that is made here"),
    )
    left = sorted(str(path.relative_to(pod)) for path in pod.rglob("*") if path.is_file())
    assert left == ["notes", "volumes/kubernetes.io~configmap/v/mine"]


@pytest.mark.parametrize(
    "place", ["volumes", "volumes/kubernetes.io~secret", "volumes/kubernetes.io~secret/v"]
)
def test_a_planted_link_is_not_crossed(tmp_path: Path, place: str) -> None:
    directories, outside = PodDirectories(tmp_path / "r"), tmp_path / "outside"
    AtomicWriter(outside / "kubernetes.io~secret/v").write(volume({"a": "1"}))
    AtomicWriter(outside / "v").write(volume({"a": "1"}))
    link = directories.pod("u") / place
    link.parent.mkdir(parents=True)
    link.symlink_to(outside)

    kept = directories.tear_down("u")

    assert kept == (Kept(str(link), "not a folder"),)
    assert (outside / "kubernetes.io~secret/v/a").read_text() == "1"
    assert (outside / "v/a").read_text() == "1"


@pytest.mark.parametrize(
    ("kind", "place"),
    [("emptyDir", "s/inner"), ("configMap", "s"), ("configMap", "s/inner")],
)
def test_what_something_is_mounted_on_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kind: str, place: str
) -> None:
    directories = PodDirectories(tmp_path)
    scratch = directories.make_volume("u", kind, "s")
    (scratch / "inner").mkdir()
    mounted = scratch.parent / place
    monkeypatch.setattr(pod_directories, "read_mounts", lambda: (Mount(mounted.resolve(), "ext4"),))

    kept = directories.tear_down("u")

    assert kept == (Kept(str(mounted), MOUNTED),)
    assert mounted.is_dir()


def test_a_pod_that_is_a_mount_point_itself_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    directories = PodDirectories(tmp_path)
    pod = directories.make_pod("u")
    monkeypatch.setattr(pod_directories, "read_mounts", lambda: (Mount(pod.resolve(), "ext4"),))

    assert directories.tear_down("u") == (Kept(str(pod), MOUNTED),)
    assert pod.is_dir()


def test_the_configuration_of_a_pod_can_be_cleared_and_all_else_stays(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path / "disk", memory_root=tmp_path / "memory")
    for kind in ("configMap", "secret"):
        AtomicWriter(directories.make_volume("u", kind, "v")).write(volume({"a": "1"}))
    (directories.make_volume("u", "emptyDir", "work") / "file").touch()
    (directories.make_container("u", "web") / "0.log").touch()
    part = directories.sub_path("u", "v", "web", 0, kind="secret")
    part.parent.mkdir(parents=True)
    part.touch()

    kept = directories.clear("u")

    files = [path.name for path in sorted(tmp_path.rglob("*")) if not path.is_dir()]
    assert (kept, files) == ((), ["0.log", "file"])
    assert not directories.volume("u", "secret", "v").exists()
    assert directories.clear("nobody") == ()


def test_what_is_somebody_elses_in_a_volume_is_not_cleared(tmp_path: Path) -> None:
    directories = PodDirectories(tmp_path)
    settings = directories.make_volume("u", "configMap", "v")
    AtomicWriter(settings).write(volume({"a": "1"}))
    (settings / "mine").touch()

    (kept,) = directories.clear("u")

    assert (kept.path, [path.name for path in settings.iterdir()]) == (
        str(settings / "mine"),
        ["mine"],
    )
