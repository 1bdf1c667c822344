"""The rules of pod disruption budgets, whose names need only fit into a URL.

Upstream: pkg/apis/policy/validation/validation.go;
apimachinery/pkg/apis/meta/v1/validation/validation.go, ValidateConditions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_selector
from reflet.apirules.validation.workloads import amount_of, check_not_negative, check_share
from reflet.gotext.lazy_patterns import lazy_pattern

Document = Mapping[str, Any]

EVICTION_POLICIES: Final = ("AlwaysAllow", "IfHealthyBudget")
CONDITION_STATUSES: Final = ("False", "True", "Unknown")
LONGEST_REASON: Final = 1024
LONGEST_MESSAGE: Final = 32 * 1024
REASON: Final = "[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?"
_REASON: Final = lazy_pattern(REASON)
_COUNTS: Final = ("disruptionsAllowed", "currentHealthy", "desiredHealthy", "expectedPods")


def check_disruption_budget(document: Document, errors: FieldErrors) -> None:
    """Check a new budget, apart from its metadata."""
    _check_spec(document.get("spec") or {}, errors)


def check_disruption_budget_update(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check a changed budget, which may keep a selector that was wrong before."""
    found = FieldErrors()
    check_selector((old.get("spec") or {}).get("selector"), "", found)
    _check_spec(new.get("spec") or {}, errors, any_values=bool(found))


def check_disruption_budget_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check what a budget says about its pods."""
    status = new.get("status") or {}
    check_conditions(status.get("conditions") or (), "status.conditions", errors)
    check_not_negative(status, _COUNTS, "status", errors)


def _check_spec(spec: Document, errors: FieldErrors, *, any_values: bool = False) -> None:
    least, most = spec.get("minAvailable"), spec.get("maxUnavailable")
    selector, policy = spec.get("selector"), spec.get("unhealthyPodEvictionPolicy")
    if least is not None and most is not None:
        # Shown under the names of the real server's internal type.
        shown = {"MinAvailable": least, "Selector": selector, "MaxUnavailable": most}
        said = "minAvailable and maxUnavailable cannot be both set"
        errors.invalid("spec", shown | {"UnhealthyPodEvictionPolicy": policy}, said)
    for name, value in (("minAvailable", least), ("maxUnavailable", most)):
        if value is not None:
            check_share(value, f"spec.{name}", errors)
            if isinstance(value, str) and amount_of(value) > 100:
                errors.invalid(f"spec.{name}", value, "must not be greater than 100%")
    check_selector(selector, "spec.selector", errors, any_values=any_values)
    if policy is not None and policy not in EVICTION_POLICIES:
        errors.not_supported("spec.unhealthyPodEvictionPolicy", policy, EVICTION_POLICIES)


def check_conditions(conditions: Sequence[Document], path: str, errors: FieldErrors) -> None:
    """Check conditions of the kind that is the same for all newer types."""
    seen: set[str] = set()
    for index, condition in enumerate(conditions):
        here, kind = f"{path}[{index}]", condition.get("type", "")
        if kind in seen:
            errors.duplicate(f"{here}.type", kind)
        seen.add(kind)
        errors.each_invalid(f"{here}.type", kind, names.qualified_name(kind))
        if condition.get("status") not in CONDITION_STATUSES:
            status = condition.get("status", "")
            errors.not_supported(f"{here}.status", status, CONDITION_STATUSES)
        generation = condition.get("observedGeneration", 0)
        if generation < 0:
            said = "must be greater than or equal to zero"
            errors.invalid(f"{here}.observedGeneration", generation, said)
        if not condition.get("lastTransitionTime"):
            errors.required(f"{here}.lastTransitionTime")
        _check_reason(condition.get("reason", ""), f"{here}.reason", errors)
        if len(condition.get("message", "").encode()) > LONGEST_MESSAGE:
            errors.too_long(f"{here}.message", LONGEST_MESSAGE)


def _check_reason(reason: str, path: str, errors: FieldErrors) -> None:
    if not reason:
        errors.required(path)
        return
    if not _REASON.fullmatch(reason):
        rule = (
            "a condition reason must start with alphabetic character, optionally followed by a "
            "string of alphanumeric characters or '_,:', and must end with an alphanumeric "
            "character or '_'"
        )
        examples = ("my_name", "MY_NAME", "MyName", "ReasonA,ReasonB", "ReasonA:ReasonB")
        errors.invalid(path, reason, names.mismatch(rule, REASON, *examples))
    if len(reason.encode()) > LONGEST_REASON:
        errors.too_long(path, LONGEST_REASON)
