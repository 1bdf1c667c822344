"""Protobuf's wire format for frozen structs: a message is a class, and a field says its number.

::

    class PodSandboxMetadata(CriMessage):
        name: Annotated[str, 1] = ""
        attempt: Annotated[Uint32, 4] = 0

Scalars, enums, messages, repeated fields and ``map<string, string>`` are what CRI has, and all
there is here.  As proto3 wants it: a field with its default is not sent, an unknown field is
skipped, so that a newer runtime can say more, and a number that an enum does not know stays a
number.  Why this is no library: docs/adr/0023-cri-over-our-http2.md.

Upstream: protobuf.dev/programming-guides/encoding
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, IntEnum, auto
from functools import cache, partial
from types import UnionType
from typing import Annotated, Any, Final, NamedTuple, TypeVar, Union, cast, get_args, get_origin
from typing import get_type_hints as type_hints

import msgspec

from reflet.errors import DecodeError

Int32 = Annotated[int, "int32"]
Int64 = Annotated[int, "int64"]
Uint32 = Annotated[int, "uint32"]
Uint64 = Annotated[int, "uint64"]

SIGNED: Final = frozenset({"int32", "int64"})
VARINT, FIXED64, BYTES, FIXED32 = 0, 1, 2, 5  # wire types
SKIPPED_SIZES: Final = {FIXED64: 8, FIXED32: 4}
CONTINUES: Final = 0x80  # the bit of a varint's byte that says that another follows
LONGEST_VARINT: Final = 10  # bytes
UINT64: Final = (1 << 64) - 1
SIGN: Final = 1 << 63
MOST_KEPT: Final = 8192  # pieces of a kind, several for each container of a full node
LONGEST_KEPT: Final = 256  # bytes; labels, metadata and names of images are shorter


class CriMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A message of CRI; every field has proto3's default."""


MessageT = TypeVar("MessageT", bound=CriMessage)


class WireForm(Enum):
    """How a value is written."""

    TEXT = auto()
    DATA = auto()
    NUMBER = auto()
    FLAG = auto()
    ENUM = auto()
    MESSAGE = auto()
    MAP = auto()


class Field(NamedTuple):
    """One field of a message; *type* is protobuf's word, or the class of a message or enum."""

    name: str
    number: int
    form: WireForm
    type: str | type
    repeated: bool


class TextEntry(CriMessage, frozen=True, kw_only=True):
    """An entry of a ``map<string, string>``: on the wire, a map is a list of these."""

    key: Annotated[str, 1] = ""
    value: Annotated[str, 2] = ""


SCALARS: Final[Mapping[object, tuple[WireForm, str]]] = {
    str: (WireForm.TEXT, "string"),
    bytes: (WireForm.DATA, "bytes"),
    bool: (WireForm.FLAG, "bool"),
}


@cache
def fields_of(message: type[CriMessage]) -> tuple[Field, ...]:
    """The fields of *message*, in the order of their numbers."""
    hints = type_hints(message, include_extras=True)
    found = [_field(name, hint) for name, hint in hints.items()]
    return tuple(sorted(found, key=lambda field: field.number))


def encode(message: CriMessage) -> bytes:
    """The bytes of *message*."""
    out = bytearray()
    for field in fields_of(type(message)):
        value = getattr(message, field.name)
        if field.form is WireForm.MAP:
            for key, text in value.items():
                _put(out, field, TextEntry(key=key, value=text))
        elif field.repeated:
            for each in value:
                _put(out, field, each)
        elif value or (field.form is WireForm.MESSAGE and value is not None):
            _put(out, field, value)
    return bytes(out)


def decode(message: type[MessageT], data: bytes) -> MessageT:
    """The message that *data* is; DecodeError when it cannot be one."""
    try:
        return cast("MessageT", _plan(message).read(data, 0, len(data)))
    except (IndexError, UnicodeDecodeError) as error:
        raise DecodeError(f"{message.__name__}: not a whole message") from error


# The fields of a class


def _field(name: str, hint: Any) -> Field:
    type_, *notes = get_args(hint)  # of Annotated
    number = notes[-1]
    repeated = get_origin(type_) is tuple
    if repeated:
        type_ = get_args(type_)[0]
        if get_origin(type_) is Annotated:
            type_, *notes = get_args(type_)
    elif get_origin(type_) is Mapping:
        return Field(name, number, WireForm.MAP, "map", repeated=True)
    elif get_origin(type_) in {Union, UnionType}:
        type_ = get_args(type_)[0]  # a message, or None when it is not there
    if type_ is int:
        return Field(name, number, WireForm.NUMBER, notes[0], repeated)
    if type_ in SCALARS:
        return Field(name, number, *SCALARS[type_], repeated)
    form = WireForm.ENUM if issubclass(type_, IntEnum) else WireForm.MESSAGE
    return Field(name, number, form, type_, repeated)


# Writing


def _put(out: bytearray, field: Field, value: Any) -> None:
    match field.form:
        case WireForm.NUMBER | WireForm.FLAG | WireForm.ENUM:
            _put_varint(out, field.number << 3 | VARINT)
            _put_varint(out, int(value) & UINT64)
            return
        case WireForm.TEXT:
            content = value.encode()
        case WireForm.DATA:
            content = value
        case WireForm.MESSAGE | WireForm.MAP:
            content = encode(value)
    _put_varint(out, field.number << 3 | BYTES)
    _put_varint(out, len(content))
    out += content


def _put_varint(out: bytearray, number: int) -> None:
    while number >= CONTINUES:
        out.append(number & 0x7F | CONTINUES)
        number >>= 7
    out.append(number)


