"""Which containers do not see a changed volume before they start again."""

from __future__ import annotations

from reflet.podconfig.frozen_mounts import FrozenMount, frozen_mounts
from tests.unit.resolution.scenes import pod_with


def test_mounts_of_a_part_of_a_volume_do_not_change() -> None:
    pod = pod_with(
        {
            "volumeMounts": [
                {"name": "files", "mountPath": "/whole"},
                {"name": "files", "mountPath": "/part", "subPath": "a"},
                {"name": "files", "mountPath": "/mine", "subPathExpr": "$(POD)"},
                {"name": "other", "mountPath": "/other", "subPath": "a"},
            ]
        }
    )

    assert frozen_mounts(pod, ["files"]) == (
        FrozenMount("web", "files", "/part"),
        FrozenMount("web", "files", "/mine"),
    )
    assert frozen_mounts(pod, []) == ()
