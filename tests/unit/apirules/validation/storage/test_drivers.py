from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.drivers import (
    check_csi_driver,
    check_csi_driver_change,
    check_csi_node,
    check_csi_node_change,
    check_storage_capacity,
    check_storage_capacity_change,
    check_storage_capacity_update,
)
from tests.unit.devserver.object_scene import created, kind_of

DRIVERS = kind_of("csidrivers", "storage.k8s.io")
NODES = kind_of("csinodes", "storage.k8s.io")
BAD = {"matchExpressions": [{"key": "a", "operator": "In", "values": ["a b"]}]}


def driver(**spec: Any) -> dict[str, Any]:
    return created(DRIVERS, {"metadata": {"name": "x"}, "spec": spec})


def node(*drivers: dict[str, Any]) -> dict[str, Any]:
    return {"spec": {"drivers": list(drivers)}}


def fields_of(errors: FieldErrors) -> list[str]:
    return [cause.field for cause in errors.causes]


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        ({}, []),
        ({"fsGroupPolicy": "Never"}, ["spec.fsGroupPolicy"]),
        ({"tokenRequests": [{"audience": "a"}] * 2}, ["spec.tokenRequests[1].audience"]),
        (
            {"tokenRequests": [{"audience": "a", "expirationSeconds": 1}]},
            ["spec.tokenRequests[0].expirationSeconds"],
        ),
        ({"volumeLifecycleModes": ["Long"]}, ["spec.volumeLifecycleModes"]),
        ({"serviceAccountTokenInSecrets": True}, ["spec.serviceAccountTokenInSecrets"]),
    ],
)
def test_drivers_have_their_rules(spec: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_csi_driver(driver(**spec), errors)

    assert fields_of(errors) == wrong


def test_a_driver_keeps_what_volumes_were_made_for() -> None:
    errors = FieldErrors()

    check_csi_driver_change(driver(attachRequired=False), driver(), errors)
    check_csi_driver_change(driver(podInfoOnMount=True), driver(), errors)

    assert fields_of(errors) == ["spec.attachedRequired"]


@pytest.mark.parametrize(
    ("found", "wrong"),
    [
        ({"name": "d", "nodeID": "n", "topologyKeys": ["zone"]}, []),
        ({"name": "", "nodeID": ""}, ["spec.drivers[0].name", "spec.drivers[0].nodeID"]),
        (
            {"name": "d", "nodeID": "n", "allocatable": {"count": -1}},
            ["spec.drivers[0].allocatable.count"],
        ),
        ({"name": "d", "nodeID": "n", "topologyKeys": ["a", "a"]}, ["spec.drivers[0]"]),
    ],
)
def test_drivers_of_nodes_have_their_rules(found: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_csi_node(node(found), errors)

    assert fields_of(errors) == wrong


def test_a_driver_of_a_node_changes_only_how_much_it_can_hold() -> None:
    errors = FieldErrors()
    old = {"name": "d", "nodeID": "n"}

    check_csi_node_change(NODES, node(old | {"allocatable": {"count": 1}}), node(old), errors)
    check_csi_node_change(NODES, node(), node(old), errors)
    check_csi_node_change(NODES, node(old | {"nodeID": "m"}), node(old), errors)

    assert fields_of(errors) == ["spec.drivers"]


def test_capacity_is_of_a_class_and_stays_so() -> None:
    errors = FieldErrors()
    old = {"storageClassName": "a", "nodeTopology": BAD}

    check_storage_capacity({"storageClassName": "", "capacity": "-1"}, errors)
    check_storage_capacity_update(old, old, errors)
    check_storage_capacity_change(old | {"storageClassName": "b"}, old, errors)

    assert fields_of(errors) == ["storageClassName", "capacity", "storageClassName"]
