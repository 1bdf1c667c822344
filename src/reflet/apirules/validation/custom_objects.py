"""The rules that a definition's schema makes for objects of its kind.

Upstream: apiextensions-apiserver/pkg/apiserver/validation/validation.go, ValidateCustomResource
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any, Final

from reflet.apirules.validation.field_errors import FieldErrors
from reflet.apirules.validation.pattern_costs import is_bearable
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.times import MalformedTime, read_time

Rules = Mapping[str, Any]

_FORMATS: Final[Mapping[str, re.Pattern[str]]] = {
    "date": lazy_pattern(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])"),
    "email": lazy_pattern(r"[^@\s]+@[^@\s]+"),
    "ipv4": lazy_pattern(r"((25[0-5]|2[0-4]\d|1?\d?\d)\.){3}(25[0-5]|2[0-4]\d|1?\d?\d)"),
    "uuid": lazy_pattern(r"(?i)[0-9a-f]{8}-?([0-9a-f]{4}-?){3}[0-9a-f]{12}"),
    "byte": lazy_pattern(r"([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?"),
}


def check_custom_object(rules: Rules, document: Mapping[str, Any], errors: FieldErrors) -> None:
    """Check everything but the metadata."""
    without = {name: value for name, value in document.items() if name != "metadata"}
    properties = rules.get("properties") or {}
    if "metadata" in properties or "metadata" in (rules.get("required") or ()):
        properties = {name: inner for name, inner in properties.items() if name != "metadata"}
        # Every object has metadata, whose rules are the same everywhere.
        required = [name for name in rules.get("required") or () if name != "metadata"]
        rules = {**rules, "properties": properties, "required": required}
    check_value(rules, without, "", errors)
    _check_lists(rules, without, "", errors)


def check_value(rules: Rules, value: Any, path: str, errors: FieldErrors) -> None:
    """Check one value against one schema."""
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
        _check_list(rules, value, path, errors)
    elif isinstance(value, dict):
        _check_object(rules, value, path, errors)
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
    elif pattern and not _matches(pattern, value):
        errors.invalid(path, value, f"{path} in body should match '{pattern}'")
    form = rules.get("format")
    if form and not _has_format(form, value):
        errors.type_invalid(path, value, f'{path} in body must be of type {form}: "{value}"')


@lru_cache(maxsize=256)
def _compiled(pattern: str) -> re.Pattern[str] | None:
    try:
        return re.compile(pattern.replace(r"\z", r"\Z"))
    except (re.error, RecursionError, OverflowError):
        return None  # written for another engine: what we cannot read we do not enforce


def _matches(pattern: str, value: str) -> bool:
    compiled = _compiled(pattern)
    if compiled is None or not is_bearable(compiled.pattern, len(value)):
        return True
    return compiled.search(value) is not None


def _has_format(form: str, value: str) -> bool:
    if form == "date-time":
        try:
            read_time(value)
        except MalformedTime:
            return False
        return True
    known = _FORMATS.get(form)
    return known is None or known.fullmatch(value) is not None


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


def _check_list(rules: Rules, value: list[Any], path: str, errors: FieldErrors) -> None:
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
            check_value(items, item, f"{path}[{index}]", errors)


def _check_object(rules: Rules, value: dict[str, Any], path: str, errors: FieldErrors) -> None:
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
        if name in properties:
            check_value(properties[name], inner, _below(path, name), errors)
        elif isinstance(extra, Mapping):
            check_value(extra, inner, _below(path, name), errors)


def _check_combinations(rules: Rules, value: Any, path: str, errors: FieldErrors) -> None:
    any_of, one_of, all_of = (rules.get(name) or () for name in ("anyOf", "oneOf", "allOf"))
    if rules.get("x-kubernetes-int-or-string"):
        any_of = ()  # says the same in the long form
    if any_of and not any(_fits(inner, value) for inner in any_of):
        errors.invalid("<nil>", "", f'"{path}" must validate at least one schema (anyOf)')
        check_value(any_of[0], value, path, errors)
    fitting = sum(1 for inner in one_of if _fits(inner, value))
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
        none = "" if any(_fits(inner, value) for inner in all_of) else ". None validated"
        errors.invalid("<nil>", "", f'"{path}" must validate all the schemas (allOf){none}')
    if rules.get("not") is not None and _fits(rules["not"], value):
        errors.invalid("<nil>", "", f'"{path}" must not validate the schema (not)')


def _fits(rules: Rules, value: Any) -> bool:
    errors = FieldErrors()
    check_value(rules, value, "", errors)
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
