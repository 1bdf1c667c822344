"""The options of requests, read from the query and from bodies, and checked.

The rules between options and the refusals of those that break them are the real server's; what an
option makes a verb do is the verb's.

Upstream: apimachinery/pkg/apis/meta/internalversion/validation/validation.go;
apimachinery/pkg/apis/meta/v1/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal

from reflet.apirules.refusals import bad_request, invalid_options, unexpected
from reflet.devserver.request.request_info import ApiRequest
from reflet.errors import ApiError, Cause
from reflet.gotext.quoting import quoted

FieldValidation = Literal["Ignore", "Warn", "Strict"]

LONGEST_MANAGER: Final = 128  # bytes
_POLICIES: Final = ("Foreground", "Background", "Orphan")
_OLD_POLICIES: Final[Mapping[object, str]] = {
    True: "Orphan",
    False: "Background",
}  # of orphanDependents


@dataclass(frozen=True, slots=True)
class ListQuery:
    """What a list or a watch asks for."""

    resource_version: str = ""
    match: str = ""
    limit: int = 0
    continue_: str = ""
    labels: str = ""
    fields: str = ""
    timeout: int | None = None
    bookmarks: bool = False
    send_initial_events: bool | None = None


@dataclass(frozen=True, slots=True)
class WriteOptions:
    """What a write asks for; ``force`` belongs to apply alone."""

    dry_run: bool = False
    manager: str = "unknown"
    validation: FieldValidation = "Warn"
    force: bool | None = None


@dataclass(frozen=True, slots=True)
class DeleteOptions:
    """What a delete asks for."""

    dry_run: bool = False
    grace_seconds: int | None = None
    uid: str | None = None
    resource_version: str | None = None
    propagation: str = ""


def forbidden(field: str, why: str) -> Cause:
    """Say that a field may not be there."""
    return Cause("FieldValueForbidden", f"Forbidden: {why}", field)


def unsupported(field: str, value: str, supported: Sequence[str]) -> Cause:
    """Say which values a field may have; ``value`` is written as messages show it."""
    listed = ", ".join(f'"{each}"' for each in supported)
    message = f"Unsupported value: {value}: supported values: {listed}"
    return Cause("FieldValueNotSupported", message, field)


def read_list_query(request: ApiRequest, *, watch: bool) -> ListQuery:
    """Read and check the options of a list, a watch or the deletion of a collection."""
    query = ListQuery(
        resource_version=request.text("resourceVersion"),
        match=request.text("resourceVersionMatch"),
        limit=max(request.integer("limit") or 0, 0),
        continue_=request.text("continue"),
        labels=request.text("labelSelector"),
        fields=request.text("fieldSelector"),
        timeout=request.integer("timeoutSeconds"),
        bookmarks=request.flag("allowWatchBookmarks"),
        send_initial_events=request.optional_flag("sendInitialEvents"),
    )
    causes = _watch_causes(query) if watch else _list_causes(query)
    if causes:
        raise invalid_options("ListOptions", causes)
    return query


def _list_causes(query: ListQuery) -> list[Cause]:
    causes: list[Cause] = []
    field = "resourceVersionMatch"
    if query.match:
        if not query.resource_version:
            causes.append(
                forbidden(field, f"{field} is forbidden unless resourceVersion is provided")
            )
        if query.continue_:
            causes.append(forbidden(field, f"{field} is forbidden when continue is provided"))
        if query.match not in {"Exact", "NotOlderThan"}:
            shown = f'"{query.match}"'
            causes.append(unsupported(field, shown, ("Exact", "NotOlderThan", "")))
        if query.match == "Exact" and query.resource_version == "0":
            why = f'{field} "exact" is forbidden for resourceVersion "0"'
            causes.append(forbidden(field, why))
    if query.send_initial_events is not None:
        causes.append(forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list"))
    return causes


def _watch_causes(query: ListQuery) -> list[Cause]:
    causes: list[Cause] = []
    field = "resourceVersionMatch"
    if query.send_initial_events is not None and query.match != "NotOlderThan":
        why = "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan"
        causes.append(forbidden(field, why))
    if query.match:
        if query.send_initial_events is None:
            why = f"{field} is forbidden for watch unless sendInitialEvents is provided"
            causes.append(forbidden(field, why))
        if query.match != "NotOlderThan":
            causes.append(unsupported(field, f'"{query.match}"', ("NotOlderThan",)))
    if query.continue_:
        causes.append(forbidden(field, f"{field} is forbidden when continue is provided"))
    return causes


def read_version(text: str) -> int:
    """Read a resource version; empty is 0.  What is none is a bare 500, as in a get or watch."""
    if not text:
        return 0
    if not (text.isascii() and text.isdecimal()):
        raise unexpected(
            f'resourceVersion: Invalid value: "{text}": strconv.ParseUint: parsing "{text}": '
            "invalid syntax"
        )
    return int(text)


def read_list_version(text: str) -> int:
    """Read the resource version of a list, where what is none is a BadRequest."""
    try:
        return read_version(text)
    except ApiError as error:
        raise bad_request(f"invalid resource version: {error.message}") from None


def read_write_options(request: ApiRequest, kind: str, *, apply: bool = False) -> WriteOptions:
    """Read and check the options of a write; ``kind`` is ``CreateOptions`` and the like."""
    causes: list[Cause] = []
    if kind == "PatchOptions":
        if apply and not request.text("fieldManager"):
            message = "Required value: is required for apply patch"
            causes.append(Cause("FieldValueRequired", message, "fieldManager"))
        if not apply and request.optional_flag("force") is not None:
            causes.append(forbidden("force", "may not be specified for non-apply patch"))
    causes += _manager_causes(request.text("fieldManager"))
    causes += _dry_run_causes(request.dry_run)
    validation = request.text("fieldValidation")
    if validation not in {"", "Ignore", "Warn", "Strict"}:
        supported = ("", "Ignore", "Strict", "Warn")
        causes.append(unsupported("fieldValidation", f'"{validation}"', supported))
    if causes:
        raise invalid_options(kind, causes)
    chosen: Mapping[str, FieldValidation] = {"Ignore": "Ignore", "Strict": "Strict"}
    return WriteOptions(
        dry_run=bool(request.dry_run),
        manager=request.field_manager,
        validation=chosen.get(validation, "Warn"),
        force=request.optional_flag("force"),
    )


def _manager_causes(manager: str) -> list[Cause]:
    causes: list[Cause] = []
    if len(manager.encode()) > LONGEST_MANAGER:
        message = f"Too long: may not be more than {LONGEST_MANAGER} bytes"
        causes.append(Cause("FieldValueTooLong", message, "fieldManager"))
    for position, character in enumerate(manager):
        if not character.isprintable():
            at = len(manager[:position].encode())
            why = f"invalid character U+{ord(character):04X} (at position {at})"
            message = f"Invalid value: {quoted(manager)}: {why}"
            causes.append(Cause("FieldValueInvalid", message, "fieldManager"))
    return causes


def _dry_run_causes(dry_run: Sequence[str]) -> list[Cause]:
    if all(each == "All" for each in dry_run):
        return []
    shown = "[" + ",".join(f'"{each}"' for each in dry_run) + "]"
    return [unsupported("dryRun", shown, ("All",))]


def read_delete_options(request: ApiRequest, body: Mapping[str, Any] | None) -> DeleteOptions:
    """Read and check the options of a delete: those of the body or, without one, of the query."""
    if body is None:
        grace = request.integer("gracePeriodSeconds")
        found: Mapping[str, Any] = {
            "gracePeriodSeconds": grace,
            "propagationPolicy": request.text("propagationPolicy") or None,
            "orphanDependents": request.optional_flag("orphanDependents"),
            "dryRun": list(request.dry_run),
        }
    else:
        found = body
    propagation = found.get("propagationPolicy")
    causes: list[Cause] = []
    if propagation is not None and found.get("orphanDependents") is not None:
        message = (
            f'Invalid value: "{propagation}": orphanDependents and deletionPropagation cannot be '
            "both set"
        )
        causes.append(Cause("FieldValueInvalid", message, "propagationPolicy"))
    if propagation is not None and propagation not in _POLICIES:
        causes.append(unsupported("propagationPolicy", f'"{propagation}"', (*_POLICIES, "nil")))
    dry_run = found.get("dryRun") or ()
    causes += _dry_run_causes(dry_run)
    if causes:
        raise invalid_options("DeleteOptions", causes)
    preconditions = found.get("preconditions") or {}
    return DeleteOptions(
        dry_run=bool(dry_run),
        grace_seconds=found.get("gracePeriodSeconds"),
        uid=preconditions.get("uid"),
        resource_version=preconditions.get("resourceVersion"),
        propagation=propagation or _OLD_POLICIES.get(found.get("orphanDependents"), ""),
    )
