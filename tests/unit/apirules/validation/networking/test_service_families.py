from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.networking.service_families import (
    check_addresses_kept,
    check_cluster_addresses,
    check_families_served,
)

BOTH = {"clusterIPs": ["10.0.0.1", "fd00::1"], "ipFamilies": ["IPv4", "IPv6"]}


def fields_of(errors: FieldErrors) -> list[str]:
    return [cause.field for cause in errors.causes]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, []),
        ({"clusterIP": "10.0.0.1"} | BOTH, []),
        ({"clusterIPs": ["10.0.0.1"]}, ["spec.clusterIPs"]),
        ({"clusterIP": "10.0.0.1"}, ["spec.clusterIPs"]),
        ({"clusterIP": "None", "clusterIPs": ["None", "10.0.0.1"]}, ["spec.clusterIPs"]),
        ({"ipFamilies": ["IPv4", "IPv4"]}, ["spec.ipFamilies[1]"]),
        ({"ipFamilyPolicy": "Any"}, ["spec.ipFamilyPolicy"]),
        (
            {"clusterIP": "fd00::1", "clusterIPs": ["fd00::1"], "ipFamilies": ["IPv4"]},
            ["spec.clusterIPs[0]"],
        ),
    ],
)
def test_addresses_fit_their_families(spec: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_cluster_addresses(spec, errors)

    assert fields_of(errors) == wrong


@pytest.mark.parametrize(
    ("spec", "before", "wrong"),
    [
        ({"ipFamilyPolicy": "PreferDualStack"}, {}, []),
        ({"ipFamilyPolicy": "RequireDualStack"}, {}, ["spec.ipFamilyPolicy"]),
        ({"ipFamilies": ["IPv6"]}, {}, ["spec.ipFamilies[0]"]),
        ({"clusterIPs": ["None"], "ipFamilies": ["IPv6"]}, {}, []),
        ({"clusterIPs": ["fd00::1"]}, {}, ["spec.clusterIPs[0]"]),
        (BOTH, {}, ["spec.ipFamilyPolicy", "spec.ipFamilyPolicy"]),
        (
            {"ipFamilyPolicy": "PreferDualStack", "ipFamilies": ["IPv4"]},
            BOTH,
            ["spec.ipFamilyPolicy"],
        ),
    ],
)
def test_a_cluster_has_addresses_of_one_family(
    spec: dict[str, Any], before: dict[str, Any], wrong: list[str]
) -> None:
    errors = FieldErrors()

    check_families_served(spec, before, ["IPv4"], errors)

    assert fields_of(errors) == wrong


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        ({}, []),
        ({"clusterIPs": ["10.0.0.2", "fd00::1"]}, ["spec.clusterIPs[0]"]),
        ({"clusterIPs": ["10.0.0.1"]}, ["spec.ipFamilyPolicy"]),
        ({"clusterIPs": []}, ["spec.clusterIPs[0]"]),
        ({"ipFamilies": ["IPv6", "IPv4"]}, ["spec.ipFamilies[0]", "spec.ipFamilies[0]"]),
    ],
)
def test_the_first_address_stays(change: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_addresses_kept(BOTH | change, BOTH, errors)

    assert fields_of(errors) == wrong
