"""Which ``resourceVersion`` a reflector has seen, and which it asks for next.

The rules of versions and page sizes.  Pure, and versions are opaque: nothing is compared.

Upstream: client-go/tools/cache/reflector.go, relistResourceVersion,
rewatchResourceVersion, setLastSyncResourceVersion
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from reflet.api.paging import PAGE_SIZE
from reflet.api.watch_events import WatchEvent

NEWEST: Final = ""
"""Asks for the newest state."""
WHATEVER_IS_CACHED: Final = "0"
"""Asks for any state that the server has at hand, in its watch cache."""

_PAST_THE_INITIAL_STATE: Final = frozenset({"MODIFIED", "DELETED", "BOOKMARK"})


class VersionCursor:
    """How far a reflector is; lives as long as the reflector.

    ``last`` is the version up to which the sink knows everything, empty before anything is
    known.  ``unavailable`` says that the server no longer has it, or not yet.  ``paginated``
    says that the server answers in pages even where it could use its cache.  ``was_streamed``
    says that the collection last came by a WatchList.  *page_size* is used for every list
    when it is not 0.
    """

    __slots__ = ("_page_size", "last", "paginated", "unavailable", "was_streamed")

    def __init__(self, *, page_size: int = 0) -> None:
        self._page_size = page_size
        self.last = ""
        self.unavailable = False
        self.paginated = False
        self.was_streamed = False

    @property
    def list_version(self) -> str:
        """The version that the next list asks for: at least as fresh as what is known."""
        return NEWEST if self.unavailable else self.last or WHATEVER_IS_CACHED

    @property
    def watch_list_version(self) -> str:
        """The version that the next WatchList asks for."""
        return NEWEST if self.unavailable else self.last

    def page_size(self, version: str) -> int:
        """How many objects a page of a list at *version* has; 0 is no limit."""
        if self._page_size:
            return self._page_size
        if self.paginated or version in {NEWEST, WHATEVER_IS_CACHED}:
            return PAGE_SIZE
        # A server answers a list at a version from its cache only when no limit is given, and
        # else from its database: after a restart of the server everybody lists at once.
        return 0

    def forget(self) -> None:
        """The server does not have the version that it was asked for."""
        self.unavailable = True

    def listed(self, asked: str, *, paginated: bool) -> None:
        """A list that first asked for version *asked* was answered."""
        if asked == WHATEVER_IS_CACHED and paginated:
            # The server has no cache for this collection, and there is a lot in it.
            self.paginated = True
        self.unavailable = self.was_streamed = False

    def streamed(self) -> None:
        """A WatchList was answered."""
        self.unavailable = False
        self.was_streamed = True

    def synced(self, version: str) -> None:
        """The sink knows everything up to *version*."""
        self.last = version


class StreamPosition:
    """How far one stream is.

    A plain watch without a version, or at ``0``, begins with the present objects in no
    particular order: their versions say nothing about how far the stream is.  The first event
    of another type ends that, for good.
    """

    __slots__ = ("ordered",)

    def __init__(self, opened_at: str) -> None:
        self.ordered = opened_at not in {NEWEST, WHATEVER_IS_CACHED}

    def after(self, events: Sequence[WatchEvent[Any]]) -> str:
        """Say up to which version everything has come after *events*; empty when unknown.

        Looks at the last event only, but for streams that are not in order yet.
        """
        if not self.ordered:
            self.ordered = any(event.type in _PAST_THE_INITIAL_STATE for event in events)
        return events[-1].object.metadata.resource_version if self.ordered else ""
