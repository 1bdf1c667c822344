"""Reads the bodies of requests, whatever form they come in.

Which content types are read, and the refusals of bodies that cannot be.  Bodies for subresources
that are of no served kind (a Binding, an Eviction) are read as the kind they must be; whether
another is the object it should be is ``apirules.strict_decoding``'s.

Upstream: apiserver/pkg/endpoints/handlers/rest.go, limitedReadBody;
handlers/negotiation/negotiate.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any, Final

from reflet.apirules import refusals, strict_decoding
from reflet.apirules.schema.json_reading import read_json
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.protobuf import MEDIA_TYPE as PROTOBUF
from reflet.apirules.schema.protobuf import decode_protobuf
from reflet.apirules.schema.schemas import Schema
from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.strict_decoding import check_body
from reflet.errors import ApiError, DecodeError
from reflet.gotext.printing import json_type

JSON: Final = "application/json"
YAML: Final = frozenset({"application/yaml", "text/yaml", "application/x-yaml"})
LONGEST_SUMMARY: Final = 30  # bytes of a body that a refusal repeats

_CONVERSION: Final = "error converting YAML to JSON: "
_DELETE_OPTIONS: Final = "io.k8s.apimachinery.pkg.apis.meta.v1.DeleteOptions"
_TYPES: Final[Mapping[str, tuple[str, str, str]]] = MappingProxyType(
    {
        "token": ("authentication.k8s.io", "TokenRequest", "io.k8s.api.authentication.v1"),
        "binding": ("", "Binding", "io.k8s.api.core.v1"),
        "eviction": ("policy", "Eviction", "io.k8s.api.policy.v1"),
        "scale": ("autoscaling", "Scale", "io.k8s.api.autoscaling.v1"),
    }
)


@dataclass(frozen=True, slots=True)
class Body:
    """The body of a request, and what its content type calls it."""

    content: bytes = b""
    media_type: str = JSON

    @classmethod
    def of(cls, content: bytes, content_type: str) -> Body:
        """Take a body with its ``Content-Type``, which without one is JSON."""
        media_type = content_type.partition(";")[0].strip().lower()
        return cls(content, media_type or JSON)


def read_object(kind: ServedKind, body: Body, kinds: Kinds, schema: Schema | None = None) -> Any:
    """Read the document in a body that should hold an object of a kind.

    ``schema`` is needed where the body's kind is not the registered one (a subresource's).
    """
    if body.media_type == JSON:
        return strict_decoding.read_json(kind, body.content)
    try:
        if body.media_type in YAML:
            return _yaml(body.content)
        if body.media_type == PROTOBUF:
            return decode_protobuf(body.content, kinds, schema)
    except DecodeError as error:
        raise _unrecognized(kind, body, str(error)) from error
    raise refusals.unsupported_media_type()


def read_options(body: Body, kinds: Kinds) -> dict[str, Any] | None:
    """Read the options of a delete, which a body may hold; None when it is empty."""
    if not body.content:
        return None
    try:
        if body.media_type == JSON:
            document = read_json(body.content)
        elif body.media_type in YAML:
            document = _yaml(body.content)
        elif body.media_type == PROTOBUF:
            # As the typed clients of Go send it with every delete.
            schema = kinds.schemas.lookup(_DELETE_OPTIONS)
            document = decode_protobuf(body.content, kinds, schema)
        else:
            raise refusals.unsupported_media_type()
    except DecodeError as error:
        raise refusals.bad_request(
            f"couldn't get version/kind; json parse error: {error}"
        ) from error
    if document is None:
        return None
    if not isinstance(document, dict):
        raise refusals.bad_request("couldn't get version/kind; json parse error: not an object")
    kind, version = document.get("kind") or "DeleteOptions", document.get("apiVersion") or "v1"
    if kind != "DeleteOptions":
        raise refusals.bad_request(
            f'no kind "{kind}" is registered for version "{version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
    _check_options(document)
    return document


def _check_options(document: dict[str, Any]) -> None:
    expected: dict[str, tuple[type, str]] = {
        "gracePeriodSeconds": (int, "int64"),
        "propagationPolicy": (str, "v1.DeletionPropagation"),
        "orphanDependents": (bool, "bool"),
        "dryRun": (list, "[]string"),
        "preconditions": (dict, "v1.Preconditions"),
    }
    for name, (kind, go_type) in expected.items():
        value = document.get(name)
        if value is None:
            continue
        if not isinstance(value, kind) or (isinstance(value, bool) and kind is not bool):
            found = json_type(value)
            raise refusals.bad_request(
                f"json: cannot unmarshal {found} into Go struct field DeleteOptions.{name} of "
                f"type {go_type}"
            )


def _yaml(content: bytes) -> Any:
    from reflet.apirules.schema.yaml_reading import read_yaml  # noqa: PLC0415 - YAML is slow to import

    try:
        return read_yaml(content)
    except DecodeError as error:
        raise DecodeError(str(error).removeprefix(_CONVERSION)) from error


def _unrecognized(kind: ServedKind, body: Body, why: str) -> ApiError:
    start = body.content[:LONGEST_SUMMARY]
    summary = start.decode("utf-8", "replace") if start[:1] == b"{" else start.hex()
    summary += " ..." if len(body.content) > LONGEST_SUMMARY else ""
    return refusals.bad_request(
        f"the object provided is unrecognized (must be of type {kind.kind}): {why} "
        f"({summary or '<empty>'})"
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
