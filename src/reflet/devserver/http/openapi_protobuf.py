"""Writes an OpenAPI 2 document in the binary form, the only one that kubectl reads.

Every message is a table from the names in JSON to field numbers.  What the real server's own
document is made of can be written; what OpenAPI 2 has no word for is left out.

Upstream: github.com/google/gnostic-models/openapiv2/OpenAPIv2.proto
"""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Mapping
from functools import lru_cache
from typing import Any, Final

import msgspec

from reflet.devserver.printing.representations import write_yaml

# Writes a field with its number; nothing when the value is what a reader takes for granted.
Writer = Callable[[int, Any], bytes]

_VARINT, _FIXED64, _BYTES = 0, 1, 2
_EXTENSION: Final = "x-"
_NAME, _VALUE = 1, 2  # of an entry
_YAML: Final = 2  # of anything


def encode_openapi(document: Mapping[str, Any]) -> bytes:
    """Write a whole document."""
    return _content("Document", document)


def _content(message: str, value: Mapping[str, Any]) -> bytes:
    fields = _MESSAGES[message]
    parts: list[tuple[int, bytes]] = []
    for name, each in value.items():
        if name in fields:
            number, write = fields[name]
            parts.append((number, write(number, each)))
        elif name.startswith(_EXTENSION) and _EXTENSION in fields:
            number, write = fields[_EXTENSION]
            parts.append((number, _delimited(number, _text(_NAME, name) + write(_VALUE, each))))
    parts.sort(key=lambda part: part[0])
    return b"".join(written for _, written in parts)


def _varint(number: int) -> bytes:
    made = bytearray()
    while number > 0x7F:
        made.append(number & 0x7F | 0x80)
        number >>= 7
    made.append(number)
    return bytes(made)


def _delimited(number: int, content: bytes | bytearray) -> bytes:
    return _varint(number << 3 | _BYTES) + _varint(len(content)) + content


def _text(number: int, value: str) -> bytes:
    return _delimited(number, value.encode()) if value else b""


def _flag(number: int, value: bool) -> bytes:
    return _varint(number << 3 | _VARINT) + b"\x01" if value else b""


def _integer(number: int, value: float) -> bytes:
    return _varint(number << 3 | _VARINT) + _varint(int(value) % 2**64) if value else b""


def _double(number: int, value: float) -> bytes:
    return _varint(number << 3 | _FIXED64) + struct.pack("<d", value) if value else b""


def _any(number: int, value: Any) -> bytes:
    return _delimited(number, _delimited(_YAML, _yaml(msgspec.json.encode(value))))


@lru_cache(maxsize=1024)  # a few values are said thousands of times, and YAML is slow
def _yaml(value: bytes) -> bytes:
    return write_yaml(msgspec.json.decode(value))


def _of(message: str) -> Writer:
    return lambda number, value: _delimited(number, _content(message, value))


def _each(write: Writer) -> Writer:
    return lambda number, values: b"".join(write(number, value) for value in values)


def _named(write: Writer, inner: int = 1) -> Writer:
    """Write a map as entries of a message, each with its name."""

    def written(number: int, values: Mapping[str, Any]) -> bytes:
        entries = bytearray()  # in a loop of its own: schemas are deep, and frames few
        for name, value in values.items():
            entries += _delimited(inner, _text(_NAME, name) + write(_VALUE, value))
        return _delimited(number, entries)

    return written


def _wrapped(inner: int, write: Writer) -> Writer:
    """Write a value as the only field of a message."""
    return lambda number, value: _delimited(number, write(inner, value))


def _words(number: int, value: str | Iterable[str]) -> bytes:
    words = [value] if isinstance(value, str) else value
    return _delimited(number, b"".join(_delimited(1, word.encode()) for word in words))


def _schema_or_flag(number: int, value: Any) -> bytes:
    if isinstance(value, bool):
        return _delimited(number, _varint(2 << 3 | _VARINT) + bytes([value]))
    return _wrapped(1, _SCHEMA)(number, value)


def _reference_or(write: Writer) -> Writer:
    reference, itself = _wrapped(2, _of("Reference")), _wrapped(1, write)
    return lambda number, value: (reference if "$ref" in value else itself)(number, value)


