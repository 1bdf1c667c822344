from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.devices.capacities import check_capacity
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints

RANGE = {"min": "1Gi", "max": "4Gi", "step": "1Gi"}


def wrong_with(policy: dict[str, Any], *, several: bool = True) -> list[str]:
    errors = FieldErrors()
    check_capacity({"value": "4Gi", "requestPolicy": policy}, "c", errors, several=several)
    return [each.removeprefix("c.requestPolicy") for each in complaints(errors)]


@pytest.mark.parametrize(
    ("policy", "wrong"),
    [
        ({"default": "2Gi", "validRange": RANGE}, []),
        ({"default": "1Gi", "validValues": ["1Gi", "2Gi"]}, []),
        ({"validRange": RANGE}, [".default: Required value: required when validRange is defined"]),
        (
            {"default": "1Gi", "validValues": ["1Gi", "8Gi"]},
            [('.validValues[1]: Invalid value: "8Gi": option is larger than capacity value: 4Gi')],
        ),
        (
            {"default": "1536Mi", "validRange": RANGE},
            [
                (
                    '.validRange.step: Invalid value: "1536Mi": value is not a multiple of a '
                    "given step (1Gi) from (1Gi)"
                )
            ],
        ),
        (
            {"default": "5Gi", "validRange": {"min": "1Gi", "max": "4Gi"}},
            ['.validRange.max: Invalid value: "5Gi": default is more than max: 4Gi'],
        ),
        (
            {"default": "1Gi", "validRange": {}},
            [".validRange.min: Required value: required when validRange is defined"],
        ),
    ],
)
def test_portions_have_their_rules(policy: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(policy) == wrong


def test_a_device_for_one_has_no_portions() -> None:
    assert wrong_with({"default": "1Gi"}, several=False) == [
        ": Forbidden: allowMultipleAllocations must be true"
    ]
