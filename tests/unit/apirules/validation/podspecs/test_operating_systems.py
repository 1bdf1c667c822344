from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.operating_systems import (
    all_containers,
    check_host_processes,
    check_host_users,
    check_operating_system,
)

HOST = {"windowsOptions": {"hostProcess": True}}


def fields_of(spec: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    for check in (check_host_processes, check_host_users, check_operating_system):
        check(spec, "s", errors)
    return [cause.field for cause in errors.causes]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, []),
        ({"os": {"name": "linux"}}, []),
        ({"os": {}}, ["s.os.name"]),
        ({"os": {"name": "plan9"}}, ["s.os"]),
        (
            {"os": {"name": "linux"}, "securityContext": {"windowsOptions": {}}},
            ["s.securityContext.windowsOptions"],
        ),
        (
            {"os": {"name": "windows"}, "hostPID": True, "securityContext": {"runAsUser": 1}},
            ["s.hostPID", "s.securityContext.runAsUser"],
        ),
        ({"hostUsers": False, "hostPID": True}, ["s.HostPID"]),
        ({"securityContext": HOST, "containers": [{}]}, ["s.hostNetwork"]),
        (
            {"hostNetwork": True, "containers": [{"securityContext": HOST}, {}]},
            ["s"],
        ),
    ],
)
def test_systems_have_their_rules(spec: dict[str, Any], wrong: list[str]) -> None:
    assert fields_of(spec) == wrong


def test_containers_are_looked_at_in_the_order_in_which_they_start() -> None:
    spec: dict[str, Any] = {"containers": [{}], "initContainers": [{}]}

    assert [path for _, path in all_containers(spec, "s")] == [
        "s.initContainers[0]",
        "s.containers[0]",
    ]
