"""The rules for what admission is asked about: operations, resources, selectors, conditions.

Expressions are not compiled: that there is one is all that is checked of them.

Upstream: pkg/apis/admissionregistration/validation/validation.go, validateRuleWithOperations,
validateMatchResources and validateMatchConditions
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.validation import names
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.metadata import check_selector

Document = Mapping[str, Any]

FAILURE_POLICIES: Final = ("Fail", "Ignore")
MATCH_POLICIES: Final = ("Equivalent", "Exact")
REINVOCATION_POLICIES: Final = ("IfNeeded", "Never")
_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "DELETE", "UPDATE")
_SCOPES: Final = ("*", "Cluster", "Namespaced")
_MOST_CONDITIONS: Final = 64


def check_choice(
    holder: Document,
    name: str,
    supported: Sequence[str],
    path: str,
    errors: FieldErrors,
    *,
    required: bool = False,
) -> None:
    """Check a word of a fixed choice, if it is there."""
    value = holder.get(name)
    if value is None:
        if required:
            errors.required(f"{path}.{name}")
    elif value not in supported:
        errors.not_supported(f"{path}.{name}", value, supported)


def check_rules(rules: Sequence[Document] | None, path: str, errors: FieldErrors) -> None:
    """Check which operations on which resources are meant."""
    for index, rule in enumerate(rules or ()):
        here = f"{path}[{index}]"
        _check_resource_names(rule.get("resourceNames") or (), f"{here}.resourceNames", errors)
        _check_operations(rule.get("operations") or [], f"{here}.operations", errors)
        for name, things in (("apiGroups", "API groups"), ("apiVersions", "API versions")):
            values = rule.get(name) or []
            if not values:
                errors.required(f"{here}.{name}")
            if len(values) > 1 and "*" in values:
                said = f"if '*' is present, must not specify other {things}"
                errors.invalid(f"{here}.{name}", values, said)
        for number, version in enumerate(rule.get("apiVersions") or ()):
            if not version:
                errors.required(f"{here}.apiVersions[{number}]")
        _check_resources(rule.get("resources") or [], f"{here}.resources", errors)
        check_choice(rule, "scope", _SCOPES, here, errors)


def _check_resource_names(values: Sequence[str], path: str, errors: FieldErrors) -> None:
    seen: set[str] = set()
    for index, name in enumerate(values):
        errors.each_invalid(f"{path}[{index}]", name, names.path_segment(name))
        if name in seen:
            errors.duplicate(f"{path}[{index}]", name)
        seen.add(name)


def _check_operations(operations: Sequence[str], path: str, errors: FieldErrors) -> None:
    if not operations:
        errors.required(path)
    if len(operations) > 1 and "*" in operations:
        errors.invalid(path, operations, "if '*' is present, must not specify other operations")
    for index, operation in enumerate(operations):
        if operation not in _OPERATIONS:
            errors.not_supported(f"{path}[{index}]", operation, _OPERATIONS)


def _check_resources(resources: Sequence[str], path: str, errors: FieldErrors) -> None:
    if not resources:
        errors.required(path)
    with_all_parts: set[str] = set()
    parts_of_all: set[str] = set()
    is_last_named = False
    for index, text in enumerate(resources):
        here = f"{path}[{index}]"
        if not text:
            errors.required(here)
            continue
        resource, slash, part = text.partition("/")
        if not slash:
            # Only the last one counts, on the real server too.
            is_last_named = text != "*"
            continue
        if resource in with_all_parts:
            errors.invalid(here, text, f"if '{resource}/*' is present, must not specify {text}")
        if part in parts_of_all:
            errors.invalid(here, text, f"if '*/{part}' is present, must not specify {text}")
        if part == "*":
            with_all_parts.add(resource)
        if resource == "*":
            parts_of_all.add(part)
    if len(resources) > 1 and "*/*" in resources:
        said = "if '*/*' is present, must not specify other resources"
        errors.invalid(path, resources, said)
    if "*" in resources and is_last_named:
        said = "if '*' is present, must not specify other resources without subresources"
        errors.invalid(path, resources, said)


def check_match_resources(matched: Document | None, path: str, errors: FieldErrors) -> None:
    """Check what a policy or a binding applies to."""
    if matched is None:
        return
    check_choice(matched, "matchPolicy", MATCH_POLICIES, path, errors, required=True)
    for name in ("namespaceSelector", "objectSelector"):
        if matched.get(name) is None:
            errors.required(f"{path}.{name}")
        check_selector(matched.get(name), f"{path}.{name}", errors)
    for name in ("resourceRules", "excludeResourceRules"):
        check_rules(matched.get(name), f"{path}.{name}", errors)


def check_match_conditions(
    conditions: Sequence[Document] | None, path: str, errors: FieldErrors
) -> None:
    """Check the names of conditions, and that each has an expression."""
    if len(conditions or ()) > _MOST_CONDITIONS:
        errors.too_many(path, len(conditions or ()), _MOST_CONDITIONS)
    seen: set[str] = set()
    for index, condition in enumerate(conditions or ()):
        here, name = f"{path}[{index}]", condition.get("name", "")
        if not condition.get("expression", "").strip():
            errors.required(f"{here}.expression")
        if not name:
            errors.required(f"{here}.name")
            continue
        errors.each_invalid(f"{here}.name", name, names.qualified_name(name))
        if name in seen:
            errors.duplicate(f"{here}.name", name)
        seen.add(name)
