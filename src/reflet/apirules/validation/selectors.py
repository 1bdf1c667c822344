"""Rules for label selectors inside objects, and what they select.

Owns: ``matchLabels`` and ``matchExpressions``.  Must not know who selects.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_labels

Document = Mapping[str, Any]

OPERATORS: Final = frozenset({"In", "NotIn", "Exists", "DoesNotExist"})


def check_selector(selector: Document | None, path: str, errors: FieldErrors) -> None:
    """Check a selector; none at all is fine."""
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
            errors.invalid(f"{here}.operator", operator, "not a valid selector operator")
        key = expression.get("key", "")
        errors.each_invalid(f"{here}.key", key, names.qualified_name(key))
        for number, value in enumerate(values):
            errors.each_invalid(f"{here}.values[{number}]", value, names.label_value(value))


def is_empty(selector: Document) -> bool:
    """Whether a selector asks for nothing."""
    return not selector.get("matchLabels") and not selector.get("matchExpressions")


def is_usable(selector: Document | None) -> bool:
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


def selects(selector: Document | None, labels: Mapping[str, str] | None) -> bool:
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
