"""The verb watch: from the options of a request to a feed.

Owns: what a watch is asked to show.  Must not know HTTP, nor how a feed works.
"""

from __future__ import annotations

from typing import Any

from reflet.devserver.kinds.decoding import empty_object
from reflet.devserver.kinds.served_kind import ServedKind
from reflet.devserver.verbs.options import ListQuery, read_version
from reflet.devserver.verbs.selection import selection
from reflet.devserver.verbs.state import State
from reflet.devserver.watches.watch_events import Representation
from reflet.devserver.watches.watch_feed import WatchFeed
from reflet.devserver.watches.watch_request import WatchRequest


def open_watch(
    state: State,
    kind: ServedKind,
    namespace: str | None,
    name: str,
    query: ListQuery,
    *,
    representation: Representation,
) -> WatchFeed:
    """Make the feed of a watch; ``name`` is empty unless the path names one object."""
    chosen = selection(kind, query.labels, query.fields)
    return state.watchers.open(
        WatchRequest(
            resource=kind.storage_key,
            blank=blank(kind),
            namespace=namespace if kind.namespaced else None,
            name=name or chosen.name,
            matches=chosen.matches,
            resource_version=read_version(query.resource_version),
            send_initial_events=query.send_initial_events,
            bookmarks=query.bookmarks,
            timeout=query.timeout or None,
            representation=representation,
        )
    )


def blank(kind: ServedKind) -> dict[str, Any]:
    """Give an object of a kind with nothing in it but what the server always writes."""
    made: dict[str, Any] = {}
    structure = kind.schema.structure
    if kind.custom is None and structure is not None:
        made = empty_object(structure)
    return {"kind": kind.kind, "apiVersion": kind.api_version, "metadata": {}} | {
        field: value
        for field, value in made.items()
        if field not in {"kind", "apiVersion", "metadata"}
    }
