from __future__ import annotations

import copy
from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.storage.persistent_volume_claims import (
    OLD_CLASS,
    check_claim,
    check_claim_change,
    check_claim_spec,
    check_claim_status,
)
from tests.unit.devserver.object_scene import complaints, created, kind_of

KIND = kind_of("persistentvolumeclaims")
OTHER = {"kind": "PersistentVolumeClaim", "name": "other"}


def asking(amount: str) -> dict[str, Any]:
    return {"requests": {"storage": amount}}


def claim(annotations: dict[str, str] | None = None, **spec: Any) -> dict[str, Any]:
    usual = {"accessModes": ["ReadWriteOnce"], "resources": asking("2Gi")}
    metadata = {"name": "x", "annotations": annotations or {}}
    return created(KIND, {"metadata": metadata, "spec": usual | spec})


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_claim(claim(**spec), errors)
    return complaints(errors)


def wrong_with_change(
    old: dict[str, Any], annotations: dict[str, str] | None = None, /, **spec: Any
) -> list[str]:
    new = copy.deepcopy(old)
    new["spec"] |= spec
    for name in [name for name, value in spec.items() if value is None]:
        del new["spec"][name]
    if annotations is not None:
        new["metadata"]["annotations"] = annotations
    errors = FieldErrors()
    schema = KIND.schema.field("spec")
    assert schema is not None
    check_claim_change(schema, new, old, errors)
    return [each.partition("\n")[0] for each in complaints(errors)]


IMMUTABLE = (
    "spec: Forbidden: spec is immutable after creation except resources.requests and "
    "volumeAttributesClassName for bound claims"
)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"accessModes": ["ReadWriteOncePod"], "volumeMode": "Block", "storageClassName": ""},
        {"selector": {"matchLabels": {"a": "b"}}, "volumeAttributesClassName": ""},
        {"dataSource": OTHER},
        {"dataSource": OTHER, "dataSourceRef": OTHER},
        {"dataSourceRef": {"apiGroup": "example.com", "kind": "Any", "name": "a"}},
    ],
)
def test_usual_claims_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (
            {"accessModes": [], "resources": {}},
            [
                "spec.accessModes: Required value: at least 1 access mode is required",
                "spec.resources[storage]: Required value",
            ],
        ),
        (
            {"resources": asking("-1Gi")},
            ['spec.resources[storage]: Invalid value: "-1Gi": must be greater than zero'],
        ),
        (
            {"selector": {"matchExpressions": [{"key": "a", "operator": "In"}]}},
            [
                (
                    "spec.selector.matchExpressions[0].values: Required value: must be "
                    "specified when "
                    "`operator` is 'In' or 'NotIn'"
                ),
            ],
        ),
        (
            {"dataSourceRef": {"kind": "Pod", "name": ""}},
            [
                "spec.dataSource.name: Required value",
                (
                    "spec.dataSource: Invalid value: \"Pod\": must be 'PersistentVolumeClaim' when "
                    "referencing the default apiGroup"
                ),
                "spec.dataSourceRef.name: Required value",
                (
                    'spec.dataSourceRef: Invalid value: "Pod": must be '
                    "'PersistentVolumeClaim' when "
                    "referencing the default apiGroup"
                ),
            ],
        ),
        (
            {"dataSource": OTHER, "dataSourceRef": OTHER | {"name": "b"}},
            ["spec: Invalid value: {}: must match dataSourceRef"],
        ),
    ],
)
def test_what_is_wrong_is_said(spec: dict[str, Any], wrong: list[str]) -> None:
    assert wrong_with(**spec) == wrong


def test_a_source_in_another_namespace_stands_alone() -> None:
    errors = FieldErrors()
    spec = claim()["spec"] | {"dataSource": OTHER, "dataSourceRef": OTHER | {"namespace": "n"}}

    check_claim_spec(spec, "spec", errors)

    assert complaints(errors) == [
        "spec: Invalid value: {}: may not be specified when dataSourceRef.namespace is specified"
    ]


def test_faults_that_were_there_may_stay() -> None:
    requirement = {"key": "a", "operator": "In", "values": ["b c"]}
    reference = {"apiGroup": "A_", "kind": "Any", "name": "a"}
    spec = claim()["spec"] | {"selector": {"matchExpressions": [requirement]}}
    spec |= {"dataSource": reference, "dataSourceRef": reference}
    as_new, as_old = FieldErrors(), FieldErrors()

    check_claim_spec(spec, "spec", as_new)
    check_claim_spec(spec, "spec", as_old, before=spec)

    assert len(as_new) == 3
    assert not as_old


