"""Turns a document into the object that the real server would make of it.

The real server reads a document into Go structs and writes these: fields that it does not know
are gone, null is nothing, what is empty is left out or written in full depending on the type,
quantities and times get their one canonical form.  This module does the same by the recorded
structure, so that what is stored equals what a real server would have stored.  Unknown and
repeated fields are listed; what becomes of them is strict_decoding's.

Upstream: sigs.k8s.io/json; apimachinery/pkg/runtime/serializer/json/json.go
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final, final

from reflet.api.quantities import Quantity
from reflet.apirules.schema.schemas import ABSENT_WHEN_EMPTY, Schema, Structure
from reflet.errors import DecodeError, ParseError
from reflet.gotext.lazy_patterns import lazy_pattern
from reflet.gotext.printing import json_type
from reflet.gotext.times import MalformedTime, read_micro_time, read_time

Document = dict[str, Any]

QUANTITY_FORM: Final = lazy_pattern(r"[+-]?[0-9]*(\.[0-9]*)?[eEinumkKMGTP]*[-+]?[0-9]*")
QUANTITY_MALFORMED: Final = (
    "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'"
)
QUANTITY_SUFFIX: Final = "unable to parse quantity's suffix"

_INTEGERS: Final[Mapping[str, range]] = {
    "int32": range(-(2**31), 2**31),
    "int64": range(-(2**63), 2**63),
}
_ZEROS: Final[Mapping[str, Any]] = {
    "string": "",
    "bytes": "",
    "bool": False,
    "int32": 0,
    "int64": 0,
    "float64": 0,
    "quantity": "0",
    "intOrString": 0,
}
_BASE64: Final = lazy_pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


@final
class RepeatedKeys(dict[str, Any]):
    """A JSON object in which keys were repeated: a dict of the last ones, and all ``pairs``."""

    def __init__(self, pairs: list[tuple[str, Any]]) -> None:
        super().__init__(pairs)
        self.pairs = pairs


def keep_repeated(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Make the dict of a JSON object and remember repeated keys; for ``json.loads``."""
    made = dict(pairs)
    return made if len(made) == len(pairs) else RepeatedKeys(pairs)


def decode(schema: Schema, document: object, complaints: list[str]) -> Document:
    """Read a whole object.

    Unknown and repeated fields are added to ``complaints`` in document order; a value of a
    wrong type raises DecodeError with the real server's text.
    """
    structure = schema.structure
    if structure is None:
        raise ValueError(f"{schema} has no fields")
    if not isinstance(document, dict):
        raise DecodeError(
            f"json: cannot unmarshal {json_type(document)} into Go value of type {schema.go_type}"
        )
    return _Reader(complaints).structure(structure, document, None)


def empty_object(structure: Structure) -> Document:
    """Give what the server writes for an object of which nothing is known."""
    return _written(structure, {})


def in_order(schema: Schema, value: Any, *, empty_lists: bool = True) -> Any:
    """Copy a value with its fields in the order in which the server writes them.

    Without *empty_lists*, a list of nothing is nothing, as in all that is stored in binary form.
    """
    if isinstance(value, dict):
        structure = schema.structure
        if structure is not None:
            return _in_order(structure, value, empty_lists)
        values = schema.values
        if values is None:
            return value
        if values.shape in _PLAIN:
            return {key: value[key] for key in sorted(value)}
        return {key: in_order(values, value[key], empty_lists=empty_lists) for key in sorted(value)}
    if isinstance(value, list) and schema.items is not None:
        ordered = [in_order(schema.items, item, empty_lists=empty_lists) for item in value]
        return ordered if ordered or empty_lists else None
    return value


def _in_order(structure: Structure, value: Document, empty_lists: bool) -> Document:
    fields, places = structure.fields, structure.places
    if value.keys() <= places.keys():
        ordered = sorted(value, key=places.__getitem__)
    else:
        ordered = sorted(value, key=lambda name: places.get(name, len(places)))
    return {
        name: in_order(fields[name], inner, empty_lists=empty_lists)
        if isinstance(inner := value[name], dict | list) and name in fields
        else inner
        for name in ordered
    }


# Where a reading is: the place around it, the name or position in it, and for a field its schema.
# Texts are made of it only when something is to be said.
_Place = tuple[Any, str | int, Schema | None] | None


def _named(place: _Place) -> str:
    """Name a place as complaints do."""
    if place is None:
        return ""
    around, step, _ = place
    return f"{_named(around)}[{step}]" if isinstance(step, int) else _inside(around, step)


def _inside(place: _Place, name: str) -> str:
    return f"{_named(place)}.{name}".removeprefix(".")


