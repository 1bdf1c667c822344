from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.security import (
    check_app_armor,
    check_container_security,
    check_pod_security,
    check_seccomp,
    check_windows_options,
)
from tests.unit.devserver.object_scene import complaints


def wrong_with(spec: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_pod_security(spec, "s", errors)
    return [cause.field.removeprefix("s.securityContext.") for cause in errors.causes]


@pytest.mark.parametrize(
    ("security", "wrong"),
    [
        ({"sysctls": [{"name": "net/a.b/c"}, {"name": "kernel.shmmax"}]}, []),
        ({"sysctls": [{"name": ""}, {"name": "A"}]}, ["sysctls[0].name", "sysctls[1].name"]),
        ({"fsGroupChangePolicy": "Never"}, ["fsGroupChangePolicy"]),
        ({"runAsUser": -1, "supplementalGroups": [2**31]}, ["runAsUser", "supplementalGroups[0]"]),
    ],
)
def test_pods_have_their_rules(security: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with({"securityContext": security}) == wrong


def test_a_pod_does_not_set_what_is_the_hosts() -> None:
    sysctls = [{"name": "net.a"}, {"name": "kernel.msgmax"}]
    spec = {"securityContext": {"sysctls": sysctls}, "hostNetwork": True, "hostIPC": True}

    assert wrong_with(spec) == ["sysctls[0].name", "sysctls[1].name"]


@pytest.mark.parametrize(
    ("profile", "wrong"),
    [
        (None, []),
        ({"type": "RuntimeDefault"}, []),
        ({}, ["p.type"]),
        ({"type": "Own"}, ["p.type"]),
        ({"type": "Localhost"}, ["p.localhostProfile"]),
        ({"type": "Unconfined", "localhostProfile": "a"}, ["p.localhostProfile"]),
    ],
)
def test_profiles_have_their_rules(profile: Any, wrong: list[str]) -> None:
    for check in (check_seccomp, check_app_armor):
        errors = FieldErrors()
        check(profile, "p", errors)
        assert [cause.field for cause in errors.causes] == wrong


@pytest.mark.parametrize(
    ("user", "wrong"),
    [
        ("DOMAIN\\user", []),
        ("", ["runAsUserName cannot be an empty string"]),
        ("a\\b\\c", ["runAsUserName cannot contain more than one backslash"]),
        (".. ", ["runAsUserName's User cannot contain only periods or spaces"]),
    ],
)
def test_users_of_windows_have_their_rules(user: str, wrong: list[str]) -> None:
    errors = FieldErrors()

    check_windows_options({"runAsUserName": user}, "w", errors)

    assert [cause.message.rpartition(": ")[2] for cause in errors.causes] == wrong


def test_a_container_that_shows_the_hosts_processes_has_users_of_its_own() -> None:
    errors = FieldErrors()

    check_container_security({"procMount": "Unmasked"}, "c", errors, host_users=False)
    check_container_security({"procMount": "Unmasked"}, "c", errors)

    assert complaints(errors) == [
        'c.procMount: Invalid value: "Unmasked": `hostUsers` must be false to use `Unmasked`'
    ]
