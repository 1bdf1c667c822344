"""What is sent to a server: objects of a class, any objects, or plain mappings.

An object of a class is read again as that class before it is sent: constructors check no types, and
what the server would say of a wrong one comes later and names no class.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

from reflet.api import scheme
from reflet.api.codec import decode, decode_at, encode
from reflet.api.json_reader import problem, untyped
from reflet.api.meta import KubernetesObject
from reflet.api.unstructured import AnyObject
from reflet.client.rest import AnswerHead
from reflet.errors import ConfigurationError

T = TypeVar("T", bound=KubernetesObject)

Body: TypeAlias = T | AnyObject | Mapping[str, Any]
"""What may be sent: an object of the client's class, any object, or a plain mapping."""
PatchBody: TypeAlias = Body[T] | Sequence[Mapping[str, Any]]
"""The same, or the operations of a JSON patch."""


def loses_fields(body: object) -> bool:
    """Whether the server has fields of it that would not be sent."""
    return scheme.is_kind(type(body)) and not getattr(body, "complete", False)


def checked_json(body: Body[Any]) -> bytes:
    """The JSON of a whole object; DecodeError, which names the field, if it does not fit its class.

    It says its apiVersion and kind even where the class leaves out defaults.
    """
    kind = type(body)
    if not scheme.is_kind(kind):
        return encode(body)
    try:
        data = encode(body)
    except TypeError as error:
        raise problem(kind.__name__, "", str(error)) from error
    decode_at(data, kind, named=False)
    if decode(data, AnswerHead).kind:
        return data
    api_version, name = scheme.identity(kind)
    return encode({"apiVersion": api_version, "kind": name, **untyped(data, kind.__name__)})


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
