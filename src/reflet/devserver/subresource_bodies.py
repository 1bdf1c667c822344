"""The structure of bodies that are sent to subresources and are of no served kind.

Owns: which recorded type they have.  Must not know what is done with them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reflet.devserver.schemas import Schema, Schemas

_TYPES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "token": "io.k8s.api.authentication.v1.TokenRequest",
        "binding": "io.k8s.api.core.v1.Binding",
        "eviction": "io.k8s.api.policy.v1.Eviction",
        "scale": "io.k8s.api.autoscaling.v1.Scale",
    }
)


def subresource_schema(schemas: Schemas, subresource: str) -> Schema | None:
    """Give the structure of a subresource's body, or None when it was not recorded."""
    type_name = _TYPES.get(subresource, "")
    return schemas.lookup(type_name) if type_name in schemas else None
