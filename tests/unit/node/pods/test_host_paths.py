"""Paths of the machine that pods may name."""

from __future__ import annotations

import os
import socket
import stat
from pathlib import Path

import pytest

from reflet.api.core.volumes import HostPathVolumeSource, Volume
from reflet.node.pods.host_paths import HostPaths
from reflet.volumes.volume_errors import VolumeError

UNKNOWN = "only recognise file, directory, socket, block device and character device"


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    path = tmp_path / "shared"
    path.mkdir()
    return path


def volume(path: Path | str, kind: str = "") -> Volume:
    return Volume(name="v", host_path=HostPathVolumeSource(path=str(path), type=kind))


def checked(allowed: Path, path: Path | str, kind: str) -> str:
    """What is said of a path; empty when it is well."""
    try:
        HostPaths((str(allowed),)).check(volume(path, kind))
    except VolumeError as error:
        return str(error)
    return ""


def test_only_what_lies_below_an_allowed_path_is_found(shared: Path, tmp_path: Path) -> None:
    paths = HostPaths((str(shared),))

    assert paths.beneath_top(volume(shared / "a/b")) == str(shared / "a/b").lstrip("/")
    assert paths.beneath_top(volume(shared)) == str(shared).lstrip("/")
    for other in (tmp_path, f"{shared}er", shared / "../other"):
        with pytest.raises(VolumeError, match="is not below a path that is allowed here"):
            paths.beneath_top(volume(other))


def test_an_allowed_path_may_be_a_link_and_is_looked_up_once(shared: Path, tmp_path: Path) -> None:
    link, other = tmp_path / "link", tmp_path / "other"
    link.symlink_to(shared)
    paths = HostPaths((str(link),))
    link.unlink()
    link.symlink_to(other)

    assert paths.beneath_top(volume(link / "a")) == str(shared / "a").lstrip("/")


@pytest.mark.parametrize(
    ("kind", "is_made"), [("DirectoryOrCreate", stat.S_ISDIR), ("FileOrCreate", stat.S_ISREG)]
)
def test_what_is_to_be_made_is_made(shared: Path, kind: str, is_made: object) -> None:
    umask = os.umask(0o077)
    try:
        said = checked(shared, shared / "x", kind)
    finally:
        os.umask(umask)

    mode = (shared / "x").stat().st_mode
    assert said == ""
    assert callable(is_made)
    assert is_made(mode)
    assert stat.S_IMODE(mode) == (0o755 if kind == "DirectoryOrCreate" else 0o644)


def test_folders_above_are_made_as_the_kubelet_does_and_others_keep_their_mode(
    shared: Path,
) -> None:
    shared.chmod(0o711)

    assert checked(shared, shared / "a/b", "DirectoryOrCreate") == ""
    assert (shared / "a/b").is_dir()
    assert stat.S_IMODE(shared.stat().st_mode) == 0o711


@pytest.mark.parametrize("kind", ["DirectoryOrCreate", "FileOrCreate", "Directory", "File"])
@pytest.mark.parametrize("path", ["link", "link/x", "dangling"])
def test_no_link_is_followed_below_an_allowed_path(
    shared: Path, tmp_path: Path, kind: str, path: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o700)
    (shared / "link").symlink_to(outside)
    (shared / "dangling").symlink_to(tmp_path / "nowhere")

    said = checked(shared, shared / path, kind)

    assert said == (
        f"hostPath {shared / path}: a link is in the way, and links are not followed there"
    )
    assert list(outside.iterdir()) == []
    assert not (tmp_path / "nowhere").exists()
    assert stat.S_IMODE(outside.stat().st_mode) == 0o700


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("Directory", "directory"),
        ("File", "file"),
        ("Socket", "socket file"),
        ("CharDevice", "character device"),
        ("BlockDevice", "block device"),
    ],
)
def test_what_is_not_there_is_told_in_the_kubelets_words(
    shared: Path, kind: str, words: str
) -> None:
    path = shared / "x"

    assert checked(shared, path, kind) == (
        f"hostPath type check failed, {path} is not a {words}, unable to determine its type: "
        f'path "{path}" does not exist'
    )


def test_what_is_something_else_is_told_in_the_kubelets_words(shared: Path) -> None:
    (shared / "file").touch()
    (shared / "folder").mkdir()
    os.mkfifo(shared / "pipe")
    prefix = "hostPath type check failed"

    said = [
        checked(shared, shared / "file", "Directory"),
        checked(shared, shared / "file", "DirectoryOrCreate"),
        checked(shared, shared / "folder", "FileOrCreate"),
        checked(shared, shared / "folder", "Socket"),
        checked(shared, shared / "pipe", "File"),
        checked(shared, shared / "file", "Files"),
    ]

    assert said == [
        f"{prefix}: {shared}/file is not a directory, it's a File",
        f"{prefix}: {shared}/file is not a directory, it's a File",
        f"{prefix}: {shared}/folder is not a file, it's a Directory",
        f"{prefix}: {shared}/folder is not a socket file, it's a Directory",
        f"{prefix}, {shared}/pipe is not a file, unable to determine its type: {UNKNOWN}",
        "Files is an invalid volume type",
    ]


def test_sockets_and_devices_are_told_apart(shared: Path) -> None:
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(str(shared / "s"))

        assert checked(shared, shared / "s", "Socket") == ""
    assert checked(Path("/dev"), "/dev/null", "CharDevice") == ""
    assert "it's a CharDevice" in checked(Path("/dev"), "/dev/null", "BlockDevice")


def test_a_path_without_a_type_is_not_looked_at(shared: Path) -> None:
    assert checked(shared, shared / "nothing", "") == ""
