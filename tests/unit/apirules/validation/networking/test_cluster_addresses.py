from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.cluster_addresses import (
    check_ip_address,
    check_ip_address_change,
    check_service_cidr,
    check_service_cidr_change,
)
from tests.unit.devserver.object_scene import complaints, kind_of


def cidrs(*networks: str) -> dict[str, Any]:
    return {"spec": {"cidrs": list(networks)}}


@pytest.mark.parametrize(
    ("networks", "wrong"),
    [
        (["10.0.0.0/8", "fd00::/8"], ""),
        ([], "at least one CIDR required"),
        (["10.0.0.0/8", "fd00::/8", "fd01::/16"], "may only hold up to 2 values"),
        (["10.0.0.0/8", "11.0.0.0/8"], "no more than one IP for each IP family"),
        (["FD00::/8"], 'must be in canonical form ("fd00::/8")'),
    ],
)
def test_networks_are_one_of_each_family(networks: list[str], wrong: str) -> None:
    errors = FieldErrors()

    check_service_cidr(cidrs(*networks), errors)

    assert (wrong in complaints(errors)[0]) if wrong else not errors


@pytest.mark.parametrize(
    ("networks", "wrong"),
    [
        (["10.0.0.0/8"], []),
        (["10.0.0.0/8", "fd00::/8"], []),
        (["11.0.0.0/8"], ["spec.cidrs[0]"]),
        ([], ["spec.cidrs"]),
    ],
)
def test_a_second_network_may_join_the_first(networks: list[str], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_service_cidr_change(cidrs(*networks), cidrs("10.0.0.0/8"), errors)

    assert [cause.field for cause in errors.causes] == wrong


def test_an_address_has_an_owner_and_keeps_it() -> None:
    errors = FieldErrors()
    old = {"spec": {"parentRef": {"resource": "services", "name": "a"}}}
    new = {"spec": {"parentRef": {"resource": "services", "name": "b"}}}

    check_ip_address({"spec": {}}, errors)
    check_ip_address({"spec": {"parentRef": {"resource": "a/b"}}}, errors)
    check_ip_address_change(kind_of("ipaddresses", "networking.k8s.io"), new, old, errors)

    assert [cause.field for cause in errors.causes] == [
        *("spec.parentRef", "spec.parentRef.resource", "spec.parentRef.name", "spec.parentRef")
    ]
    assert complaints(errors)[-1] == (
        'spec.parentRef: Invalid value: {"Group":"","Resource":"services","Namespace":"",'
        '"Name":"b"}: field is immutable'
    )
