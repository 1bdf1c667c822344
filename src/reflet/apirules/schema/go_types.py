"""Names of the real server's own types, which some of its refusals let show.

Owns: these names.  Must not know what is refused, nor why.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

# Packages whose name is not the first word of the group.
_PACKAGES: Final[Mapping[str, str]] = MappingProxyType(
    {"": "core", "events.k8s.io": "core", "rbac.authorization.k8s.io": "rbac"}
)


def internal_package(group: str) -> str:
    """Name the package that has the types of a group."""
    return _PACKAGES.get(group, group.partition(".")[0])