def _go_path(place: _Place) -> str:
    """Name a place as errors do, which leave out keys and positions."""
    if place is None:
        return ""
    around, step, schema = place
    steps = () if schema is None else (*schema.embedded_in, str(step))
    return ".".join(filter(None, (_go_path(around), *steps)))


class _Reader:
    """One reading of a document."""

    def __init__(self, complaints: list[str]) -> None:
        self._complaints = complaints
        self._struct = ""

    def structure(
        self, structure: Structure, document: Mapping[str, Any], place: _Place
    ) -> Document:
        found: Document = {}
        fields = structure.fields
        for name, value in self._entries(document, place):
            schema = fields.get(name)
            if schema is None:
                self._complaints.append(f'unknown field "{_inside(place, name)}"')
            elif value is None:
                continue
            elif schema.shape == "string" and isinstance(value, str):
                found[name] = value
            else:
                self._struct = structure.short_name
                found[name] = self.value(schema, value, (place, name, schema))
        return _written(structure, found)

    def value(self, schema: Schema, value: Any, place: _Place) -> Any:
        shape = schema.shape
        if shape == "object":
            if not isinstance(value, dict):
                raise self._mismatch(value, place, schema.go_type)
            structure = schema.structure
            if structure is None:
                return value
            return self.structure(structure, value, place)
        if shape == "list":
            return self._list(schema, value, place)
        if shape == "map":
            return self._map(schema, value, place)
        if shape == "anything":
            return value
        if shape == "bytes" and isinstance(value, list):
            return self._byte_list(value, place)
        read = _SCALARS.get(shape)
        if read is None:
            return self._integer(schema, value, place)
        wrong = read.wrong(value)
        if wrong is not None:
            raise self._mismatch(value, place, wrong or schema.go_type)
        return read.canonical(value)

    def _list(self, schema: Schema, value: Any, place: _Place) -> list[Any]:
        items = schema.items
        if not isinstance(value, list):
            raise self._mismatch(value, place, schema.go_type)
        if items is None:
            return value
        owner = self._struct
        made = []
        for index, item in enumerate(value):
            self._struct = owner
            made.append(
                _zero(items) if item is None else self.value(items, item, (place, index, None))
            )
        return made

    def _map(self, schema: Schema, value: Any, place: _Place) -> Document:
        values = schema.values
        if not isinstance(value, dict):
            raise self._mismatch(value, place, schema.go_type)
        if values is None:
            return value
        if (
            values.shape == "string"
            and type(value) is dict
            and {*map(type, value.values())} == {str}
        ):
            return value.copy()
        owner = self._struct
        made: Document = {}
        for key, item in self._entries(value, place):
            self._struct = owner
            made[key] = (
                _zero(values) if item is None else self.value(values, item, (place, key, None))
            )
        return made

    def _integer(self, schema: Schema, value: Any, place: _Place) -> int:
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise self._mismatch(value, place, schema.go_type)
        if isinstance(value, float) or value not in _INTEGERS[schema.shape]:
            raise self._mismatch(value, place, schema.go_type, number=True)
        return value

    def _byte_list(self, value: list[Any], place: _Place) -> str:
        """Read bytes that are written one by one; to Go they are a list of numbers, too."""
        for item in value:
            if isinstance(item, bool) or not isinstance(item, int | float | None):
                raise self._mismatch(item, place, "uint8")
            if isinstance(item, float) or not 0 <= (item or 0) <= 0xFF:
                raise self._mismatch(item, place, "uint8", number=True)
        return base64.b64encode(bytes(item or 0 for item in value)).decode()

    def _entries(self, document: Mapping[str, Any], place: _Place) -> Iterable[tuple[str, Any]]:
        if not isinstance(document, RepeatedKeys):
            return document.items()
        return self._without_repeated(document, place)

    def _without_repeated(self, document: RepeatedKeys, place: _Place) -> Iterable[tuple[str, Any]]:
        seen: set[str] = set()
        for name, value in document.pairs:
            if name in seen:
                self._complaints.append(f'duplicate field "{_inside(place, name)}"')
            seen.add(name)
            yield name, value

    def _mismatch(
        self, value: Any, place: _Place, go_type: str, *, number: bool = False
    ) -> DecodeError:
        is_number = isinstance(value, int | float) and not isinstance(value, bool)
        # Integers of structs that read themselves show the number, too.
        number = number or (is_number and go_type == "int32")
        what = f"number {value}" if number else json_type(value)
        where = f"Go struct field {self._struct}.{_go_path(place)}"
        return DecodeError(f"json: cannot unmarshal {what} into {where} of type {go_type}")


