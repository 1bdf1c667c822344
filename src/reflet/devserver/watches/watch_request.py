"""What a client asks a watch to show.

Owns: the meaning of the options together.  Must not know their texts, nor how they are obeyed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reflet.devserver.storage.changes import Key
from reflet.devserver.watches.watch_events import JSON_LINES, Matches, Representation


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
