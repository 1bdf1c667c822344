"""What is asked of objects of custom kinds on create, update and update of the status.

Upstream: apiextensions-apiserver/pkg/registry/customresource/strategy.go and status_strategy.go
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.schema.served_kind import CustomFacts
from reflet.apirules.validation.custom.correlation import Correlated
from reflet.apirules.validation.custom.custom_objects import (
    check_custom_object,
    check_list_types,
    check_value,
    has_rules,
)
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.errors import Cause

Document = Mapping[str, Any]

# Values of another type than the schema's, or that may be too many, are not shown to expressions.
_BLOCKING: Final = frozenset(
    {
        *("FieldValueNotSupported", "FieldValueRequired", "FieldValueTooLong"),
        *("FieldValueTooMany", "FieldValueTypeInvalid"),
    }
)
_NOT_CHECKED: Final = (
    "some validation rules were not checked because the object was invalid; correct the existing "
    "errors to complete validation"
)


def check_new(custom: CustomFacts, document: Document, errors: FieldErrors) -> list[str]:
    """Check a new object, and return warnings."""
    check_custom_object(custom.open_api, document, errors)
    return _check_rules(custom, document, None, errors)


def check_changed(
    custom: CustomFacts, new: Document, old: Document, errors: FieldErrors
) -> list[str]:
    """Check a changed object, and return warnings."""
    check_custom_object(custom.open_api, new, errors, old)
    return _check_rules(custom, new, old, errors)


def check_status(
    custom: CustomFacts, new: Document, old: Document, errors: FieldErrors
) -> list[str]:
    """Check an object of which the status changed, and return warnings."""
    status = (custom.open_api.get("properties") or {}).get("status")
    if status is not None and new.get("status") is not None:
        found = FieldErrors()
        correlated = Correlated(custom.open_api, new, old).key("status")
        check_value(status, new["status"], "", found, correlated)
        # Messages name places as seen from the status, fields as seen from the object.
        errors.causes += [
            Cause(cause.type, cause.message, _in_status(cause.field)) for cause in found.causes
        ]
    check_list_types(custom.open_api, new, errors, old)
    return _check_rules(custom, new, old, errors)


def _in_status(field: str) -> str:
    return "status" if field == "<nil>" else f"status.{field}"


def _check_rules(
    custom: CustomFacts, new: Document, old: Document | None, errors: FieldErrors
) -> list[str]:
    if "rules" not in custom.kept and not has_rules(custom.open_api):
        custom.kept["rules"] = None
    if "rules" not in custom.kept:
        # Slow to import, and most definitions need none of it.
        from reflet.apirules.validation.custom import (  # noqa: PLC0415 - see above
            compiled_rules,
        )

        custom.kept["rules"] = compiled_rules.compiled_rules(custom.open_api)
    rules = custom.kept["rules"]
    if rules is None:
        return []
    if any(cause.type in _BLOCKING for cause in errors.causes):
        errors.invalid("<nil>", None, _NOT_CHECKED)
        return []
    from reflet.apirules.validation.custom import object_rules  # noqa: PLC0415 - see above

    correlated = None if old is None else Correlated(custom.open_api, new, old)
    return object_rules.check_rules(rules, new, old, errors, correlated)