@final
class _Scalar:
    """How values of one shape are read.

    ``wrong`` gives None for a value that can be read, else the Go type that the message names,
    empty for the field's own.
    """

    __slots__ = ("canonical", "wrong")

    def __init__(self, wrong: Callable[[Any], str | None], canonical: Callable[[Any], Any]) -> None:
        self.wrong = wrong
        self.canonical = canonical


def _unless(kind: type, go_type: str = "") -> Callable[[Any], str | None]:
    return lambda value: None if isinstance(value, kind) else go_type


def _unchanged(value: Any) -> Any:
    return value


def _quantity(value: Any) -> str:
    text = value if isinstance(value, str) else repr(value)
    try:
        return str(Quantity.of(value))
    except (ParseError, AttributeError):
        fits = text.strip() and QUANTITY_FORM.fullmatch(text.strip())
        raise DecodeError(QUANTITY_SUFFIX if fits else QUANTITY_MALFORMED) from None


def _bytes(text: str) -> str:
    """Check base64 and write it the canonical way, without the line breaks it may have."""
    stripped = text.replace("\r", "").replace("\n", "")
    whole = _BASE64.match(stripped)
    end = 0 if whole is None else whole.end()
    if end != len(stripped):
        # A message names the group of four that does not fit, or the byte after the padding.
        raise DecodeError(f"illegal base64 data at input byte {_first_bad_byte(stripped)}")
    try:
        return base64.b64encode(base64.b64decode(stripped)).decode()
    except binascii.Error:
        raise DecodeError(f"illegal base64 data at input byte {end}") from None


def _first_bad_byte(text: str) -> int:
    for index, character in enumerate(text):
        position = index % 4
        if character.isascii() and (character.isalnum() or character in "+/"):
            continue
        if character != "=" or position < 2:
            return index
        if position == 2 and text[index + 1 : index + 2] != "=":
            return index + 1
        return index + (2 if position == 2 else 1)
    return len(text) - len(text) % 4


def _time(read: Callable[[str], str]) -> Callable[[str], str]:
    def canonical(text: str) -> str:
        try:
            return read(text)
        except MalformedTime as error:
            raise DecodeError(str(error)) from None

    return canonical


def _wrong_int_or_string(value: Any) -> str | None:
    if isinstance(value, str):
        return None
    if isinstance(value, bool) or not isinstance(value, int):
        return "int32"
    return None if value in _INTEGERS["int32"] else "int32"


def _wrong_number(value: Any) -> str | None:
    return None if isinstance(value, int | float) and not isinstance(value, bool) else ""


_SCALARS: Final[Mapping[str, _Scalar]] = {
    "string": _Scalar(_unless(str), _unchanged),
    "bool": _Scalar(_unless(bool), _unchanged),
    "bytes": _Scalar(_unless(str), _bytes),
    "float64": _Scalar(_wrong_number, _unchanged),
    "time": _Scalar(_unless(str, "string"), _time(read_time)),
    "microTime": _Scalar(_unless(str, "string"), _time(read_micro_time)),
    "intOrString": _Scalar(_wrong_int_or_string, _unchanged),
    "quantity": _Scalar(lambda _: None, _quantity),
}


def _zero(schema: Schema) -> Any:
    if schema.shape == "object" and schema.structure is not None:
        return empty_object(schema.structure)
    return _ZEROS.get(schema.shape)


def _written(structure: Structure, found: Document) -> Document:
    """Put fields into the server's order, leave out what it leaves out, add what it adds."""
    fields, places = structure.fields, structure.places
    made = {
        name: value
        for name, value in found.items()
        if value is not None and (value not in _EMPTY or _stays_empty(fields[name]))
    }
    for name, schema in structure.always_written:
        if name not in made:
            is_struct = not schema.pointer and schema.shape not in ABSENT_WHEN_EMPTY
            is_nil = schema.pointer or schema.shape == "bytes"
            plain = None if is_nil else _ZEROS.get(schema.shape)
            made[name] = _zero(schema) if is_struct else plain
    return {name: made[name] for name in sorted(made, key=places.__getitem__)}


def _stays_empty(schema: Schema) -> bool:
    """Whether an empty value of a field is written."""
    return (
        schema.pointer
        or schema.omit == "never"
        or schema.shape not in ABSENT_WHEN_EMPTY
        or schema.go_type in _KEPT_EMPTY
    )


# Lists of which an empty one gets no default, and is refused later on.
_KEPT_EMPTY: Final = frozenset({"[]v2.HPAScalingPolicy"})
_EMPTY: Final[tuple[Any, ...]] = ("", 0, [], {})  # False is equal to 0
# Shapes of values with nothing inside that could be out of order.
_PLAIN: Final = frozenset({"string", "bytes", "quantity"})
