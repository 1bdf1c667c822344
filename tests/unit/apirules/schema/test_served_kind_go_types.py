from __future__ import annotations

import pytest

from reflet.apirules.schema.served_kind import internal_package


@pytest.mark.parametrize(
    ("group", "package"),
    [
        ("", "core"),
        ("apps", "apps"),
        ("coordination.k8s.io", "coordination"),
        ("events.k8s.io", "core"),
        ("rbac.authorization.k8s.io", "rbac"),
    ],
)
def test_the_package_of_a_group_is_named(group: str, package: str) -> None:
    assert internal_package(group) == package
