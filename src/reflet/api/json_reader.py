"""JSON bytes become a struct, or a ``DecodeError`` that names the place.

First strictly and fast.  Only what that refuses is read again tolerantly, as the API server's own
reader is: ``null`` for absence, bare numbers for quantities, line breaks inside base64.  Whatever
that does not understand is handed on unchanged, for the strict check to name.

No message holds a value: what was read may be secret.

A class of another library is read by itself (``ForeignModel``): this file hands it decoded JSON.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import MappingProxyType, NoneType, UnionType
from typing import (
    Annotated,
    Any,
    Final,
    Generic,
    NoReturn,
    Protocol,
    Self,
    TypeGuard,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

import msgspec

from reflet.api import field_path
from reflet.api.frozen import MayBeNumber
from reflet.api.meta import MicroTime
from reflet.errors import ConfigurationError, DecodeError
from reflet.gotext.lazy_patterns import lazy_pattern

T = TypeVar("T")

FAILURES: Final = (msgspec.MsgspecError, ValueError, OverflowError, RecursionError)
"""Everything that the JSON library raises for bytes it does not like."""

MAPPINGS: Final = (Mapping, dict)
ARRAYS: Final = (tuple, list, Sequence)

LONGEST: Final = 400  # characters of a message

WORDS: Final = {
    "array": "an array",
    "bool": "a boolean",
    "bytes": "base64 text",
    "datetime": "a time",
    "float": "a number",
    "int": "an integer",
    "null": "null",
    "object": "an object",
    "str": "a string",
    "MicroTime": "a time",
}

_PLACE: Final = lazy_pattern(r"^(.*) - at `(?:key` in `)?\$([^`]*)`$", re.DOTALL)
_EXPECTED: Final = lazy_pattern(r"^Expected `(.+)`, got `(.+)`$")
_MISSING: Final = lazy_pattern(r"^Object missing required field `(.+)`$")
_STEP: Final = lazy_pattern(r"\.([^.\[]+)|\[(\d+)\]|\[(\.\.\.)\]")


class ForeignModel(Protocol):
    """A class of another library that turns JSON into itself, and back."""

    @classmethod
    def __reflet_fields__(cls) -> Mapping[str, tuple[str, Any]]:
        """The JSON name and the type of each field, by the name of its attribute."""
        ...

    @classmethod
    def __reflet_decode__(cls, value: Any) -> Self:
        """Make one of decoded JSON; raise ``Misfit`` for what does not fit."""
        ...

    def __reflet_encode__(self) -> Any:
        """Return what JSON is written from."""
        ...


class Misfit(ValueError):
    """What a ``ForeignModel`` says of JSON that is none: words without values, and the place."""

    def __init__(self, message: str, path: str = "") -> None:
        super().__init__(message)
        self.path = path


def decode_hook(kind: type, value: Any) -> Any:
    """Make the values that JSON has no type for."""
    if kind is MicroTime:
        return MicroTime.parse(value)
    foreign = getattr(kind, "__reflet_decode__", None)
    if foreign is not None:
        return foreign(value)
    raise ConfigurationError(f"no way to decode {kind.__name__}: JSON has no such type")


def json_decoder(kind: Any) -> msgspec.json.Decoder[Any]:
    """Return a decoder; ConfigurationError for a class that has fields which JSON cannot have."""
    try:
        return msgspec.json.Decoder(kind, dec_hook=decode_hook)
    except (NameError, TypeError) as error:
        raise ConfigurationError(f"{kind} cannot be decoded: {error}") from error


class Reader(Generic[T]):
    """Reads one struct type, called ``subject`` in errors."""

    def __init__(self, kind: type[T], *, subject: str = "") -> None:
        self.kind = kind
        named = "object" if kind.__name__.startswith("_") else kind.__name__
        self._subject = subject or named
        self.decoder: msgspec.json.Decoder[T] = json_decoder(kind)

    def read(self, data: bytes, *, at: str = "") -> T:
        """Return the struct; ``at`` is where the bytes stand in what the caller reads.

        Raises ``DecodeError`` for any bytes that are not one, and nothing else.
        """
        try:
            return self.decoder.decode(data)
        except msgspec.ValidationError:
            pass  # The second, slower look finds the reason, or that it is none.
        except FAILURES as error:
            refuse(error, self._subject, at)
        return self._second_look(data, at)

    def _second_look(self, data: bytes, at: str) -> T:
        value = untyped(data, self._subject, at=at)
        value = tolerated(value, self.kind)
        try:
            return msgspec.convert(value, self.kind, dec_hook=decode_hook)
        except FAILURES as error:
            message, place = _located(error, value, self.kind)
            path = field_path.joined(at, place)
            raise problem(described(value, self._subject), path, message) from error


_READERS: Final[dict[type[Any], Reader[Any]]] = {}


def reader(kind: type[T]) -> Reader[T]:
    """Return the reader of a struct type; there is one for each."""
    found = _READERS.get(kind)
    if found is None:
        found = _READERS[kind] = Reader(kind)
    return found


def untyped(data: bytes, subject: str, *, at: str = "") -> Any:
    """Return JSON as dicts, lists and plain values, or raise ``DecodeError``."""
    try:
        return msgspec.json.decode(data)
    except FAILURES as error:
        refuse(error, subject, at)


def refuse(error: Exception, subject: str, at: str = "") -> NoReturn:
    """Raise the ``DecodeError`` for bytes that are not JSON at all."""
    if isinstance(error, UnicodeDecodeError):
        # Unchained: the original error carries the text around the place, which may be secret.
        raise problem(subject, at, "not valid UTF-8") from None
    if isinstance(error, RecursionError):
        raise problem(subject, at, "nested too deeply") from error
    raise problem(subject, at, _worded(str(error), None)) from error


def problem(subject: str, path: str, message: str) -> DecodeError:
    """Return the error that says, on one line, what is wrong where."""
    sentence = f"{subject}: {path}: {message}" if path else f"{subject}: {message}"
    # A name, a key or a kind from outside may be long or hold line breaks.
    shown = "".join(letter if letter.isprintable() else "\ufffd" for letter in sentence[:LONGEST])
    return DecodeError(shown, path=path)


def described(value: Any, kind: str) -> str:
    """Name an object by what can be read of it: ``Pod shop/web``."""
    if not isinstance(value, dict):
        return kind
    if kind == "object" and isinstance(value.get("kind"), str):
        kind = value["kind"]
    metadata = value.get("metadata")
    parts = [metadata.get("namespace"), metadata.get("name")] if isinstance(metadata, dict) else []
    return f"{kind} {'/'.join(part for part in parts if part and isinstance(part, str))}".rstrip()


def _located(error: Exception, value: Any, kind: Any) -> tuple[str, str]:
    """Split the JSON library's message into words and the path of the offending place."""
    text = str(error)
    match = _PLACE.match(text)
    message, place = (match[1], match[2]) if match else (text, "")
    path, innermost = _followed(place, value, kind)
    if isinstance(error.__cause__, Misfit):
        return str(error.__cause__), field_path.joined(path, error.__cause__.path)
    if gone := _MISSING.match(message):
        return "missing", field_path.with_field(path, gone[1])
    return _worded(message, innermost), path


