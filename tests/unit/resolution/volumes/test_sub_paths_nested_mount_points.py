"""Directories that other mounts need inside a volume."""

from __future__ import annotations

from typing import Any

from reflet.resolution.places import Place
from reflet.resolution.problems import InvalidMountPoint
from reflet.resolution.volumes.sub_paths import nested_mount_points
from tests.unit.resolution.scenes import pod_with


def mounts(*pairs: tuple[str, str]) -> dict[str, Any]:
    return {"volumeMounts": [{"name": name, "mountPath": path} for name, path in pairs]}


def test_the_whole_path_below_the_mount_is_needed() -> None:
    pod = pod_with(mounts(("v", "/etc/app/"), ("other", "/etc/app/deep/er"), ("x", "/etc/apple")))

    assert nested_mount_points(pod, "v") == ("deep/er",)


def test_every_container_counts_and_each_path_once() -> None:
    pod = pod_with(
        mounts(("v", "/a"), ("o", "/a/b")),
        initContainers=[{"name": "i", **mounts(("v", "/x"), ("o", "/x/b"), ("p", "/x/c"))}],
    )

    assert nested_mount_points(pod, "v") == ("b", "c")


def test_a_mount_above_the_root_is_refused() -> None:
    pod = pod_with(mounts(("o", "/a"), ("v", "a/../../b")))

    assert nested_mount_points(pod, "v") == InvalidMountPoint(
        place=Place(path="spec.containers[0].volumeMounts[1]", container="web", volume="v"),
        kubelet="invalid container mount point ../b",
        mount_path="a/../../b",
    )


def test_a_volume_that_nobody_mounts_needs_nothing() -> None:
    assert nested_mount_points(pod_with(mounts(("o", "/a"))), "v") == ()
