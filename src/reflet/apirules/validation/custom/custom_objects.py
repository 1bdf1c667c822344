"""The rules that a definition's schema makes for objects of its kind.

Upstream: apiextensions-apiserver/pkg/apiserver/validation/validation.go, ValidateCustomResource
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from reflet.apirules.regular_expressions import MalformedExpression, Unbearable, compiled
from reflet.apirules.validation.custom.correlation import Correlated
from reflet.apirules.validation.custom.formats import has_format
from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.pattern_costs import MOST_STEPS

Rules = Mapping[str, Any]


def check_custom_object(
    rules: Rules,
    document: Mapping[str, Any],
    errors: FieldErrors,
    before: Mapping[str, Any] | None = None,
) -> None:
    """Check everything but the metadata; what an update left as it was is taken."""
    without = {name: value for name, value in document.items() if name != "metadata"}
    properties = rules.get("properties") or {}
    if "metadata" in properties or "metadata" in (rules.get("required") or ()):
        properties = {name: inner for name, inner in properties.items() if name != "metadata"}
        # Every object has metadata, whose rules are the same everywhere.
        required = [name for name in rules.get("required") or () if name != "metadata"]
        rules = {**rules, "properties": properties, "required": required}
    correlated = None if before is None else Correlated(rules, document, before)
    check_value(rules, without, "", errors, correlated)
    check_list_types(rules, without, errors, before)


def check_list_types(rules: Rules, document: Any, errors: FieldErrors, before: Any = None) -> None:
    """Check that sets and keys have nothing twice, unless something was twice before."""
    known = FieldErrors()
    if before is not None:
        _check_lists(rules, before, "", known)
    if not known:
        _check_lists(rules, document, "", errors)


def check_value(
    rules: Rules,
    value: Any,
    path: str,
    errors: FieldErrors,
    correlated: Correlated | None = None,
) -> None:
    """Check one value against one schema, unless it is what was there before."""
    count = len(errors)
    _check_value(rules, value, path, errors, correlated)
    if len(errors) > count and correlated is not None and correlated.is_unchanged:
        del errors.causes[count:]


def _check_value(
    rules: Rules, value: Any, path: str, errors: FieldErrors, correlated: Correlated | None
) -> None:
    if value is None and rules.get("nullable"):
        return
    if not _check_type(rules, value, path, errors):
        if rules.get("type") == "integer" and isinstance(value, float):
            _check_number(rules, value, path, errors)
        return
    allowed = rules.get("enum")
    if allowed and not any(_same(value, each) for each in allowed):
        errors.not_supported(path, value, [_plain(each) for each in allowed], plain=True)
    if isinstance(value, str):
        _check_text(rules, value, path, errors)
    elif isinstance(value, bool):
        pass
    elif isinstance(value, int | float):
        _check_number(rules, value, path, errors)
    elif isinstance(value, list):
        _check_list(rules, value, path, errors, correlated)
    elif isinstance(value, dict):
        _check_object(rules, value, path, errors, correlated)
    _check_combinations(rules, value, path, errors)


def _check_type(rules: Rules, value: Any, path: str, errors: FieldErrors) -> bool:
    found = _type_of(value)
    if rules.get("x-kubernetes-int-or-string"):
        wanted = "integer,string"
        fits = found in {"integer", "string"}
    else:
        wanted = rules.get("type", "")
        fits = not wanted or wanted == found or (wanted == "number" and found == "integer")
    if not fits:
        said = f'{path} in body must be of type {wanted}: "{found}"'
        errors.type_invalid(path or "<nil>", found, said)
        if wanted == "integer" and found == "number":
            said = f"Checked value must be of type integer (default format) in {path}"
            errors.invalid("<nil>", "", said)
    return fits


def _check_text(rules: Rules, value: str, path: str, errors: FieldErrors) -> None:
    longest, shortest, pattern = (rules.get(x) for x in ("maxLength", "minLength", "pattern"))
    # Of these three, only the first that is broken is told.
    if longest is not None and len(value) > longest:
        errors.too_long(path, longest)
    elif shortest is not None and len(value) < shortest:
        errors.invalid(path, value, f"{path} in body should be at least {shortest} chars long")
    elif pattern and not _matches(pattern, value, errors):
        errors.invalid(path, value, f"{path} in body should match '{pattern}'")
    form = rules.get("format")
    if form and not has_format(form, value):
        errors.type_invalid(path, value, f'{path} in body must be of type {form}: "{value}"')


def _matches(pattern: str, value: str, errors: FieldErrors) -> bool:
    try:
        found = compiled(pattern)
        errors.pattern_steps += found.work(value)
        return errors.pattern_steps > MOST_STEPS or found.is_in(value)
    except (MalformedExpression, Unbearable):
        return True  # a definition that was stored without being checked, or too much work


def _check_number(rules: Rules, value: float, path: str, errors: FieldErrors) -> None:
    lowest, highest, step = (rules.get(x) for x in ("minimum", "maximum", "multipleOf"))
    if highest is not None:
        strict = rules.get("exclusiveMaximum")
        if value > highest or (strict and value == highest):
            relation = "less than" if strict else "less than or equal to"
            errors.invalid(
                path, value, f"{path} in body should be {relation} {_limit(highest, value)}"
            )
    if lowest is not None:
        strict = rules.get("exclusiveMinimum")
        if value < lowest or (strict and value == lowest):
            relation = "greater than" if strict else "greater than or equal to"
            errors.invalid(
                path, value, f"{path} in body should be {relation} {_limit(lowest, value)}"
            )
    if step and value % step:
        errors.invalid(path, value, f"{path} in body should be a multiple of {_limit(step, value)}")


def _limit(limit: float, value: float) -> Any:
    """Show a limit as a number of the value's own kind."""
    return int(limit) if isinstance(value, int) else _plain(limit)


