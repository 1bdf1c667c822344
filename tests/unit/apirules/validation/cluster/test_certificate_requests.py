from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.cluster.certificate_requests import (
    check_certificate_request,
    check_certificate_request_approval,
    check_certificate_request_status,
    check_certificate_request_update,
)
from reflet.apirules.validation.field_errors import FieldErrors
from tests.certificate_texts import CERTIFICATE, REQUEST, REQUEST_PEM, as_bytes
from tests.unit.devserver.object_scene import complaints, created, kind_of

REQUESTS = kind_of("certificatesigningrequests", "certificates.k8s.io")
APPROVED = {"type": "Approved", "status": "True"}
DENIED = {"type": "Denied", "status": "True"}
BOTH = "Approved and Denied conditions are mutually exclusive"


def request(status: dict[str, Any] | None = None, **spec: Any) -> dict[str, Any]:
    usual = {"request": REQUEST, "signerName": "example.com/s", "usages": ["client auth"]}
    made = {name: each for name, each in (usual | spec).items() if each is not None}
    return created(REQUESTS, {"metadata": {"name": "Any_"}, "spec": made}) | {
        "status": status or {}
    }


def wrong_with(**spec: Any) -> list[str]:
    errors = FieldErrors()
    check_certificate_request(REQUESTS, request(**spec), errors)
    return complaints(errors)


@pytest.mark.parametrize(
    "spec", [{}, {"expirationSeconds": 600}, {"signerName": "a.b.c/d.e", "usages": ["s/mime"]}]
)
def test_usual_requests_are_fine(spec: dict[str, Any]) -> None:
    assert wrong_with(**spec) == []


@pytest.mark.parametrize(
    ("spec", "wrong"),
    [
        (
            {"request": None},
            ["spec.request: Invalid value: null: PEM block type must be CERTIFICATE REQUEST"],
        ),
        (
            {"request": CERTIFICATE},
            [
                (
                    f'spec.request: Invalid value: "{CERTIFICATE}": PEM block type must be '
                    "CERTIFICATE REQUEST"
                )
            ],
        ),
        ({"usages": []}, ["spec.usages: Required value"]),
        (
            {"usages": ["any", "any"]},
            ['spec.usages[1]: Duplicate value: "any"'],
        ),
        (
            {"expirationSeconds": 599},
            [
                (
                    "spec.expirationSeconds: Invalid value: 599: may not specify a duration less "
                    "than 600 seconds (10 minutes)"
                )
            ],
        ),
        (
            {"signerName": "kubernetes.io/legacy-unknown"},
            [
                (
                    'spec.signerName: Invalid value: "kubernetes.io/legacy-unknown": the legacy '
                    "signerName is not allowed via this API version"
                )
            ],
        ),
        ({"signerName": ""}, ["spec.signerName: Required value"]),
        (
            {"signerName": "a/b/c"},
            [
                (
                    'spec.signerName: Invalid value: "a/b/c": must be a fully qualified domain and '
                    "path of the form 'example.com/signer-name'"
                )
            ],
        ),
        (
            {"signerName": "a/b"},
            [
                (
                    'spec.signerName: Invalid value: "a": should be a domain with at least two '
                    "segments separated by dots"
                )
            ],
        ),
    ],
)
def test_requests_that_nobody_could_sign_are_refused(
    spec: dict[str, Any], wrong: list[str]
) -> None:
    assert wrong_with(**spec) == wrong


def test_signatures_are_not_verified() -> None:
    """The real server refuses this one; see devserver-differences.md."""
    other = REQUEST_PEM.replace("2CgsyRolJ7DmOxXiuIk=", "2CgsyRolJ7DmOxXiuIg=")

    assert other != REQUEST_PEM
    assert wrong_with(request=as_bytes(other)) == []


@pytest.mark.parametrize(
    ("conditions", "wrong"),
    [
        ([APPROVED], []),
        ([APPROVED, DENIED], [f'status.conditions: Invalid value: "Denied": {BOTH}']),
        ([APPROVED, APPROVED], ['status.conditions[1].type: Duplicate value: "Approved"']),
        (
            [{"type": "Failed", "status": "False"}],
            ['status.conditions[0].status: Unsupported value: "False": supported values: "True"'],
        ),
        ([{}], [f"status.conditions[0].{name}: Required value" for name in ("type", "status")]),
    ],
)
def test_a_request_is_approved_or_denied(
    conditions: list[dict[str, Any]], wrong: list[str]
) -> None:
    errors = FieldErrors()
    new = request({"conditions": conditions})
    check_certificate_request_approval(REQUESTS, new, request(), errors)

    assert complaints(errors) == wrong


@pytest.mark.parametrize(
    ("check", "old", "new", "wrong"),
    [
        (
            check_certificate_request_approval,
            {"conditions": [APPROVED]},
            {},
            ['conditions: Forbidden: updates may not remove a condition of type "Approved"'],
        ),
        (
            check_certificate_request_status,
            {},
            {"conditions": [DENIED]},
            ['conditions: Forbidden: updates may not add a condition of type "Denied"'],
        ),
        (check_certificate_request_status, {}, {"certificate": CERTIFICATE}, []),
        (
            check_certificate_request_status,
            {},
            {"certificate": REQUEST},
            [
                (
                    'certificate: Invalid value: "<certificate data>": only CERTIFICATE PEM blocks '
                    'are allowed, found "CERTIFICATE REQUEST"'
                )
            ],
        ),
        (
            check_certificate_request_status,
            {"certificate": CERTIFICATE},
            {},
            ["certificate: Forbidden: updates may not modify existing certificate content"],
        ),
        (
            check_certificate_request_update,
            {},
            {"certificate": CERTIFICATE},
            ["certificate: Forbidden: updates may not set certificate content"],
        ),
    ],
)
def test_each_writes_what_is_his(
    check: Any, old: dict[str, Any], new: dict[str, Any], wrong: list[str]
) -> None:
    errors = FieldErrors()
    check(REQUESTS, request(new), request(old), errors)

    assert [each.removeprefix("status.") for each in complaints(errors)] == wrong
