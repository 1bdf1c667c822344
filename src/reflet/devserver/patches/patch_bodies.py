"""Reads the bodies of patches, and refuses those that are none in the real server's words.

Upstream: apiserver/pkg/endpoints/handlers/patch.go, PatchResource
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Final

from reflet import errors
from reflet.apirules import refusals
from reflet.apirules.schema.decoding import RepeatedKeys
from reflet.apirules.schema.json_reading import read_json
from reflet.apirules.schema.yaml_reading import TOO_DEEP, read_yaml
from reflet.devserver.patches.json_patch import MISSING, Operation
from reflet.devserver.patches.json_values import check_depth
from reflet.errors import ApiError, DecodeError
from reflet.gotext import printing
from reflet.gotext.quoting import quoted

MOST_OPERATIONS: Final = 10_000

_ANY_MAP: Final = "map[string]interface {}"
_OPERATION: Final = "handlers.jsonPatchOp"
_TEXTS: Final = ("op", "path", "from")
_PARTS: Final = frozenset({*_TEXTS, "value"})


def read_json_patch(body: bytes, complaints: list[str]) -> tuple[Operation, ...]:
    """Read a JSON patch.

    Unknown and repeated fields are added to ``complaints``, here and in the other functions.
    """
    document = _json(body, "error decoding patch: ")
    if document is None:
        return ()
    if not isinstance(document, list):
        raise _wrong_type(document, f"Go value of type []{_OPERATION}", "error decoding patch: ")
    for operation in document:
        _check_operation(operation)
    complaints += (f"json patch {complaint}" for complaint in _unknown(document))
    complaints += (f"json patch {complaint}" for complaint in repeated(document))
    if len(document) > MOST_OPERATIONS:
        raise errors.RequestEntityTooLarge(
            "Request entity too large: The allowed maximum operations in a JSON patch is "
            f"{MOST_OPERATIONS}, got {len(document)}",
            code=413,
            reason="RequestEntityTooLarge",
        )
    return tuple(_operation(operation or {}) for operation in document)


def _check_operation(operation: Any) -> None:
    if operation is None:
        return
    if not isinstance(operation, dict):
        raise _wrong_type(operation, f"Go value of type {_OPERATION}", "error decoding patch: ")
    for name in _TEXTS:
        value = operation.get(name)
        if value is not None and not isinstance(value, str):
            where = f"Go struct field jsonPatchOp.{name} of type string"
            raise _wrong_type(value, where, "error decoding patch: ")


def _operation(operation: dict[str, Any]) -> Operation:
    return Operation(
        op=operation.get("op") or "",
        path=operation.get("path"),
        source=operation.get("from"),
        value=operation.get("value", MISSING),
    )


def _unknown(operations: list[Any]) -> Iterator[str]:
    for index, operation in enumerate(operations):
        for name in operation or ():
            if name not in _PARTS:
                yield f"unknown field {quoted(f'[{index}].{name}')}"


def read_merge_patch(body: bytes, complaints: list[str]) -> dict[str, Any]:
    """Read a merge patch."""
    document = _json(body, "error decoding patch: ")
    if document is None:
        raise refusals.bad_request("Invalid JSON Patch")
    return _checked_map(document, complaints, "error decoding patch: ")


def read_strategic_patch(body: bytes, complaints: list[str]) -> dict[str, Any]:
    """Read a strategic merge patch; null is one that changes nothing."""
    document = _json(body, "")
    return _checked_map({} if document is None else document, complaints, "")


def read_applied(body: bytes) -> dict[str, Any]:
    """Read the object of an apply, from YAML or JSON; nothing at all is an empty object."""
    try:
        document = read_yaml(body)
    except DecodeError as error:
        raise refusals.bad_request(f"error decoding YAML: {error}") from error
    document = checked_depth(document)
    if document is None:
        return {}
    if not isinstance(document, dict):
        prefix = "error decoding YAML: error unmarshaling JSON: while decoding JSON: "
        raise _wrong_type(document, f"Go value of type {_ANY_MAP}", prefix)
    return document


def checked_depth(applied: Any) -> Any:
    """Give what is applied, or refuse it because it is too deep."""
    try:
        check_depth(applied)
    except DecodeError as error:
        raise refusals.bad_request(f"error decoding YAML: {error}") from error
    return applied


def _json(body: bytes, prefix: str) -> Any:
    try:
        # The real server replaces bytes that are not UTF-8 instead of refusing them.
        document = read_json(body.decode("utf-8", "replace").encode())
        check_depth(document)
    except DecodeError as error:
        raise refusals.bad_request(f"{prefix}{error}") from error
    except RecursionError as error:
        raise refusals.bad_request(f"{prefix}{TOO_DEEP}") from error
    return document


def _checked_map(document: Any, complaints: list[str], prefix: str) -> dict[str, Any]:
    if not isinstance(document, dict):
        raise _wrong_type(document, f"Go value of type {_ANY_MAP}", prefix)
    complaints += repeated(document)
    return document


def _wrong_type(value: Any, where: str, prefix: str) -> ApiError:
    kind = printing.json_type(value)
    return refusals.bad_request(f"{prefix}json: cannot unmarshal {kind} into {where}")


def repeated(document: Any, path: str = "") -> Iterator[str]:
    """Name the keys that a document has twice, each with its place."""
    if isinstance(document, dict):
        if isinstance(document, RepeatedKeys):
            seen: set[str] = set()
            for name, _ in document.pairs:
                if name in seen:
                    yield f"duplicate field {quoted(f'{path}.{name}'.removeprefix('.'))}"
                seen.add(name)
        for name, value in document.items():
            yield from repeated(value, f"{path}.{name}".removeprefix("."))
    elif isinstance(document, list):
        for index, value in enumerate(document):
            yield from repeated(value, f"{path}[{index}]")
