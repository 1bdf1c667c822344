"""Bytes become objects and objects become bytes: single objects, lists, and which class each gets.

Streams of watch events are ``watch_events``; manifests are ``yaml``.  Decoding raises
``DecodeError`` for any bytes that are not what was asked for, and nothing else.  The error names
the object and the place; it never shows a value.

Upstream: apimachinery/pkg/runtime/serializer/json/json.go
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Final, Generic, TypeVar, cast

import msgspec

from reflet.api import field_path, scheme
from reflet.api.frozen import Frozen
from reflet.api.json_reader import FAILURES, json_decoder, problem, reader, refuse
from reflet.api.meta import KubernetesObject, ListMeta, MicroTime, TypedObject
from reflet.api.unstructured import AnyObject

T = TypeVar("T")


class Listing(Frozen, Generic[T], frozen=True, kw_only=True):
    """One page of a list: its objects, the version it shows, and the token of the next page."""

    metadata: ListMeta = ListMeta()
    items: tuple[T, ...] = ()
    api_version: str = ""
    kind: str = ""


class _ListHead(Frozen, frozen=True, kw_only=True):
    metadata: ListMeta = ListMeta()
    api_version: str = ""
    kind: str = ""


class _RawItems(msgspec.Struct, frozen=True, gc=False):
    """The items of a list as their bytes; ``null`` stands for none."""

    items: tuple[msgspec.Raw, ...] | None = None


class _TypeMeta(Frozen, frozen=True, kw_only=True):
    api_version: str = ""
    kind: str = ""


def encode(value: Any) -> bytes:
    """Return the JSON of an object, a struct, or a mapping or sequence of them.

    Structs leave out fields that have their default: what is encoded is for creating and
    replacing, not for patching a field to its default.

    - *value*: what to encode
    """
    if isinstance(value, AnyObject):
        return value.to_json()
    return _ENCODER.encode(value)


def decode(data: bytes, kind: type[T]) -> T:
    """Return the object, or another struct, that the bytes hold.

    An object must have a name, or a prefix to make one from.

    - *kind*: class to make of it
    """
    return decode_at(data, kind)


def decode_at(data: bytes, kind: type[T], *, at: str = "", named: bool = True) -> T:
    """Decode a part of something larger, whose place is ``at``; the name may be optional."""
    decoded: Any = AnyObject(data, at=at) if kind is AnyObject else reader(kind).read(data, at=at)
    if named and _has_name(kind):
        require_name(cast("KubernetesObject", decoded), at=at, or_prefix=True)
    return cast("T", decoded)


def decode_object(data: bytes) -> TypedObject | AnyObject:
    """Return an object of the class that its ``apiVersion`` and ``kind`` say."""
    head = reader(_TypeMeta).read(data)
    for name, text in (("apiVersion", head.api_version), ("kind", head.kind)):
        if not text:
            raise problem(head.kind or "object", name, "missing")
    struct = scheme.struct_for(head.api_version, head.kind)
    return decode(data, struct) if struct else decode(data, AnyObject)


def decode_list(data: bytes, kind: type[T]) -> Listing[T]:
    """Return a list of objects of one class.

    The items of a list need not say what they are; they get the list's own kind.

    - *kind*: class of the items
    """
    if kind is AnyObject:
        return cast("Listing[T]", _decode_any_list(data))
    try:
        listing: Listing[T] = _list_decoder(kind).decode(data)
    except msgspec.ValidationError:
        return _decode_item_by_item(data, kind)
    except FAILURES as error:
        refuse(error, f"list of {kind.__name__}")
    _check_list_kind(listing.api_version, listing.kind, kind)
    _require_names(listing.items, kind)
    return listing


def require_name(decoded: KubernetesObject, *, at: str = "", or_prefix: bool = False) -> None:
    """Raise ``DecodeError`` for an object without a name; a prefix may do instead."""
    metadata = decoded.metadata
    if metadata.name or (or_prefix and metadata.generate_name):
        return
    subject = f"{decoded.kind or 'object'} {metadata.namespace}".rstrip()
    raise problem(subject, field_path.joined(at, "metadata.name"), "missing")


def _has_name(kind: type[Any]) -> bool:
    return kind is AnyObject or scheme.is_kind(kind)


def _require_names(items: tuple[Any, ...], kind: type[Any]) -> None:
    if not _has_name(kind):
        return
    for index, item in enumerate(items):
        if not item.metadata.name:
            require_name(item, at=f"items[{index}]")


_LIST_DECODERS: Final[dict[type[Any], msgspec.json.Decoder[Any]]] = {}


def _list_decoder(kind: type[T]) -> msgspec.json.Decoder[Listing[T]]:
    decoder = _LIST_DECODERS.get(kind)
    if decoder is None:
        # A class that is known at run time only cannot be written in an annotation.
        listing: Any = Listing[kind]  # type: ignore[valid-type]
        decoder = _LIST_DECODERS[kind] = json_decoder(listing)
    return decoder


def _raw_items(data: bytes, subject: str) -> list[bytes]:
    # Copies: a slice of the answer would keep the whole answer in memory.
    try:
        return [bytes(item) for item in msgspec.json.decode(data, type=_RawItems).items or ()]
    except msgspec.ValidationError as error:
        raise problem(subject, "items", "expected an array") from error
    except FAILURES as error:
        refuse(error, subject)


def _decode_any_list(data: bytes) -> Listing[AnyObject]:
    head = reader(_ListHead).read(data)
    kind = head.kind.removesuffix("List")
    api_version = head.api_version if kind else ""
    items = tuple(
        AnyObject(item, api_version=api_version, kind=kind, at=f"items[{index}]")
        for index, item in enumerate(_raw_items(data, head.kind or "list"))
    )
    _require_names(items, AnyObject)
    return Listing(
        metadata=head.metadata, items=items, api_version=head.api_version, kind=head.kind
    )


def _decode_item_by_item(data: bytes, kind: type[T]) -> Listing[T]:
    head = reader(_ListHead).read(data)
    _check_list_kind(head.api_version, head.kind, kind)
    items = tuple(
        decode_at(item, kind, at=f"items[{index}]", named=False)
        for index, item in enumerate(_raw_items(data, f"list of {kind.__name__}"))
    )
    _require_names(items, kind)
    return Listing(
        metadata=head.metadata, items=items, api_version=head.api_version, kind=head.kind
    )


def _check_list_kind(api_version: str, kind: str, wanted: type[Any]) -> None:
    """Refuse a list of another kind: its items need not say what they are."""
    if kind in {"", "List"} or not scheme.is_kind(wanted):
        return
    identity = scheme.identity(wanted)
    if (api_version, kind) != (identity[0], f"{identity[1]}List"):
        wanted_list = f"{identity[1]}List of {identity[0]}"
        raise problem("list", "kind", f"expected {wanted_list}, not {kind} of {api_version}")


def _encode_hook(value: Any) -> Any:
    if isinstance(value, MappingProxyType | Mapping):
        return dict(value)
    if isinstance(value, MicroTime):
        return value.text()
    if isinstance(value, AnyObject):
        return msgspec.Raw(value.to_json())
    foreign = getattr(value, "__reflet_encode__", None)
    if foreign is not None:
        return foreign()
    raise TypeError(f"a {type(value).__name__} has no JSON form")


_ENCODER: Final = msgspec.json.Encoder(enc_hook=_encode_hook)