def _parameter(number: int, value: Mapping[str, Any]) -> bytes:
    place = value["in"]
    message = _of(f"{place} parameter")
    if place == "body":
        return _wrapped(1, message)(number, value)
    return _wrapped(2, _wrapped({"query": 3, "path": 4}[place], message))(number, value)


_SCHEMA: Final = _of("Schema")
_TEXTS: Final = _each(_text)
_OPERATION: Final = _of("Operation")
_PARAMETERS: Final = _each(_reference_or(_parameter))

_MESSAGES: Final[Mapping[str, Mapping[str, tuple[int, Writer]]]] = {
    "Document": {
        "swagger": (1, _text),
        "info": (2, _of("Info")),
        "paths": (8, _named(_of("PathItem"), 2)),
        "definitions": (9, _named(_SCHEMA)),
        "parameters": (10, _named(_parameter)),
        "security": (12, _each(_named(_words))),
        "securityDefinitions": (13, _named(_wrapped(2, _of("ApiKey")))),
    },
    "Info": {"title": (1, _text), "version": (2, _text)},
    "ApiKey": {"type": (1, _text), "name": (2, _text), "in": (3, _text), "description": (4, _text)},
    "Reference": {"$ref": (1, _text), "description": (2, _text)},
    "PathItem": {
        "get": (2, _OPERATION),
        "put": (3, _OPERATION),
        "post": (4, _OPERATION),
        "delete": (5, _OPERATION),
        "options": (6, _OPERATION),
        "head": (7, _OPERATION),
        "patch": (8, _OPERATION),
        "parameters": (9, _PARAMETERS),
        "x-": (10, _any),
    },
    "Operation": {
        "tags": (1, _TEXTS),
        "description": (3, _text),
        "operationId": (5, _text),
        "produces": (6, _TEXTS),
        "consumes": (7, _TEXTS),
        "parameters": (8, _PARAMETERS),
        "responses": (9, _named(_reference_or(_of("Response")))),
        "schemes": (10, _TEXTS),
        "deprecated": (11, _flag),
        "x-": (13, _any),
    },
    "body parameter": {
        "description": (1, _text),
        "name": (2, _text),
        "in": (3, _text),
        "required": (4, _flag),
        "schema": (5, _SCHEMA),
        "x-": (6, _any),
    },
    "query parameter": {
        "required": (1, _flag),
        "in": (2, _text),
        "description": (3, _text),
        "name": (4, _text),
        "type": (6, _text),
        "format": (7, _text),
        "uniqueItems": (20, _flag),
        "x-": (23, _any),
    },
    "path parameter": {
        "required": (1, _flag),
        "in": (2, _text),
        "description": (3, _text),
        "name": (4, _text),
        "type": (5, _text),
        "format": (6, _text),
        "uniqueItems": (19, _flag),
        "x-": (22, _any),
    },
    "Response": {
        "description": (1, _text),
        "schema": (2, _wrapped(1, _SCHEMA)),
        "x-": (5, _any),
    },
    "Schema": {
        "$ref": (1, _text),
        "format": (2, _text),
        "title": (3, _text),
        "description": (4, _text),
        "default": (5, _any),
        "multipleOf": (6, _double),
        "maximum": (7, _double),
        "exclusiveMaximum": (8, _flag),
        "minimum": (9, _double),
        "exclusiveMinimum": (10, _flag),
        "maxLength": (11, _integer),
        "minLength": (12, _integer),
        "pattern": (13, _text),
        "maxItems": (14, _integer),
        "minItems": (15, _integer),
        "uniqueItems": (16, _flag),
        "maxProperties": (17, _integer),
        "minProperties": (18, _integer),
        "required": (19, _TEXTS),
        "enum": (20, _each(_any)),
        "additionalProperties": (21, _schema_or_flag),
        "type": (22, _words),
        "items": (23, _wrapped(1, _SCHEMA)),
        "allOf": (24, _each(_SCHEMA)),
        "properties": (25, _named(_SCHEMA)),
        "externalDocs": (29, _of("ExternalDocs")),
        "example": (30, _any),
        "x-": (31, _any),
    },
    "ExternalDocs": {"description": (1, _text), "url": (2, _text)},
}
