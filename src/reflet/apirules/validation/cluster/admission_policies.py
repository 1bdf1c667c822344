"""The rules of admission policies and their bindings, without their expressions.

That an expression is there is checked; whether it compiles is not.

Upstream: pkg/apis/admissionregistration/validation/validation.go,
ValidateValidatingAdmissionPolicy, ValidateMutatingAdmissionPolicy and the same of their bindings
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from reflet.apirules.schema.served_kind import ServedKind
from reflet.apirules.validation import names
from reflet.apirules.validation.cluster.matching_rules import (
    FAILURE_POLICIES,
    REINVOCATION_POLICIES,
    check_choice,
    check_match_conditions,
    check_match_resources,
)
from reflet.apirules.validation.disruption_budgets import check_conditions
from reflet.apirules.validation.field_errors import FieldErrors, Named
from reflet.apirules.validation.metadata import check_metadata, check_selector

Document = Mapping[str, Any]

_MUTATING_OPERATIONS: Final = ("*", "CONNECT", "CREATE", "UPDATE")
_NOT_FOUND_ACTIONS: Final = ("Deny", "Allow")
_PATCHES: Final[Mapping[str, str]] = {
    "ApplyConfiguration": "applyConfiguration",
    "JSONPatch": "jsonPatch",
}
_REASONS: Final = ("Forbidden", "Invalid", "RequestEntityTooLarge")
_ACTIONS: Final = ("Audit", "Deny", "Warn")
_MOST_ANNOTATIONS: Final = 20
_LONGEST_VALUE: Final = 5 * 1024
_IDENTIFIER: Final = re.compile("[_a-zA-Z][_a-zA-Z0-9]*")
_RESERVED: Final = frozenset(
    {
        *("true", "false", "null", "in", "as", "break", "const", "continue", "else", "for"),
        *("function", "if", "import", "let", "loop", "package", "namespace", "return", "var"),
        *("void", "while"),
    }
)
_EITHER: Final = "validations or auditAnnotations must contain at least one item"


def check_validating_policy(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check a policy that refuses, warns or notes."""
    metadata, spec = document["metadata"], document.get("spec") or {}
    check_metadata(kind, metadata, errors)
    _check_policy(spec, errors)
    _check_variables(spec, errors)
    annotations = spec.get("auditAnnotations") or []
    if not spec.get("validations") and not annotations:
        errors.required("spec.validations", _EITHER)
        errors.required("spec.auditAnnotations", _EITHER)
        return
    for index, validation in enumerate(spec.get("validations") or ()):
        _check_validation(validation, f"spec.validations[{index}]", errors)
    _check_annotations(annotations, metadata.get("name", ""), "spec.auditAnnotations", errors)


