"""The rules of claims of devices, of their templates, and of classes of devices.

Expressions that select devices are not compiled: only whether there is one, and its length, is
looked at.

Upstream: pkg/apis/resource/validation/validation.go, ValidateResourceClaim,
ValidateResourceClaimTemplate and ValidateDeviceClass
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.devices.device_names import (
    TAINT_EFFECTS,
    check_distinct_items,
    check_fully_qualified,
    check_items,
    check_json,
    check_label,
    itself,
    named,
)
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE, check_annotations, check_labels
from reflet.apirules.validation.resource_names import is_extended
from reflet.apirules.validation.storage.internal_types import internal_field, is_same
from reflet.apirules.validation.storage.persistent_volume_sources import check_driver

Document = Mapping[str, Any]
RequestNames = Mapping[str, frozenset[str]]

MOST_REQUESTS: Final = 32
MOST_CONSTRAINTS: Final = 32
MOST_CONFIGURATIONS: Final = 32
MOST_SELECTORS: Final = 32
MOST_ALTERNATIVES: Final = 8
LONGEST_EXPRESSION: Final = 10 * 1024  # bytes
_NO_EXPRESSION: Final = (
    "compilation failed: ERROR: <input>:1:0: Syntax error: mismatched input '<EOF>' expecting "
    "{'[', '{', '(', '.', '-', '!', 'true', 'false', 'null', NUM_FLOAT, NUM_INT, NUM_UINT, "
    "STRING, BYTES, IDENTIFIER}"
)
_ONE_KIND: Final = "exactly one of `exactly` or `firstAvailable` is required"
_NOT_A_REQUEST: Final = (
    "must be the name of a request in the claim or the name of a request and a subrequest "
    "separated by '/'"
)
_ONE_ATTRIBUTE: Final = (
    'exactly one of "matchAttribute" or "distinctAttribute" is required, but multiple fields '
    "are set"
)


def check_claim_of_devices(document: Document, errors: FieldErrors) -> None:
    """Check a new claim, apart from its metadata."""
    _check_spec(document.get("spec") or {}, "spec", errors)


def check_claim_template(document: Document, errors: FieldErrors) -> None:
    """Check a template of claims, apart from its metadata."""
    spec = document.get("spec") or {}
    metadata = spec.get("metadata") or {}
    check_annotations(metadata.get("annotations"), "spec.metadata.annotations", errors)
    check_labels(metadata.get("labels"), "spec.metadata.labels", errors)
    for name, value in metadata.items():
        if value and name not in {"labels", "annotations"}:
            errors.forbidden(f"spec.metadata.{name}", "cannot be set")
    _check_spec(spec.get("spec") or {}, "spec.spec", errors)


def check_spec_kept(kind: ServedKind, new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that what is claimed stays as it is."""
    now, then = (internal_field(kind, each, "spec") for each in (new, old))
    if not is_same(then, now):
        errors.invalid("spec", now, IMMUTABLE)


def check_device_class(document: Document, errors: FieldErrors) -> None:
    """Check a class of devices, apart from its metadata."""
    spec = document.get("spec") or {}
    selectors, here = spec.get("selectors") or (), "spec.selectors"
    check_items(selectors, MOST_SELECTORS, _check_selector, here, errors)
    found, here = spec.get("config") or (), "spec.config"
    check_items(found, MOST_CONFIGURATIONS, check_configuration, here, errors)
    name = spec.get("extendedResourceName")
    if name is not None and not is_extended(name):
        said = "must be a valid extended resource name"
        errors.invalid("spec.extendedResourceName", name, said)


def request_names(spec: Document) -> RequestNames:
    """Give the names of requests, each with those of its alternatives."""
    return {
        named(request): frozenset(map(named, request.get("firstAvailable") or ()))
        for request in (spec.get("devices") or {}).get("requests") or ()
    }


def _check_spec(spec: Document, path: str, errors: FieldErrors) -> None:
    devices, path = spec.get("devices") or {}, f"{path}.devices"
    known = request_names(spec)
    requests, here = devices.get("requests") or (), f"{path}.requests"
    check_distinct_items(requests, MOST_REQUESTS, _check_request, here, errors, key=named)
    constraints, here = devices.get("constraints") or (), f"{path}.constraints"
    check = partial(_check_constraint, known)
    check_items(constraints, MOST_CONSTRAINTS, check, here, errors)
    found, here = devices.get("config") or (), f"{path}.config"
    check = partial(_check_claim_configuration, known)
    check_items(found, MOST_CONFIGURATIONS, check, here, errors)