def _check_list(
    rules: Rules, value: list[Any], path: str, errors: FieldErrors, correlated: Correlated | None
) -> None:
    most, fewest = rules.get("maxItems"), rules.get("minItems")
    if fewest is not None and len(value) < fewest:
        said = f"{path} in body should have at least {fewest} items"
        errors.invalid(path, len(value), said)
    if most is not None and len(value) > most:
        errors.too_many(path, len(value), most)
        return
    items = rules.get("items")
    if isinstance(items, Mapping):
        for index, item in enumerate(value):
            below = None if correlated is None else correlated.index(index)
            check_value(items, item, f"{path}[{index}]", errors, below)


def _check_object(
    rules: Rules,
    value: dict[str, Any],
    path: str,
    errors: FieldErrors,
    correlated: Correlated | None,
) -> None:
    most, fewest = rules.get("maxProperties"), rules.get("minProperties")
    if fewest is not None and len(value) < fewest:
        said = f"{path} in body should have at least {fewest} properties"
        errors.invalid(path, len(value), said)
    if most is not None and len(value) > most:
        errors.too_many(path, len(value), most)
    for name in rules.get("required") or ():
        if name not in value:
            errors.required(_below(path, name))
    properties, extra = rules.get("properties") or {}, rules.get("additionalProperties")
    for name, inner in value.items():
        # Both objects were converted to one version, so these never count as unchanged.
        is_version = not path and name in {"apiVersion", "kind"}
        before = None if correlated is None or is_version else correlated.key(name)
        if name in properties:
            check_value(properties[name], inner, _below(path, name), errors, before)
        elif isinstance(extra, Mapping):
            check_value(extra, inner, _below(path, name), errors, before)


def _check_combinations(rules: Rules, value: Any, path: str, errors: FieldErrors) -> None:
    any_of, one_of, all_of = (rules.get(name) or () for name in ("anyOf", "oneOf", "allOf"))
    if rules.get("x-kubernetes-int-or-string"):
        any_of = ()  # says the same in the long form
    if any_of and not any(_fits(inner, value, errors) for inner in any_of):
        errors.invalid("<nil>", "", f'"{path}" must validate at least one schema (anyOf)')
        check_value(any_of[0], value, path, errors)
    fitting = sum(1 for inner in one_of if _fits(inner, value, errors))
    if one_of and fitting != 1:
        found = "Found none valid" if not fitting else f"Found {fitting} valid alternatives"
        said = f'"{path}" must validate one and only one schema (oneOf). {found}'
        errors.invalid("<nil>", "", said)
        if not fitting:
            check_value(one_of[0], value, path, errors)
    before = len(errors)
    for inner in all_of:
        check_value(inner, value, path, errors)
    if len(errors) > before:
        none = "" if any(_fits(inner, value, errors) for inner in all_of) else ". None validated"
        errors.invalid("<nil>", "", f'"{path}" must validate all the schemas (allOf){none}')
    if rules.get("not") is not None and _fits(rules["not"], value, errors):
        errors.invalid("<nil>", "", f'"{path}" must not validate the schema (not)')


def _fits(rules: Rules, value: Any, around: FieldErrors) -> bool:
    errors = FieldErrors()
    errors.pattern_steps = around.pattern_steps
    check_value(rules, value, "", errors)
    around.pattern_steps = errors.pattern_steps
    return not errors


def _check_lists(rules: Rules, value: Any, path: str, errors: FieldErrors) -> None:
    """Check that lists that are sets or maps have no two equal items or keys."""
    if isinstance(value, list):
        _check_unique(rules, value, path, errors)
        items = rules.get("items")
        if isinstance(items, Mapping):
            for index, item in enumerate(value):
                _check_lists(items, item, f"{path}[{index}]", errors)
    elif isinstance(value, dict):
        properties, extra = rules.get("properties") or {}, rules.get("additionalProperties")
        for name, inner in value.items():
            below = properties.get(name, extra)
            if isinstance(below, Mapping):
                _check_lists(below, inner, _below(path, name), errors)


def _check_unique(rules: Rules, value: list[Any], path: str, errors: FieldErrors) -> None:
    kind, keys = rules.get("x-kubernetes-list-type"), rules.get("x-kubernetes-list-map-keys")
    seen: set[str] = set()
    for index, item in enumerate(value):
        if kind == "map" and keys and isinstance(item, dict):
            shown: Any = {key: item[key] for key in keys if key in item}
        elif kind == "set":
            shown = item
        else:
            return
        mark = json.dumps(shown, sort_keys=True)
        if mark in seen:
            errors.duplicate(f"{path}[{index}]", shown)
        seen.add(mark)


def _below(path: str, name: str) -> str:
    return f"{path}.{name}" if path else name


def _type_of(value: Any) -> str:
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
        return "integer"
    if isinstance(value, float):
        return "number"
    if isinstance(value, str):
        return "string"
    return "array" if isinstance(value, list) else "object"


def _same(value: Any, other: Any) -> bool:
    return value == other and isinstance(value, bool) == isinstance(other, bool)


def _plain(value: Any) -> Any:
    return int(value) if isinstance(value, float) and value.is_integer() else value


def has_rules(schema: Any) -> bool:
    """Tell whether a schema has ``x-kubernetes-validations`` anywhere."""
    if isinstance(schema, Mapping):
        return "x-kubernetes-validations" in schema or any(map(has_rules, schema.values()))
    return isinstance(schema, list) and any(map(has_rules, schema))
