"""Which part of which volume is seen at which path."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.supervisor.mount_tree import MountRefused, PlannedMount, plan_mounts
from tests.unit.supervisor.scenes import pod

SETTINGS = {"name": "settings", "configMap": {"name": "settings", "defaultMode": 420}}
SCRATCH = {"name": "scratch", "emptyDir": {}}
CLAIM = {"name": "claim", "persistentVolumeClaim": {"claimName": "claim"}}
HOST = {"name": "host", "hostPath": {"path": "/"}}


def mounts(*each: dict[str, Any]) -> dict[str, Any]:
    return {"volumeMounts": list(each)}


def test_configuration_is_read_only_and_empty_folders_are_not() -> None:
    subject = pod(
        mounts(
            {"name": "settings", "mountPath": "/etc/app/"},
            {"name": "scratch", "mountPath": "/tmp"},
            {"name": "scratch", "mountPath": "/ro", "readOnly": True, "subPath": "a//b"},
        ),
        [SETTINGS, SCRATCH],
    )

    assert plan_mounts(subject, "main", {}).mounts == (
        PlannedMount("/etc/app", "settings"),
        PlannedMount("/ro", "scratch", sub_path="a/b", scratch=True),
        PlannedMount("/tmp", "scratch", read_only=False, scratch=True),
    )


def test_outer_mounts_come_before_those_inside_them() -> None:
    subject = pod(
        mounts(
            {"name": "settings", "mountPath": "/a/b"},
            {"name": "settings", "mountPath": "/a-b"},
            {"name": "settings", "mountPath": "/a"},
        ),
        [SETTINGS],
    )

    assert [mount.path for mount in plan_mounts(subject, "main", {}).mounts] == [
        "/a",
        "/a/b",
        "/a-b",
    ]


def test_other_volumes_are_left_out_and_told() -> None:
    subject = pod(
        mounts({"name": "claim", "mountPath": "/data"}, {"name": "host", "mountPath": "/host"}),
        [CLAIM, HOST],
    )

    plan = plan_mounts(subject, "main", {})

    assert plan.mounts == ()
    assert [sentence.partition(", and")[0] for sentence in plan.left_out] == [
        "/data is not there: volume claim is a persistentVolumeClaim",
        "/host is not there: volume host is a hostPath",
    ]


def test_a_sub_path_may_name_variables() -> None:
    subject = pod(
        mounts({"name": "settings", "mountPath": "/a", "subPathExpr": "$(STAGE)/x"}), [SETTINGS]
    )

    (mount,) = plan_mounts(subject, "main", {"STAGE": "test"}).mounts

    assert (mount.sub_path, mount.is_fixed) == ("test/x", True)


@pytest.mark.parametrize(
    ("mount", "words"),
    [
        ({"name": "settings", "mountPath": "/a", "subPathExpr": "$(X)"}, "missing value for X"),
        ({"name": "settings", "mountPath": "/a", "subPath": "../x"}, "must not contain '..'"),
        ({"name": "other", "mountPath": "/a"}, 'cannot find volume "other"'),
        ({"name": "settings", "mountPath": "/"}, "cannot be mounted at /"),
    ],
)
def test_what_the_kubelet_would_not_mount_is_refused(mount: dict[str, Any], words: str) -> None:
    with pytest.raises(MountRefused, match=words):
        plan_mounts(pod(mounts(mount), [SETTINGS]), "main", {})
