from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.api_services import (
    check_api_service,
    check_api_service_status,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

SERVICES = kind_of("apiservices", "apiregistration.k8s.io")


def wrong_with(name: str = "v1.example.com", **spec: Any) -> list[str]:
    usual = {
        "group": "example.com",
        "version": "v1",
        "groupPriorityMinimum": 20000,
        "versionPriority": 1000,
    }
    errors = FieldErrors()
    made = created(SERVICES, {"metadata": {"name": name}, "spec": usual | spec})
    check_api_service(SERVICES, made, errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "spec",
    [
        {},
        {"service": {"name": "s", "namespace": "n"}, "caBundle": "AAAA"},
        {"service": {"name": "s", "namespace": "n"}, "insecureSkipTLSVerify": True},
    ],
)
def test_usual_services_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (
            {"name": "v2.example.com"},
            [
                (
                    'metadata.name: Invalid value: "v2.example.com": must be '
                    '`spec.version+"."+spec.group`: "v1.example.com"'
                )
            ],
        ),
        ({"name": "a/b"}, ["metadata.name: Invalid value: \"a/b\": may not contain '/'"]),
        (
            {"name": "v2.", "group": "", "version": "v2"},
            [
                (
                    "spec.group: Required value: only v1 may have an empty group and it better be "
                    "legacy kube"
                )
            ],
        ),
        (
            {"groupPriorityMinimum": 20001, "versionPriority": 0},
            [
                (
                    "spec.groupPriorityMinimum: Invalid value: 20001: must be positive and less "
                    "than 20000"
                ),
                "spec.versionPriority: Invalid value: 0: must be positive and less than 1000",
            ],
        ),
        (
            {"caBundle": "AAA=", "insecureSkipTLSVerify": True},
            [
                (
                    'spec.caBundle: Invalid value: "2 bytes": local APIServices may not have a '
                    "caBundle"
                ),
                (
                    "spec.insecureSkipTLSVerify: Invalid value: true: local APIServices may not "
                    "have insecureSkipTLSVerify"
                ),
            ],
        ),
        (
            {"service": {"port": 0}, "caBundle": "AAAA", "insecureSkipTLSVerify": True},
            [
                "spec.service.namespace: Required value",
                "spec.service.name: Required value",
                (
                    "spec.service.port: Invalid value: 0: port is not valid: must be between 1 and "
                    "65535, inclusive"
                ),
                (
                    "spec.insecureSkipTLSVerify: Invalid value: true: may not be true if caBundle "
                    "is present"
                ),
            ],
        ),
    ],
)
def test_services_that_could_not_be_reached_are_refused(
    spec: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with(**spec) == wrong


def test_conditions_are_true_false_or_unknown() -> None:
    errors = FieldErrors()
    document = {"status": {"conditions": [{"status": "True"}, {"status": "Maybe"}]}}
    check_api_service_status(document, document, errors)

    assert complaints(errors) == [
        (
            'status.conditions[1].status: Unsupported value: "Maybe": supported values: "True", '
            '"False", "Unknown"'
        )
    ]