def _followed(place: str, value: Any, kind: Any) -> tuple[str, Any]:
    """Follow the JSON library's path, finding out the keys that it does not name."""
    path = ""
    for name, index, unknown in _STEP.findall(place):
        if unknown:
            key = _offending_key(value, element_of(kind))
            path = field_path.with_key(path, key) if key is not None else f"{path}[…]"
            value = value.get(key) if isinstance(value, dict) else None
            kind = element_of(kind)
        elif index:
            path = field_path.with_index(path, int(index))
            value = value[int(index)] if isinstance(value, list) else None
            kind = element_of(kind)
        else:
            path = field_path.with_field(path, name)
            bare = present(kind)
            kind = fields_of(bare).get(name, Any) if is_struct(bare) else Any
            value = value.get(name) if isinstance(value, dict) else None
    return path, kind


def _offending_key(value: Any, kind: Any) -> str | None:
    if not isinstance(value, dict):
        return None
    convert: Callable[..., Any] = msgspec.convert
    for key, item in value.items():
        try:
            convert(item, kind, dec_hook=decode_hook)
        except FAILURES:
            return str(key)
    return None


def _worded(message: str, kind: Any) -> str:
    if match := _EXPECTED.match(message):
        wanted = " or ".join(WORDS.get(word, word) for word in match[1].split(" | "))
        return f"expected {wanted}, not {WORDS.get(match[2], match[2])}"
    if message.startswith("Invalid enum value"):
        choices = " or ".join(str(choice) for choice in get_args(kind))
        return f"expected {choices}, not {message.removeprefix('Invalid enum value ')}"
    if message == "Invalid base64 encoded string":
        return "not valid base64"
    message = message.replace("JSON is malformed", "malformed JSON")
    return message[:1].lower() + message[1:]


def is_struct(kind: Any) -> TypeGuard[type[msgspec.Struct]]:
    """Say whether a type is a struct."""
    return isinstance(kind, type) and issubclass(kind, msgspec.Struct)


@cache
def fields_of(struct: type[msgspec.Struct]) -> Mapping[str, Any]:
    """Return the type of each field of a struct by its JSON name."""
    return MappingProxyType(
        {field.encode_name: field.type for field in msgspec.structs.fields(struct)}
    )


def attributes_of(kind: type[Any]) -> Mapping[str, tuple[str, Any]] | None:
    """Return the JSON name and type of each field by its attribute; None for other classes."""
    if is_struct(kind):
        fields = msgspec.structs.fields(kind)
        return {field.name: (field.encode_name, field.type) for field in fields}
    foreign: Callable[[], Mapping[str, tuple[str, Any]]] | None = getattr(
        kind, "__reflet_fields__", None
    )
    return None if foreign is None else foreign()


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
    if origin in MAPPINGS and arguments:
        return arguments[1]
    return arguments[0] if origin in ARRAYS and arguments else Any


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
    if isinstance(value, dict) and origin in MAPPINGS:
        return {key: tolerated(item, element_of(kind)) for key, item in value.items()}
    if isinstance(value, list) and origin in ARRAYS:
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
