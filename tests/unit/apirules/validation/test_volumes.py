from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.volumes import check_inside, check_volumes
from tests.unit.devserver.object_scene import complaints


def wrong_with(*volumes: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    check_volumes(volumes, "v", errors)
    return complaints(errors)


def test_good_volumes_are_named() -> None:
    errors = FieldErrors()
    volumes = [
        {"name": "a", "emptyDir": {}},
        {"name": "a", "emptyDir": {}},
        {"name": "B", "emptyDir": {}},
        {"name": "c", "nfs": {"server": "s", "path": "/"}},
    ]

    assert set(check_volumes(volumes, "v", errors)) == {"a", "c"}
    assert [cause.field for cause in errors.causes] == ["v[1].name", "v[2].name"]


@pytest.mark.parametrize(
    ("source", "wrong"),
    [
        ({}, "v[0]: Required value: must specify a volume type"),
        ({"secret": {}}, "v[0].secret.secretName: Required value"),
        ({"configMap": {}}, "v[0].configMap.name: Required value"),
        ({"hostPath": {"path": ""}}, "v[0].hostPath.path: Required value"),
        (
            {"hostPath": {"path": "/a/../b"}},
            "v[0].hostPath.path: Invalid value: \"/a/../b\": must not contain '..'",
        ),
        (
            {"emptyDir": {"sizeLimit": "-1"}},
            "v[0].emptyDir.sizeLimit: Forbidden: SizeLimit field must be a valid resource quantity",
        ),
        ({"persistentVolumeClaim": {}}, "v[0].persistentVolumeClaim.claimName: Required value"),
        (
            {"downwardAPI": {"items": [{"path": "x"}]}},
            "v[0].downwardAPI: Required value: one of fieldRef and resourceFieldRef is required",
        ),
    ],
)
def test_each_source_has_its_rules(source: dict[str, Any], wrong: str) -> None:
    assert wrong_with({"name": "a"} | source) == [wrong]


def test_a_volume_has_one_source() -> None:
    assert wrong_with({"name": "a", "emptyDir": {}, "configMap": {"name": "c"}}) == [
        "v[0].configMap: Forbidden: may not specify more than 1 volume type"
    ]


@pytest.mark.parametrize("mode", [-1, 512])
def test_modes_are_those_of_files(mode: int) -> None:
    (complaint,) = wrong_with({"name": "a", "secret": {"secretName": "s", "defaultMode": mode}})

    assert complaint.endswith("must be a number between 0 and 0777 (octal), both inclusive")


def test_projections_do_not_overlap() -> None:
    item = {"key": "k", "path": "p"}
    sources = [
        {"secret": {"name": "s", "items": [item]}},
        {"configMap": {"name": "c", "items": [item]}},
        {"secret": {"name": "s"}, "configMap": {"name": "c"}},
        {"serviceAccountToken": {"path": "t", "expirationSeconds": 1}},
    ]

    assert wrong_with({"name": "a", "projected": {"sources": sources}}) == [
        'v[0].projected: Invalid value: "c": conflicting duplicate paths',
        "v[0].projected.sources[2]: Forbidden: may not specify more than 1 volume type per source",
        (
            "v[0].projected.sources[3].serviceAccountToken.expirationSeconds: Invalid value: 1: "
            "may not specify a duration less than 10 minutes"
        ),
    ]


@pytest.mark.parametrize(
    ("path", "wrong"),
    [
        ("a/b", []),
        ("/a", ["must be a relative path"]),
        ("a/../b", ["must not contain '..'"]),
        ("../a", ["must not contain '..'"]),
        ("..data", ["must not start with '..'"]),
    ],
)
def test_a_file_stays_inside_its_volume(path: str, wrong: list[str]) -> None:
    errors = FieldErrors()

    check_inside(path, "p", errors)

    assert complaints(errors) == [f'p: Invalid value: "{path}": {each}' for each in wrong]
