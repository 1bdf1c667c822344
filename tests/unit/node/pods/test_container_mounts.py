from __future__ import annotations

from typing import Any

import pytest

from reflet.node.pods.container_mounts import MountLayout, MountLink, mount_layout
from tests.unit.node.pod_scenes import container, only, pod


def layout(*mounts: dict[str, Any], **fields: Any) -> MountLayout:
    return mount_layout(only(pod(container(volumeMounts=list(mounts), **fields))), {"A": "x"})


def test_a_mount_is_a_link_below_the_containers_root() -> None:
    found = layout({"name": "conf", "mountPath": "/etc/app/"})

    assert found.links == (MountLink("etc/app", "conf"),)
    assert found.message_path == "dev/termination-log"


def test_a_part_of_a_volume_can_be_named_by_a_variable() -> None:
    found = layout({"name": "conf", "mountPath": "/etc/app", "subPathExpr": "$(A)/y"})

    assert found.links[0].sub_path == "x/y"


def test_a_missing_variable_is_the_kubelets_error() -> None:
    found = layout({"name": "conf", "mountPath": "/etc/app", "subPathExpr": "$(B)"})

    assert found.error == "missing value for B"


def test_one_mount_inside_another_cannot_be_shown() -> None:
    found = layout({"name": "a", "mountPath": "/etc"}, {"name": "b", "mountPath": "/etc/app"})

    assert found.error is not None
    assert "the mount at /etc/app lies in the one at /etc" in found.error


def test_a_volume_cannot_be_the_root() -> None:
    assert layout({"name": "a", "mountPath": "/"}).error is not None


def test_the_last_word_is_left_where_the_container_says() -> None:
    own = layout(terminationMessagePath="/tmp/last")
    covered = layout({"name": "a", "mountPath": "/dev"})

    assert (own.message_path, covered.message_path) == ("tmp/last", "")


@pytest.mark.parametrize("path", ["/", "", ".", "/..", "..", "../etc", "/etc/.."])
def test_a_volume_can_be_neither_the_root_nor_outside_it(path: str) -> None:
    found = layout({"name": "a", "mountPath": path})

    assert found == MountLayout(error=f"volume a cannot be mounted at {path}")


@pytest.mark.parametrize("path", ["/etc/./app", "//etc//app", "/etc/x/../app", "etc/app"])
def test_a_mount_path_is_made_as_short_as_it_can_be(path: str) -> None:
    assert layout({"name": "a", "mountPath": path}).links[0].path == "etc/app"


def test_paths_that_begin_alike_do_not_lie_in_each_other() -> None:
    found = layout({"name": "a", "mountPath": "/etc"}, {"name": "b", "mountPath": "/etcetera"})

    assert [(link.path, link.index) for link in found.links] == [("etc", 0), ("etcetera", 1)]


def test_a_mount_where_the_last_word_is_left_hides_it() -> None:
    assert layout({"name": "a", "mountPath": "/dev/termination-log"}).message_path == ""


def test_a_part_outside_its_volume_is_the_kubelets_error() -> None:
    found = layout({"name": "a", "mountPath": "/etc/app", "subPath": "../x"})

    assert found.error == "unable to provision SubPath `../x`: must not contain '..'"


def test_two_mounts_at_one_path_cannot_be_shown() -> None:
    found = layout({"name": "a", "mountPath": "/etc/app"}, {"name": "b", "mountPath": "/etc/app/"})

    assert found == MountLayout(error="two volumes are mounted at /etc/app")
