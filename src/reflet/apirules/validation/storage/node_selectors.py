"""The rules of selectors of nodes: by labels, or by name.

Upstream: pkg/apis/core/validation/validation.go, ValidateNodeSelector
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors

Document = Mapping[str, Any]


def check_node_selector(
    selector: Document, path: str, errors: FieldErrors, *, any_value: bool = False
) -> None:
    """Check a selector of nodes; ``any_value`` lets labels have values that no label can have."""
    terms = selector.get("nodeSelectorTerms") or ()
    here = f"{path}.nodeSelectorTerms"
    if not terms:
        errors.required(here, "must have at least one node selector term")
    for index, term in enumerate(terms):
        check_node_selector_term(term, f"{here}[{index}]", errors, any_value=any_value)


def check_node_selector_term(
    term: Document, path: str, errors: FieldErrors, *, any_value: bool
) -> None:
    """Check what nodes have to have, all of it."""
    for index, requirement in enumerate(term.get("matchExpressions") or ()):
        here = f"{path}.matchExpressions[{index}]"
        _check_labels(requirement, here, errors, any_value=any_value)
    for index, requirement in enumerate(term.get("matchFields") or ()):
        _check_field(requirement, f"{path}.matchFields[{index}]", errors)


def _check_labels(
    requirement: Document, path: str, errors: FieldErrors, *, any_value: bool
) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    match operator:
        case "In" | "NotIn":
            if not values:
                said = "must be specified when `operator` is 'In' or 'NotIn'"
                errors.required(f"{path}.values", said)
        case "Exists" | "DoesNotExist":
            if values:
                said = "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"
                errors.forbidden(f"{path}.values", said)
        case "Gt" | "Lt":
            if len(values) != 1:
                said = "must be specified single value when `operator` is 'Lt' or 'Gt'"
                errors.required(f"{path}.values", said)
        case _:
            errors.invalid(f"{path}.operator", operator, "not a valid selector operator")
    key = requirement.get("key", "")
    errors.each_invalid(f"{path}.key", key, names.qualified_name(key))
    for index, value in enumerate(() if any_value else values):
        errors.each_invalid(f"{path}.values[{index}]", value, names.label_value(value))


def _check_field(requirement: Document, path: str, errors: FieldErrors) -> None:
    operator, values = requirement.get("operator", ""), requirement.get("values") or ()
    if operator not in {"In", "NotIn"}:
        errors.invalid(f"{path}.operator", operator, "not a valid selector operator")
    elif len(values) != 1:
        said = "must be only one value when `operator` is 'In' or 'NotIn' for node field selector"
        errors.required(f"{path}.values", said)
    key = requirement.get("key", "")
    if key != "metadata.name":
        errors.invalid(f"{path}.key", key, "not a valid field selector key")
        return
    for index, value in enumerate(values):
        errors.each_invalid(f"{path}.values[{index}]", value, names.dns_subdomain(value))
