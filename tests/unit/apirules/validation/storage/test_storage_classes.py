from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.storage_classes import (
    check_storage_class,
    check_storage_class_change,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of

KIND = kind_of("storageclasses", "storage.k8s.io")


def storage_class(**fields: Any) -> dict[str, Any]:
    return created(KIND, {"metadata": {"name": "x"}, "provisioner": "example.com/a"} | fields)


def wrong_with(**fields: Any) -> list[str]:
    errors = FieldErrors()
    check_storage_class(storage_class(**fields), errors)
    return complaints(errors)


def term(*requirements: tuple[str, list[str]]) -> dict[str, Any]:
    return {"matchLabelExpressions": [{"key": key, "values": each} for key, each in requirements]}


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"provisioner": "Example.com/A"},
        {"reclaimPolicy": "Retain", "volumeBindingMode": "WaitForFirstConsumer"},
        {"reclaimPolicy": ""},
        {"allowedTopologies": [term(("a", ["b", "c"])), term(("a", ["b"]))]},
    ],
)
def test_usual_classes_are_fine(fields: dict[str, Any]) -> None:
    assert wrong_with(**fields) == []


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"provisioner": ""}, ["provisioner: Required value"]),
        (
            {"reclaimPolicy": "Recycle"},
            ['reclaimPolicy: Unsupported value: "Recycle": supported values: "Delete", "Retain"'],
        ),
        (
            {"volumeBindingMode": ""},
            [
                (
                    'volumeBindingMode: Unsupported value: "": supported values: "Immediate", '
                    '"WaitForFirstConsumer"'
                )
            ],
        ),
        ({"parameters": {"": "a"}}, ['parameters: Invalid value: "": field can not be empty.']),
        (
            {"parameters": {"a": "b" * 262144}},
            ["parameters: Too long: may not be more than 262144 bytes"],
        ),
        (
            {"parameters": {f"a{i}": "" for i in range(513)}},
            ["parameters: Too long: may not be more than 512 bytes"],
        ),
        (
            {"allowedTopologies": [term(("a", []))]},
            ["allowedTopologies[0].matchLabelExpressions[0].values: Required value"],
        ),
        (
            {"allowedTopologies": [term(("a", ["b", "b"]))]},
            ['allowedTopologies[0].matchLabelExpressions[0].values[1]: Duplicate value: "b"'],
        ),
        (
            {"allowedTopologies": [term(("a", ["b"]), ("a", ["c"]))]},
            ['allowedTopologies[0].matchLabelExpressions[1].key: Duplicate value: "a"'],
        ),
        (
            {"allowedTopologies": [term(("a", ["b", "c"])), term(("a", ["c", "b"]))]},
            ['allowedTopologies[1].matchLabelExpressions: Duplicate value: ""'],
        ),
        (
            {"allowedTopologies": [{}]},
            ['allowedTopologies[0].matchLabelExpressions: Duplicate value: ""'],
        ),
    ],
)
def test_what_is_wrong_is_said(fields: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**fields) == wrong


def test_a_provisioner_is_shown_in_lower_case() -> None:
    assert wrong_with(provisioner="A b")[0].startswith('provisioner: Invalid value: "a b": ')


def test_a_class_stays_what_it_is() -> None:
    errors = FieldErrors()
    new = storage_class(
        provisioner="b",
        parameters={"b": "1", "a": "2"},
        reclaimPolicy="Retain",
        volumeBindingMode="WaitForFirstConsumer",
    )

    check_storage_class_change(new, storage_class(), errors)

    assert complaints(errors) == [
        'parameters: Invalid value: {"a":"2","b":"1"}: field is immutable',
        'provisioner: Invalid value: "b": field is immutable',
        'reclaimPolicy: Invalid value: "Retain": field is immutable',
        'volumeBindingMode: Invalid value: "WaitForFirstConsumer": field is immutable',
    ]


def test_the_rest_of_a_class_may_change() -> None:
    errors = FieldErrors()
    new = storage_class(allowVolumeExpansion=True, mountOptions=["ro"], parameters={})

    check_storage_class_change(new, storage_class(), errors)

    assert not errors
