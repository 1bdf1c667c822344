"""The rules of what shares a cluster out: quotas, ranges of limits, priority classes.

Upstream: pkg/apis/core/validation/validation.go, ValidateResourceQuota and ValidateLimitRange;
pkg/apis/scheduling/validation/validation.go, ValidatePriorityClass
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.api.quantities import Quantity
from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import IMMUTABLE
from reflet.apirules.validation.resource_names import (
    check_amount,
    check_container_resource,
    check_quota_resource,
    check_resource,
    is_of_quotas,
    may_be_overcommitted,
)

Document = Mapping[str, Any]
Amounts = Mapping[str, Quantity]

HIGHEST_PRIORITY: Final = 1_000_000_000  # that users may give
SYSTEM_PRIORITIES: Final[Mapping[str, int]] = {
    "system-node-critical": 2_000_001_000,
    "system-cluster-critical": 2_000_000_000,
}
PREEMPTION_POLICIES: Final = ("PreemptLowerPriority", "Never")
_LARGEST_MILLI: Final = (2**63 - 1) // 1000

_PODS: Final = frozenset({"pods"})
_OF_PODS: Final = _PODS | {
    *("cpu", "memory", "limits.cpu", "limits.memory", "requests.cpu", "requests.memory"),
}
_SCOPES: Final[Mapping[str, frozenset[str]]] = {
    "Terminating": _OF_PODS,
    "NotTerminating": _OF_PODS,
    "BestEffort": _PODS,
    "NotBestEffort": _OF_PODS,
    "PriorityClass": _OF_PODS,
    "CrossNamespacePodAffinity": _OF_PODS,
    "VolumeAttributesClass": frozenset({"persistentvolumeclaims", "requests.storage"}),
}
_SCOPES_WITHOUT_VALUES: Final = _SCOPES.keys() - {"PriorityClass", "VolumeAttributesClass"}
_CONTRARY: Final = ({"BestEffort", "NotBestEffort"}, {"Terminating", "NotTerminating"})


def check_quota(document: Document, errors: FieldErrors) -> None:
    """Check a quota, apart from its metadata."""
    spec = document.get("spec") or {}
    _check_hard(spec.get("hard") or {}, "spec.hard", errors)
    _check_scopes(spec, errors)
    if spec.get("scopeSelector") is not None:
        _check_scope_selector(spec, errors)


def _check_hard(amounts: Mapping[str, str], path: str, errors: FieldErrors) -> None:
    for name in sorted(amounts):
        here = f"{path}[{name}]"
        check_quota_resource(name, here, errors)
        check_amount(name, amounts[name], here, errors)


def _check_scopes(spec: Document, errors: FieldErrors) -> None:
    path, scopes = "spec.scopes", spec.get("scopes") or []
    for scope in scopes:
        if scope not in _SCOPES:
            errors.invalid(path, scopes, "unsupported scope")
        for _ in _outside_scope(spec, scope):
            errors.invalid(path, scopes, "unsupported scope applied to resource")
    for pair in _CONTRARY:
        if pair <= set(scopes):
            errors.invalid(path, scopes, "conflicting scopes")


def _outside_scope(spec: Document, scope: str) -> list[str]:
    """List the resources of a quota that a scope says nothing about."""
    covered = _SCOPES.get(scope)
    if covered is None:
        return []
    return [name for name in spec.get("hard") or () if is_of_quotas(name) and name not in covered]


def _check_scope_selector(spec: Document, errors: FieldErrors) -> None:
    path = "spec.scopeSelector.matchExpressions"
    requirements = spec["scopeSelector"].get("matchExpressions") or ()
    for requirement in requirements:
        scope, operator = requirement.get("scopeName", ""), requirement.get("operator", "")
        values = requirement.get("values") or []
        if scope not in _SCOPES:
            errors.invalid(f"{path}.scopeName", scope, "unsupported scope")
        for _ in _outside_scope(spec, scope):
            shown = _internal_selector(requirements)
            errors.invalid(path, shown, "unsupported scope applied to resource")
        if scope in _SCOPES_WITHOUT_VALUES and operator != "Exists":
            said = (
                "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                "ResourceQuotaScopeNotBestEffort or ResourceQuotaScopeCrossNamespacePodAffinity"
            )
            errors.invalid(f"{path}.operator", operator, said)
        _check_operator(operator, values, path, errors)
    for pair in _CONTRARY:
        if pair <= {requirement.get("scopeName", "") for requirement in requirements}:
            errors.invalid(path, spec.get("scopes"), "conflicting scopes")


def _check_operator(operator: str, values: Sequence[str], path: str, errors: FieldErrors) -> None:
    if operator in {"In", "NotIn"}:
        if not values:
            said = (
                "must be at least one value when `operator` is 'In' or 'NotIn' for scope selector"
            )
            errors.required(f"{path}.values", said)
    elif operator in {"Exists", "DoesNotExist"}:
        if values:
            said = (
                "must be no value when `operator` is 'Exist' or 'DoesNotExist' for scope selector"
            )
            errors.invalid(f"{path}.values", values, said)
    else:
        errors.invalid(f"{path}.operator", operator, "not a valid selector operator")


def _internal_selector(requirements: Sequence[Document]) -> dict[str, Any]:
    """Show a selector as the real server does: under the names of its internal type."""
    return {
        "MatchExpressions": [
            {
                "ScopeName": each.get("scopeName", ""),
                "Operator": each.get("operator", ""),
                "Values": each.get("values"),
            }
            for each in requirements
        ]
    }


def check_quota_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a quota keeps its scopes."""
    scopes = (new.get("spec") or {}).get("scopes")
    if set(scopes or ()) != set((old.get("spec") or {}).get("scopes") or ()):
        errors.invalid("spec.scopes", scopes, IMMUTABLE)


