"""The scale subresource: the number of replicas, seen apart from the rest.

Upstream: pkg/registry/apps/deployment/storage/storage.go, ScaleREST;
apiextensions-apiserver/pkg/registry/customresource/etcd.go, ScaleREST
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.admission import clone
from reflet.apirules.schema.served_kind import ServedKind
from reflet.devserver.patches.json_patch import (
    json_patch,
    merge_patch,
    unreadable_result,
    without_prefix,
)
from reflet.devserver.patches.patch_bodies import read_applied, read_json_patch, read_merge_patch
from reflet.devserver.printing.answers import DocumentAnswer
from reflet.devserver.printing.json_paths import first_at
from reflet.devserver.printing.printers import NONE, selector_text
from reflet.devserver.request.bodies import Body, check_subresource, read_subresource
from reflet.devserver.storage.stored import Stored
from reflet.devserver.verbs.conversion import in_version
from reflet.devserver.verbs.patching import APPLY_PATCH, JSON_PATCH
from reflet.devserver.verbs.writing import Writing
from reflet.errors import BadRequest, Cause

Document = dict[str, Any]

_SHOWN_METADATA: Final = ("name", "namespace", "uid", "resourceVersion", "creationTimestamp")


def scale_of(kind: ServedKind, document: Document) -> Document:
    """Give the Scale of an object."""
    metadata = document["metadata"]
    wanted, present, selector = _numbers(kind, document)
    return {
        "kind": "Scale",
        "apiVersion": "autoscaling/v1",
        "metadata": {name: metadata[name] for name in _SHOWN_METADATA if name in metadata},
        "spec": {"replicas": wanted} if wanted else {},
        "status": {"replicas": present} | ({"selector": selector} if selector else {}),
    }


def _numbers(kind: ServedKind, document: Document) -> tuple[int, int, str]:
    if kind.custom is not None and kind.custom.scale is not None:
        paths = kind.custom.scale
        selector = first_at(document, paths.label_selector) if paths.label_selector else ""
        return (
            first_at(document, paths.spec_replicas) or 0,
            first_at(document, paths.status_replicas) or 0,
            selector or "",
        )
    spec, status = document.get("spec", {}), document.get("status", {})
    selector = spec.get("selector")
    if kind.storage_key == "replicationcontrollers":
        selector = {"matchLabels": selector or {}}
    text = selector_text(selector)
    return spec.get("replicas", 0), status.get("replicas", 0), "" if text == NONE else text


def get_scale(kind: ServedKind, stored: Stored) -> DocumentAnswer:
    """Answer with the Scale of a stored object."""
    document = in_version(kind, stored.object)
    if kind.custom is not None and kind.custom.scale is not None:
        path = kind.custom.scale.spec_replicas
        if first_at(document, path) is None:
            raise refusals.internal_error(f'the spec replicas field "{path}" does not exist')
    return DocumentAnswer(scale_of(kind, document))


async def replace_scale(writing: Writing, body: Body) -> DocumentAnswer:
    """Write the Scale in the body of a PUT."""
    document = read_subresource(
        writing.state.kinds,
        "scale",
        body,
        validation=writing.options.validation,
        warnings=writing.warnings,
    )
    return await writing.until_done(lambda stored: _write(writing, stored, lambda _: document))


async def patch_scale(writing: Writing, body: Body) -> DocumentAnswer:
    """Write the Scale that a patch makes of the present one."""
    return await writing.until_done(
        lambda stored: _write(writing, stored, lambda present: _patched(writing, present, body))
    )


def _patched(writing: Writing, present: Document, body: Body) -> Document:
    complaints: list[str] = []
    if body.media_type == JSON_PATCH:
        document = json_patch(present, read_json_patch(body.content, complaints))
    elif body.media_type == APPLY_PATCH:
        document = merge_patch(present, read_applied(body.content))
    else:
        # In a Scale there is no list, so a strategic patch means the same.
        document = merge_patch(present, read_merge_patch(body.content, complaints))
    try:
        return check_subresource(
            writing.state.kinds,
            "scale",
            document,
            validation=writing.options.validation,
            warnings=writing.warnings,
        )
    except BadRequest as error:
        raise unreadable_result(document, without_prefix(error.message)) from error


async def _write(
    writing: Writing, stored: Stored | None, wanted: Callable[[Document], Document]
) -> DocumentAnswer:
    kind = writing.kind
    if stored is None:
        raise refusals.not_found(kind.plural, writing.name, group=kind.group)
    present = scale_of(kind, in_version(kind, stored.object))
    scale = wanted(present)
    writing.check_name(scale)
    scale, _ = await writing.mutated("UPDATE", scale, None, present)
    replicas = (scale.get("spec") or {}).get("replicas", 0)
    if replicas < 0:
        message = f"Invalid value: {replicas}: must be greater than or equal to 0"
        cause = Cause("FieldValueInvalid", message, "spec.replicas")
        raise refusals.invalid("Scale", writing.name, [cause], group="autoscaling")
    document: Document = clone(in_version(kind, stored.object))
    version = scale.get("metadata", {}).get("resourceVersion")
    document["metadata"]["resourceVersion"] = version or str(stored.revision)
    _set_replicas(kind, document, replicas)
    managed = document["metadata"].get("managedFields") or []
    # Whoever scales comes to own the number only if somebody owns it already.
    is_owned = any(_owns(entry, _steps(kind)) for entry in managed)
    answer = await writing.replace(
        stored,
        document,
        managed=None if is_owned else managed,
        shown=lambda made: scale_of(kind, made),
    )
    return DocumentAnswer(scale_of(kind, in_version(kind, answer.document)))


def _set_replicas(kind: ServedKind, document: Document, replicas: int) -> None:
    steps = _steps(kind)
    place = document
    for step in steps[:-1]:
        place = place.setdefault(step, {})
    place[steps[-1]] = replicas


def _steps(kind: ServedKind) -> list[str]:
    """Give the way to the wanted number in an object."""
    if kind.custom is not None and kind.custom.scale is not None:
        return kind.custom.scale.spec_replicas.removeprefix(".").split(".")
    return ["spec", "replicas"]


def _owns(entry: Document, steps: list[str]) -> bool:
    """Whether one of an object's managers owns the field at the end of a way."""
    fields: Any = entry.get("fieldsV1") or {}
    for step in steps:
        fields = fields.get(f"f:{step}")
        if fields is None:
            return False
    return True
