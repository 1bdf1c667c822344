from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.devices.slices import check_slice, check_slice_update
from reflet.apirules.validation.field_errors import FieldErrors

POOL = {"name": "p", "generation": 1, "resourceSliceCount": 1}
ANYWHERE = {"nodeName": None, "perDeviceNodeSelection": True}


def slice_of(*devices: dict[str, Any], **spec: Any) -> dict[str, Any]:
    usual = {"driver": "d", "nodeName": "n", "pool": POOL, "devices": list(devices)}
    return {"spec": usual | spec}


def wrong_with(*devices: dict[str, Any], **spec: Any) -> list[str]:
    errors = FieldErrors()
    check_slice(slice_of(*devices, **spec), errors)
    return [cause.field.removeprefix("spec.") for cause in errors.causes]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, []),
        ({"driver": ""}, ["driver"]),
        ({"pool": {"name": "p"}}, ["pool.resourceSliceCount"]),
        ({"nodeName": None}, ["spec"]),
        ({"allNodes": True}, ["spec"]),
        ({"nodeName": None, "nodeSelector": {}}, ["nodeSelector.nodeSelectorTerms"] * 2),
        ({"sharedCounters": [{"name": "a"}], "devices": None}, ["sharedCounters[0].counters"]),
        ({"sharedCounters": []}, ["spec"]),
    ],
)
def test_slices_have_their_rules(spec: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**spec) == wrong


@pytest.mark.parametrize(
    ("device", "wrong"),
    [
        ({"attributes": {"a": {"int": 1}, "d.example/b": {"version": "1.2.3"}}}, []),
        ({"attributes": {"a": {}}}, ["devices[0].attributes[a]"]),
        ({"attributes": {"a": {"int": 1, "bool": True}}}, ["devices[0].attributes[a]"]),
        ({"attributes": {"a": {"version": "1"}}}, ["devices[0].attributes[a].version"]),
        ({"taints": [{"key": "a"}]}, ["devices[0].taints[0].effect"]),
        ({"nodeName": "n"}, ["devices[0]"]),
        ({"consumesCounters": [{"counterSet": "a"}]}, ["devices[0].consumesCounters[0].counters"]),
    ],
)
def test_devices_have_their_rules(device: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with({"name": "a"} | device) == wrong


@pytest.mark.parametrize(
    ("place", "wrong"),
    [
        ({"nodeName": "n"}, []),
        ({}, ["devices[0]"]),
        ({"nodeName": "n", "allNodes": True}, ["devices[0]"]),
        ({"nodeName": ""}, ["devices[0].nodeName", "devices[0]"]),
    ],
)
def test_devices_apart_have_one_place_each(place: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with({"name": "a"} | place, **ANYWHERE) == wrong


def test_a_slice_stays_one_of_its_driver_pool_and_node() -> None:
    errors = FieldErrors()
    other = {"driver": "e", "nodeName": "m", "pool": POOL | {"name": "q"}}

    check_slice_update(slice_of(**other), slice_of(), errors)

    assert [cause.field for cause in errors.causes] == [
        *("spec.pool.name", "spec.driver", "spec.nodeName")
    ]


def test_taints_may_stay_as_wrong_as_they_were() -> None:
    errors = FieldErrors()
    device = {"name": "a", "taints": [{"key": "a b"}]}

    check_slice_update(slice_of(device), slice_of(device), errors)

    assert not errors
