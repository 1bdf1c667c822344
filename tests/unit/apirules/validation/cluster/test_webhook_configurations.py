from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.webhook_configurations import check_webhook_configuration
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints, created, kind_of

HOOKS = kind_of("mutatingwebhookconfigurations", "admissionregistration.k8s.io")
FORM = "; desired format: https://host[/path]"


def hook(**fields: Any) -> dict[str, Any]:
    return {
        "name": "a.example.com",
        "clientConfig": {"url": "https://a.example.com/"},
        "sideEffects": "None",
        "admissionReviewVersions": ["v1"],
    } | fields


def wrong_with(*hooks: dict[str, Any]) -> list[str]:
    errors = FieldErrors()
    made = created(HOOKS, {"metadata": {"name": "x"}, "webhooks": list(hooks)})
    check_webhook_configuration(HOOKS, made, errors)
    return [each.removeprefix("webhooks[0].") for each in complaints(errors)]


@pytest.mark.parametrize(
    "fields",
    [
        {},
        {"timeoutSeconds": 30, "failurePolicy": "Ignore", "reinvocationPolicy": "IfNeeded"},
        {"clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/a/b.c/"}}},
        {"clientConfig": {"url": "https://a", "caBundle": "AAAA"}},
    ],
)
def test_usual_webhooks_are_fine(fields: dict[str, Any]) -> None:
    assert wrong_with(hook(**fields)) == []


@pytest.mark.parametrize(
    ("fields", "wrong"),
    [
        ({"name": ""}, ["name: Required value"]),
        (
            {"name": "a.b"},
            [
                (
                    'name: Invalid value: "a.b": should be a domain with at least three segments '
                    "separated by dots"
                )
            ],
        ),
        (
            {"timeoutSeconds": 31},
            [
                (
                    "timeoutSeconds: Invalid value: 31: the timeout value must be between 1 and 30 "
                    "seconds"
                )
            ],
        ),
        (
            {"sideEffects": None},
            ["sideEffects: Required value: must specify one of None, NoneOnDryRun"],
        ),
        (
            {"admissionReviewVersions": ["v2", "v2"]},
            [
                'admissionReviewVersions[1]: Invalid value: "v2": duplicate version',
                (
                    'admissionReviewVersions: Invalid value: ["v2","v2"]: must include at least '
                    "one of v1, v1beta1"
                ),
            ],
        ),
        (
            {"clientConfig": {}},
            ["clientConfig: Required value: exactly one of url or service is required"],
        ),
        (
            {"clientConfig": {"url": "http://u@/?q#f"}},
            [
                (
                    "clientConfig.url: Invalid value: \"http\": 'https' is the only allowed URL "
                    f"scheme{FORM}"
                ),
                f'clientConfig.url: Invalid value: "": host must be specified{FORM}',
                (
                    'clientConfig.url: Invalid value: "u": user information is not permitted in '
                    "the URL"
                ),
                'clientConfig.url: Invalid value: "f": fragments are not permitted in the URL',
                (
                    'clientConfig.url: Invalid value: "q": query parameters are not permitted in '
                    "the URL"
                ),
            ],
        ),
        (
            {"clientConfig": {"url": "://"}},
            [
                (
                    'clientConfig.url: Required value: url must be a valid URL: parse "://": '
                    f"missing protocol scheme{FORM}"
                )
            ],
        ),
        (
            # The real server, too, takes the one for the other.
            {"clientConfig": {"service": {"name": "s", "port": 0}}},
            [
                "clientConfig.service.name: Required value",
                (
                    "clientConfig.service.port: Invalid value: 0: port is not valid: must be "
                    "between 1 and 65535, inclusive"
                ),
            ],
        ),
        (
            {"clientConfig": {"service": {"name": "s", "namespace": "n", "path": "//"}}},
            ['clientConfig.service.path: Invalid value: "//": segment[0] may not be empty'],
        ),
        (
            {"clientConfig": {"service": {"name": "s", "namespace": "n", "path": "/a//b"}}},
            [
                'clientConfig.service.path: Invalid value: "/a//b": segment[1] may not be empty',
            ],
        ),
    ],
)
def test_webhooks_that_could_not_be_called_are_refused(
    fields: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with(hook(**fields)) == wrong


def test_webhooks_of_a_configuration_have_names_of_their_own() -> None:
    assert wrong_with(hook(), hook()) == ['webhooks[1].name: Duplicate value: "a.example.com"']
