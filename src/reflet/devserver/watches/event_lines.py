"""What a watch asks to be shown, what it sees of a change, and the bytes that say it.

A selector can turn a modification into an addition or a deletion.  An event is put into bytes
once, however many watchers get it.

Upstream: apiserver/pkg/storage/cacher/cache_watcher.go, convertToWatchEvent
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, final

import msgspec

from reflet.apirules import refusals
from reflet.devserver.storage.stored import JsonObject, Key, Stored, StoredChange, moved_to
from reflet.errors import ApiError

EventType = Literal["ADDED", "MODIFIED", "DELETED", "BOOKMARK", "ERROR"]
Matches = Callable[[JsonObject], bool]

INITIAL_EVENTS_END: Final = "k8s.io/initial-events-end"


class ServedEvent(msgspec.Struct, frozen=True, gc=False):
    """One event of a watch: its type, its object, and the object's JSON."""

    type: EventType
    object: JsonObject
    encoded: bytes


@dataclass(frozen=True, slots=True, eq=False)
class Representation:
    """A form in which events are sent: the object itself, its metadata, or a table.

    ``render`` makes the bytes of an event, and ``render_first`` those of the first one in a
    stream where they differ (a table names its columns once).  Watchers share bytes when they
    share a representation, so there should be one for each form, not one for each watcher.
    """

    render: Callable[[ServedEvent], bytes]
    render_first: Callable[[ServedEvent], bytes] | None = None


def json_line(event: ServedEvent) -> bytes:
    """Put an event into a line of JSON."""
    return b'{"type":"%b","object":%b}\n' % (event.type.encode(), event.encoded)


def http_chunk(content: bytes) -> bytes:
    """Put bytes into a chunk of HTTP/1.1; chunks one after another may be sent at once."""
    return b"%x\r\n%b\r\n" % (len(content), content)


def _chunked_json_line(event: ServedEvent) -> bytes:
    return http_chunk(json_line(event))


JSON_LINES: Final = Representation(json_line)
CHUNKED_JSON_LINES: Final = Representation(_chunked_json_line)


def event_of(event_type: EventType, content: JsonObject) -> ServedEvent:
    """Make an event of an object that is not stored."""
    return ServedEvent(event_type, content, msgspec.json.encode(content))


def addition(stored: Stored) -> ServedEvent:
    """Make the event that tells a new watcher of an object which is there already."""
    return ServedEvent("ADDED", stored.object, stored.encoded)


def refusal(error: ApiError) -> ServedEvent:
    """Make the event that ends a stream and says why."""
    return event_of("ERROR", refusals.status_document(error))


def bookmark(
    blank: Mapping[str, Any], revision: int, *, ends_initial_events: bool = False
) -> ServedEvent:
    """Make a bookmark: the stream has told everything up to a revision.

    ``blank`` is an object of the watched kind with nothing in it: its kind, its apiVersion, and
    the fields that the real server writes always.
    """
    metadata = {**blank.get("metadata", {}), "resourceVersion": str(revision)}
    if ends_initial_events:
        metadata["annotations"] = {**metadata.get("annotations", {}), INITIAL_EVENTS_END: "true"}
    return event_of("BOOKMARK", {**blank, "metadata": metadata})


@final
class Sightings:
    """The ways in which watchers see one change, each put into bytes once.

    A selector decides: an object that begins to match is added, one that ceases to match is
    deleted, as it last matched but with the version of the change.
    """

    __slots__ = ("_change", "_events", "_rendered", "revision")

    def __init__(self, change: StoredChange) -> None:
        self.revision = change.revision
        self._change = change
        self._events: dict[EventType, ServedEvent] = {}
        self._rendered: dict[tuple[EventType, Representation], bytes] = {}

    def type_for(self, matches: Matches | None) -> EventType | None:
        """Say which event a selector makes of the change, or None when it sees nothing."""
        change = self._change
        if matches is None:
            return change.type
        before = change.previous is not None and matches(change.previous.object)
        after = change.type != "DELETED" and matches(change.stored.object)
        if after:
            return "MODIFIED" if before else "ADDED"
        return "DELETED" if before else None

    def event(self, event_type: EventType) -> ServedEvent:
        """Give the event of a type that ``type_for`` gave."""
        event = self._events.get(event_type)
        if event is None:
            change = self._change
            stored = change.stored
            if (
                event_type == "DELETED"
                and change.type == "MODIFIED"
                and change.previous is not None
            ):
                stored = moved_to(change.previous, change.revision)
            event = self._events[event_type] = ServedEvent(
                event_type, stored.object, stored.encoded
            )
        return event

    def rendered(self, event_type: EventType, representation: Representation) -> bytes:
        """Give the bytes of an event, which every watcher with that representation shares."""
        content = self._rendered.get((event_type, representation))
        if content is None:
            content = representation.render(self.event(event_type))
            self._rendered[event_type, representation] = content
        return content


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchRequest:
    """What a watch is to show.

    ``resource_version`` is 0 where the client sent none, or "0".  ``name`` and ``namespace``
    narrow the watch at no cost; whatever else a selector says goes into ``matches``.
    ``blank`` is an empty object of the kind, of which bookmarks are made.  ``timeout`` is in
    seconds; none, or 0, leaves it to the server.
    """

    resource: str
    blank: Mapping[str, Any]
    namespace: str | None = None
    name: str | None = None
    matches: Matches | None = None
    resource_version: int = 0
    send_initial_events: bool | None = None
    bookmarks: bool = False
    timeout: float | None = None
    representation: Representation = JSON_LINES

    @property
    def wants_initial_events(self) -> bool:
        """Whether the watch begins with the objects that are there."""
        if self.send_initial_events is None:
            return self.resource_version == 0
        return self.send_initial_events

    @property
    def key(self) -> Key | None:
        """The key of the one object that is watched, or None where it may be several."""
        if self.namespace is None or self.name is None:
            return None
        return Key(self.resource, self.namespace, self.name)
