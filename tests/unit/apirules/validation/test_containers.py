from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.containers import (
    PodAround,
    check_container,
    check_probes,
    check_resources,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints

POD = PodAround(volumes={"v": {"name": "v", "emptyDir": {}}})
USUAL = {
    "name": "web",
    "image": "nginx",
    "imagePullPolicy": "Always",
    "terminationMessagePolicy": "File",
}


def wrong_with(**fields: Any) -> list[str]:
    errors = FieldErrors()
    check_container(USUAL | fields, POD, "c", errors)
    return complaints(errors)


def test_a_usual_container_is_fine() -> None:
    assert wrong_with() == []


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"name": ""}, ["c.name: Required value"]),
        ({"name": "a.b"}, ['c.name: Invalid value: "a.b": must not contain dots']),
        ({"image": ""}, ["c.image: Required value"]),
        (
            {"ports": [{"protocol": "TCP"}]},
            ["c.ports[0].containerPort: Required value"],
        ),
        (
            {"volumeMounts": [{"name": "w", "mountPath": "/a"}]},
            ['c.volumeMounts[0].name: Not found: "w"'],
        ),
        (
            {"volumeMounts": [{"name": "v", "mountPath": "/a"}] * 2},
            ['c.volumeMounts[1].mountPath: Invalid value: "/a": must be unique'],
        ),
        (
            {"securityContext": {"runAsUser": -1}},
            [
                (
                    "c.securityContext.runAsUser: Invalid value: -1: must be between 0 and "
                    "2147483647, inclusive"
                )
            ],
        ),
        ({"securityContext": {"privileged": True}}, []),
    ],
)
def test_each_part_has_its_rules(fields: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**fields) == wrong


@pytest.mark.parametrize(
    ("probe", "wrong"),
    [
        ({"exec": {"command": ["a"]}, "successThreshold": 1}, []),
        ({"successThreshold": 1}, ["c.livenessProbe: Required value: must specify a handler type"]),
        (
            {"tcpSocket": {"port": "http"}, "successThreshold": 2},
            ["c.livenessProbe.successThreshold: Invalid value: 2: must be 1"],
        ),
        (
            {"exec": {"command": ["a"]}, "grpc": {"port": 1}, "successThreshold": 1},
            ["c.livenessProbe.grpc: Forbidden: may not specify more than 1 handler type"],
        ),
    ],
)
def test_probes_have_their_rules(probe: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_probes({"livenessProbe": probe}, POD, "c", errors)

    assert complaints(errors) == wrong


def test_readiness_does_not_end_a_container() -> None:
    errors = FieldErrors()
    probe = {"exec": {"command": ["a"]}, "terminationGracePeriodSeconds": 5}

    check_probes({"readinessProbe": probe}, POD, "c", errors)

    assert complaints(errors) == [
        (
            "c.readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for "
            "readinessProbes"
        )
    ]


@pytest.mark.parametrize(
    ("limits", "requests", "wrong"),
    [
        ({"cpu": "1"}, {"cpu": "1"}, []),
        ({"cpu": "1"}, {"cpu": "2"}, ["must be less than or equal to cpu limit of 1"]),
        ({"cpu": "-1"}, {}, ["must be greater than or equal to 0"]),
        ({}, {"gold": "1"}, ["must be a standard resource type", "standard resource for cont"]),
        ({"a.b/gpu": "1"}, {"a.b/gpu": "1"}, []),
        ({"a.b/gpu": "2"}, {"a.b/gpu": "1"}, ["must be equal to a.b/gpu limit of 2"]),
        ({}, {"a.b/gpu": "1"}, ["Limit must be set for non overcommitable resources"]),
        ({"a.b/gpu": "500m"}, {}, ["must be an integer"]),
        ({"hugepages-2Mi": "2Mi"}, {}, ["HugePages require cpu or memory"]),
    ],
)
def test_resources_have_their_rules(
    limits: dict[str, str], requests: dict[str, str], wrong: list[str]
) -> None:
    errors = FieldErrors()

    check_resources({"limits": limits, "requests": requests}, "r", errors)

    found = complaints(errors)
    assert len(found) == len(wrong)
    assert all(said in complaint for said, complaint in zip(wrong, found, strict=True))
