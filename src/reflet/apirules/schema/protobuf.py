"""Reads objects in the binary form that kubectl sends for some commands.

``kubectl create configmap`` and its kin, ``auth can-i`` and ``create token`` send their bodies
as protocol buffers and know no other way; they all read answers in JSON.  Field numbers come
from the recorded structure, so every recorded kind can be read.  The result is a plain document,
to be checked like one that came as JSON.

Upstream: apimachinery/pkg/runtime/serializer/protobuf/protobuf.go
"""

from __future__ import annotations

import base64
import json
import struct
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any, Final

from reflet.apirules.schema.kinds import Kinds
from reflet.apirules.schema.schemas import Schema, Structure
from reflet.errors import DecodeError
from reflet.gotext.times import micro_time_text, time_text

MEDIA_TYPE: Final = "application/vnd.kubernetes.protobuf"
MAGIC: Final = b"k8s\x00"

_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_INTEGERS: Final = frozenset({"int32", "int64"})
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)

Document = dict[str, Any]
Value = int | bytes


def decode_protobuf(raw: bytes, kinds: Kinds, schema: Schema | None = None) -> Document:
    """Read an object in its envelope.

    ``schema`` says how to read kinds that the register does not have (a subresource's body).
    Raises DecodeError for what is not the binary form, or of an unknown kind.
    """
    if not raw.startswith(MAGIC):
        raise DecodeError("provided data does not appear to be a protobuf message, expected prefix")
    api_version = kind = ""
    content = b""
    for number, value in _fields(raw[len(MAGIC) :]):
        if number == 1 and isinstance(value, bytes):
            for part, text in _fields(value):
                if part == 1 and isinstance(text, bytes):
                    api_version = text.decode()
                elif part == 2 and isinstance(text, bytes):
                    kind = text.decode()
        elif number == 2 and isinstance(value, bytes):
            content = value
    if schema is None:
        found = kinds.by_kind(api_version, kind)
        if found is None:
            raise DecodeError(f'no kind "{kind}" is registered for version "{api_version}"')
        schema = found.schema
    if schema.structure is None:
        raise DecodeError(f"{kind} has no binary form")
    document = _message(schema.structure, content)
    return {"apiVersion": api_version, "kind": kind} | document


def _message(structure: Structure, content: bytes) -> Document:
    made: Document = {}
    for number, value in _fields(content):
        known = structure.wire.get(number)
        if known is None:
            continue
        name, schema = known
        if not name:
            if schema.structure is not None:
                made.update(_message(schema.structure, _content(value)))
        elif schema.shape == "list":
            made.setdefault(name, []).extend(_items(schema, value))
        elif schema.shape == "map":
            key, inner = _entry(schema, _content(value))
            made.setdefault(name, {})[key] = inner
        else:
            made[name] = _value(schema, value)
    return made


def _items(schema: Schema, value: Value) -> Iterator[Any]:
    items = schema.items
    if items is None:
        return
    if items.shape in _INTEGERS and isinstance(value, bytes):
        position = 0
        while position < len(value):
            number, position = _varint(value, position)
            yield _signed(number)
    else:
        yield _value(items, value)


def _entry(schema: Schema, content: bytes) -> tuple[str, Any]:
    key, found = "", None
    values = schema.values
    if values is None:
        raise DecodeError("a map without values")
    for number, value in _fields(content):
        if number == 1:
            key = _content(value).decode("utf-8", "replace")
        elif number == 2 and values.shape == "list":
            # Lists inside maps are wrapped in a message, as no map can hold them as they are.
            found = [
                inner for _, each in _fields(_content(value)) for inner in _items(values, each)
            ]
        elif number == 2:
            found = _value(values, value)
    return key, found


def _value(schema: Schema, value: Value) -> Any:
    shape = schema.shape
    if shape in _INTEGERS:
        return _signed(_number(value))
    if shape == "bool":
        return _number(value) != 0
    if shape == "float64":
        return struct.unpack("<d", _number(value).to_bytes(8, "little"))[0]
    content = _content(value)
    if shape == "string":
        return content.decode("utf-8", "replace")
    if shape == "bytes":
        return base64.b64encode(content).decode()
    if shape == "object" and schema.structure is not None:
        return _message(schema.structure, content)
    if shape in {"time", "microTime"}:
        return _moment(content, shape)
    if shape == "quantity":
        return next((_content(text).decode() for part, text in _fields(content) if part == 1), "0")
    if shape == "intOrString":
        parts = dict(_fields(content))
        if _number(parts.get(1, 0)):
            return _content(parts.get(3, b"")).decode()
        return _signed(_number(parts.get(2, 0)))
    if shape == "anything":
        text = next((_content(part) for number, part in _fields(content) if number == 1), b"")
        try:
            return json.loads(text) if text else None
        except ValueError:
            raise DecodeError("a part in binary form holds no JSON") from None
    raise DecodeError(f"a {shape} in binary form")


def _moment(content: bytes, shape: str) -> str | None:
    if not content:
        return None
    parts = dict(_fields(content))
    seconds, nanos = _signed(_number(parts.get(1, 0))), _signed(_number(parts.get(2, 0)))
    try:
        moment = _EPOCH + timedelta(seconds=seconds, microseconds=nanos // 1000)
    except OverflowError:
        raise DecodeError("a time out of range") from None
    return time_text(moment) if shape == "time" else micro_time_text(moment)


def _fields(content: bytes) -> Iterator[tuple[int, Value]]:
    position = 0
    while position < len(content):
        tag, position = _varint(content, position)
        number, wire = tag >> 3, tag & 7
        if number == 0:
            raise DecodeError(f"proto: Unknown: illegal tag 0 (wire type {wire})")
        if wire == _VARINT:
            value, position = _varint(content, position)
            yield number, value
            continue
        if wire == _BYTES:
            length, position = _varint(content, position)
        elif wire in {_FIXED64, _FIXED32}:
            length = 8 if wire == _FIXED64 else 4
        else:
            raise DecodeError(f"proto: illegal wireType {wire}")
        if position + length > len(content):
            raise DecodeError("unexpected EOF")
        part = content[position : position + length]
        position += length
        yield number, part if wire == _BYTES else int.from_bytes(part, "little")


def _varint(content: bytes, position: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        if position >= len(content):
            raise DecodeError("unexpected EOF")
        byte = content[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7
        if shift > 63:
            raise DecodeError("proto: integer overflow")


def _signed(number: int) -> int:
    number &= 2**64 - 1
    return number - 2**64 if number >= 2**63 else number


def _number(value: Value) -> int:
    if isinstance(value, bytes):
        raise DecodeError("proto: wrong wireType 2 for a number")
    return value


def _content(value: Value) -> bytes:
    if isinstance(value, int):
        raise DecodeError("proto: wrong wireType 0 for a text or a message")
    return value
