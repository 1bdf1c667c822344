from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.devices.claim_statuses import check_claim_of_devices_status
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import kind_of

KIND = kind_of("resourceclaims", "resource.k8s.io")
SPEC = {"devices": {"requests": [{"name": "one", "exactly": {"deviceClassName": "c"}}]}}
RESULT = {"request": "one", "driver": "d", "pool": "p", "device": "gpu"}
ALLOCATION = {"devices": {"results": [RESULT]}}
USER = {"resource": "pods", "name": "x", "uid": "u"}
DEVICE = {"driver": "d", "pool": "p", "device": "gpu"}


def wrong_with(
    status: dict[str, Any], before: dict[str, Any] | None = None, **metadata: Any
) -> list[str]:
    errors = FieldErrors()
    old = {"metadata": metadata, "spec": SPEC, "status": before or {}}
    check_claim_of_devices_status(KIND, old | {"status": status}, old, errors)
    return [cause.field.removeprefix("status.") for cause in errors.causes]


@pytest.mark.parametrize(
    ("status", "wrong"),
    [
        ({}, []),
        ({"allocation": ALLOCATION, "reservedFor": [USER], "devices": [DEVICE]}, []),
        ({"reservedFor": [USER]}, ["reservedFor"]),
        (
            {"allocation": ALLOCATION, "reservedFor": [USER, USER, {}]},
            [
                *("reservedFor[2].resource", "reservedFor[2].name", "reservedFor[2].uid"),
                "reservedFor[1]",
            ],
        ),
        ({"devices": [DEVICE]}, ["devices[0]"]),
        (
            {"allocation": {"devices": {"results": [RESULT | {"request": "two", "device": "G"}]}}},
            [
                "allocation.devices.results[0].request",
                "allocation.devices.results[0].device",
            ],
        ),
        (
            {"allocation": {"devices": {"config": [{}]}}},
            ["allocation.devices.config[0].source", "allocation.devices.config[0].opaque"],
        ),
    ],
)
def test_statuses_have_their_rules(status: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(status) == wrong


def test_what_was_given_is_not_exchanged() -> None:
    given = {"allocation": ALLOCATION}
    other = {"allocation": {"devices": {"results": [RESULT | {"device": "other"}]}}}

    assert wrong_with(given, given) == []
    assert wrong_with(other, given) == ["allocation"]
    assert wrong_with({}, given) == []


def test_nobody_new_uses_what_is_being_deleted() -> None:
    given = {"allocation": ALLOCATION}
    used = given | {"reservedFor": [USER]}

    assert wrong_with(used, given, deletionTimestamp="2020-01-01T00:00:00Z") == ["reservedFor"]
    assert wrong_with(used, used, deletionTimestamp="2020-01-01T00:00:00Z") == []


def test_networks_of_devices_are_addresses_in_their_usual_form() -> None:
    network = {"interfaceName": "e" * 257, "ips": ["10.1.1.1/24", "10.1.1.1/24", "FD00::1/64"]}
    status = {"allocation": ALLOCATION, "devices": [DEVICE | {"networkData": network}]}

    assert wrong_with(status) == [
        "devices[0].networkData.interfaceName",
        "devices[0].networkData.ips[2]",
        "devices[0].networkData.ips[1]",
    ]