# Reading


class _Slot(NamedTuple):
    """What to do with a value: *read* cuts it out of the bytes, or makes it of a number.

    With the form of a map, *read* puts the value where it belongs.
    """

    name: str
    form: WireForm
    repeated: bool
    read: Callable[..., Any]


class _Plan:
    """How messages of one class are read: a slot for each key, which is number and wire type."""

    __slots__ = ("_message", "_repeated", "_slots")

    def __init__(self, message: type[CriMessage]) -> None:
        self._message = message
        fields = fields_of(message)
        self._slots = {field.number << 3 | _wire_type(field.form): _slot(field) for field in fields}
        self._repeated = {f.name for f in fields if f.repeated and f.form is not WireForm.MAP}
        for field in fields:
            if field.repeated and field.form is WireForm.NUMBER:
                # A writer may send numbers one by one, or packed.
                read = partial(_packed, field)
                packed = _Slot(field.name, WireForm.MAP, repeated=True, read=read)
                self._slots[field.number << 3 | BYTES] = packed

    def read(self, data: bytes, at: int, end: int) -> CriMessage:
        """The message between *at* and *end*."""
        values: dict[str, Any] = {}
        slots = self._slots
        while at < end:
            key, number = data[at], data[at + 1]
            at += 2
            if key >= CONTINUES or number >= CONTINUES or key & 5:
                key, number, at = _key_and_number(data, at - 2)
            start = at
            if key & 7 == BYTES:
                at += number  # the number is the size of what follows
            slot = slots.get(key)
            if slot is None or at > end:
                continue
            name, form, repeated, read = slot
            if form is WireForm.TEXT:
                value = data[start:at].decode()
            elif form is WireForm.MAP:
                read(values, data, start, at)
                continue
            else:
                value = read(data, start, at) if key & 7 == BYTES else read(number)
            if repeated:
                values.setdefault(name, []).append(value)
            else:
                values[name] = value
        if at != end:
            raise IndexError("a value longer than its message")
        for name in self._repeated & values.keys():
            values[name] = tuple(values[name])
        return self._message(**values)


def _key_and_number(data: bytes, at: int) -> tuple[int, int, int]:
    """The key at *at*, the number behind it, and where that ends; of others, where they end."""
    key, at = _varint(data, at)
    kind = key & 7
    if kind in SKIPPED_SIZES:
        return key, 0, at + SKIPPED_SIZES[kind]
    if kind not in {VARINT, BYTES}:
        raise IndexError(f"wire type {kind}")
    number, at = _varint(data, at)
    return key, number, at


@cache
def _plan(message: type[CriMessage]) -> _Plan:
    return _Plan(message)


def _wire_type(form: WireForm) -> int:
    return VARINT if form in {WireForm.NUMBER, WireForm.FLAG, WireForm.ENUM} else BYTES


def _slot(field: Field) -> _Slot:
    read: Callable[..., Any]
    match field.form:
        case WireForm.MESSAGE:
            inner = cast("type[CriMessage]", field.type)
            read = _keeping(lambda data, start, end: _plan(inner).read(data, start, end))
        case WireForm.MAP:
            read = partial(_entry, field.name)
        case WireForm.TEXT | WireForm.DATA:
            read = _cut
        case WireForm.FLAG:
            read = bool
        case WireForm.ENUM:
            members: dict[int, Any] = {
                each.value: each for each in cast("type[IntEnum]", field.type)
            }
            read = lambda number: members.get(number, number)  # noqa: E731
        case WireForm.NUMBER:
            read = _number(field)
    return _Slot(field.name, field.form, field.repeated, read)


def _number(field: Field) -> Callable[[int], int]:
    return _signed if field.type in SIGNED else int


def _signed(number: int) -> int:
    return number - (1 << 64) if number & SIGN else number


def _keeping(read: Callable[[bytes, int, int], Any]) -> Callable[[bytes, int, int], Any]:
    """Read what was read before without reading it again.

    Lists repeat themselves, second after second, and frozen values can be shared.  Of a container
    only its parts are kept: Go writes a map in another order each time.
    """
    kept: dict[bytes, Any] = {}

    def read_once(data: bytes, at: int, end: int) -> Any:
        if end - at > LONGEST_KEPT:
            return read(data, at, end)
        piece = data[at:end]
        value = kept.get(piece)
        if value is None:
            value = read(data, at, end)
            if len(kept) >= MOST_KEPT:
                kept.clear()
            kept[piece] = value
        return value

    return read_once


_read_entry: Final = _keeping(lambda data, at, end: _plan(TextEntry).read(data, at, end))


def _entry(name: str, values: dict[str, Any], data: bytes, at: int, end: int) -> None:
    """Add an entry to a map."""
    entry = _read_entry(data, at, end)
    values.setdefault(name, {})[entry.key] = entry.value


def _cut(data: bytes, start: int, end: int) -> bytes:
    return data[start:end]


def _packed(field: Field, values: dict[str, Any], data: bytes, at: int, end: int) -> None:
    """Add numbers that were sent together."""
    number = _number(field)
    found = values.setdefault(field.name, [])
    while at < end:
        value, at = _varint(data, at)
        found.append(number(value))


def _varint(data: bytes, start: int) -> tuple[int, int]:
    """The number at *start*, and where it ends."""
    number = 0
    for index in range(LONGEST_VARINT):
        byte = data[start + index]
        number |= (byte & 0x7F) << (7 * index)
        if byte < CONTINUES:
            return number & UINT64, start + index + 1
    raise IndexError("a varint without an end")
