"""Reads the object in a request's body, and refuses it as the API server does.

From bytes to a document, whether the document is of the kind that the URL names, what becomes of
unknown and repeated fields (``fieldValidation``), and the pruning of custom objects.  Whether the
values make sense is validation's.

Upstream: apiserver/pkg/endpoints/handlers/create.go; apimachinery/pkg/runtime/serializer/json;
apiextensions-apiserver/pkg/apiserver/schema/pruning/algorithm.go
"""

from __future__ import annotations

import copy
import json
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.schema import json_reading
from reflet.apirules.schema.decoding import RepeatedKeys, decode
from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.schemas import OBJECT_META, Schema
from reflet.apirules.schema.served_kind import ServedKind, internal_package
from reflet.errors import ApiError, Cause, DecodeError
from reflet.gotext.printing import json_type

Document = dict[str, Any]

LONGEST_SUMMARY: Final = 30  # bytes of a body that a refusal repeats
_TYPE_META: Final = (
    'struct { APIVersion string "json:\\"apiVersion,omitempty\\""; '
    'Kind string "json:\\"kind,omitempty\\"" }'
)
# Kinds of the core group that are known, but not served.
_NOT_SERVED: Final = frozenset({"List", "Binding", "ComponentStatus", "RangeAllocation"})


def read_json(kind: ServedKind, raw: bytes) -> Any:
    """Read a JSON body; repeated keys are remembered for ``check_body``.

    Raises BadRequest for what is not JSON.
    """
    try:
        return json_reading.read_json(_readable(raw))
    except DecodeError as error:
        why = f"couldn't get version/kind; json parse error: {error}"
        raise _unrecognized(kind, why, raw) from None


def _readable(raw: bytes) -> bytes:
    """Replace bytes that are not UTF-8, as the real server does, instead of refusing them."""
    try:
        raw.decode()
    except UnicodeDecodeError:
        return raw.decode("utf-8", "replace").encode()
    return raw


def check_body(
    kind: ServedKind,
    document: object,
    *,
    kinds: Kinds,
    field_validation: str = "Warn",
    raw: bytes = b"",
    more_complaints: tuple[str, ...] = (),
) -> tuple[Document, list[str]]:
    """Give the object in its canonical form, and the warnings to send along.

    ``document`` is what ``read_json`` gave, or any JSON value; ``raw`` is only repeated in
    refusals; ``more_complaints`` are those of whoever read the body (YAML, say).  Unknown and
    repeated fields raise BadRequest under ``Strict``, are warnings under ``Warn``, which is
    what an empty ``field_validation`` means, and are nothing under ``Ignore``.
    """
    document = {} if document is None else document
    api_version, name = _claims(kind, document, raw)
    if kind.custom is None:
        _check_built_in(kind, api_version, name, kinds)
    elif not name:
        shown = raw.decode("utf-8", "replace") or json.dumps(document)
        raise _unrecognized(kind, f"Object 'Kind' is missing in '{shown}'", raw)
    elif api_version != kind.api_version:
        raise _other_version(kind, api_version)
    elif name != kind.kind:
        raise _other_kind(kind, name, document)
    complaints: list[str] = list(more_complaints)
    try:
        if kind.custom is None:
            made = decode(kind.schema, document, complaints)
        else:
            made = _custom(kind, document, complaints)
    except DecodeError as error:
        raise cannot_be_handled(kind, api_version, name, str(error)) from None
    if field_validation == "Strict" and complaints:
        said = f"strict decoding error: {', '.join(complaints)}"
        raise cannot_be_handled(kind, api_version, name, said)
    made["kind"] = name or kind.kind
    made["apiVersion"] = kind.api_version
    warnings = [] if field_validation == "Ignore" else complaints
    return made, warnings


def _claims(kind: ServedKind, document: object, raw: bytes) -> tuple[str, str]:
    prefix = "couldn't get version/kind; json parse error: json: cannot unmarshal"
    if not isinstance(document, dict):
        found = f"{json_type(document)} into Go value of type {_TYPE_META}"
        raise _unrecognized(kind, f"{prefix} {found}", raw)
    for name in ("apiVersion", "kind"):
        value = document.get(name)
        if value is not None and not isinstance(value, str):
            found = f"{json_type(value)} into Go struct field .{name} of type string"
            raise _unrecognized(kind, f"{prefix} {found}", raw)
    api_version = document.get("apiVersion") or ""
    if api_version.count("/") > 1:
        raise _unrecognized(kind, f"unexpected GroupVersion string: {api_version}", raw)
    return api_version, document.get("kind") or ""


