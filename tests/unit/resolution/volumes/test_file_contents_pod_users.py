"""Who the files of a pod belong to."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.resolution.volumes.file_contents import common_user, fs_group
from tests.unit.resolution.scenes import pod_with


def running_as(name: str, user: int | None) -> dict[str, Any]:
    return {"name": name, "securityContext": {"runAsUser": user}}


@pytest.mark.parametrize(
    ("spec", "user"),
    [
        ({}, None),
        ({"containers": []}, None),
        ({"securityContext": {"runAsUser": 0}}, 0),
        ({"containers": [running_as("a", 7), running_as("b", 7)]}, 7),
        ({"containers": [running_as("a", 7), running_as("b", 8)]}, None),
        ({"containers": [running_as("a", 7), running_as("b", None)]}, None),
        ({"containers": [running_as("a", 7)], "initContainers": [running_as("i", 8)]}, None),
        ({"containers": [running_as("a", 7)], "ephemeralContainers": [{"name": "e"}]}, None),
        (
            {
                "securityContext": {"runAsUser": 7},
                "containers": [running_as("a", None), running_as("b", 7)],
            },
            7,
        ),
    ],
)
def test_the_common_user_is_the_one_that_all_containers_name(
    spec: dict[str, Any], user: int | None
) -> None:
    assert common_user(pod_with(**spec)) == user


def test_the_group_of_the_volumes_is_what_the_pod_asks_for() -> None:
    assert (fs_group(pod_with()), fs_group(pod_with(securityContext={"fsGroup": 9}))) == (None, 9)
