from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.endpoint_slices import (
    check_endpoint_slice,
    check_endpoint_slice_update,
)
from tests.unit.devserver.object_scene import complaints


def wrong_with(kind: str, *addresses: str, **endpoint: Any) -> list[str]:
    errors = FieldErrors()
    endpoints = [{"addresses": list(addresses)} | endpoint]
    check_endpoint_slice({"addressType": kind, "endpoints": endpoints}, errors)
    return complaints(errors)


@pytest.mark.parametrize(
    ("kind", "address", "wrong"),
    [
        ("IPv4", "10.1.1.1", ""),
        ("IPv4", "010.1.1.1", "must not have leading 0s"),
        ("IPv4", "127.0.0.1", "may not be in the loopback range"),
        ("IPv4", "::2", "must be an IPv4 address"),
        ("IPv6", "2001:db8::1", ""),
        ("IPv6", "2001:DB8::1", 'must be in canonical form ("2001:db8::1")'),
        ("IPv6", "fe80::1", "may not be in the link-local range"),
        ("IPv6", "ff02::1", "may not be in the link-local multicast range"),
        ("FQDN", "a.example.", ""),
        ("FQDN", "a", "at least two segments"),
        ("FQDN", f"{'a' * 64}.b", "must be no more than 63 characters"),
        ("FQDN", "", "Required value"),
        ("MAC", "anything", 'supported values: "FQDN", "IPv4", "IPv6"'),
    ],
)
def test_addresses_are_of_their_type(kind: str, address: str, wrong: str) -> None:
    found = wrong_with(kind, address)

    assert (wrong in found[0]) if wrong else found == []


def test_hints_and_hosts_have_their_rules() -> None:
    zones = {"forZones": [{"name": "a"}, {"name": "a"}]}

    assert wrong_with("IPv4", "10.1.1.1", hints=zones) == [
        'endpoints[0].hints.forZones[1].name: Duplicate value: "a"'
    ]
    assert "must not contain dots" in wrong_with("IPv4", "10.1.1.1", hostname="a.b")[0]


def test_endpoints_may_stay_as_wrong_as_they_were() -> None:
    errors = FieldErrors()
    old = {"addressType": "IPv4", "endpoints": [{"addresses": ["x"]}]}

    check_endpoint_slice_update(old | {"addressType": "FQDN"}, old, errors)

    assert complaints(errors) == ['addressType: Invalid value: "FQDN": field is immutable']
