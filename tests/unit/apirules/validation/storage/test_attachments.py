from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.attachments import (
    check_attachment,
    check_attachment_change,
    check_attributes,
    check_attributes_change,
)
from tests.unit.devserver.object_scene import kind_of

KIND = kind_of("volumeattachments", "storage.k8s.io")
INLINE = {"accessModes": ["ReadWriteOnce"], "csi": {"driver": "d", "volumeHandle": "h"}}


def attachment(source: Any, **fields: Any) -> dict[str, Any]:
    return {"spec": {"attacher": "d", "nodeName": "n", "source": source}} | fields


def fields_of(errors: FieldErrors) -> list[str]:
    return [cause.field for cause in errors.causes]


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ({"persistentVolumeName": "v"}, []),
        ({"inlineVolumeSpec": INLINE}, []),
        ({}, ["spec.source"]),
        ({"persistentVolumeName": "v", "inlineVolumeSpec": INLINE}, ["spec.source"]),
        (
            {"inlineVolumeSpec": INLINE | {"capacity": {"storage": "1"}, "volumeMode": "Block"}},
            [
                "spec.source.inlineVolumeSpec.capacity",
                "spec.source.inlineVolumeSpec.volumeMode",
            ],
        ),
    ],
)
def test_one_volume_is_attached(source: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_attachment(attachment(source), errors)

    assert fields_of(errors) == wrong


def test_reports_are_not_too_long() -> None:
    errors = FieldErrors()
    status = {"attachError": {"message": "a" * 1025, "errorCode": -1}}

    check_attachment(attachment({"persistentVolumeName": "v"}, status=status), errors)

    assert fields_of(errors) == ["status.attachError.message", "status.attachError.errorCode"]


def test_an_attachment_stays_what_it_is() -> None:
    errors = FieldErrors()
    old, new = (attachment({"persistentVolumeName": name}) for name in ("a", "b"))

    check_attachment_change(KIND, old, old, errors)
    check_attachment_change(KIND, new, old, errors)

    assert fields_of(errors) == ["spec"]


def test_attributes_are_those_of_a_driver_for_ever() -> None:
    errors = FieldErrors()
    old = {"driverName": "d", "parameters": {"a": "b"}}

    check_attributes({}, errors)
    check_attributes_change(old | {"parameters": {"a": "c"}}, old, errors)

    assert fields_of(errors) == ["driverName", "parameters", "parameters"]
