from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.devices.claims import (
    check_claim_of_devices,
    check_claim_template,
    check_device_class,
    check_spec_kept,
    request_names,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

KIND = kind_of("resourceclaims", "resource.k8s.io")
OPAQUE = {"opaque": {"driver": "d", "parameters": {"a": 1}}}


def claim(**devices: Any) -> dict[str, Any]:
    usual = {"requests": [{"name": "one", "exactly": {"deviceClassName": "c"}}]}
    return created(KIND, {"metadata": {"name": "x"}, "spec": {"devices": usual | devices}})


def wrong_with(**devices: Any) -> list[str]:
    errors = FieldErrors()
    check_claim_of_devices(claim(**devices), errors)
    return [cause.field.removeprefix("spec.devices.") for cause in errors.causes]


def request(**wish: Any) -> list[dict[str, Any]]:
    return [{"name": "one", "exactly": {"deviceClassName": "c"} | wish}]


@pytest.mark.parametrize(
    ("devices", "wrong"),
    [
        ({}, []),
        ({"config": [{"requests": ["one"], **OPAQUE}]}, []),
        ({"requests": [{"name": "one"}]}, ["requests[0]"]),
        ({"requests": request() * 2}, ["requests[1]"]),
        ({"requests": request(allocationMode="All", count=1)}, ["requests[0].exactly.count"]),
        ({"requests": request(allocationMode="Any")}, ["requests[0].exactly.allocationMode"]),
        ({"requests": request(selectors=[{}])}, ["requests[0].exactly.selectors[0].cel"]),
        (
            {"requests": request(selectors=[{"cel": {}}])},
            ["requests[0].exactly.selectors[0].cel.expression"],
        ),
        (
            {"requests": request(tolerations=[{"operator": "Near"}])},
            ["requests[0].exactly.tolerations[0].operator"],
        ),
        ({"constraints": [{}]}, ["constraints[0]"]),
        (
            {"constraints": [{"requests": ["two"], "matchAttribute": "a"}]},
            ["constraints[0].requests[0]", "constraints[0].matchAttribute"],
        ),
        ({"config": [{}]}, ["config[0].opaque"]),
    ],
)
def test_claims_have_their_rules(devices: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**devices) == wrong


def test_alternatives_are_named_after_a_slash() -> None:
    first = [{"name": "big", "deviceClassName": "c"}]
    requests = [{"name": "any", "firstAvailable": first}]
    good, bad = ({"requests": [f"any/{name}"], **OPAQUE} for name in ("big", "small"))

    assert request_names({"devices": {"requests": requests}}) == {"any": frozenset({"big"})}
    assert wrong_with(requests=requests, config=[good, bad]) == ["config[1].requests[0]"]


def test_templates_have_labels_and_nothing_else_of_their_own() -> None:
    errors = FieldErrors()
    metadata = {"labels": {"a": "b"}, "name": "x"}

    check_claim_template({"spec": {"metadata": metadata, "spec": claim()["spec"]}}, errors)

    assert complaints(errors) == ["spec.metadata.name: Forbidden: cannot be set"]


def test_classes_have_their_rules() -> None:
    errors = FieldErrors()
    spec = {"selectors": [{}], "config": [{}], "extendedResourceName": "cpu"}

    check_device_class({"spec": spec}, errors)

    assert [cause.field for cause in errors.causes] == [
        *("spec.selectors[0].cel", "spec.config[0].opaque", "spec.extendedResourceName")
    ]


def test_what_is_claimed_stays() -> None:
    errors = FieldErrors()

    check_spec_kept(KIND, claim(), claim(), errors)
    check_spec_kept(KIND, claim(requests=request(count=2)), claim(), errors)

    assert [cause.field for cause in errors.causes] == ["spec"]
