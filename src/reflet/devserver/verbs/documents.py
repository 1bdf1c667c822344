"""Reads the bodies of requests, whatever form they come in.

Owns: which content types are read, and the refusals of bodies that cannot be.  Whether a
document is the object that it should be belongs to bodies.py.  Must not know what is done with
the document.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from reflet.devserver import refusals
from reflet.devserver.admission import bodies
from reflet.devserver.kinds.kinds import Kinds
from reflet.devserver.kinds.protobuf import MEDIA_TYPE as PROTOBUF
from reflet.devserver.kinds.protobuf import decode_protobuf
from reflet.devserver.kinds.schemas import Schema
from reflet.devserver.kinds.served_kind import ServedKind
from reflet.devserver.patches.go_text import json_type
from reflet.devserver.verbs.json_text import read_json
from reflet.errors import ApiError, DecodeError

JSON: Final = "application/json"
YAML: Final = frozenset({"application/yaml", "text/yaml", "application/x-yaml"})
LONGEST_SUMMARY: Final = 30  # bytes of a body that a refusal repeats

_CONVERSION: Final = "error converting YAML to JSON: "


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
        return bodies.read_json(kind, body.content)
    try:
        if body.media_type in YAML:
            return _yaml(body.content)
        if body.media_type == PROTOBUF:
            return decode_protobuf(body.content, kinds, schema)
    except DecodeError as error:
        raise _unrecognized(kind, body, str(error)) from error
    raise refusals.unsupported_media_type()


def read_options(body: Body) -> dict[str, Any] | None:
    """Read the options of a delete, which a body may hold; None when it is empty."""
    if not body.content:
        return None
    try:
        if body.media_type == JSON:
            document = read_json(body.content)
        elif body.media_type in YAML:
            document = _yaml(body.content)
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
    from reflet.devserver.patches.yaml_text import read_yaml  # noqa: PLC0415 - YAML is slow to import

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
