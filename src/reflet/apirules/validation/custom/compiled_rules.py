"""The rules of a schema, compiled, in a tree that has the shape of the schema.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/compilation.go
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from reflet.apirules.cel import types
from reflet.apirules.cel.expression import CompilationFailed, Expression, compile_expression
from reflet.apirules.cel.types import Type
from reflet.apirules.validation.custom.custom_objects import has_rules
from reflet.apirules.validation.custom.field_paths import NoSuchField, read_path
from reflet.apirules.validation.custom.schema_types import (
    declared_type,
    escaped,
    with_metadata,
)

Rules = Mapping[str, Any]

VALIDATIONS: Final = "x-kubernetes-validations"


@dataclass(frozen=True, slots=True)
class Rule:
    """One rule: as it was written, and compiled, or why it cannot be."""

    source: Mapping[str, Any]
    expression: Expression | None = None
    problem: str = ""
    message: Expression | None = None
    message_problem: str = ""
    field_path: str = ""

    @property
    def is_optional(self) -> bool:
        """Whether it is asked of new values too, with an ``oldSelf`` that may be missing."""
        return bool(self.source.get("optionalOldSelf"))

    @property
    def is_transition(self) -> bool:
        """Whether it compares with the old value."""
        return self.expression is not None and "oldSelf" in self.expression.used

    @property
    def said(self) -> str:
        """How the rule is named in errors: by its message, or by its own text."""
        return str(self.source.get("message") or self.source.get("rule") or "").strip()


@dataclass(frozen=True, slots=True)
class CompiledNode:
    """The rules for one part of a schema, and for the parts below."""

    schema: Rules
    rules: tuple[Rule, ...]
    properties: Mapping[str, CompiledNode] = field(default_factory=dict)
    values: CompiledNode | None = None
    items: CompiledNode | None = None


def compiled_rules(schema: Rules) -> CompiledNode | None:
    """Compile every rule of the schema of a whole object; None if there are none."""
    if not has_rules(schema):
        return None
    return _node(schema, declared_type(schema, is_root=True), is_root=True)


def _node(schema: Rules, kind: Type | None, *, is_root: bool = False) -> CompiledNode | None:
    if kind is None or not has_rules(schema):
        return None
    rules: tuple[Rule, ...] = ()
    if schema.get(VALIDATIONS):
        # Named as the real server does, which numbers them by the clock.
        named = declared_type(schema, "selfType", is_root=is_root) or kind
        rules = tuple(_compiled(rule, schema, named) for rule in schema[VALIDATIONS])
    inner = kind.parameters[-1] if kind.kind in {"list", "map"} else None
    properties: dict[str, CompiledNode] = {}
    for name, below in (schema.get("properties") or {}).items():
        known = escaped(name)
        field_kind = declared_type(below, name) if known is None else kind.fields.get(known)
        found = _node(below, field_kind, is_root=_is_resource(below))
        if found is not None:
            properties[name] = found
    return CompiledNode(
        schema=with_metadata(schema) if is_root else schema,
        rules=rules,
        properties=properties,
        values=_below(schema.get("additionalProperties"), inner),
        items=_below(schema.get("items"), inner),
    )


def _is_resource(schema: Rules) -> bool:
    return bool(schema.get("x-kubernetes-embedded-resource"))


def _below(schema: Any, kind: Type | None) -> CompiledNode | None:
    if not isinstance(schema, Mapping):
        return None
    return _node(schema, kind, is_root=_is_resource(schema))


def _compiled(rule: Mapping[str, Any], schema: Rules, kind: Type) -> Rule:
    text = rule.get("rule") or ""
    if not text.strip():
        return Rule(rule)
    old = types.optional_of(kind) if rule.get("optionalOldSelf") else kind
    variables = {"self": kind, "oldSelf": old}
    try:
        expression = compile_expression(text, variables)
    except CompilationFailed as failure:
        return Rule(rule, problem=f"compilation failed: {failure}")
    if expression.type != types.BOOL:
        return Rule(rule, problem="cel expression must evaluate to a bool")
    message, message_problem = None, ""
    if rule.get("messageExpression"):
        try:
            message = compile_expression(rule["messageExpression"], variables)
        except CompilationFailed as failure:
            message_problem = f"messageExpression compilation failed: {failure}"
        else:
            if message.type != types.STRING:
                message_problem = "messageExpression must evaluate to a string"
    try:
        path = read_path(rule.get("fieldPath") or "", schema)
    except NoSuchField:
        path = ""
    usable = None if message_problem else message
    return Rule(rule, expression, "", usable, message_problem, path)
