from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.pod_resources import (
    check_file_references,
    check_pod_resources,
)

BOX = {"resources": {"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}}


@pytest.mark.parametrize(
    ("resources", "wrong"),
    [
        ({"requests": {"cpu": "2"}, "limits": {"cpu": "4"}}, []),
        ({"requests": {"cpu": "1"}}, ["s.resources.requests[cpu]"]),
        ({"limits": {"cpu": "3"}}, ["s.resources.containers[0][cpu].limits"]),
        ({"limits": {"ephemeral-storage": "1"}}, ["s.resources.limits[ephemeral-storage]"]),
        ({"claims": []}, ["s.resources.claims"]),
    ],
)
def test_a_pod_has_room_for_its_containers(resources: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_pod_resources({"resources": resources, "containers": [BOX]}, "s", errors)

    assert [cause.field for cause in errors.causes] == wrong


@pytest.mark.parametrize(("volume", "count"), [("v", 0), ("h", 1), ("x", 1)])
def test_variables_come_from_volumes_that_containers_write(volume: str, count: int) -> None:
    errors = FieldErrors()
    variable = {"name": "A", "valueFrom": {"fileKeyRef": {"volumeName": volume}}}
    volumes = [{"name": "v", "emptyDir": {}}, {"name": "h", "hostPath": {"path": "/"}}]

    check_file_references({"containers": [{"env": [variable]}], "volumes": volumes}, "s", errors)

    assert len(errors) == count