@pytest.mark.parametrize(
    "spec",
    [
        {"volumeName": "pv"},
        {"resources": asking("2048Mi")},
        {"storageClassName": "fast"},
    ],
)
def test_what_of_a_claim_may_change(spec: dict[str, Any]) -> None:
    assert wrong_with_change(claim(), **spec) == []


@pytest.mark.parametrize(
    ("old", "spec"),
    [
        ({}, {"accessModes": ["ReadWriteMany"]}),
        ({}, {"resources": asking("3Gi")}),
        ({}, {"selector": {}}),
        ({}, {"volumeAttributesClassName": "gold"}),
        ({"volumeName": "pv"}, {"volumeName": "other"}),
        ({"storageClassName": "a"}, {"storageClassName": "b"}),
        ({"storageClassName": "a"}, {"storageClassName": None}),
    ],
)
def test_the_rest_stays(old: dict[str, Any], spec: dict[str, Any]) -> None:
    assert wrong_with_change(claim(**old), **spec) == [IMMUTABLE]


def test_what_changed_is_shown() -> None:
    old, new = claim(), claim(volumeMode="Block")
    errors = FieldErrors()
    schema = KIND.schema.field("spec")
    assert schema is not None

    check_claim_change(schema, new, old, errors)

    assert [cause.field for cause in errors.causes] == ["spec", "volumeMode"]
    assert errors.causes[0].message.endswith(
        '\n@@ -11,7 +11,7 @@\n  },\n  "VolumeName": "",\n  "StorageClassName": null,\n'
        '- "VolumeMode": "Filesystem",\n+ "VolumeMode": "Block",\n  "DataSource": null,\n'
        '  "DataSourceRef": null,\n  "VolumeAttributesClassName": null\n'
    )


def bound(**status: Any) -> dict[str, Any]:
    made = claim(volumeName="pv", volumeAttributesClassName="gold")
    made["status"] = {"phase": "Bound", "capacity": {"storage": "1Gi"}} | status
    return made


@pytest.mark.parametrize("amount", ["3Gi", "1025Mi"])
def test_a_bound_claim_may_have_another_size(amount: str) -> None:
    assert wrong_with_change(bound(), resources=asking(amount)) == []


def test_a_bound_claim_does_not_become_smaller_than_its_volume() -> None:
    assert wrong_with_change(bound(), resources=asking("1Gi")) == [
        "spec.resources.requests.storage: Forbidden: field can not be less than status.capacity"
    ]


@pytest.mark.parametrize(("value", "what"), [(None, "nil"), ("", "empty string")])
def test_attributes_that_were_applied_are_not_taken_away(value: str | None, what: str) -> None:
    applied = bound(currentVolumeAttributesClassName="gold")

    assert wrong_with_change(bound(), volumeAttributesClassName=value) == []
    assert wrong_with_change(applied, volumeAttributesClassName="silver") == []
    assert wrong_with_change(applied, volumeAttributesClassName=value) == [
        (
            f"spec.volumeAttributesClassName: Forbidden: update to {what} is forbidden when "
            "status.currentVolumeAttributesClassName is not nil"
        )
    ]


def test_a_class_may_move_from_the_annotation_to_its_field() -> None:
    old = claim({OLD_CLASS: "a"})

    assert wrong_with_change(old, storageClassName="a") == []
    assert wrong_with_change(old, {}, storageClassName="a") == []
    assert wrong_with_change(old, storageClassName="b") == [IMMUTABLE]
    assert wrong_with_change(old, {OLD_CLASS: "b"}) == [
        f'metadata.annotations.{OLD_CLASS}: Invalid value: "b": field is immutable'
    ]


@pytest.mark.parametrize(
    ("status", "wrong"),
    [
        ({"phase": "Bound", "allocatedResources": {"storage": "1"}}, []),
        (
            {"capacity": {"storage": "-1"}},
            ["status.capacity[storage]: Invalid value: -1: must be a valid resource quantity"],
        ),
        (
            {"allocatedResources": {"cpu": "1"}},
            [
                'status.allocatedResources: Unsupported value: "cpu": supported values: "storage"',
            ],
        ),
        (
            {"allocatedResourceStatuses": {"storage": "Odd"}},
            [
                (
                    'status.allocatedResourceStatuses: Unsupported value: "storage": supported '
                    "values: "
                    '"ControllerResizeInProgress", "ControllerResizeInfeasible", '
                    '"NodeResizeInProgress", "NodeResizeInfeasible", "NodeResizePending"'
                ),
            ],
        ),
    ],
)
def test_what_is_reported_is_checked(status: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_claim_status({"status": status}, {}, errors)

    assert complaints(errors) == wrong
