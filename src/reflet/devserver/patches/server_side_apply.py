"""Server-side apply, and who owns what after any other write.

An applier says what it wants; what it said before and does not say now is removed, unless
somebody else owns it too.  Whoever writes in another way owns what changes by that.  Conflicts,
and the take-over from ``kubectl apply`` on the client's side, are decided here.

The result still has to be read as the kind, filled with defaults and validated.  Managers of
other versions are taken to mean the same fields.

Upstream: sigs.k8s.io/structured-merge-diff/merge/update.go;
apimachinery/pkg/util/managedfields/internal/structuredmerge.go
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from reflet.apirules import refusals
from reflet.apirules.schema.schemas import Schema
from reflet.devserver.patches.field_sets import EMPTY, FieldSet, Path, path_text
from reflet.devserver.patches.json_values import equivalent
from reflet.devserver.patches.managed_fields import (
    APPLY,
    BEFORE_FIRST_APPLY,
    UPDATE,
    Manager,
    Managers,
    Owned,
    managed_fields_of,
    manager_of,
    read_managers,
    with_few_updaters,
    with_managed_fields,
)
from reflet.devserver.patches.typed_merge import (
    Comparison,
    compared,
    fields_of,
    merged,
    named,
    without_fields,
)
from reflet.devserver.patches.typed_values import ABSENT, fits, misfits
from reflet.errors import ApiError, Cause, Conflict, DecodeError
from reflet.gotext import printing

Document = dict[str, Any]

KUBECTL: Final = "kubectl"
LAST_APPLIED: Final = "kubectl.kubernetes.io/last-applied-configuration"
MOST_ANNOTATIONS: Final = 256 * 1024  # bytes, of all annotations of an object together

# What the server itself writes belongs to nobody.
_OWNERLESS: Final = FieldSet.of(
    [
        ("f:apiVersion",),
        ("f:kind",),
        ("f:metadata",),
        *(
            ("f:metadata", f"f:{name}")
            for name in (
                "name",
                "namespace",
                "creationTimestamp",
                "selfLink",
                "uid",
                "clusterName",
                "generation",
                "managedFields",
                "resourceVersion",
            )
        ),
    ]
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ApplyTarget:
    """What is written to: a kind, or one of its subresources.

    ``blank`` is an object of the kind of which nothing is known, as the server writes it (empty
    for custom kinds).  ``reset`` are the fields that a write to the target cannot change.
    """

    schema: Schema
    api_version: str
    kind: str
    blank: Mapping[str, Any]
    subresource: str = ""
    reset: FieldSet = EMPTY


class Clash(NamedTuple):
    """A field that an applier wants to have another value, and who owns it."""

    manager: Manager
    path: Path


class _Conflicts(Exception):
    """Applying without force failed; carries the clashes."""

    def __init__(self, clashes: Iterable[Clash]) -> None:
        self.clashes = tuple(clashes)
        super().__init__(f"{len(self.clashes)} conflicts")


def track_update(
    target: ApplyTarget,
    live: Mapping[str, Any] | None,
    new: Mapping[str, Any],
    *,
    manager: str,
    now: str,
    entries: Any = ABSENT,
) -> Document:
    """Give the new object with the entries that it has after a write that is no apply.

    ``live`` is None for a create.  ``new`` is what is to be stored, read as the kind and with
    its defaults, but before the server adds anything of its own: what it adds has no owner.
    ``now`` is a time as objects have it.  ``entries`` are those that the request carried, if
    they are not those of ``new``: reading as the kind drops an empty list, which asks the server
    to forget all managers.
    """
    carried = managed_fields_of(new) if entries is ABSENT else entries
    managers = _managers_after(target, live, carried)
    plain = with_managed_fields(new, {})
    if live is not None and not managers:
        # Nobody tracked the object so far; that begins with an apply.
        return plain
    asking = manager_of(manager, UPDATE, target.api_version, target.subresource)
    base = target.blank if live is None else with_managed_fields(live, {})
    changes = compared(base, plain, target.schema)
    managers = with_few_updaters(_updated(target, changes, managers, asking, now))
    return with_managed_fields(plain, managers)


def _managers_after(target: ApplyTarget, live: Mapping[str, Any] | None, carried: Any) -> Managers:
    """Give the entries to go on from: those that the request carries, else the live ones."""
    if not target.subresource:
        if carried in ([], [{}]):
            return {}
        try:
            managers = read_managers(carried)
        except DecodeError:
            managers = {}
        if managers:
            return managers
    try:
        return read_managers(managed_fields_of(live)) if live is not None else {}
    except DecodeError:
        return {}


def _updated(
    target: ApplyTarget, comparison: Comparison, managers: Managers, asking: Manager, now: str
) -> Managers:
    changes = comparison.without(target.reset)
    after = _after_changes(managers, changes)
    gained = changes.written.difference(_OWNERLESS)
    if gained:
        before = after[asking].fields if asking in after else EMPTY
        after[asking] = Owned(gained.union(before), target.api_version, now)
    return after


def _after_changes(
    managers: Managers, changes: Comparison, *, asking: Manager | None = None
) -> Managers:
    """Take from everybody but the asking one what was written or removed."""
    lost = changes.written.union(changes.removed)
    after: Managers = {}
    for manager, owned in managers.items():
        left = owned.fields if manager == asking else owned.fields.difference(lost)
        if left:
            after[manager] = Owned(left, owned.api_version, owned.time)
    return after


def apply(
    target: ApplyTarget,
    live: Mapping[str, Any] | None,
    applied: Mapping[str, Any],
    *,
    manager: str,
    force: bool,
    now: str,
) -> Document:
    """Give the object after an apply, with its entries.

    ``live`` is None when there is no such object.  A value that somebody else owns and that is
    not the same refuses the whole (409), unless ``force`` takes it from them.
    """
    _check_type(target, applied)
    asking = manager_of(manager, APPLY, target.api_version, target.subresource)
    if live is None:
        result = _applied_to_nothing(target, applied, asking, now)
        return _with_last_applied(result, applied) if manager == KUBECTL else result
    try:
        managers = read_managers(managed_fields_of(live))
    except DecodeError as error:
        raise refusals.unexpected(f"failed to decode managed fields: {error}") from error
    base = with_managed_fields(live, {})
    if not managers:
        first = manager_of(BEFORE_FIRST_APPLY, UPDATE, target.api_version, target.subresource)
        changes = compared(target.blank, base, target.schema)
        managers = _updated(target, changes, managers, first, now)
    applying = _Applying(target, base, managers, asking)
    try:
        result = applying.result(applied, now, force=force)
    except _Conflicts as conflicts:
        allowed = _left_by_kubectl(target, base) if manager == KUBECTL else EMPTY
        left = [clash for clash in conflicts.clashes if clash.path not in allowed]
        if left:
            raise _refusal(left) from None
        result = applying.result(applied, now, force=True)
    return _with_last_applied(result, applied) if manager == KUBECTL else result


def _applied_to_nothing(
    target: ApplyTarget, applied: Mapping[str, Any], asking: Manager, now: str
) -> Document:
    """Apply where nobody can own anything yet: the applier gets all that it says."""
    wanted = fields_of(applied, target.schema).without(target.reset).difference(_OWNERLESS)
    managers = {asking: Owned(wanted, target.api_version, now)} if wanted else {}
    return with_managed_fields(applied, managers)


def _check_type(target: ApplyTarget, applied: Mapping[str, Any]) -> None:
    group_version = applied.get("apiVersion")
    kind = applied.get("kind")
    shown = _type_text(group_version, kind)
    if shown != _type_text(target.api_version, target.kind):
        raise refusals.bad_request(f"invalid object type: {shown}")
    metadata = applied.get("metadata")
    metadata = metadata if isinstance(metadata, Mapping) else {}
    if isinstance(metadata.get("managedFields"), list):
        raise refusals.bad_request("metadata.managedFields must be nil")
    if not fits(applied, target.schema):
        problems = list(misfits(applied, target.schema))
        namespace, name = (
            text if isinstance(text := metadata.get(part), str) else ""
            for part in ("namespace", "name")
        )
        text = problems[0] if len(problems) == 1 else "\n  ".join(["errors:", *problems])
        raise refusals.unexpected(
            f"failed to create typed patch object ({namespace}/{name}; {shown}): {text}"
        )


def _type_text(api_version: Any, kind: Any) -> str:
    version = api_version if isinstance(api_version, str) else ""
    if version.count("/") > 1:
        return "/, Kind="
    if "/" not in version:
        version = f"/{version}"
    return f"{version}, Kind={kind if isinstance(kind, str) else ''}"


@dataclass(frozen=True, slots=True)
class _Applying:
    """An object with its managers, and the one that applies something to it."""

    target: ApplyTarget
    live: Mapping[str, Any]
    managers: Managers
    asking: Manager

    def result(self, applied: Mapping[str, Any], now: str, *, force: bool) -> Document:
        schema, version, asking = self.target.schema, self.target.api_version, self.asking
        last = self.managers.get(asking, Owned(EMPTY, version))
        wanted = fields_of(applied, schema).without(self.target.reset)
        current = {**self.managers, asking: Owned(wanted, version, last.time)}
        together = merged(self.live, applied, schema)
        result = _pruned(together, current, last.fields, schema)
        changes = compared(self.live, result, schema).without(self.target.reset)
        clashes = _clashes(current, changes, asking)
        if clashes and not force:
            raise _Conflicts(clashes)
        after = _after_changes(current, changes, asking=asking)
        mine = wanted.difference(_OWNERLESS)
        # A manager that only agrees with what is there has no time to show for it.
        time = last.time if equivalent(self.live, result) else now
        if mine:
            after[asking] = Owned(mine, version, time)
        else:
            after.pop(asking, None)
        return with_managed_fields(result, after)


def _clashes(managers: Managers, changes: Comparison, asking: Manager) -> list[Clash]:
    return [
        Clash(manager, path)
        for manager in sorted(managers, key=lambda manager: manager.rank)
        if manager != asking
        for path in managers[manager].fields.intersection(changes.written).paths()
    ]


def _pruned(together: Any, managers: Managers, last: FieldSet, schema: Schema) -> Document:
    """Remove what the applier gave up and nobody else owns.

    A map or list that somebody still owns, and that has nothing left in it, is null then.
    """
    if not last:
        return dict(together)
    said_before = named(last, schema)
    least = without_fields(together, said_before, schema) or {}
    everything = named(fields_of(together, schema), schema)

    owned = EMPTY
    for each in managers.values():
        owned = owned.union(each.fields)
    kept = named(fields_of(least, schema), schema).union(named(owned, schema))
    least = without_fields(together, everything.difference(kept), schema) or {}

    # Only what the applier had said may go: not what nobody owns.
    kept = named(fields_of(least, schema), schema)
    gone = everything.difference(kept).intersection(said_before)
    return without_fields(together, gone, schema) or {}


def _refusal(clashes: list[Clash]) -> ApiError:
    causes = [
        Cause("FieldManagerConflict", f"conflict with {clash.manager}", path_text(clash.path))
        for clash in clashes
    ]
    if len(clashes) == 1:
        text = f"1 conflict: {causes[0].message}: {causes[0].field}"
    else:
        lines: list[str] = []
        for manager in dict.fromkeys(clash.manager for clash in clashes):
            lines.append(f"conflicts with {manager}:")
            lines += (f"- {path_text(path)}" for owner, path in clashes if owner == manager)
        text = f"{len(clashes)} conflicts: " + "\n".join(lines)
    return Conflict(f"Apply failed with {text}", code=409, reason="Conflict", causes=causes)


# kubectl, which applied on the client's side before it did on the server's


def _left_by_kubectl(target: ApplyTarget, live: Mapping[str, Any]) -> FieldSet:
    """Give the fields that still are as ``kubectl apply`` has left them."""
    try:
        last = json.loads(_annotations(live).get(LAST_APPLIED) or "null")
    except (ValueError, TypeError, RecursionError):
        return EMPTY
    if not isinstance(last, dict) or last.get("apiVersion") != target.api_version:
        return EMPTY
    if any(misfits(last, target.schema)):
        return EMPTY
    changes = compared(last, live, target.schema)
    changed = changes.written.union(changes.removed)
    return fields_of(last, target.schema).difference(changed)


def _annotations(document: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = document.get("metadata")
    annotations = metadata.get("annotations") if isinstance(metadata, Mapping) else None
    return annotations if isinstance(annotations, Mapping) else {}


def _with_last_applied(result: Document, applied: Mapping[str, Any]) -> Document:
    """Keep the annotation true, where there is one; one that would be too large goes."""
    annotations = dict(_annotations(result))
    if not annotations.get(LAST_APPLIED):
        return result
    annotations[LAST_APPLIED] = printing.json_text(_without_annotation(applied)) + "\n"
    size = sum(len(f"{name}{text}".encode()) for name, text in annotations.items())
    if size > MOST_ANNOTATIONS:
        del annotations[LAST_APPLIED]
    return {**result, "metadata": {**result["metadata"], "annotations": annotations}}


def _without_annotation(applied: Mapping[str, Any]) -> Mapping[str, Any]:
    annotations = _annotations(applied)
    if LAST_APPLIED not in annotations:
        return applied
    others = {name: text for name, text in annotations.items() if name != LAST_APPLIED}
    return {**applied, "metadata": {**applied["metadata"], "annotations": others}}