def check_quota_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check what is reported about a quota."""
    for name in ("hard", "used"):
        amounts = (new.get("status") or {}).get(name) or {}
        _check_hard(amounts, f"status.{name}", errors)


def check_limit_range(document: Document, errors: FieldErrors) -> None:
    """Check a range of limits, apart from its metadata."""
    seen: set[str] = set()
    for index, limit in enumerate((document.get("spec") or {}).get("limits") or ()):
        path, kind = f"spec.limits[{index}]", limit.get("type", "")
        wrong = names.qualified_name(kind)
        errors.each_invalid(f"{path}.type", kind, wrong)
        if not wrong and "/" not in kind and kind not in _LIMIT_TYPES:
            said = "must be a standard limit type or fully qualified"
            errors.invalid(f"{path}.type", kind, said)
        if kind in seen:
            errors.duplicate(f"{path}.type", kind)
        seen.add(kind)
        _check_limit(limit, kind, path, errors)


_LIMIT_TYPES: Final = frozenset({"Pod", "Container", "PersistentVolumeClaim"})


def _check_limit(limit: Document, kind: str, path: str, errors: FieldErrors) -> None:
    amounts: dict[str, Amounts] = {}
    for name in ("max", "min", "default", "defaultRequest"):
        if kind == "Pod" and name.startswith("default"):
            if limit.get(name):
                said = "may not be specified when `type` is 'Pod'"
                errors.forbidden(f"{path}.{name}", said)
            continue
        amounts[name] = _checked_amounts(limit, name, kind, path, errors)
    bounds = amounts["min"].keys() | amounts["max"].keys()
    if kind == "PersistentVolumeClaim" and "storage" not in bounds:
        said = "either minimum or maximum storage value is required, but neither was provided"
        errors.required(f"{path}.limits", said)
    ratio = "maxLimitRequestRatio"
    amounts[ratio] = _checked_amounts(limit, ratio, kind, path, errors)
    for name in sorted(set().union(*amounts.values())):
        mine = {each: found[name] for each, found in amounts.items() if name in found}
        _check_order(mine, name, path, errors)
        _check_ratio(mine, name, path, errors)
        _check_overcommitment(mine, name, path, errors)


def _checked_amounts(
    limit: Document, field: str, kind: str, path: str, errors: FieldErrors
) -> Amounts:
    check = check_container_resource if kind in {"Pod", "Container"} else check_resource
    amounts = limit.get(field) or {}
    for name in sorted(amounts):
        check(name, f"{path}.{field}[{name}]", errors)
    return {name: Quantity.parse(amount) for name, amount in amounts.items()}


# What must not be more than what: the place, and the value shown there, of a complaint.
_ORDER: Final = (
    ("min", "max", "min", "min"),
    ("min", "defaultRequest", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "max", "defaultRequest", "defaultRequest"),
    ("defaultRequest", "default", "defaultRequest", "defaultRequest"),
    ("min", "default", "default", "min"),
    ("default", "max", "default", "max"),
)


def _check_order(mine: Amounts, name: str, path: str, errors: FieldErrors) -> None:
    for less, more, place, value in _ORDER:
        if less in mine and more in mine and mine[less] > mine[more]:
            shown = "default limit" if (less, more) == ("defaultRequest", "default") else more
            low, high = (_WORDS.get(each, each) for each in (less, shown))
            said = f"{low} value {mine[less]} is greater than {high} value {mine[more]}"
            errors.invalid(f"{path}.{place}[{name}]", str(mine[value]), said)


_WORDS: Final = {"defaultRequest": "default request"}


def _check_ratio(mine: Amounts, name: str, path: str, errors: FieldErrors) -> None:
    ratio = mine.get("maxLimitRequestRatio")
    if ratio is None:
        return
    here = f"{path}.maxLimitRequestRatio[{name}]"
    if ratio.nanos < 10**9:
        errors.invalid(here, str(ratio), f"ratio {ratio} is less than 1")
    if "min" not in mine or "max" not in mine:
        return
    low, high = mine["min"], mine["max"]
    if all(each.value() < _LARGEST_MILLI for each in (ratio, low, high)):
        wanted = ratio.milli_value() / 1000
        possible = _divided(high.milli_value(), low.milli_value())
    else:
        wanted, possible = float(ratio.value()), _divided(high.value(), low.value())
    if wanted > possible:
        shown = "-Inf" if possible == -_INFINITE else f"{possible:f}"
        errors.invalid(here, str(ratio), f"ratio {ratio} is greater than max/min = {shown}")


_INFINITE: Final = float("inf")


def _divided(high: int, low: int) -> float:
    if low:
        return high / low
    return _INFINITE * high if high else float("nan")


def _check_overcommitment(mine: Amounts, name: str, path: str, errors: FieldErrors) -> None:
    if may_be_overcommitted(name) or not {"default", "defaultRequest"} <= mine.keys():
        return
    limit, request = mine["default"], mine["defaultRequest"]
    if limit != request:
        said = f"default value {limit} must equal to defaultRequest value {request} in {name}"
        errors.invalid(f"{path}.defaultRequest[{name}]", str(request), said)


def check_priority_class(document: Document, errors: FieldErrors) -> None:
    """Check a priority class, apart from its metadata."""
    name, value = document["metadata"].get("name", ""), document.get("value", 0)
    if name.startswith("system-"):
        wrong = _wrong_with_system_class(name, value, document.get("globalDefault", False))
        if wrong:
            said = "priority class names with 'system-' prefix are reserved for system use only."
            errors.forbidden("metadata.name", f"{said} error: {wrong}")
    elif value > HIGHEST_PRIORITY:
        said = f"maximum allowed value of a user defined priority is {HIGHEST_PRIORITY}"
        errors.forbidden("value", said)
    policy = document.get("preemptionPolicy")
    if policy == "":
        errors.required("preemptionPolicy")
    elif policy is not None and policy not in PREEMPTION_POLICIES:
        errors.not_supported("preemptionPolicy", policy, PREEMPTION_POLICIES)


def _wrong_with_system_class(name: str, value: int, is_default: object) -> str:
    expected = SYSTEM_PRIORITIES.get(name)
    if expected is None:
        return f"{name} is not a known system priority class"
    if value != expected:
        return f"value of {name} PriorityClass must be {expected}"
    return f"globalDefault of {name} PriorityClass must be false" if is_default else ""


def check_priority_class_change(new: Document, old: Document, errors: FieldErrors) -> None:
    """Check that a class keeps its priority and what it does to others."""
    if new.get("value", 0) != old.get("value", 0):
        errors.forbidden("value", "may not be changed in an update.")
    policy = new.get("preemptionPolicy")
    if policy != old.get("preemptionPolicy"):
        errors.invalid("preemptionPolicy", policy, IMMUTABLE)
