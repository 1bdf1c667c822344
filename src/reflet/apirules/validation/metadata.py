"""The rules of every object's metadata, and of label selectors inside objects.

Names, labels, annotations, owner references, finalizers, and what of it an update may change.

Upstream: apimachinery/pkg/api/validation/objectmeta.go;
apimachinery/pkg/apis/meta/v1/validation/validation.go
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.networking.addresses import canonical_address

Document = Mapping[str, Any]
NameRule = Callable[[str], list[str]]

LONGEST_ANNOTATIONS: Final = 256 * 1024
LONGEST_CRON_JOB: Final = 52  # the job's name gets eleven more characters
STANDARD_FINALIZERS: Final = frozenset({"kubernetes", "orphan", "foregroundDeletion"})
IMMUTABLE: Final = "field is immutable"
NOT_NEGATIVE: Final = "must be greater than or equal to 0"

_NAME_RULES: Final[Mapping[str, NameRule]] = {
    "namespaces": names.dns_label,
    "services": names.dns_label,
    "statefulsets.apps": names.dns_label,
    "roles.rbac.authorization.k8s.io": names.path_segment,
    "rolebindings.rbac.authorization.k8s.io": names.path_segment,
    "clusterroles.rbac.authorization.k8s.io": names.path_segment,
    "clusterrolebindings.rbac.authorization.k8s.io": names.path_segment,
    "poddisruptionbudgets.policy": names.path_segment,
    "apiservices.apiregistration.k8s.io": names.path_segment,
    "certificatesigningrequests.certificates.k8s.io": names.path_segment,
    "ipaddresses.networking.k8s.io": canonical_address,
}
# Kinds whose own rules say nothing of finalizers, so that any name is taken.
_ANY_FINALIZER: Final = frozenset({"poddisruptionbudgets.policy", "runtimeclasses.node.k8s.io"})
_ANY_FINALIZER_IN: Final = frozenset(
    {"admissionregistration.k8s.io", "apiextensions.k8s.io", "apiregistration.k8s.io"}
)
OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


def check_metadata(
    kind: ServedKind, metadata: Document, errors: FieldErrors, *, rule: NameRule | None = None
) -> None:
    """Check the metadata of a new object; ``rule`` is for kinds that name theirs by the spec."""
    if _is_core_event(kind):
        rule = names.path_segment
    rule = rule or _NAME_RULES.get(kind.storage_key, names.dns_subdomain)
    prefix = metadata.get("generateName", "")
    if prefix:
        # What follows the prefix makes a dash at its end harmless.
        masked = f"{prefix[:-1]}a" if len(prefix) > 1 and prefix.endswith("-") else prefix
        masked = f"{prefix}a" if rule is names.path_segment else masked
        errors.each_invalid("metadata.generateName", prefix, rule(masked))
    name = metadata.get("name", "")
    if not name:
        errors.required("metadata.name", "name or generateName is required")
    else:
        errors.each_invalid("metadata.name", name, rule(name))
    check_common_metadata(kind, metadata, errors)
    check_qualified_finalizers(kind, metadata, errors)


def check_common_metadata(kind: ServedKind, metadata: Document, errors: FieldErrors) -> None:
    """Check what does not depend on how the kind's objects are named."""
    namespace = metadata.get("namespace", "")
    if kind.namespaced:
        if not namespace:
            errors.required("metadata.namespace")
        else:
            errors.each_invalid("metadata.namespace", namespace, names.dns_label(namespace))
    elif namespace:
        errors.forbidden("metadata.namespace", "not allowed on this type")
    if metadata.get("generation", 0) < 0:
        errors.invalid("metadata.generation", metadata["generation"], NOT_NEGATIVE)
    check_labels(metadata.get("labels"), "metadata.labels", errors)
    check_annotations(metadata.get("annotations"), "metadata.annotations", errors)
    check_owners(metadata.get("ownerReferences") or (), errors)
    check_finalizers(metadata.get("finalizers") or (), errors)


def check_labels(labels: Mapping[str, str] | None, path: str, errors: FieldErrors) -> None:
    """Check keys and values of labels, or of a selector made of labels."""
    for key, value in (labels or {}).items():
        errors.each_invalid(path, key, names.qualified_name(key))
        errors.each_invalid(path, value, names.label_value(value))


def check_annotations(
    annotations: Mapping[str, str] | None, path: str, errors: FieldErrors
) -> None:
    """Check keys of annotations, and how much they are in all."""
    size = 0
    for key, value in (annotations or {}).items():
        errors.each_invalid(path, key, names.qualified_name(key.lower()))
        size += len(key.encode()) + len(value.encode())
    if size > LONGEST_ANNOTATIONS:
        errors.too_long(path, LONGEST_ANNOTATIONS)


def check_owners(owners: Any, errors: FieldErrors) -> None:
    """Check owner references; one of them may be the controller."""
    path = "metadata.ownerReferences"
    controller = ""
    for owner in owners:
        if not owner.get("apiVersion", "").rpartition("/")[2]:
            version = owner.get("apiVersion", "")
            errors.invalid(f"{path}.apiVersion", version, "version must not be empty")
        for name in ("kind", "name", "uid"):
            if not owner.get(name):
                errors.invalid(f"{path}.{name}", owner.get(name, ""), "must not be empty")
        if owner.get("apiVersion") == "v1" and owner.get("kind") == "Event":
            shown = {name: owner.get(name, "") for name in ("apiVersion", "kind", "name", "uid")}
            errors.invalid(path, shown, "/v1, Kind=Event is disallowed from being an owner")
        if owner.get("controller"):
            this = f"{owner.get('kind', '')}/{owner.get('name', '')}"
            if controller:
                errors.invalid(
                    path,
                    list(owners),
                    "Only one reference can have Controller set to true. Found "
                    f'"true" in references for {controller} and {this}',
                )
            else:
                controller = this


