from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.mount_rules import check_devices, check_mounts

VOLUMES: dict[str, Any] = {
    "v": {"emptyDir": {}},
    "d": {"persistentVolumeClaim": {"claimName": "c"}},
}
MOUNT = {"name": "v", "mountPath": "/a"}
DEVICE = {"name": "d", "devicePath": "/dev/a"}


def fields_of(container: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_mounts(container, VOLUMES, "c", errors)
    check_devices(container, VOLUMES, "c", errors)
    return [cause.field for cause in errors.causes]


@pytest.mark.parametrize(
    ("container", "wrong"),
    [
        ({"volumeMounts": [MOUNT], "volumeDevices": [DEVICE]}, []),
        ({"volumeMounts": [MOUNT, MOUNT]}, ["c.volumeMounts[1].mountPath"]),
        ({"volumeMounts": [MOUNT | {"name": "x"}]}, ["c.volumeMounts[0].name"]),
        (
            {"volumeMounts": [MOUNT | {"mountPropagation": "Bidirectional"}]},
            ["c.volumeMounts.mountPropagation"],
        ),
        (
            {"volumeMounts": [MOUNT | {"recursiveReadOnly": "Enabled"}]},
            ["c.volumeMounts.recursiveReadOnly"],
        ),
        ({"volumeDevices": [DEVICE | {"name": "v"}]}, ["c.volumeDevices[0].name"]),
        ({"volumeDevices": [DEVICE | {"devicePath": "../a"}]}, ["c.volumeDevices[0].devicePath"]),
        (
            {"volumeMounts": [MOUNT | {"name": "d"}], "volumeDevices": [DEVICE]},
            ["c.volumeMounts[0].name", "c.volumeDevices[0].name"],
        ),
    ],
)
def test_mounts_and_devices_have_their_rules(container: dict[str, Any], wrong: list[str]) -> None:
    assert fields_of(container) == wrong
