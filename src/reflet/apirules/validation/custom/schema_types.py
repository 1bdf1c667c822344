"""The types that the parts of a schema have in expressions.

Upstream: apiserver/pkg/cel/common/schemas.go, SchemaDeclType; apiserver/pkg/cel/escaping.go;
apiserver/pkg/cel/types.go, FindStructFieldType
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from reflet.apirules.cel import types
from reflet.apirules.cel.tokens import RESERVED
from reflet.apirules.cel.types import Type

Rules = Mapping[str, Any]

_RESERVED: Final = RESERVED | {"true", "false", "null", "in"}
_NAME: Final = re.compile(r"[A-Za-z_.\-/][A-Za-z0-9_.\-/]*")
_SPECIAL: Final = re.compile(r"__|[.\-/]")
_ESCAPES: Final = {"__": "__underscores__", ".": "__dot__", "-": "__dash__", "/": "__slash__"}
_ESCAPED: Final = re.compile(r"__[^_]+__")
_ORIGINALS: Final = {escaped: plain for plain, escaped in _ESCAPES.items()}
_SCALARS: Final = {"boolean": types.BOOL, "number": types.DOUBLE, "integer": types.INT}
_TEXTS: Final = {
    "byte": types.BYTES,
    "duration": types.DURATION,
    "date": types.TIMESTAMP,
    "date-time": types.TIMESTAMP,
}
_TEXT: Final[Rules] = {"type": "string"}
_IDENTITY: Final[Rules] = {
    "type": "object",
    "properties": {"name": _TEXT, "generateName": _TEXT},
}


def escaped(name: str) -> str | None:
    """Give the name under which expressions know a field, or None if they cannot."""
    if name in _RESERVED:
        return f"__{name}__"
    if _NAME.fullmatch(name) is None:
        return None
    return _SPECIAL.sub(lambda found: _ESCAPES[found.group()], name)


def unescaped(name: str) -> str | None:
    """Give the field that expressions know under a name."""
    if "__" not in name:
        return name
    if name[:2] == name[-2:] == "__" and name[2:-2] in _RESERVED:
        return name[2:-2]
    found = _ESCAPED.findall(name)
    if any(each not in _ORIGINALS for each in found):
        return None
    return _ESCAPED.sub(lambda each: _ORIGINALS[each.group()], name)


def with_metadata(rules: Rules) -> Rules:
    """Give the schema of an object by itself: its kind, version and names can always be read."""
    properties = rules.get("properties") or {}
    metadata = properties.get("metadata", {})
    known = metadata.get("properties") or {}
    if (
        all(properties.get(name, {}).get("type") == "string" for name in ("kind", "apiVersion"))
        and metadata.get("type") == "object"
        and all(known.get(name, {}).get("type") == "string" for name in ("name", "generateName"))
    ):
        return rules
    added = {"kind": _TEXT, "apiVersion": _TEXT, "metadata": _IDENTITY}
    return {**rules, "properties": {**properties, **added}}


def declared_type(rules: Rules, name: str = "self", *, is_root: bool = False) -> Type | None:
    """Give the type of a value of the schema; None if expressions do not see it."""
    if rules.get("x-kubernetes-int-or-string"):
        return types.DYN
    if is_root or rules.get("x-kubernetes-embedded-resource"):
        rules = with_metadata(rules)
    match rules.get("type"):
        case "array":
            items = rules.get("items")
            inner = declared_type(items, f"{name}.@items") if isinstance(items, Mapping) else None
            return None if inner is None else types.list_of(inner)
        case "object":
            return _object_type(rules, name)
        case "string":
            return _TEXTS.get(rules.get("format", ""), types.STRING)
        case kind:
            return _SCALARS.get(kind or "")


def _object_type(rules: Rules, name: str) -> Type | None:
    extra = rules.get("additionalProperties")
    if isinstance(extra, Mapping):
        inner = declared_type(extra, f"{name}.@values")
        return None if inner is None else types.map_of(types.STRING, inner)
    fields: dict[str, Type] = {}
    for field, below in (rules.get("properties") or {}).items():
        known, kind = escaped(field), declared_type(below, f"{name}.{field}")
        if known is not None and kind is not None:
            fields[known] = kind
            if field in RESERVED:  # behind a dot there is nothing to confuse the word with
                fields[field] = kind
    return Type("object", name=name, fields=fields)
