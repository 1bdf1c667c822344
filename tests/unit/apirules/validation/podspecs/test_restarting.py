from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.restarting import (
    check_init_resize_policies,
    check_init_restart_policy,
    check_resize_policies,
    check_restart_policy,
)

RULE = {"action": "Restart", "exitCodes": {"operator": "In", "values": [1]}}
MEMORY = {"resourceName": "memory", "restartPolicy": "RestartContainer"}


@pytest.mark.parametrize(
    ("container", "wrong"),
    [
        ({}, []),
        ({"restartPolicy": "Never", "restartPolicyRules": [RULE]}, []),
        ({"restartPolicyRules": [RULE]}, ["c.restartPolicy"]),
        ({"restartPolicy": "Perhaps"}, ["c.restartPolicy"]),
        (
            {"restartPolicy": "Never", "restartPolicyRules": [{}]},
            ["c.restartPolicyRules[0].action", "c.restartPolicyRules[0].exitCodes"],
        ),
    ],
)
def test_restarts_have_their_rules(container: dict[str, Any], wrong: list[str]) -> None:
    for check in (check_restart_policy, check_init_restart_policy):
        errors = FieldErrors()
        check(container, "c", errors)
        assert [cause.field for cause in errors.causes] == wrong


@pytest.mark.parametrize(
    ("policy", "restart", "count"),
    [(MEMORY, "Always", 0), (MEMORY, "Never", 1), ({"resourceName": "disk"}, "Always", 2)],
)
def test_resizing_has_its_rules(policy: dict[str, str], restart: str, count: int) -> None:
    errors = FieldErrors()

    check_resize_policies({"resizePolicy": [policy]}, restart, "c", errors)

    assert len(errors) == count


def test_only_sidecars_among_init_containers_are_restarted_for_resources() -> None:
    errors = FieldErrors()

    check_init_resize_policies({"resizePolicy": [MEMORY], "restartPolicy": "Always"}, "c", errors)
    check_init_resize_policies({"resizePolicy": [MEMORY]}, "c", errors)

    assert [cause.field for cause in errors.causes] == ["c.resizePolicy[0].restartPolicy"]
