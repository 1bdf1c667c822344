"""``fieldPath`` of a rule: which field is blamed.

Upstream: apiextensions-apiserver/pkg/apiserver/schema/cel/validation.go, ValidFieldPath
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Final

from reflet.gotext.quoting import ESCAPED

_STEP: Final = re.compile(r"\.(?P<name>[^.\[\]']+)|\['(?P<quoted>(?:[^'\\]|\\.)*)'\]")
_ESCAPE: Final = re.compile(r"\\(.)", re.DOTALL)
_CHARACTERS: Final[Mapping[str, str]] = {**ESCAPED, "'": "'", "\\": "\\"}


class NoSuchField(ValueError):
    """The path leads to no field of the schema."""


def read_path(path: str, schema: Mapping[str, Any]) -> str:
    """Give the path as messages write it.  Raises NoSuchField."""
    made, at = "", 0
    while at < len(path):
        step = _STEP.match(path, at)
        if step is None:
            raise NoSuchField(path)
        name = step["name"] if step["quoted"] is None else _unescaped(step["quoted"])
        properties, extra = schema.get("properties"), schema.get("additionalProperties")
        if properties is not None:
            if name not in properties:
                raise NoSuchField(path)
            made, schema = f"{made}.{name}" if made else name, properties[name]
        elif isinstance(extra, Mapping):
            made, schema = f"{made}[{name}]", extra
        else:
            raise NoSuchField(path)
        at = step.end()
    return made


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        if found[1] not in _CHARACTERS:
            raise NoSuchField(text)
        return _CHARACTERS[found[1]]

    return _ESCAPE.sub(character, text)