def _check_request(request: Document, path: str, errors: FieldErrors) -> None:
    check_label(named(request), f"{path}.name", errors)
    exact, alternatives = request.get("exactly"), request.get("firstAvailable")
    if exact is None and not alternatives:
        errors.required(path, _ONE_KIND)
    elif exact is not None and alternatives:
        errors.invalid(path, None, f"{_ONE_KIND}, but multiple fields are set")
    elif alternatives:
        here = f"{path}.firstAvailable"
        check_distinct_items(
            alternatives, MOST_ALTERNATIVES, _check_alternative, here, errors, key=named
        )
    elif exact is not None:
        _check_wish(exact, f"{path}.exactly", errors)


def _check_alternative(request: Document, path: str, errors: FieldErrors) -> None:
    check_label(named(request), f"{path}.name", errors)
    _check_wish(request, path, errors)


def _check_wish(request: Document, path: str, errors: FieldErrors) -> None:
    name = request.get("deviceClassName", "")
    if not name:
        errors.required(f"{path}.deviceClassName")
    else:
        errors.each_invalid(f"{path}.deviceClassName", name, names.dns_subdomain(name))
    selectors, here = request.get("selectors") or (), f"{path}.selectors"
    check_items(selectors, MOST_SELECTORS, _check_selector, here, errors)
    mode, count = request.get("allocationMode", ""), request.get("count", 0)
    if mode == "All":
        if count:
            said = "must not be specified when allocationMode is 'All'"
            errors.invalid(f"{path}.count", count, said)
    elif mode == "ExactCount":
        if count <= 0:
            errors.invalid(f"{path}.count", count, "must be greater than zero")
    else:
        errors.not_supported(f"{path}.allocationMode", mode, ("All", "ExactCount"))
    for index, toleration in enumerate(request.get("tolerations") or ()):
        _check_toleration(toleration, f"{path}.tolerations[{index}]", errors)


def _check_toleration(toleration: Document, path: str, errors: FieldErrors) -> None:
    key, value = toleration.get("key", ""), toleration.get("value", "")
    operator, effect = toleration.get("operator", ""), toleration.get("effect", "")
    if key:
        errors.each_invalid(f"{path}.key", key, names.qualified_name(key))
    if operator == "Exists":
        if value:
            errors.invalid(f"{path}.value", value, "must be empty for operator `Exists`")
    elif operator == "Equal":
        errors.each_invalid(f"{path}.value", value, names.label_value(value))
    elif not operator:
        errors.required(f"{path}.operator")
    else:
        errors.not_supported(f"{path}.operator", operator, ("Equal", "Exists"))
    if effect and effect not in TAINT_EFFECTS:
        errors.not_supported(f"{path}.effect", effect, TAINT_EFFECTS)


def _check_selector(selector: Document, path: str, errors: FieldErrors) -> None:
    if selector.get("cel") is None:
        errors.required(f"{path}.cel")
        return
    here, expression = f"{path}.cel.expression", selector["cel"].get("expression", "")
    if not expression:
        errors.invalid(here, expression, _NO_EXPRESSION)
    elif len(expression.encode()) > LONGEST_EXPRESSION:
        errors.too_long(here, LONGEST_EXPRESSION)


def _check_constraint(
    known: RequestNames, constraint: Document, path: str, errors: FieldErrors
) -> None:
    check_request_references(constraint.get("requests") or (), known, path, errors)
    for name in ("matchAttribute", "distinctAttribute"):
        if constraint.get(name) is not None:
            check_fully_qualified(constraint[name], f"{path}.{name}", errors)
            return
    errors.required(path, _ONE_ATTRIBUTE)


def _check_claim_configuration(
    known: RequestNames, configuration: Document, path: str, errors: FieldErrors
) -> None:
    check_request_references(configuration.get("requests") or (), known, path, errors)
    check_configuration(configuration, path, errors)


def check_request_references(
    references: Sequence[str], known: RequestNames, path: str, errors: FieldErrors
) -> None:
    """Check the list of requests that something is about."""
    check = partial(check_request_reference, known)
    here = f"{path}.requests"
    check_distinct_items(references, MOST_REQUESTS, check, here, errors, key=itself)


def check_request_reference(known: RequestNames, name: str, path: str, errors: FieldErrors) -> None:
    """Check the name of a request, or of one of its alternatives after a slash."""
    parts = name.split("/")
    if len(parts) > 2:
        errors.invalid(path, name, _NOT_A_REQUEST)
        return
    for part in parts:
        check_label(part, path, errors)
    if parts[0] not in known or (len(parts) == 2 and parts[1] not in known[parts[0]]):
        errors.invalid(path, name, _NOT_A_REQUEST)


def check_configuration(configuration: Document, path: str, errors: FieldErrors) -> None:
    """Check what a driver is told about a device."""
    opaque = configuration.get("opaque")
    if opaque is None:
        errors.required(f"{path}.opaque")
        return
    check_driver(opaque.get("driver", ""), f"{path}.opaque.driver", errors)
    check_json(opaque.get("parameters"), f"{path}.opaque.parameters", errors)