def check_finalizers(finalizers: Any, errors: FieldErrors) -> None:
    """Check the names of finalizers."""
    path = "metadata.finalizers"
    for finalizer in finalizers:
        errors.each_invalid(path, finalizer, names.qualified_name(finalizer))
    if {"orphan", "foregroundDeletion"} <= set(finalizers):
        errors.invalid(
            path,
            list(finalizers),
            "finalizer orphan and foregroundDeletion cannot be both set",
        )


def _is_core_event(kind: ServedKind) -> bool:
    """Whether it is the older sort of event, whose metadata has no rules but those of a URL."""
    return kind.storage_key == "events" and not kind.group


def check_qualified_finalizers(kind: ServedKind, metadata: Document, errors: FieldErrors) -> None:
    """Check that finalizers of built-in kinds are standard ones or have a domain."""
    if kind.custom is not None or kind.group in _ANY_FINALIZER_IN:
        return
    if kind.storage_key in _ANY_FINALIZER or _is_core_event(kind):
        return
    for index, finalizer in enumerate(metadata.get("finalizers") or ()):
        if "/" not in finalizer and finalizer not in STANDARD_FINALIZERS:
            errors.invalid(
                f"metadata.finalizers[{index}]",
                finalizer,
                "name is neither a standard finalizer name nor is it fully qualified",
            )


def check_metadata_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check what an update does to the metadata."""
    if old.get("deletionTimestamp"):
        extra = sorted(set(new.get("finalizers") or ()) - set(old.get("finalizers") or ()))
        if extra:
            quoted = ", ".join(f'"{name}"' for name in extra)
            errors.forbidden(
                "metadata.finalizers",
                "no new finalizers can be added if the object is being deleted, found new "
                f"finalizers []string{{{quoted}}}",
            )
    for name in ("name", "namespace", "uid", "creationTimestamp", "deletionTimestamp"):
        if new.get(name) != old.get(name):
            errors.invalid(f"metadata.{name}", new.get(name, ""), IMMUTABLE)
    grace = "deletionGracePeriodSeconds"
    if new.get(grace) != old.get(grace):
        errors.invalid(f"metadata.{grace}", new.get(grace), IMMUTABLE)
    check_labels(new.get("labels"), "metadata.labels", errors)
    check_annotations(new.get("annotations"), "metadata.annotations", errors)
    check_owners(new.get("ownerReferences") or (), errors)


def check_selector(
    selector: Document | None, path: str, errors: FieldErrors, *, any_values: bool = False
) -> None:
    """Check a selector; none at all is fine.

    With ``any_values``, values of expressions are taken as they are: they were wrong before.
    """
    if selector is None:
        return
    check_labels(selector.get("matchLabels"), f"{path}.matchLabels", errors)
    for index, expression in enumerate(selector.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        operator, values = expression.get("operator", ""), expression.get("values") or ()
        if operator in {"In", "NotIn"}:
            if not values:
                said = "must be specified when `operator` is 'In' or 'NotIn'"
                errors.required(f"{here}.values", said)
        elif operator in {"Exists", "DoesNotExist"}:
            if values:
                said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                errors.forbidden(f"{here}.values", said)
        else:
            said = "not a valid selector operator"
            errors.invalid(f"{here}.operator", Named(operator), said)
        key = expression.get("key", "")
        errors.each_invalid(f"{here}.key", key, names.qualified_name(key))
        for number, value in enumerate(() if any_values else values):
            errors.each_invalid(f"{here}.values[{number}]", value, names.label_value(value))


def is_empty_selector(selector: Document) -> bool:
    """Whether a selector asks for nothing."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def is_usable_selector(selector: Document | None) -> bool:
    """Whether a selector can be evaluated: known operators with the values they need."""
    for expression in (selector or {}).get("matchExpressions") or ():
        operator, values = expression.get("operator", ""), expression.get("values") or ()
        if operator not in OPERATORS or names.qualified_name(expression.get("key", "")):
            return False
        if bool(values) != (operator in {"In", "NotIn"}):
            return False
        if any(names.label_value(value) for value in values):
            return False
    labels = (selector or {}).get("matchLabels") or {}
    return not any(
        names.qualified_name(key) or names.label_value(value) for key, value in labels.items()
    )


def selector_matches(selector: Document | None, labels: Mapping[str, str] | None) -> bool:
    """Whether a usable selector selects what has these labels; None selects nothing."""
    if selector is None:
        return False
    found = labels or {}
    for key, value in (selector.get("matchLabels") or {}).items():
        if found.get(key) != value:
            return False
    for expression in selector.get("matchExpressions") or ():
        key, values = expression["key"], expression.get("values") or ()
        match expression["operator"]:
            case "In":
                matches = key in found and found[key] in values
            case "NotIn":
                matches = key not in found or found[key] not in values
            case "Exists":
                matches = key in found
            case _:
                matches = key not in found
        if not matches:
            return False
    return True
