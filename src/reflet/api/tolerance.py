"""What the API server's reader accepts although it is not what the schema says.

Owns: how decoded JSON is adapted to a struct type before it is checked again: ``null`` for
absence, bare numbers for quantities, line breaks inside base64.  Must not know about bytes,
nor about what goes wrong afterwards: whatever it does not understand it hands on unchanged.
"""

from collections.abc import Mapping
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import Annotated, Any, TypeGuard, Union, get_args, get_origin

import msgspec

from reflet.api.quantity_text import MayBeNumber


def is_struct(kind: Any) -> TypeGuard[type[msgspec.Struct]]:
    """Say whether a type is a struct."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


@cache
def fields_of(struct: type[msgspec.Struct]) -> Mapping[str, Any]:
    """Return the type of each field of a struct by its JSON name."""
    return MappingProxyType(
        {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    )


def present(kind: Any) -> Any:
    """Return what a field of this type holds when it is there: ``X`` for ``X | None``."""
    if get_origin(kind) in {Union, UnionType}:
        others = [each for each in get_args(kind) if each is not NoneType]
        if len(others) == 1:
            return others[0]
    return kind


def element_of(kind: Any) -> Any:
    """Return the type of the elements of a tuple or of the values of a mapping, else ``Any``."""
    origin: Any = get_origin(present(kind))
    arguments = get_args(present(kind))
    if origin is Mapping:
        return arguments[1]
    return arguments[0] if origin is tuple else Any


def tolerated(value: Any, kind: Any) -> Any:
    """Return decoded JSON as the API server's reader would understand it for ``kind``."""
    kind = present(kind)
    origin: Any = get_origin(kind)
    if value is None:
        return _nothing(kind)
    if origin is Annotated:
        return _tolerated_annotated(value, kind)
    if isinstance(value, dict) and is_struct(kind):
        fields = fields_of(kind)
        return {
            name: tolerated(item, fields.get(name, Any))
            for name, item in value.items()
            if item is not None
        }
    if isinstance(value, dict) and origin is Mapping:
        return {key: tolerated(item, element_of(kind)) for key, item in value.items()}
    if isinstance(value, list) and origin is tuple:
        return [tolerated(item, element_of(kind)) for item in value]
    if kind is bytes and isinstance(value, str):
        return value.replace("\r", "").replace("\n", "")
    return value


def _tolerated_annotated(value: Any, kind: Any) -> Any:
    bare, *marks = get_args(kind)
    if MayBeNumber in marks and isinstance(value, int | float) and not isinstance(value, bool):
        return str(value)
    return tolerated(value, bare)


def _nothing(kind: Any) -> Any:
    """Return what ``null`` stands for as an element: the empty value of the type."""
    bare = get_args(kind)[0] if get_origin(kind) is Annotated else kind
    if bare is str or bare is bytes:
        return ""
    return {} if is_struct(bare) else None
