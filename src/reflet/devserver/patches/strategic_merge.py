"""Carries out a strategic merge patch: lists merge by key, and directives say the rest.

``$patch: replace`` and ``$patch: delete`` in a map or a list, ``$retainKeys``,
``$deleteFromPrimitiveList/field`` and ``$setElementOrder/field``; which lists merge, and by
which key, says the schema.  Nulls inside items that are new stay in the result; whoever reads it
as a kind drops them.

Of a merged list, items that the patch names come in the order of the patch, the others in the
order in which they were, and where the two meet, the order in which they were decides.

Upstream: apimachinery/pkg/util/strategicpatch/patch.go
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from reflet.apirules import refusals
from reflet.apirules.schema.schemas import Schema
from reflet.devserver.patches.json_values import identity
from reflet.errors import ApiError
from reflet.gotext import printing
from reflet.gotext.quoting import quoted

DIRECTIVE: Final = "$patch"
RETAIN_KEYS: Final = "$retainKeys"
DELETE_FROM: Final = "$deleteFromPrimitiveList"
SET_ORDER: Final = "$setElementOrder"

_BAD_DELETE_LIST: Final = "invalid patch format of primitive list"
_BAD_ORDER: Final = "invalid patch format of setElementOrder list"
_BAD_RETAIN_KEYS: Final = "invalid patch format of retainKeys"

Document = dict[str, Any]
Naming = Callable[[Any], str]


def strategic_merge(
    document: Mapping[str, Any], patch: Mapping[str, Any], schema: Schema
) -> Document:
    """Return the document with the patch merged in."""
    return _merged_map(document, patch, schema)


def _merged_map(document: Mapping[str, Any], patch: Mapping[str, Any], schema: Schema) -> Document:
    if DIRECTIVE in patch:
        return _directed(patch)
    original, changes = dict(document), dict(patch)
    _retain_keys(original, changes)
    _merge_in_order(original, changes, schema)
    for key, value in changes.items():
        if key.startswith(DELETE_FROM):
            _delete_from(original, _field_of(key, DELETE_FROM, _BAD_DELETE_LIST), value, schema)
        elif value is None:
            original.pop(key, None)
        elif isinstance(value, dict) and isinstance(original.get(key), dict):
            original[key] = _merged_field(original[key], value, _field(schema, key))
        elif isinstance(value, list) and isinstance(original.get(key), list):
            original[key] = _merged_list(original[key], value, _field(schema, key))
        elif _is_directed(value):
            original.pop(key, None)
        else:
            original[key] = _as_new(value)
    return original


def _merged_field(original: Document, patch: Document, schema: Schema) -> Document:
    if _strategy(schema) == "replace":
        return patch
    return _merged_map(original, patch, schema)


def _directed(patch: Mapping[str, Any]) -> Document:
    match patch[DIRECTIVE]:
        case "replace":
            return {key: value for key, value in patch.items() if key != DIRECTIVE}
        case "delete":
            return {}
        case unknown:
            raise _unknown_directive(unknown, patch)


def _is_directed(value: Any) -> bool:
    return isinstance(value, dict) and DIRECTIVE in value


def _as_new(value: Any) -> Any:
    """Make of a value what it leaves where nothing was: no nulls, nothing with a directive."""
    if isinstance(value, dict):
        return {
            key: _as_new(item)
            for key, item in value.items()
            if item is not None and not _is_directed(item)
        }
    if isinstance(value, list):
        return [_as_new(item) for item in value if not _is_directed(item)]
    return value


def _retain_keys(original: Document, patch: Document) -> None:
    """Drop from ``original`` what the patch does not say to retain."""
    if RETAIN_KEYS not in patch:
        return
    listed = patch.pop(RETAIN_KEYS)
    if not isinstance(listed, list):
        raise refusals.bad_request(_BAD_RETAIN_KEYS)
    retained = {key for key in listed if isinstance(key, str)}
    for key, value in patch.items():
        free = value is None or key.startswith((DELETE_FROM, SET_ORDER))
        if not free and key not in retained:
            raise refusals.bad_request(_BAD_RETAIN_KEYS)
    for key in original.keys() - retained:
        del original[key]


# Lists


def _merged_list(original: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    if _strategy(schema) != "merge":
        return patch
    if not original and not patch:
        return original
    if _items_are_maps(original, patch):
        return _merged_maps(original, patch, schema)
    both = {identity(item): item for item in (*original, *patch)}
    return ordered(list(both.values()), patch, original, identity)


def _merged_maps(original: list[Any], patch: list[Any], schema: Schema) -> list[Any]:
    key = schema.patch_merge_key
    if not key:
        raise refusals.unexpected("cannot merge lists without merge key for struct")
    name = _naming(key)
    before, wanted = _without_special(original, patch, key, name)
    merged = list(before)
    places = positions(merged, _loose_naming(key))
    for item in wanted:
        place = places.setdefault(name(item), len(merged))
        if place == len(merged):
            merged.append(item)
        elif schema.items is None:
            merged[place] = {**merged[place], **item}
        else:
            merged[place] = _merged_map(merged[place], item, schema.items)
    return ordered(merged, wanted, before, name)


def _without_special(
    original: list[Any], patch: list[Any], key: str, name: Naming
) -> tuple[list[Any], list[Any]]:
    """Carry out the items that are directives; return what is left of both lists."""
    usual, deleted, replaced = [], set(), False
    for item in patch:
        if DIRECTIVE not in item:
            usual.append(item)
            continue
        match item[DIRECTIVE]:
            case "delete":
                deleted.add(name(item))
            case "replace":
                replaced = True
            case "merge":
                raise refusals.unexpected("merging lists cannot yet be specified in the patch")
            case unknown:
                raise _unknown_directive(unknown, item)
    if replaced:
        return usual, []
    loose = _loose_naming(key)
    return [item for item in original if loose(item) not in deleted], usual


def _delete_from(original: Document, field: str, values: Any, schema: Schema) -> None:
    if values is None:
        original.pop(field, None)
        return
    current = original.get(field)
    if not isinstance(values, list) or not isinstance(current, list):
        return
    declared = _field(schema, field)
    if not current and not values:
        return
    if _items_are_maps(current, values):
        original[field] = _merged_maps(current, values, declared)
    else:
        gone = set(map(identity, values))
        original[field] = [value for value in current if identity(value) not in gone]


def _merge_in_order(original: Document, patch: Document, schema: Schema) -> None:
    """Merge the lists whose order the patch gives, and take them out of the patch."""
    for directive in [key for key in patch if key.startswith(SET_ORDER)]:
        order = patch.pop(directive)
        if not isinstance(order, list):
            raise _wrong_type([], order)
        field = _field_of(directive, SET_ORDER, _BAD_ORDER)
        for place in (original, patch):
            if field in place and not isinstance(place[field], list):
                raise _wrong_type([], place[field])
        declared = _field(schema, field)
        before, changes = original.get(field), patch.get(field)
        _check_order(changes or [], order, declared.patch_merge_key)
        if before is None and changes is None:
            continue
        if before is None:
            merged = _as_new(changes)
        else:
            merged = before if changes is None else _merged_list(before, changes, declared)
        key = declared.patch_merge_key
        if not before and not changes:
            raise refusals.unexpected("no elements in any of the given slices")
        known = _order_left(before or [], changes or [], declared)
        original[field] = ordered(merged, order, known, _naming(key) if key else identity)
        patch.pop(field, None)


def _order_left(before: list[Any], changes: list[Any], schema: Schema) -> list[Any]:
    """Give the order that the real server takes for the old one.

    It merges into the array of the old list, and looks at that array afterwards: new items stand
    where deleted ones have made room.
    """
    key = schema.patch_merge_key
    if not key or _strategy(schema) != "merge":
        return before
    name = _loose_naming(key)
    directed = [item for item in changes if _is_directed(item)]
    if any(item[DIRECTIVE] == "replace" for item in directed):
        return before
    deleted = set(map(name, directed))
    left = [item for item in before if name(item) not in deleted]
    known = set(map(name, left))
    added = [item for item in changes if not _is_directed(item) and name(item) not in known]
    return [*left, *added][: len(before)]


def _check_order(changes: list[Any], order: list[Any], key: str) -> None:
    """Refuse changes that the order does not name, or names in another order."""
    if not order or not changes:
        return
    name = _naming(key) if key else identity
    left = [item for item in changes if not _is_directed(item)]
    at = 0
    for item in order:
        if at < len(left) and name(left[at]) == name(item):
            at += 1
    if at < len(left):
        raise refusals.unexpected(
            f"The order in patch list:\n{printing.plain(changes)}\n "
            f"doesn't match {SET_ORDER} list:\n{printing.plain(order)}\n"
        )


def _items_are_maps(original: list[Any], patch: list[Any]) -> bool:
    """Tell whether the items are maps; all must be of one type, and no lists."""
    kinds = {printing.type_name(item) for item in (*original, *patch)}
    if printing.type_name([]) in kinds:
        raise refusals.rejected()
    if len(kinds) > 1:
        shown = printing.plain([original, patch])
        raise refusals.unexpected(f"list element types are not identical: {shown}")
    return kinds == {printing.type_name({})}


def _naming(key: str) -> Naming:
    """Name items by the value of their key, which they must have."""

    def name(item: Any) -> str:
        if not isinstance(item, dict):
            raise _wrong_type({}, item)
        if key not in item:
            raise refusals.unexpected(
                f"map: {printing.plain(item)} does not contain declared merge key: {key}"
            )
        return identity(item[key])

    return name


def _loose_naming(key: str) -> Naming:
    """Name items by the value of their key; those without one have no name."""
    return lambda item: identity(item[key]) if key in item else ""


# Schema


def _field(schema: Schema, name: str) -> Schema:
    if schema.values is not None:
        raise refusals.unexpected(
            "merging an object in json but data type is not struct, instead is: map"
        )
    found = schema.field(name)
    if found is None:
        raise refusals.unexpected(
            f"unable to find api field in struct for the json field {quoted(name)}"
        )
    return found


def _strategy(schema: Schema) -> str:
    """Give the strategy for the value itself; ``retainKeys`` is for patches to ask for."""
    strategies = [name for name in schema.patch_strategy.split(",") if name != "retainKeys"]
    return strategies[0] if strategies else ""


def _field_of(key: str, prefix: str, problem: str) -> str:
    start, slash, field = key.partition("/")
    if start != prefix or not slash:
        raise refusals.bad_request(problem)
    return field


def _unknown_directive(directive: Any, patch: Mapping[str, Any]) -> ApiError:
    shown = printing.as_string(directive)
    return refusals.unexpected(f"unknown patch type: {shown} in map: {printing.plain(patch)}")


def _wrong_type(expected: Any, found: Any) -> ApiError:
    kind = printing.type_name(found) if found is not None else "%!s(<nil>)"
    return refusals.unexpected(f"expected a {printing.type_name(expected)}, but received a {kind}")


def ordered(
    items: Sequence[Any],
    wanted: Sequence[Any],
    before: Sequence[Any],
    name: Naming,
) -> list[Any]:
    """Put ``items`` in order, given the list ``before`` the patch and the order ``wanted``."""
    in_patch = positions(wanted, name)
    in_server = positions(before, name)
    patched = deque(_sorted([item for item in items if name(item) in in_patch], in_patch, name))
    others = deque(_sorted([item for item in items if name(item) not in in_patch], in_server, name))
    result: list[Any] = []
    while patched and others:
        ours, theirs = in_server.get(name(others[0])), in_server.get(name(patched[0]))
        first = others if ours is not None and theirs is not None and ours < theirs else patched
        result.append(first.popleft())
    return [*result, *patched, *others]


def positions(items: Sequence[Any], name: Naming) -> dict[str, int]:
    """Map the name of each item to where it first stands."""
    found: dict[str, int] = {}
    for index, item in enumerate(items):
        found.setdefault(name(item), index)
    return found


def _sorted(items: list[Any], order: dict[str, int], name: Naming) -> list[Any]:
    return sorted(items, key=lambda item: order.get(name(item), len(order)))