def _check_built_in(kind: ServedKind, api_version: str, name: str, kinds: Kinds) -> None:
    api_version, name = api_version or kind.api_version, name or kind.kind
    if (api_version, name) == (kind.api_version, kind.kind):
        return
    other = kinds.by_kind(api_version, name)
    if other is None and name.endswith("List"):
        other = kinds.by_kind(api_version, name.removesuffix("List"))
    if other is None and (api_version != "v1" or name not in _NOT_SERVED):
        said = (
            f'no kind "{name}" is registered for version "{api_version}" in scheme '
            '"pkg/runtime/scheme.go:111"'
        )
        raise cannot_be_handled(kind, api_version, name, said)
    if other is not None and other.storage_key == kind.storage_key and other.kind == name:
        raise _other_version(kind, api_version)
    version = api_version.rpartition("/")[2]
    wanted = f"{internal_package(kind.group)}.{kind.kind}"
    said = f"converting ({version}.{name}) to ({wanted}): unknown conversion"
    raise cannot_be_handled(kind, api_version, name, said)


def _custom(kind: ServedKind, document: Any, complaints: list[str]) -> Document:
    repeated: list[str] = []
    unknown: list[str] = []
    found: list[str] = []
    pruned: Document = prune(kind.schema, document, "", found)
    for complaint in found:
        (repeated if complaint.startswith("duplicate") else unknown).append(complaint)
    metadata = document.get("metadata")
    if metadata is not None:
        schema = kind.schema.field("metadata")
        if schema is None:
            raise ValueError(f"{OBJECT_META} is missing")
        pruned["metadata"] = decode(schema, _plain(metadata), [])
    complaints += repeated
    complaints += sorted(unknown)
    return pruned


def _plain(value: Any) -> Any:
    return dict(value) if isinstance(value, RepeatedKeys) else value


def prune(
    schema: Schema, value: Any, path: str, complaints: list[str], *, preserves: bool = False
) -> Any:
    """Copy a value without the fields that the schema does not know.

    What is dropped, and keys that were repeated, go to ``complaints``.  A list that preserves what
    is not known does so in the objects of its items: ``preserves``.
    """
    preserves = preserves or schema.preserves_unknown
    if isinstance(value, dict):
        return _pruned_object(schema, value, path, complaints, preserves)
    if isinstance(value, list):
        items = schema.items
        return [
            copy.deepcopy(inner)
            if items is None
            else prune(items, inner, f"{path}[{index}]", complaints, preserves=preserves)
            for index, inner in enumerate(value)
        ]
    return value


def _pruned_object(
    schema: Schema, value: Document, path: str, complaints: list[str], preserves: bool
) -> Document:
    structure = schema.structure
    pairs = value.pairs if isinstance(value, RepeatedKeys) else value.items()
    made: Document = {}
    for name, inner in pairs:
        place = f"{path}.{name}" if path else name
        if name in made:
            complaints.append(f'duplicate field "{place}"')
        field = None if structure is None else structure.fields.get(name)
        if field is None:
            field = schema.values
        if field is not None:
            made[name] = prune(field, inner, place, complaints)
        elif preserves:
            made[name] = copy.deepcopy(inner)
        else:
            complaints.append(f'unknown field "{place}"')
    return made


def _unrecognized(kind: ServedKind, why: str, raw: bytes) -> ApiError:
    if not raw:
        summary = "<empty>"
    else:
        start = raw[:LONGEST_SUMMARY]
        summary = start.decode("utf-8", "replace") if raw[:1] == b"{" else start.hex()
        summary += " ..." if len(raw) > LONGEST_SUMMARY else ""
    return refusals.bad_request(
        f"the object provided is unrecognized (must be of type {kind.kind}): {why} ({summary})"
    )


def cannot_be_handled(kind: ServedKind, api_version: str, name: str, why: str) -> ApiError:
    """Refuse a body that says it is of a kind, and cannot be read as one."""
    version = (api_version or kind.api_version).rpartition("/")[2]
    return refusals.bad_request(
        f'{name or kind.kind} in version "{version}" cannot be handled as a {kind.kind}: {why}'
    )


def _other_version(kind: ServedKind, api_version: str) -> ApiError:
    return refusals.bad_request(
        f"the API version in the data ({api_version}) does not match the expected API version "
        f"({kind.api_version})"
    )


def _other_kind(kind: ServedKind, name: str, document: Any) -> ApiError:
    metadata = document.get("metadata")
    own = metadata.get("name") if isinstance(metadata, dict) else ""
    cause = Cause("FieldValueInvalid", f'Invalid value: "{name}": must be {kind.kind}', "kind")
    return refusals.invalid(name, own or "", [cause], group=kind.group)
