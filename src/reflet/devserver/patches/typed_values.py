"""Values together with the schema of their place: what can be owned, and whether they fit.

A schema divides a value by key, by the keys of items, or not at all.

Upstream: sigs.k8s.io/structured-merge-diff/typed/{typed,validate,helpers}.go
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final, Literal

from reflet.apirules.schema.schemas import ANYTHING, Schema
from reflet.devserver.patches.field_sets import (
    field_element,
    index_element,
    key_element,
    path_text,
    value_element,
)
from reflet.errors import DecodeError
from reflet.gotext import printing
from reflet.gotext.quoting import quoted

Form = Literal["map", "list", "scalar"]

ABSENT: Final = object()  # where there is no value at all, which null is not

_MAPS: Final = frozenset({"object", "map"})
_TEXTS: Final = frozenset({"string", "bytes"})
_TEXT_TYPES: Final = frozenset({str, type(None)})
_NUMBERS: Final = frozenset({"int32", "int64", "float64"})


def form_of(schema: Schema, value: Any) -> Form:
    """Say how to treat a value; where anything may stand, the value decides."""
    if schema.shape in _MAPS:
        return "map"
    if schema.shape == "list":
        return "list"
    if schema.shape != "anything":
        return "scalar"
    if isinstance(value, list):
        return "list"
    return "map" if value is None or isinstance(value, dict) else "scalar"


def is_declared(schema: Schema, name: str) -> bool:
    """Tell whether an object has a field of that name, which the keys of a map are not."""
    return schema.shape == "object" and schema.field(name) is not None


def value_schema(schema: Schema, name: str) -> Schema:
    """Give the schema behind a key, be it described or not."""
    return schema.field(name) or ANYTHING


def item_schema(schema: Schema) -> Schema:
    """Give the schema of the items of a list."""
    return schema.items or ANYTHING


def is_atomic(schema: Schema, form: Form) -> bool:
    """Tell whether a map or a list has one owner for all that is in it."""
    if form == "map":
        return schema.map_type == "atomic"
    return list_relation(schema) == "atomic"


def list_relation(schema: Schema) -> str:
    """Say how the items of a list are told apart: ``atomic``, ``set`` or ``map``."""
    if schema.list_type:
        return schema.list_type
    if schema.patch_strategy and "merge" in schema.patch_strategy.split(","):
        return "map" if schema.patch_merge_key else "set"
    return "atomic"


def item_element(schema: Schema, item: Any) -> str:
    """Give the path element of an item of a set or map list; DecodeError when it has none."""
    if list_relation(schema) == "set":
        return _set_element(item)
    if item is None:
        raise DecodeError("associative list with keys may not have a null element")
    if not isinstance(item, dict):
        raise DecodeError("associative list with keys may not have non-map elements")
    names = schema.list_map_keys or (schema.patch_merge_key,)
    keys: dict[str, Any] = {}
    for name in names:
        declared = item_schema(schema).field(name)
        if name in item:
            keys[name] = item[name]
        elif declared is not None and declared.default is not None:
            keys[name] = declared.default
    if not keys:
        shown = " ".join(map(quoted, names))
        raise DecodeError(
            f"associative list with keys has an element that omits all key fields [{shown}] (and "
            "doesn't have default values for any key fields)"
        )
    return key_element(keys)


def _set_element(item: Any) -> str:
    if isinstance(item, dict):
        raise DecodeError("associative list without keys has an element that's a map type")
    if isinstance(item, list):
        raise DecodeError("not supported: associative list with lists as elements")
    if item is None:
        raise DecodeError("associative list without keys has an element that's an explicit null")
    return value_element(item)


def items_by_element(schema: Schema, items: list[Any]) -> dict[str, list[Any]]:
    """Group the items of a set or map list; those that have no element are left out."""
    found: dict[str, list[Any]] = {}
    for item in items:
        try:
            found.setdefault(item_element(schema, item), []).append(item)
        except DecodeError:
            continue  # Nobody can own it, so it plays no part in who owns what.
    return found


# Fitting


def fits(value: Any, schema: Schema) -> bool:
    """Tell whether there is nothing that ``misfits`` would say, which takes longer to find out."""
    form = form_of(schema, value)
    if value is None:
        return True
    if form == "map":
        return isinstance(value, dict) and _map_fits(value, schema)
    if form == "list":
        return isinstance(value, list) and _list_fits(value, schema)
    return not _scalar_misfit(value, schema)


def _map_fits(value: dict[str, Any], schema: Schema) -> bool:
    others = schema.values
    if others is not None and others.shape in _TEXTS:
        return {*map(type, value.values())} <= _TEXT_TYPES
    structure = schema.structure
    fields = {} if structure is None else structure.fields
    if others is None and schema.preserves_unknown:
        others = ANYTHING
    for name, inner in value.items():
        field = fields.get(name, others)
        if field is None:
            return False
        if not (isinstance(inner, str) and field.shape in _TEXTS) and not fits(inner, field):
            return False
    return True


def _list_fits(value: list[Any], schema: Schema) -> bool:
    if not is_atomic(schema, "list"):
        try:
            elements = {item_element(schema, item) for item in value}
        except DecodeError:
            return False
        if len(elements) < len(value):
            return False
    inner = item_schema(schema)
    return all(fits(item, inner) for item in value)


def misfits(value: Any, schema: Schema, path: str = "") -> Iterator[str]:
    """Say everything about an applied value that does not fit its schema."""
    match form_of(schema, value):
        case "map":
            yield from _map_misfits(value, schema, path)
        case "list":
            yield from _list_misfits(value, schema, path)
        case "scalar":
            problem = _scalar_misfit(value, schema)
            if problem:
                yield _at(path, problem)


def _map_misfits(value: Any, schema: Schema, path: str) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, Mapping):
        yield _at(path, f"expected map, got {_printed(value)}")
        return
    for name in sorted(value):
        place = f"{path}{path_text((field_element(name),))}"
        declared = schema.field(name)
        if declared is None and not schema.preserves_unknown:
            yield _at(place, "field not declared in schema")
            return
        yield from misfits(value[name], declared or ANYTHING, place)


def _list_misfits(value: Any, schema: Schema, path: str) -> Iterator[str]:
    if value is None:
        return
    if not isinstance(value, list):
        yield _at(path, f"expected list, got {_printed(value)}")
        return
    atomic = is_atomic(schema, "list")
    seen: set[str] = set()
    for index, item in enumerate(value):
        try:
            element = index_element(index) if atomic else item_element(schema, item)
        except DecodeError as error:
            yield _at(path, f"element {index}: {error}")
            return
        if element in seen:
            yield _at(path, f"duplicate entries for key {path_text((element,))}")
        seen.add(element)
        yield from misfits(item, item_schema(schema), f"{path}{path_text((element,))}")


def _scalar_misfit(value: Any, schema: Schema) -> str:
    if value is None:
        return ""
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    if schema.shape in _TEXTS and not isinstance(value, str):
        return f"expected string, got &value.valueUnstructured{{Value:{printing.syntax(value)}}}"
    if schema.shape in _NUMBERS and not is_number:
        return f"expected numeric (int or float), got {printing.type_name(value)}"
    if schema.shape == "bool" and not isinstance(value, bool):
        return f"expected boolean, got {_printed(value)}"
    if isinstance(value, dict | list):
        return f"expected any scalar, got {_printed(value)}"
    return ""


def _printed(value: Any) -> str:
    return f"&{{{printing.plain(value)}}}"


def _at(path: str, problem: str) -> str:
    return f"{path}: {problem}" if path else problem
