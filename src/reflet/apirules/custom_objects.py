"""Objects of custom kinds: pruned and filled by the schema of their definition.

Owns: which fields are dropped, and which defaults are filled in.  Must not know which values
the schema allows; that is custom_validation.py.
"""

from __future__ import annotations

import copy
from typing import Any

from reflet.apirules.schema.decoding import RepeatedKeys
from reflet.apirules.schema.schemas import Schema

Document = dict[str, Any]


def fill_custom_defaults(schema: Schema, document: Document) -> None:
    """Fill in the defaults that the definition names, in place.

    Null counts as absent where the definition does not allow it, and goes.
    """
    structure = schema.structure
    if structure is None:
        return
    for name, field in structure.fields.items():
        if document.get(name) is None and not field.rules.get("nullable"):
            document.pop(name, None)
            if field.default is not None:
                document[name] = copy.deepcopy(field.default)
        if name in document and name != "metadata":
            _fill_value(field, document[name])


def _fill_value(schema: Schema, value: Any) -> None:
    if isinstance(value, dict):
        inner = schema.values
        if inner is None:
            fill_custom_defaults(schema, value)
            return
        for key in [key for key in value if value[key] is None]:
            if not inner.rules.get("nullable"):
                del value[key]
        for each in value.values():
            _fill_value(inner, each)
    elif isinstance(value, list) and schema.items is not None:
        for each in value:
            _fill_value(schema.items, each)


def prune(schema: Schema, value: Any, path: str, complaints: list[str]) -> Any:
    """Copy a value without the fields that the schema does not know.

    What is dropped, and keys that were repeated, go to ``complaints``.
    """
    if isinstance(value, dict):
        return _pruned_object(schema, value, path, complaints)
    if isinstance(value, list):
        items = schema.items
        return [
            copy.deepcopy(inner)
            if items is None
            else prune(items, inner, f"{path}[{index}]", complaints)
            for index, inner in enumerate(value)
        ]
    return value


def _pruned_object(schema: Schema, value: Document, path: str, complaints: list[str]) -> Document:
    structure = schema.structure
    pairs = value.pairs if isinstance(value, RepeatedKeys) else value.items()
    made: Document = {}
    for name, inner in pairs:
        place = f"{path}.{name}" if path else name
        if name in made:
            complaints.append(f'duplicate field "{place}"')
        field = None if structure is None else structure.fields.get(name)
        if field is None:
            field = schema.values
        if field is not None:
            made[name] = prune(field, inner, place, complaints)
        elif schema.preserves_unknown:
            made[name] = copy.deepcopy(inner)
        else:
            complaints.append(f'unknown field "{place}"')
    return made
