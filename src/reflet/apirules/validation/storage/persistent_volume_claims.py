"""The rules of claims on persistent volumes.

Upstream: pkg/apis/core/validation/validation.go, ValidatePersistentVolumeClaim,
ValidatePersistentVolumeClaimUpdate and ValidatePersistentVolumeClaimStatusUpdate
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.api.quantities import ZERO, Quantity
from reflet.apirules.schema.schemas import Schema
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE, NOT_NEGATIVE, check_selector
from reflet.apirules.validation.resource_names import is_native
from reflet.apirules.validation.storage.internal_types import difference, internal_view, is_same
from reflet.apirules.validation.storage.persistent_volumes import (
    NOT_POSITIVE,
    check_access_modes,
    check_class_name,
    check_volume_mode,
    check_volume_mode_kept,
)

Document = Mapping[str, Any]

OLD_CLASS: Final = "volume.beta.kubernetes.io/storage-class"  # an annotation
RESIZE_STATES: Final = (
    *("ControllerResizeInProgress", "ControllerResizeInfeasible", "NodeResizeInProgress"),
    *("NodeResizeInfeasible", "NodeResizePending"),
)
_ATTRIBUTES: Final = "volumeAttributesClassName"


def check_claim(document: Document, errors: FieldErrors) -> None:
    """Check a new claim, apart from its metadata."""
    check_claim_spec(document["spec"], "spec", errors)


def check_claim_spec(
    spec: Document, path: str, errors: FieldErrors, *, before: Document | None = None
) -> None:
    """Check what is claimed; ``before`` is what was, the faults of which may stay."""
    if not spec.get("accessModes"):
        errors.required(f"{path}.accessModes", "at least 1 access mode is required")
    _check_selector(spec, path, errors, before)
    check_access_modes(spec.get("accessModes") or (), f"{path}.accessModes", errors)
    here = f"{path}.resources[storage]"
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    if asked is None:
        errors.required(here)
    elif Quantity.parse(asked).nanos <= 0:
        errors.invalid(here, str(Quantity.parse(asked)), NOT_POSITIVE)
    check_class_name(spec.get("storageClassName"), f"{path}.storageClassName", errors)
    check_volume_mode(spec.get("volumeMode"), f"{path}.volumeMode", errors)
    _check_data_sources(spec, path, errors, any_group=before is not None and _has_group(before))
    check_class_name(spec.get(_ATTRIBUTES), f"{path}.{_ATTRIBUTES}", errors)


def _check_selector(
    spec: Document, path: str, errors: FieldErrors, before: Document | None
) -> None:
    found = FieldErrors()
    check_selector(spec.get("selector"), f"{path}.selector", found)
    if before is not None:
        earlier = FieldErrors()
        check_selector(before.get("selector"), f"{path}.selector", earlier)
        if earlier:
            # Then the values of expressions may be anything.
            found.causes = [cause for cause in found.causes if ".values[" not in cause.field]
    errors.causes += found.causes


def _has_group(spec: Document) -> bool:
    sources = (spec.get("dataSource"), spec.get("dataSourceRef"))
    return any(source is not None and source.get("apiGroup") is not None for source in sources)


def _check_data_sources(spec: Document, path: str, errors: FieldErrors, *, any_group: bool) -> None:
    source, reference = spec.get("dataSource"), spec.get("dataSourceRef")
    for name, each in (("dataSource", source), ("dataSourceRef", reference)):
        if each is not None:
            _check_data_source(each, f"{path}.{name}", errors, any_group=any_group)
    if reference is not None:
        namespace = reference.get("namespace") or ""
        if namespace:
            wrong = names.dns_label(namespace)
            errors.each_invalid(f"{path}.dataSourceRef.namespace", namespace, wrong)
        if source is None:
            return
        # Meant to show the field's place, of which nothing can be shown.
        if namespace:
            said = "may not be specified when dataSourceRef.namespace is specified"
            errors.invalid(path, {}, said)
        elif any(source.get(name) != reference.get(name) for name in ("apiGroup", "kind", "name")):
            errors.invalid(path, {}, "must match dataSourceRef")


def _check_data_source(
    source: Document, path: str, errors: FieldErrors, *, any_group: bool
) -> None:
    for name in ("name", "kind"):
        if not source.get(name):
            errors.required(f"{path}.{name}")
    group, kind = source.get("apiGroup") or "", source.get("kind", "")
    if not group and kind != "PersistentVolumeClaim":
        said = "must be 'PersistentVolumeClaim' when referencing the default apiGroup"
        errors.invalid(path, kind, said)
    if group and not any_group:
        errors.each_invalid(f"{path}.apiGroup", group, names.dns_subdomain(group))


def check_claim_change(schema: Schema, new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a claim stays what it is, but for its size; ``schema`` describes its spec."""
    spec, before = dict(new["spec"]), dict(old["spec"])
    status = old.get("status") or {}
    if not before.get("volumeName"):
        before["volumeName"] = spec.get("volumeName", "")
    _settle_class(new, old, spec, before, errors)
    if status.get("phase") == "Bound":
        _settle_amounts(spec, before)
    now, then = internal_view(schema, spec), internal_view(schema, before)
    if not is_same(_by_meaning(then), _by_meaning(now)):
        said = (
            "spec is immutable after creation except resources.requests and "
            "volumeAttributesClassName for bound claims"
        )
        errors.forbidden("spec", f"{said}\n{difference(then, now)}")
    size, earlier = _size(new["spec"]), _size(old["spec"])
    held = Quantity.parse((status.get("capacity") or {}).get("storage", "0"))
    if size < earlier and size <= held:
        said = "field can not be less than status.capacity"
        errors.forbidden("spec.resources.requests.storage", said)
    check_volume_mode_kept(new["spec"], old["spec"], errors)
    if status.get("currentVolumeAttributesClassName") is not None:
        _check_attributes_kept(new["spec"], old["spec"], errors)


