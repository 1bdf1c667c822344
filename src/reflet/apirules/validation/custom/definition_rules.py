"""Tells a definition what is wrong with the rules and patterns of its schemas.

Upstream: apiextensions-apiserver/pkg/apis/apiextensions/validation/validation.go,
ValidateCustomResourceDefinitionOpenAPISchema
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from reflet.apirules.regular_expressions import why_not_enforced
from reflet.apirules.validation.custom.compiled_rules import (
    VALIDATIONS,
    CompiledNode,
    Rule,
    compiled_rules,
)
from reflet.apirules.validation.custom.field_paths import NoSuchField, read_path
from reflet.apirules.validation.field_errors import FieldErrors

Rules = Mapping[str, Any]

_REASONS: Final = (
    "FieldValueDuplicate",
    "FieldValueForbidden",
    "FieldValueInvalid",
    "FieldValueRequired",
)


def check_schema_rules(schema: Rules, path: str, errors: FieldErrors) -> None:
    """Check the rules of a schema whose structure is right."""
    before = len(errors)
    for here, part in _parts(schema, path):
        for index, rule in enumerate(part.get(VALIDATIONS) or ()):
            _check_fields(rule, part, f"{here}.{VALIDATIONS}[{index}]", errors)
    if len(errors) > before:
        return  # rules of a schema that is wrong are not compiled
    compiled = compiled_rules(schema)
    if compiled is not None:
        _check_compiled(compiled, path, errors, "")


def _parts(schema: Rules, path: str) -> Iterator[tuple[str, Rules]]:
    """Give every part of a schema with its path, the inner ones first."""
    extra, items = schema.get("additionalProperties"), schema.get("items")
    if isinstance(extra, Mapping):
        yield from _parts(extra, f"{path}.additionalProperties")
    for name, inner in sorted((schema.get("properties") or {}).items()):
        yield from _parts(inner, f"{path}.properties[{name}]")
    if isinstance(items, Mapping):
        yield from _parts(items, f"{path}.items")
    yield path, schema


def _check_fields(rule: Rules, schema: Rules, path: str, errors: FieldErrors) -> None:
    text, message = rule.get("rule") or "", rule.get("message") or ""
    if not text.strip():
        errors.required(f"{path}.rule", "rule is not specified")
    elif message and not message.strip():
        errors.invalid(f"{path}.message", message, "must be non-empty if specified")
    elif _has_line_breaks(message.strip()):
        errors.invalid(f"{path}.message", message, "must not contain line breaks")
    elif _has_line_breaks(text.strip()) and not message:
        said = "message must be specified if rule contains line breaks"
        errors.required(f"{path}.message", said)
    expression = rule.get("messageExpression") or ""
    if expression and not expression.strip():
        said = "messageExpression must be non-empty if specified"
        errors.required(f"{path}.messageExpression", said)
    reason, blamed = rule.get("reason"), rule.get("fieldPath") or ""
    if reason is not None and reason not in _REASONS:
        errors.not_supported(f"{path}.reason", reason, _REASONS)
    if blamed and not blamed.strip():
        errors.invalid(f"{path}.fieldPath", blamed, "must be non-empty if specified")
    if _has_line_breaks(blamed):
        errors.invalid(f"{path}.fieldPath", blamed, "must not contain line breaks")
    try:
        read_path(blamed, schema)
    except NoSuchField:
        errors.invalid(f"{path}.fieldPath", blamed, "must be a valid path")


def _has_line_breaks(text: str) -> bool:
    return "\n" in text or "\r" in text


def _check_compiled(node: CompiledNode, path: str, errors: FieldErrors, lost_at: str) -> None:
    """``lost_at`` is where items of the old object can no longer be told apart."""
    if node.values is not None:
        _check_compiled(node.values, f"{path}.additionalProperties", errors, lost_at)
    for name, below in sorted(node.properties.items()):
        _check_compiled(below, f"{path}.properties[{name}]", errors, lost_at)
    if node.items is not None:
        is_keyed = node.schema.get("x-kubernetes-list-type") == "map"
        _check_compiled(node.items, f"{path}.items", errors, lost_at if is_keyed else path)
    for index, rule in enumerate(node.rules):
        _check_rule(rule, f"{path}.{VALIDATIONS}[{index}]", errors, lost_at)


def _check_rule(rule: Rule, path: str, errors: FieldErrors, lost_at: str) -> None:
    if rule.problem:
        errors.invalid(f"{path}.rule", _internal(rule.source), rule.problem)
    if rule.message_problem:
        shown = _internal(rule.source)
        errors.invalid(f"{path}.messageExpression", shown, rule.message_problem)
    if rule.is_transition:
        if lost_at:
            said = (
                "oldSelf cannot be used on the uncorrelatable portion of the schema within "
                f"{lost_at}"
            )
            errors.invalid(f"{path}.rule", rule.source.get("rule"), said)
    elif rule.source.get("optionalOldSelf") is not None:
        shown = rule.source["optionalOldSelf"]
        said = "may not be set if oldSelf is not used in rule"
        errors.invalid(f"{path}.optionalOldSelf", shown, said)


def _internal(rule: Rules) -> dict[str, Any]:
    """Show a rule as the real server does: under the names of its internal type."""
    return {
        "Rule": rule.get("rule", ""),
        "Message": rule.get("message", ""),
        "MessageExpression": rule.get("messageExpression", ""),
        "Reason": rule.get("reason"),
        "FieldPath": rule.get("fieldPath", ""),
        "OptionalOldSelf": rule.get("optionalOldSelf"),
    }


def definition_warnings(document: Mapping[str, Any]) -> Iterator[str]:
    """Name what a definition asks for and this server does not do."""
    versions = document["spec"].get("versions") or ()
    for index, version in enumerate(versions):
        schema = (version.get("schema") or {}).get("openAPIV3Schema")
        start = "spec.validation" if len(versions) == 1 else f"spec.versions[{index}].schema"
        if schema:
            yield from _schema_warnings(schema, f"{start}.openAPIV3Schema")


def _schema_warnings(schema: Rules, path: str) -> Iterator[str]:
    for here, part in _parts(schema, path):
        reason = why_not_enforced(part.get("pattern") or "")
        if reason:
            yield f"{here}.pattern: not enforced: {reason}"
    compiled = compiled_rules(schema)
    if compiled is not None:
        yield from _rule_warnings(compiled, path)


def _rule_warnings(node: CompiledNode, path: str) -> Iterator[str]:
    for index, rule in enumerate(node.rules):
        expressions = (rule.expression, rule.message)
        patterns = [
            pattern for each in expressions if each is not None for pattern in each.patterns
        ]
        reason = next((found for each in patterns if (found := why_not_enforced(each))), "")
        if reason:
            yield f"{path}.{VALIDATIONS}[{index}].rule: not evaluated: {reason}"
    for name, below in sorted(node.properties.items()):
        yield from _rule_warnings(below, f"{path}.properties[{name}]")
    if node.values is not None:
        yield from _rule_warnings(node.values, f"{path}.additionalProperties")
    if node.items is not None:
        yield from _rule_warnings(node.items, f"{path}.items")
