from __future__ import annotations

from collections.abc import Callable

import pytest

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.resource_names import (
    check_container_resource,
    check_quota_resource,
    check_resource,
    is_extended,
    is_whole,
    may_be_overcommitted,
)

UNKNOWN = "must be a standard resource type or fully qualified"


@pytest.mark.parametrize(
    ("check", "name", "wrong"),
    [
        (check_resource, "storage", []),
        (check_resource, "requests.hugepages-2Mi", []),
        (check_resource, "example.com/gpu", []),
        (check_resource, "foo", [UNKNOWN]),
        (check_container_resource, "hugepages-2Mi", []),
        (check_container_resource, "example.com/gpu", []),
        (check_container_resource, "kubernetes.io/anything", []),
        (check_container_resource, "pods", ["must be a standard resource for containers"]),
        (check_container_resource, "foo", [UNKNOWN, "must be a standard resource for containers"]),
        (
            check_container_resource,
            "requests.example.com/gpu",
            ["doesn't follow extended resource name standard"],
        ),
        (check_quota_resource, "requests.storage", []),
        (check_quota_resource, "count/jobs.batch", []),
        (check_quota_resource, "storage", ["must be a standard resource for quota"]),
    ],
)
def test_names(check: Callable[[str, str, FieldErrors], None], name: str, wrong: list[str]) -> None:
    errors = FieldErrors()

    check(name, "here", errors)

    assert [cause.message for cause in errors.causes] == [
        f'Invalid value: "{name}": {each}' for each in wrong
    ]


@pytest.mark.parametrize(
    ("name", "extended", "whole", "shared"),
    [
        ("cpu", False, False, True),
        ("pods", False, True, True),
        ("hugepages-2Mi", False, False, False),
        ("example.com/gpu", True, True, False),
        ("requests.example.com/gpu", False, False, False),
        ("kubernetes.io/thing", False, False, True),
    ],
)
def test_sorts(name: str, extended: bool, whole: bool, shared: bool) -> None:
    assert (is_extended(name), is_whole(name), may_be_overcommitted(name)) == (
        extended,
        whole,
        shared,
    )
