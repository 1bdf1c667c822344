"""Merging an applied value into a live one, and taking fields out of a value.

Owns: both walks along a schema.  Must not know who owns the fields, nor which ones are given up.
"""

from __future__ import annotations

from typing import Any

from reflet.apirules.schema.schema_protocol import Schema
from reflet.devserver.patches.field_sets import FieldSet, field_element
from reflet.devserver.patches.typed_values import (
    ABSENT,
    form_of,
    is_atomic,
    item_element,
    item_schema,
    value_schema,
)
from reflet.errors import DecodeError


def merged(live: Any, applied: Any, schema: Schema) -> Any:
    """Give the live value with everything in it that is applied; nothing is removed.

    Lists that are told apart by keys or values take the order of the applied one, as far as it
    goes.  Neither value is changed.
    """
    if applied is ABSENT:
        return live
    form = form_of(schema, applied)
    if live is ABSENT or form == "scalar" or is_atomic(schema, form):
        return applied
    if form == "map":
        left = live if isinstance(live, dict) else {}
        right = applied if isinstance(applied, dict) else {}
        if not left and not right:
            return applied
        return {
            name: merged(
                left.get(name, ABSENT), right.get(name, ABSENT), value_schema(schema, name)
            )
            for name in {**left, **right}
        }
    before = live if isinstance(live, list) else []
    after = applied if isinstance(applied, list) else []
    return _merged_list(before, after, schema) if before or after else applied


def _merged_list(live: list[Any], applied: list[Any], schema: Schema) -> list[Any]:
    inner = item_schema(schema)
    left = [(_element(schema, item), item) for item in live]
    wanted = {_element(schema, item): item for item in applied}
    known = _known(left)
    return [
        merged(
            known.get(element, ABSENT) if item is ABSENT else item,
            wanted.get(element, ABSENT),
            inner,
        )
        for element, item in _interleaved(left, list(wanted))
    ]


def _known(items: list[tuple[str, Any]]) -> dict[str, Any]:
    """Map elements to items; of items that share an element, nothing is taken over."""
    known: dict[str, Any] = {}
    for element, item in items:
        known[element] = None if element in known else item
    return known


def _interleaved(left: list[tuple[str, Any]], right: list[str]) -> list[tuple[str, Any]]:
    """Put two lists of elements into one order.

    Elements of both lists stand as in ``right``; those of ``left`` alone stay behind what they
    stood behind.  An item comes along where it is from ``left`` alone.
    """
    in_left = {element for element, _ in left}
    in_right = set(right)
    shared = iter([element for element in right if element in in_left])
    next_shared = next(shared, None)
    done: set[str] = set()
    result: list[tuple[str, Any]] = []
    at, to = 0, 0
    while at < len(left) or to < len(right):
        if at < len(left):
            element, item = left[at]
            if element not in in_right:
                result.append((element, item))
                at += 1
                continue
            meets = to < len(right) and element == right[to]
            if to < len(right) and not meets and next_shared not in (None, element):
                at += 1  # Its turn comes with its place in the other list.
                continue
            if meets or element in done:
                at += 1
        if to < len(right):
            element = right[to]
            result.append((element, ABSENT))
            done.add(element)
            to += 1
            if element == next_shared:
                next_shared = next(shared, None)
    return result


def _element(schema: Schema, item: Any) -> str:
    try:
        return item_element(schema, item)
    except DecodeError:
        # Live lists may have items that could not be applied; each stays where it is.
        return f"?{id(item)}"


def without_fields(value: Any, fields: FieldSet, schema: Schema) -> Any:
    """Give the value without some fields; None where nothing of a map or list is left."""
    form = form_of(schema, value)
    if form == "scalar":
        return value
    if not value or is_atomic(schema, form):
        return None
    if form == "map" and isinstance(value, dict):
        kept = {
            name: _reduced(inner, fields, field_element(name), value_schema(schema, name))
            for name, inner in value.items()
            if field_element(name) not in fields.members
        }
        return kept or None
    if not isinstance(value, list):
        return None
    elements = ((_element(schema, item), item) for item in value)
    left = [
        _reduced(item, fields, element, item_schema(schema))
        for element, item in elements
        if element not in fields.members
    ]
    return left or None


def _reduced(value: Any, fields: FieldSet, element: str, schema: Schema) -> Any:
    inner = fields.below(element)
    return without_fields(value, inner, schema) if inner else value