def _settle_class(
    new: Document,
    old: Document,
    spec: dict[str, Any],
    before: dict[str, Any],
    errors: FieldErrors,
) -> None:
    """Let a class be named that was named by annotation before, or not at all."""
    annotated = (new["metadata"].get("annotations") or {}).get(OLD_CLASS)
    earlier = (old["metadata"].get("annotations") or {}).get(OLD_CLASS)
    wanted, was = spec.get("storageClassName"), before.get("storageClassName")
    is_first = was is None and wanted is not None and earlier in (None, wanted)
    if is_first and earlier is not None and annotated in (None, earlier):
        spec.pop("storageClassName")
        return
    if (annotated or "") != (earlier or ""):
        errors.invalid(f"metadata.annotations.{OLD_CLASS}", annotated or "", IMMUTABLE)
    if is_first:
        spec.pop("storageClassName")


def _settle_amounts(spec: dict[str, Any], before: Document) -> None:
    """Let a bound claim ask for another size and other attributes."""
    resources = dict(spec.get("resources") or {})
    if resources.get("requests"):
        asked = ((before.get("resources") or {}).get("requests") or {}).get("storage", "0")
        resources["requests"] = {**resources["requests"], "storage": asked}
        spec["resources"] = resources
    spec.pop(_ATTRIBUTES, None)
    if before.get(_ATTRIBUTES) is not None:
        spec[_ATTRIBUTES] = before[_ATTRIBUTES]


def _by_meaning(view: Any) -> Any:
    """Give a view in which equal amounts are equal, and an empty selector is not none."""
    resources = {
        name: {resource: Quantity.parse(amount) for resource, amount in amounts.items()}
        for name, amounts in view["Resources"].items()
        if amounts
    }
    selector = view["Selector"]
    return view | {
        "Selector": None if selector is None else [selector],
        "Resources": {"Limits": {}, "Requests": {}} | resources,
    }


def _size(spec: Document) -> Quantity:
    asked = ((spec.get("resources") or {}).get("requests") or {}).get("storage")
    return ZERO if asked is None else Quantity.parse(asked)


def _check_attributes_kept(spec: Document, before: Document, errors: FieldErrors) -> None:
    wanted = spec.get(_ATTRIBUTES)
    if wanted == before.get(_ATTRIBUTES) or wanted:
        return
    what = "nil" if wanted is None else "empty string"
    said = f"update to {what} is forbidden when status.currentVolumeAttributesClassName is not nil"
    errors.forbidden(f"spec.{_ATTRIBUTES}", said)


def check_claim_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check what is reported about a claim."""
    status = new.get("status") or {}
    for name, amount in sorted((status.get("capacity") or {}).items()):
        _check_held(amount, f"status.capacity[{name}]", errors)
    states = status.get("allocatedResourceStatuses") or {}
    for name, state in sorted(states.items()):
        path = "status.allocatedResourceStatuses"
        _check_resource(name, path, errors)
        if state not in RESIZE_STATES:
            errors.not_supported(path, name, sorted(RESIZE_STATES))
    for name, amount in sorted((status.get("allocatedResources") or {}).items()):
        path = "status.allocatedResources"
        if _check_resource(name, path, errors):
            _check_held(amount, f"{path}[{name}]", errors, or_else=NOT_NEGATIVE)


def _check_resource(name: str, path: str, errors: FieldErrors) -> bool:
    wrong = names.qualified_name(name)
    errors.each_invalid(path, name, wrong)
    if not wrong and is_native(name) and name != "storage":
        errors.not_supported(path, name, ("storage",))
        return False
    return not wrong


def _check_held(amount: str, path: str, errors: FieldErrors, *, or_else: str = "") -> None:
    quantity = Quantity.parse(amount)
    if quantity.value() < 0:
        errors.invalid(path, quantity.value(), "must be a valid resource quantity")
    elif or_else and quantity.nanos < 0:
        errors.invalid(path, str(quantity), or_else)
