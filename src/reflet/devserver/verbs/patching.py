"""The verb patch, in its four forms: from the body of a patch to the document that is written.

What each form means is in ``patches``; the write itself is writing.py's.

Upstream: apiserver/pkg/endpoints/handlers/patch.go
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reflet.apirules import refusals
from reflet.devserver.patches.json_patch import (
    json_patch,
    merge_patch,
    unreadable_result,
    unreadable_strategic_result,
    without_prefix,
)
from reflet.devserver.patches.patch_bodies import (
    read_applied,
    read_json_patch,
    read_merge_patch,
    read_strategic_patch,
)
from reflet.devserver.patches.strategic_merge import strategic_merge
from reflet.devserver.printing.answers import ObjectAnswer
from reflet.devserver.request.bodies import Body
from reflet.devserver.storage.stored import Stored
from reflet.devserver.verbs.conversion import in_version
from reflet.devserver.verbs.writing import Writing
from reflet.errors import ApiError, BadRequest, UnsupportedMediaType

Document = dict[str, Any]

JSON_PATCH: Final = "application/json-patch+json"
MERGE_PATCH: Final = "application/merge-patch+json"
STRATEGIC_PATCH: Final = "application/strategic-merge-patch+json"
APPLY_PATCH: Final = "application/apply-patch+yaml"
PATCH_TYPES: Final = frozenset({JSON_PATCH, MERGE_PATCH, STRATEGIC_PATCH, APPLY_PATCH})


def check_patch_type(media_type: str, *, is_custom: bool) -> None:
    """Refuse content types that are no patch, or not one for the kind."""
    if media_type not in PATCH_TYPES:
        raise refusals.unsupported_patch_type()
    if is_custom and media_type == STRATEGIC_PATCH:
        raise UnsupportedMediaType(
            "the body of the request was in an unknown format - accepted media types include: "
            f"{JSON_PATCH}, {MERGE_PATCH}, {APPLY_PATCH}",
            code=415,
            reason="UnsupportedMediaType",
        )


async def patch(writing: Writing, body: Body) -> ObjectAnswer:
    """Change an object as the body says; an apply makes one that is not there."""
    if body.media_type == APPLY_PATCH:
        return await apply_document(writing, read_applied(body.content))
    return await writing.until_done(lambda stored: _patch(writing, stored, body))


async def _patch(writing: Writing, stored: Stored | None, body: Body) -> ObjectAnswer:
    if stored is None:
        raise refusals.not_found(writing.kind.plural, writing.name, group=writing.kind.group)
    return await writing.replace(stored, patched(writing, stored, body))


def patched(writing: Writing, stored: Stored, body: Body) -> Document:
    """Give the document that a patch makes of a stored object, read as the kind."""
    live = in_version(writing.kind, stored.object)
    document, refuse, complaints = _result(writing, live, body)
    try:
        made = writing.checked(document, complaints=tuple(complaints))
    except BadRequest as error:
        raise refuse(without_prefix(error.message)) from error
    writing.check_name(made)
    return made


def _result(
    writing: Writing, live: Document, body: Body
) -> tuple[Document, Callable[[str], ApiError], list[str]]:
    """Carry out a patch; also give how to refuse its result, and what the patch repeats."""
    complaints: list[str] = []
    match body.media_type:
        case "application/json-patch+json":
            made = json_patch(live, read_json_patch(body.content, complaints))
        case "application/merge-patch+json":
            made = merge_patch(live, read_merge_patch(body.content, complaints))
        case _:
            change = read_strategic_patch(body.content, complaints)
            made = strategic_merge(live, change, writing.kind.schema)
            return made, lambda problem: unreadable_strategic_result(change, problem), complaints
    return made, lambda problem: unreadable_result(made, problem), complaints


async def apply_document(writing: Writing, applied: Document) -> ObjectAnswer:
    """Apply an object on the server's side; one that is not there is made."""
    _check_applied_name(writing, applied)
    return await writing.until_done(lambda stored: _apply(writing, stored, applied))


def _check_applied_name(writing: Writing, applied: Document) -> None:
    metadata = applied.get("metadata")
    name = metadata.get("name") if isinstance(metadata, dict) else None
    if isinstance(name, str) and name and name != writing.name:
        raise refusals.bad_request(
            f"the name of the object ({name}) does not match the name on the URL ({writing.name})"
        )


async def _apply(writing: Writing, stored: Stored | None, applied: Document) -> ObjectAnswer:
    kind = writing.kind
    live = None if stored is None else in_version(kind, stored.object)
    force = bool(writing.options.force)
    result = writing.ownership.applied(live, applied, force=force)
    # Read without the managers, which are the server's own and need no checking.
    managed = result["metadata"].pop("managedFields", [])
    document = writing.checked(result)
    if stored is None:
        if writing.subresource:
            raise refusals.not_found(kind.plural, writing.name, group=kind.group)
        writing.check_name(document)
        return await _create_by_apply(writing, document, managed)
    writing.check_name(document)
    return await writing.replace(stored, document, managed=managed)


async def _create_by_apply(writing: Writing, document: Document, managed: Any) -> ObjectAnswer:
    metadata = {**(document.get("metadata") or {})}
    if metadata.get("uid"):
        why = (
            f"uid mismatch: the provided object specified uid {metadata['uid']}, and no existing "
            "object was found"
        )
        raise refusals.conflict(writing.kind.plural, writing.name, why, group=writing.kind.group)
    metadata["name"] = writing.name
    metadata.pop("resourceVersion", None)
    return await writing.create_missing({**document, "metadata": metadata}, managed=managed)