def check_mutating_policy(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check a policy that changes objects."""
    spec = document.get("spec") or {}
    check_metadata(kind, document["metadata"], errors)
    _check_policy(spec, errors, mutates=True)
    _check_variables(spec, errors)
    if not spec.get("mutations"):
        errors.required("spec.mutations", "mutations must contain at least one item")
    for index, mutation in enumerate(spec.get("mutations") or ()):
        _check_mutation(mutation, f"spec.mutations[{index}]", errors)
    _check_word(spec, "reinvocationPolicy", REINVOCATION_POLICIES, "spec", errors)


def check_validating_binding(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check where a validating policy applies, and what follows from it."""
    spec = document.get("spec") or {}
    check_metadata(kind, document["metadata"], errors)
    _check_binding(spec, errors)
    _check_actions(spec.get("validationActions") or [], "spec.validationActions", errors)


def check_mutating_binding(kind: ServedKind, document: Document, errors: FieldErrors) -> None:
    """Check where a mutating policy applies."""
    spec = document.get("spec") or {}
    check_metadata(kind, document["metadata"], errors)
    _check_binding(spec, errors)
    _check_mutated_operations(spec, "matchResources", errors)


def check_policy_status(new: Document, _: Document, errors: FieldErrors) -> None:
    """Check what is reported about a validating policy."""
    status = new.get("status") or {}
    warnings = (status.get("typeChecking") or {}).get("expressionWarnings") or ()
    for index, warning in enumerate(warnings):
        here = f"status.typeChecking.expressionWarnings[{index}]"
        if not warning.get("warning"):
            errors.required(f"{here}.warning")
        if not warning.get("fieldRef", "").strip():
            errors.required(f"{here}.fieldRef")
    check_conditions(status.get("conditions") or (), "status.conditions", errors)


def _check_policy(spec: Document, errors: FieldErrors, *, mutates: bool = False) -> None:
    """Check what policies of both sorts have in common, up to their variables."""
    check_choice(spec, "failurePolicy", FAILURE_POLICIES, "spec", errors, required=True)
    if spec.get("paramKind") is not None:
        _check_parameter_kind(spec["paramKind"], "spec.paramKind", errors)
    matched, path = spec.get("matchConstraints"), "spec.matchConstraints"
    if matched is None:
        errors.required(path)
    else:
        check_match_resources(matched, path, errors)
        if not matched.get("resourceRules"):
            errors.required(f"{path}.resourceRules")
    if mutates:
        _check_mutated_operations(spec, "matchConstraints", errors)
    check_match_conditions(spec.get("matchConditions"), "spec.matchConditions", errors)


def _check_mutated_operations(spec: Document, name: str, errors: FieldErrors) -> None:
    for rule in (spec.get(name) or {}).get("resourceRules") or ():
        for operation in rule.get("operations") or ():
            if operation not in _MUTATING_OPERATIONS:
                path = f"spec.{name}.resourceRules.operations"
                errors.not_supported(path, operation, _MUTATING_OPERATIONS)


def _check_parameter_kind(parameter: Document, path: str, errors: FieldErrors) -> None:
    version, kind = parameter.get("apiVersion", ""), parameter.get("kind", "")
    if not version:
        errors.required(f"{path}.apiVersion")
    else:
        _check_api_version(version, f"{path}.apiVersion", errors)
    if not kind:
        errors.required(f"{path}.kind")
        return
    wrong = names.dns_1035_label(kind.lower())
    if wrong:
        said = f"may have mixed case, but should otherwise match: {','.join(wrong)}"
        errors.invalid(f"{path}.kind", kind, said)


def _check_api_version(text: str, path: str, errors: FieldErrors) -> None:
    if text.count("/") > 1:
        errors.invalid(path, text, f"unexpected GroupVersion string: {text}")
        return
    group, _, version = text.rpartition("/")
    wrong = names.dns_subdomain(group) if group else []
    if wrong:
        errors.invalid(path, group, ",".join(wrong))
    if not version:
        errors.invalid(path, text, "version must be specified")
        return
    wrong = names.dns_1035_label(version)
    if wrong:
        errors.invalid(path, version, ",".join(wrong))


def _check_variables(spec: Document, errors: FieldErrors) -> None:
    for index, variable in enumerate(spec.get("variables") or ()):
        here, name = f"spec.variables[{index}]", variable.get("name", "")
        if not name.strip():
            errors.required(f"{here}.name", "name is not specified")
        elif not _IDENTIFIER.fullmatch(name) or name in _RESERVED:
            errors.invalid(f"{here}.name", name, "must be a valid CEL identifier")
        _check_expression(variable, "expression", here, errors)


def _check_expression(holder: Document, name: str, path: str, errors: FieldErrors) -> None:
    if not holder.get(name, "").strip():
        errors.required(f"{path}.{name}", f"{name} is not specified")


def _check_validation(validation: Document, path: str, errors: FieldErrors) -> None:
    _check_expression(validation, "expression", path, errors)
    for name in ("messageExpression", "message"):
        text = validation.get(name, "")
        if text and not text.strip():
            errors.invalid(f"{path}.{name}", text, "must be non-empty if specified")
        elif name == "message" and {"\n", "\r"} & set(text.strip()):
            errors.invalid(f"{path}.{name}", text, "must not contain line breaks")
    check_choice(validation, "reason", _REASONS, path, errors)


def _check_annotations(
    annotations: Sequence[Document], policy: str, path: str, errors: FieldErrors
) -> None:
    if len(annotations) > _MOST_ANNOTATIONS:
        shown = [
            {"Key": each.get("key", ""), "ValueExpression": each.get("valueExpression", "")}
            for each in annotations
        ]
        said = f"must not have more than {_MOST_ANNOTATIONS} auditAnnotations"
        errors.invalid(path, shown, said)
    seen: set[str] = set()
    for index, annotation in enumerate(annotations):
        here, key = f"{path}[{index}]", annotation.get("key", "")
        if policy:
            whole = f"{policy}/{key}"
            errors.each_invalid(f"{here}.key", whole, names.qualified_name(whole))
        else:
            errors.invalid(f"{here}.key", key, "requires metadata.name be non-empty")
        _check_expression(annotation, "valueExpression", here, errors)
        if len(annotation.get("valueExpression", "").strip().encode()) > _LONGEST_VALUE:
            said = f"must not exceed {_LONGEST_VALUE} bytes in length"
            errors.required(f"{here}.valueExpression", said)
        if key in seen:
            errors.duplicate(f"{here}.key", key)
        seen.add(key)


def _check_mutation(mutation: Document, path: str, errors: FieldErrors) -> None:
    patch = mutation.get("patchType", "")
    if patch not in _PATCHES:
        _check_word(mutation, "patchType", tuple(_PATCHES), path, errors)
        return
    wanted = _PATCHES[patch]
    if mutation.get(wanted) is None:
        errors.required(f"{path}.{wanted}", f"must be specified when patchType is {patch}")
    elif not mutation[wanted].get("expression", "").strip():
        errors.required(f"{path}.{wanted}.expression")
    for other in _PATCHES.values():
        if other != wanted and mutation.get(other) is not None:
            said = f"must not be specified when patchType is {patch}"
            errors.invalid(f"{path}.{other}", f"{{{other}}}", said)


def _check_word(
    holder: Document, name: str, supported: Sequence[str], path: str, errors: FieldErrors
) -> None:
    """Check a word of a fixed choice that must be there."""
    if not holder.get(name):
        errors.required(f"{path}.{name}")
    else:
        check_choice(holder, name, supported, path, errors)


def _check_binding(spec: Document, errors: FieldErrors) -> None:
    policy = spec.get("policyName", "")
    if not policy:
        errors.required("spec.policyName")
    else:
        errors.each_invalid("spec.policyName", policy, names.dns_subdomain(policy))
    if spec.get("paramRef") is not None:
        _check_parameter(spec["paramRef"], "spec.paramRef", errors)
    check_match_resources(spec.get("matchResources"), "spec.matchResources", errors)


def _check_parameter(parameter: Document, path: str, errors: FieldErrors) -> None:
    name, selector = parameter.get("name", ""), parameter.get("selector")
    both = "name and selector are mutually exclusive"
    errors.each_invalid(f"{path}.name", name, names.path_segment(name))
    if name and selector is not None:
        errors.forbidden(f"{path}.name", both)
    check_selector(selector, f"{path}.selector", errors)
    if name and selector is not None:
        errors.forbidden(f"{path}.selector", both)
    if not name and selector is None:
        errors.required(path, "one of name or selector must be specified")
    _check_word(parameter, "parameterNotFoundAction", _NOT_FOUND_ACTIONS, path, errors)


def _check_actions(actions: Sequence[str], path: str, errors: FieldErrors) -> None:
    for index, action in enumerate(actions):
        if action not in _ACTIONS:
            errors.not_supported(f"{path}[{index}]", action, _ACTIONS)
        if action in actions[:index]:
            errors.duplicate(f"{path}[{index}]", Named(action))
    if {"Deny", "Warn"} <= set(actions):
        said = (
            "must not contain both Deny and Warn (repeating the same validation failure "
            "information in the API response and headers serves no purpose)"
        )
        errors.invalid(path, actions, said)
    if not actions:
        errors.required(path, "at least one validation action is required")
