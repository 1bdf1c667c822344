"""Rules and objects in a line, for tests of what the rules say of the objects."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.validation.custom.compiled_rules import compiled_rules
from reflet.apirules.validation.custom.correlation import Correlated
from reflet.apirules.validation.custom.object_rules import check_rules
from reflet.apirules.validation.field_errors import FieldErrors
from tests.unit.devserver.object_scene import complaints

NUMBER: Final = {"type": "integer"}


def ruled(schema: Mapping[str, Any], *rules: Any) -> dict[str, Any]:
    made = [{"rule": rule} if isinstance(rule, str) else rule for rule in rules]
    return {**schema, "x-kubernetes-validations": made}


def record(**fields: Any) -> dict[str, Any]:
    return {"type": "object", "properties": fields}


def judged(schema: dict[str, Any], new: Any, old: Any = None) -> tuple[list[str], list[str]]:
    """Give what is wrong with an object, and what is only warned of."""
    node = compiled_rules(schema)
    assert node is not None
    errors = FieldErrors()
    correlated = None if old is None else Correlated(schema, new, old)
    warnings = check_rules(node, new, old, errors, correlated)
    return complaints(errors), warnings
