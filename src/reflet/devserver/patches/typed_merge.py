"""Walks along a schema: merging, taking fields out, which fields there are, and which differ.

With the real server's distinctions: null and empty are values, atomic maps and lists are one
field, the keys of a map are fields of their own beside what is behind them.

Upstream: sigs.k8s.io/structured-merge-diff/typed/{merge,remove,tofieldset,compare}.go
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from reflet.apirules.schema.schemas import ANYTHING, Schema
from reflet.devserver.patches.field_sets import EMPTY, FieldSet, Path, field_element
from reflet.devserver.patches.json_values import equivalent
from reflet.devserver.patches.typed_values import (
    ABSENT,
    Form,
    form_of,
    is_atomic,
    is_declared,
    item_element,
    item_schema,
    items_by_element,
    value_schema,
)
from reflet.errors import DecodeError

# Shapes that have nothing inside.
_LEAVES: Final = frozenset(
    {
        *("string", "bytes", "bool", "int32", "int64", "float64"),
        *("time", "microTime", "quantity", "intOrString"),
    }
)


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


def fields_of(value: Any, schema: Schema) -> FieldSet:
    """Give the fields that somebody who applies the value says something about."""
    return _fields_inside(value, schema) or EMPTY


def _fields_inside(value: Any, schema: Schema) -> FieldSet | None:
    """Give the fields in a value; None for one that is a field and no more."""
    form = form_of(schema, value)
    if form == "scalar" or is_atomic(schema, form):
        return None
    if form == "map" and isinstance(value, dict):
        return _fields_of_map(value, schema)
    if form == "list" and isinstance(value, list):
        return _fields_of_list(value, schema)
    return EMPTY


def _fields_of_map(value: dict[str, Any], schema: Schema) -> FieldSet:
    structure, others = schema.structure, schema.values
    if structure is None and others is not None and others.shape in _LEAVES:
        return FieldSet(frozenset(map("f:".__add__, value)))
    members: list[str] = []
    children: dict[str, FieldSet] = {}
    declared = {} if structure is None else structure.fields
    for name, inner in value.items():
        field = declared.get(name)
        element = field_element(name)
        if field is not None and field.shape in _LEAVES:
            members.append(element)
            continue
        inside = _fields_inside(inner, field or others or ANYTHING)
        if inside:
            children[element] = inside
        if inside is None or inner is None or inner == {} or field is None:
            members.append(element)
    return FieldSet(frozenset(members), children)


def _fields_of_list(value: list[Any], schema: Schema) -> FieldSet:
    inner = item_schema(schema)
    found = items_by_element(schema, value)
    children = {
        element: inside
        for element, items in found.items()
        if len(items) == 1 and (inside := _fields_inside(items[0], inner))
    }
    return FieldSet(frozenset(found), children)


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
