from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.environment import (
    VOLUME_FIELDS,
    check_environment,
    check_environment_sources,
    check_field_reference,
    check_resource_reference,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints


def wrong_with(*variables: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_environment(variables, "env", errors)
    return complaints(errors)


def reference(path: str) -> dict[str, Any]:
    return {"name": "A", "valueFrom": {"fieldRef": {"apiVersion": "v1", "fieldPath": path}}}


@pytest.mark.parametrize(
    "path",
    ["metadata.name", "status.podIPs", "metadata.labels['a/b']", "metadata.annotations['X']"],
)
def test_fields_that_a_variable_can_have(path: str) -> None:
    assert wrong_with(reference(path)) == []


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("", "env[0].valueFrom.fieldRef.fieldPath: Required value"),
        ("spec.nowhere", "field label not supported: spec.nowhere"),
        ("metadata.labels", 'Unsupported value: "metadata.labels"'),
        ("spec.nodeName['a']", "does not support subscript"),
        ("metadata.labels['a b']", 'fieldRef: Invalid value: "a b": name part must consist'),
    ],
)
def test_fields_that_a_variable_cannot_have(path: str, wrong: str) -> None:
    (complaint,) = wrong_with(reference(path))

    assert wrong in complaint


def test_a_variable_has_one_source() -> None:
    value = {"fieldRef": {"apiVersion": "v1", "fieldPath": "metadata.name"}}
    both = value | {"secretKeyRef": {"name": "s", "key": "k"}}

    assert wrong_with({"name": "A", "valueFrom": {}})[0].startswith(
        'env[0].valueFrom: Invalid value: "": must specify one of:'
    )
    assert wrong_with({"name": "A", "value": "1", "valueFrom": value}) == [
        'env[0].valueFrom: Invalid value: "": may not be specified when `value` is not empty'
    ]
    assert wrong_with({"name": "A", "valueFrom": both}) == [
        'env[0].valueFrom: Invalid value: "": may not have more than one field specified at a time'
    ]


def test_sources_of_many_variables_are_checked() -> None:
    errors = FieldErrors()

    check_environment_sources(
        [{"prefix": "a=", "configMapRef": {}}, {}, {"secretRef": {"name": "ok"}}], "envFrom", errors
    )

    assert [cause.field for cause in errors.causes] == [
        "envFrom[0].prefix",
        "envFrom[0].configMapRef.name",
        "envFrom",
    ]


def test_a_volume_can_show_all_labels() -> None:
    errors = FieldErrors()

    check_field_reference(
        {"apiVersion": "v1", "fieldPath": "metadata.labels"}, VOLUME_FIELDS, "f", errors
    )

    assert not errors


def test_another_version_of_pods_has_no_fields() -> None:
    errors = FieldErrors()

    check_field_reference({"apiVersion": "v9", "fieldPath": "metadata.name"}, (), "f", errors)

    assert "unsupported pod version: v9" in complaints(errors)[0]


@pytest.mark.parametrize(
    ("reference", "wrong"),
    [
        ({"resource": "limits.cpu", "divisor": "1m"}, ""),
        ({"resource": "limits.cpu", "divisor": "7"}, "only divisor's values 1m and 1 are"),
        ({"resource": "limits.memory", "divisor": "1m"}, "supported with the memory resource"),
        ({"resource": "limits.hugepages-2Mi", "divisor": "1Mi"}, ""),
        ({"resource": "limits.gold"}, 'Unsupported value: "limits.gold"'),
        ({}, "resource: Required value"),
    ],
)
def test_resources_that_can_be_referred_to(reference: dict[str, Any], wrong: str) -> None:
    errors = FieldErrors()

    check_resource_reference(reference, "r", errors, in_volume=False)

    assert [wrong in complaint for complaint in complaints(errors)] == ([True] if wrong else [])


def test_a_volume_must_name_the_container() -> None:
    errors = FieldErrors()

    check_resource_reference({"resource": "limits.cpu"}, "r", errors, in_volume=True)

    assert complaints(errors) == ["r.containerName: Required value"]
