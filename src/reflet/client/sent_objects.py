"""What is sent to a server: objects of a class, any objects, or plain mappings."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from reflet.api.meta import KubernetesObject, TypedObject
from reflet.api.unstructured import AnyObject
from reflet.errors import ConfigurationError

T = TypeVar("T", bound=KubernetesObject)

Body: TypeAlias = T | AnyObject | Mapping[str, Any]
"""What may be sent: an object of the client's class, any object, or a plain mapping."""
PatchBody: TypeAlias = Body[T] | Sequence[Mapping[str, Any]]
"""The same, or the operations of a JSON patch."""


def loses_fields(body: object) -> bool:
    """Whether the server has fields of it that would not be sent."""
    return isinstance(body, TypedObject) and not body.complete


def name_of(body: KubernetesObject | Mapping[str, Any]) -> str:
    """The name of the object; ConfigurationError without one."""
    name = (
        body.get("metadata", {}).get("name", "")
        if isinstance(body, Mapping)
        else body.metadata.name
    )
    if not name:
        raise ConfigurationError(
            "the object has no metadata.name, so it is not known which one is meant"
        )
    return str(name)
