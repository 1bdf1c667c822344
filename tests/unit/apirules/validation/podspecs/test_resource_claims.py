from __future__ import annotations

from typing import Any

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.podspecs.resource_claims import check_pod_claims, check_used_claims
from tests.unit.devserver.object_scene import complaints


@pytest.mark.parametrize(
    ("claim", "wrong"),
    [
        ({"name": "a", "resourceClaimName": "x"}, []),
        ({"name": "a"}, ["c[0]"]),
        ({"resourceClaimName": "X"}, ["c[0].name", "c[0].resourceClaimName"]),
        ({"name": "a", "resourceClaimName": "x", "resourceClaimTemplateName": "y"}, ["c[0]"]),
    ],
)
def test_claims_of_pods_have_their_rules(claim: dict[str, Any], wrong: list[str]) -> None:
    errors = FieldErrors()

    check_pod_claims([claim], "c", errors)

    assert [cause.field for cause in errors.causes] == wrong


def test_a_container_uses_each_request_of_known_claims_once() -> None:
    errors = FieldErrors()
    one = {"name": "a", "request": "one"}

    check_used_claims([one, one, {"name": "a"}, {"name": "b"}, {}], frozenset("a"), "c", errors)

    assert complaints(errors) == [
        'c[1]: Duplicate value: "a/one"',
        'c[2]: Duplicate value: "a"',
        'c[3]: Not found: "b": must be one of the names in pod.spec.resourceClaims: a',
        "c[4]: Required value",
    ]
