from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.verbs.field_managers import custom_reset_fields, reset_fields


@pytest.mark.parametrize(
    ("resource", "subresource", "fields"),
    [
        ("configmaps", "", {}),
        ("configmaps", "status", {}),
        ("pods", "", {"f:status": {}}),
        (
            "pods",
            "status",
            {"f:metadata": {"f:deletionTimestamp": {}, "f:ownerReferences": {}}, "f:spec": {}},
        ),
        ("services", "status", {"f:spec": {}}),
        ("deployments.apps", "status", {"f:metadata": {"f:labels": {}}, "f:spec": {}}),
        ("deployments.apps", "scale", {}),
        ("namespaces", "finalize", {"f:status": {}}),
        ("volumeattachments.storage.k8s.io", "status", {"f:metadata": {}, "f:spec": {}}),
        (
            "certificatesigningrequests.certificates.k8s.io",
            "approval",
            {"f:spec": {}, "f:status": {"f:certificate": {}}},
        ),
    ],
)
def test_a_part_cannot_change_the_other(
    resource: str, subresource: str, fields: dict[str, Any]
) -> None:
    assert reset_fields(resource, subresource).encoded() == fields


@pytest.mark.parametrize(
    ("subresource", "has_status", "fields"),
    [
        ("", True, {"f:status": {}}),
        ("", False, {}),
        ("status", True, {"f:metadata": {}, "f:spec": {}}),
    ],
)
def test_a_custom_resource_has_two_parts_if_it_says_so(
    subresource: str, has_status: bool, fields: dict[str, Any]
) -> None:
    assert custom_reset_fields(subresource, has_status=has_status).encoded() == fields
