"""Lines of a watch stream become events; many lines are decoded at once.

Upstream: apimachinery/pkg/watch/watch.go, Event; client-go/rest/watch/decoder.go, Decode
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final, Generic, Literal, TypeAlias, TypeVar, cast, get_args

import msgspec

from reflet.api.codec import decode_at, require_name
from reflet.api.frozen import Frozen
from reflet.api.json_reader import FAILURES, Reader, json_decoder, problem, refuse
from reflet.api.meta import KubernetesObject
from reflet.api.status import Status
from reflet.api.unstructured import AnyObject
from reflet.errors import DecodeError

T = TypeVar("T", bound=KubernetesObject)

EventType: TypeAlias = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK"]
"""What a watch event says of its object."""

_TYPES: Final[dict[str, EventType]] = {text: text for text in get_args(EventType)}


class WatchEvent(Frozen, Generic[T], frozen=True, kw_only=True):
    """An object was added, modified or deleted, or a bookmark says how far the stream is.

    A bookmark's object has a ``resource_version``, perhaps annotations, and no name.
    """

    type: EventType
    object: T


class ErrorEvent(Frozen, frozen=True, kw_only=True):
    """The server ends the stream, and says why.  The last of what a buffer gives."""

    type: Literal["ERROR"] = "ERROR"
    object: Status


@dataclass(frozen=True, slots=True)
class BrokenLine:
    """A line that is no event.  It is the last of what a buffer gives: nothing after it counts."""

    error: DecodeError


class _RawEvent(Frozen, frozen=True, kw_only=True):
    type: str
    object: msgspec.Raw


class _AnyEvent(Frozen, frozen=True, kw_only=True):
    type: str
    object: Any


_RAW_EVENT: Final = msgspec.json.Decoder(_RawEvent)
_ANY_EVENT: Final = Reader(_AnyEvent, subject="watch event")


class EventDecoder(Generic[T]):
    """Decodes lines into events with objects of one class."""

    def __init__(self, kind: type[T]) -> None:
        self._kind = kind
        self._decode_all: Callable[[bytes], list[WatchEvent[T]]]
        if kind is AnyObject:
            self._decode_all = self._decode_all_raw
        else:
            # A class that is known at run time only cannot be written in an annotation.
            event: Any = WatchEvent[kind]  # type: ignore[valid-type]
            self._decode_all = json_decoder(event).decode_lines

    def decode_lines(self, buffer: bytes) -> list[WatchEvent[T] | ErrorEvent | BrokenLine]:
        """Return the events of a buffer of whole lines, in order; empty lines are nothing.

        Never raises: a line that is no event becomes a ``BrokenLine`` behind the good events
        before it, so that none of those is lost.
        """
        try:
            events = self._decode_all(buffer)
        except (*FAILURES, DecodeError):
            return self._line_by_line(buffer)
        for event in events:
            if not event.object.metadata.name and event.type != "BOOKMARK":
                return self._line_by_line(buffer)
        return cast("list[WatchEvent[T] | ErrorEvent | BrokenLine]", events)

    def _line_by_line(self, buffer: bytes) -> list[WatchEvent[T] | ErrorEvent | BrokenLine]:
        events: list[WatchEvent[T] | ErrorEvent | BrokenLine] = []
        for line in buffer.split(b"\n"):
            if not line or line.isspace():
                continue
            try:
                event = self._decode(line)
            except DecodeError as error:
                events.append(BrokenLine(error))
                break
            events.append(event)
            if isinstance(event, ErrorEvent):
                break
        return events

    def _decode(self, line: bytes) -> WatchEvent[T] | ErrorEvent:
        raw = _raw_event(line)
        if raw.type == "ERROR":
            return ErrorEvent(object=decode_at(bytes(raw.object), Status, at="object"))
        return self._event(raw)

    def _decode_all_raw(self, buffer: bytes) -> list[WatchEvent[T]]:
        return [self._event(raw) for raw in _RAW_EVENT.decode_lines(buffer)]

    def _event(self, raw: _RawEvent) -> WatchEvent[T]:
        known = _TYPES.get(raw.type)
        if known is None:
            raise problem("watch event", "type", f"unknown type {raw.type!r}")
        if known == "BOOKMARK":
            return self._bookmark(bytes(raw.object))
        decoded = decode_at(bytes(raw.object), self._kind, at="object", named=False)
        require_name(decoded, at="object")
        return WatchEvent(type=known, object=decoded)

    def _bookmark(self, data: bytes) -> WatchEvent[T]:
        try:
            decoded = decode_at(data, self._kind, at="object", named=False)
        except DecodeError:
            # It has metadata and no more: less than a class that requires a spec can be made of.
            decoded = cast("T", decode_at(data, AnyObject, at="object", named=False))
        return WatchEvent(type="BOOKMARK", object=decoded)


def _raw_event(line: bytes) -> _RawEvent:
    try:
        return _RAW_EVENT.decode(line)
    except msgspec.ValidationError as error:
        _ANY_EVENT.read(line)  # says what is wrong
        raise problem("watch event", "", "not an event") from error
    except FAILURES as error:
        refuse(error, "watch event")


@functools.cache
def event_decoder(kind: type[T]) -> EventDecoder[T]:
    """The decoder for a class: one for all streams, since it remembers nothing of them."""
    return EventDecoder(kind)
