"""Bodies that are sent to subresources and are of no served kind.

Owns: which kind they are of, and reading them as that kind.  Must not know what is done with
them.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final

from reflet.devserver.admission.bodies import check_body
from reflet.devserver.kinds.kinds import Kinds
from reflet.devserver.kinds.served_kind import ServedKind
from reflet.devserver.verbs.documents import Body, read_object

_TYPES: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "token": ("authentication.k8s.io", "TokenRequest", "io.k8s.api.authentication.v1"),
        "binding": ("", "Binding", "io.k8s.api.core.v1"),
        "eviction": ("policy", "Eviction", "io.k8s.api.policy.v1"),
        "scale": ("autoscaling", "Scale", "io.k8s.api.autoscaling.v1"),
    }
)


def subresource_kind(kinds: Kinds, subresource: str) -> ServedKind:
    """Give the kind of what is sent to a subresource."""
    group, kind, package = _TYPES[subresource]
    type_name = f"{package}.{kind}"
    return ServedKind(
        group=group,
        version="v1",
        kind=kind,
        plural=subresource,
        singular=subresource,
        namespaced=True,
        type_name=type_name,
        read_schema=lambda: kinds.schemas.lookup(type_name),
    )


def read_subresource(
    kinds: Kinds, subresource: str, body: Body, *, validation: str, warnings: list[str]
) -> dict[str, Any]:
    """Read the body that was sent to a subresource, or refuse it."""
    kind = subresource_kind(kinds, subresource)
    document = read_object(kind, body, kinds, kind.schema)
    return check_subresource(
        kinds, subresource, document, validation=validation, warnings=warnings, raw=body.content
    )


def check_subresource(
    kinds: Kinds,
    subresource: str,
    document: Any,
    *,
    validation: str,
    warnings: list[str],
    raw: bytes = b"",
) -> dict[str, Any]:
    """Give a document in the form of a subresource's kind, or refuse it."""
    made, found = check_body(
        subresource_kind(kinds, subresource),
        document,
        kinds=kinds,
        field_validation=validation,
        raw=raw,
    )
    warnings.extend(found)
    return made
