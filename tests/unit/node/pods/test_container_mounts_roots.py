from __future__ import annotations

import os
import stat
from pathlib import Path
from typing import Any

import pytest

from reflet.errors import ConfigurationError
from reflet.node.pods.container_mounts import (
    SYSTEM,
    MountSource,
    capabilities_of,
    container_root,
    mounts_of,
    shared_paths,
)
from reflet.processes.container_plan import CAPABILITIES, BindMount
from tests.unit.node.pod_scenes import container, only, pod


def test_what_the_system_has_is_shared_and_more_can_be_named(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()

    usual = dict(shared_paths((), tmp_path / "root"))
    more = dict(shared_paths((f"{tmp_path}/data/:rw",), tmp_path / "root"))
    only_this = shared_paths(("none", f"{tmp_path}/data"), tmp_path / "root")

    assert set(usual) == {path for path in SYSTEM if os.path.lexists(path)}
    assert not any(usual.values())
    assert more == usual | {f"{tmp_path}/data": True}
    assert only_this == ((f"{tmp_path}/data", False),)


def test_an_outer_path_comes_before_what_lies_in_it() -> None:
    shared = [path for path, _ in shared_paths(("/usr/share",), Path("/no/such/root"))]

    assert shared.index("/usr") < shared.index("/usr/share")


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("data", "there is no such path here"),
        ("/no/such", "there is no such path here"),
        ("/", "volumes of all pods are in it"),
        ("/dev", "volumes of all pods are in it, in /dev/shm"),
        ("/dev/null", "containers have one of their own"),
        ("/proc/sys", "containers have one of their own"),
        ("/usr:x", "behind the colon is 'ro' or 'rw'"),
    ],
)
def test_what_cannot_be_shared_is_said(word: str, why: str) -> None:
    with pytest.raises(ConfigurationError, match=f"--share {word}: .*{why}"):
        shared_paths((word,), Path("/var/lib/reflet"))


def made(tmp_path: Path, of: Any) -> Any:
    return container_root(of, only(of), tmp_path, shared=(), mounts=())


def test_every_start_has_new_folders(tmp_path: Path) -> None:
    made(tmp_path, pod())
    (tmp_path / "tmp" / "left").symlink_to("/etc")

    root = made(tmp_path, pod())

    assert list(Path(root.scratch).iterdir()) == list(Path(root.staging).iterdir()) == []
    assert stat.S_IMODE(Path(root.scratch).stat().st_mode) == 0o1777
    assert Path("/etc/passwd").exists()


def test_a_root_has_the_name_of_its_pod_and_says_whether_it_can_be_written_to(
    tmp_path: Path,
) -> None:
    locked = container(securityContext={"readOnlyRootFilesystem": True})

    root = made(tmp_path, pod(locked, hostname="x" * 70))

    assert (root.host_name, root.read_only) == ("x" * 63, True)
    assert made(tmp_path, pod()).host_name == pod().metadata.name


@pytest.mark.parametrize(
    ("dropped", "kept"),
    [
        ([], set(CAPABILITIES)),
        (["ALL"], set()),
        (["CAP_KILL", "chown"], set(CAPABILITIES) - {"KILL", "CHOWN"}),
    ],
)
def test_root_has_what_runtimes_give_but_for_what_is_dropped(
    dropped: list[str], kept: set[str]
) -> None:
    of = pod(container(securityContext={"capabilities": {"drop": dropped}}))

    assert set(capabilities_of(only(of))) == {CAPABILITIES[name] for name in kept}


def test_volumes_and_the_last_word_are_mounted() -> None:
    source = MountSource(Path("/v"), "part", "etc/app", read_only=True)

    mounts = mounts_of([source], "dev/termination-log", Path("/m"))

    assert mounts == (
        BindMount(folder="/v", beneath="part", path="/etc/app"),
        BindMount(folder="/m", path="/dev/termination-log", read_only=False),
    )
