"""Which fields a value has, and which of them differ between two values.

Owns: both walks along a schema, with the real server's distinctions: null and empty are values,
atomic maps and lists are one field, the keys of a map are fields of their own beside what is
behind them.  Must not know who owns the fields.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from reflet.apirules.schema.schema_protocol import Schema
from reflet.devserver.patches.field_sets import FieldSet, Path, field_element
from reflet.devserver.patches.json_values import equivalent
from reflet.devserver.patches.typed_values import (
    ABSENT,
    Form,
    form_of,
    is_atomic,
    is_declared,
    item_schema,
    items_by_element,
    value_schema,
)


def fields_of(value: Any, schema: Schema) -> FieldSet:
    """Give the fields that somebody who applies the value says something about."""
    found: list[Path] = []
    _collect(value, schema, (), found)
    return FieldSet.of(found)


def _collect(value: Any, schema: Schema, path: Path, found: list[Path]) -> None:
    form = form_of(schema, value)
    if form == "scalar" or is_atomic(schema, form):
        found.append(path)
    elif form == "map" and isinstance(value, dict):
        for name, inner in value.items():
            place = (*path, field_element(name))
            _collect(inner, value_schema(schema, name), place, found)
            if inner is None or inner == {} or not is_declared(schema, name):
                found.append(place)
    elif form == "list" and isinstance(value, list):
        for element, items in items_by_element(schema, value).items():
            place = (*path, element)
            if len(items) == 1:
                _collect(items[0], item_schema(schema), place, found)
            found.append(place)


def named(fields: FieldSet, schema: Schema | None) -> FieldSet:
    """Add the fields of objects that lead to members, which are usually not members."""
    children = {}
    leading = set(fields.members)
    for element, node in fields.children.items():
        inner: Schema | None = None
        if schema is not None and element.startswith("f:"):
            name = element[2:]
            inner = value_schema(schema, name)
            if is_declared(schema, name):
                leading.add(element)
        elif schema is not None and element.startswith("k:"):
            inner = item_schema(schema)
        children[element] = named(node, inner)
    return FieldSet(frozenset(leading), children)


@dataclass(frozen=True, slots=True)
class Comparison:
    """How a new value differs from an old one; no field is in two of the sets."""

    removed: FieldSet
    modified: FieldSet
    added: FieldSet

    def without(self, fields: FieldSet) -> Comparison:
        """Leave some fields, and all that is behind them, out of account."""
        return Comparison(
            self.removed.without(fields), self.modified.without(fields), self.added.without(fields)
        )

    @property
    def written(self) -> FieldSet:
        """The fields that have a new value."""
        return self.modified.union(self.added)


def compared(old: Any, new: Any, schema: Schema) -> Comparison:
    """Compare two values of a place."""
    walk = _Comparing()
    walk.compare(old, new, schema, ())
    return Comparison(
        FieldSet.of(walk.removed), FieldSet.of(walk.modified), FieldSet.of(walk.added)
    )


class _Comparing:
    """One comparison; either side may be absent, but not both."""

    def __init__(self) -> None:
        self.removed: list[Path] = []
        self.modified: list[Path] = []
        self.added: list[Path] = []

    def compare(self, old: Any, new: Any, schema: Schema, path: Path) -> None:
        if old is new:
            return
        form = form_of(schema, old if new is ABSENT else new)
        if old is not ABSENT and new is not ABSENT and form_of(schema, old) != form:
            self._inside(form_of(schema, old), old, new, schema, path)
        is_leaf = self._inside(form, old, new, schema, path)
        if not is_leaf and old is ABSENT:
            self.added.append(path)
        elif not is_leaf and new is ABSENT:
            self.removed.append(path)

    def _inside(self, form: Form, old: Any, new: Any, schema: Schema, path: Path) -> bool:
        """Compare what is in two values; tell whether they are one field and no more."""
        if form == "map":
            left = old if isinstance(old, dict) else {}
            right = new if isinstance(new, dict) else {}
            if (left or right) and not is_atomic(schema, "map"):
                self._maps(left, right, schema, path)
                return False
        elif form == "list":
            before = old if isinstance(old, list) else []
            after = new if isinstance(new, list) else []
            if (before or after) and not is_atomic(schema, "list"):
                self._lists(before, after, schema, path)
                return False
        self._leaf(old, new, path)
        return True

    def _leaf(self, old: Any, new: Any, path: Path) -> None:
        if old is ABSENT:
            self.added.append(path)
        elif new is ABSENT:
            self.removed.append(path)
        elif not equivalent(old, new):
            self.modified.append(path)

    def _maps(self, old: dict[str, Any], new: dict[str, Any], schema: Schema, path: Path) -> None:
        for name in {**old, **new}:
            place = (*path, field_element(name))
            left, right = old.get(name, ABSENT), new.get(name, ABSENT)
            self.compare(left, right, value_schema(schema, name), place)

    def _lists(self, old: list[Any], new: list[Any], schema: Schema, path: Path) -> None:
        left, right = items_by_element(schema, old), items_by_element(schema, new)
        inner = item_schema(schema)
        for element in {**left, **right}:
            before, after = left.get(element, []), right.get(element, [])
            place = (*path, element)
            if len(before) <= 1 and len(after) <= 1:
                first = before[0] if before else ABSENT
                self.compare(first, after[0] if after else ABSENT, inner, place)
            elif len(before) > 1 and len(after) > 1:
                # Items that share an element have one owner, like an atomic list.
                if not equivalent(before, after):
                    self.modified.append(place)
            elif len(before) > 1:
                if after:
                    self.compare(ABSENT, after[0], inner, place)
                self.removed.append(place)
            else:
                if before:
                    self.compare(before[0], ABSENT, inner, place)
                self.added.append(place)
