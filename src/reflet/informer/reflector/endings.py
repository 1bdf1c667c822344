"""The states of a reflector, how lists and watches end, and what comes next.

Every decision that follows from an ending is a row of a table here; ``loop`` obeys, and the state
diagram of the documentation is drawn from the tables.  Pure: whoever asks does the waiting and
the requests.

Upstream: client-go/tools/cache/reflector.go, isWatchErrorRetriable, isExpiredError,
isTooLargeResourceVersionError, VeryShortWatchError
"""

from __future__ import annotations

import enum
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from reflet.api.status import (
    is_connection_refused,
    is_expired,
    is_too_large_version,
    is_too_many_requests,
)
from reflet.errors import DeadlineExceeded, DecodeError, MisuseError, TransportError

SHORTEST_HONEST_WATCH: Final = 1.0
"""Seconds; a stream that brings nothing and ends sooner is a fault."""

ENOUGH_ATTEMPTS: Final = 3
"""WatchLists of one pass that may end early before a plain list is tried."""

PROGRAMMING_ERRORS: Final = (
    AssertionError,
    AttributeError,
    ImportError,
    MisuseError,
    NameError,
    NotImplementedError,
    TypeError,
)
"""What a source raises because its program is wrong, not because the server is.

No retry mends it, so it ends the reflector instead of passing for a server that is away.
"""


class Ending(enum.StrEnum):
    """How a request or a stream ended; the values are those of the metrics' labels."""

    SYNCED = "synced"
    """The whole collection has come, and the sink has taken it."""
    CLOSED = "closed"
    """The server closed the stream."""
    BROKEN = "broken"
    """The connection broke."""
    SILENT = "silent"
    """Nothing came for too long, not even a bookmark."""
    TOO_SHORT = "too_short"
    """The stream ended in under a second without an event."""
    REFUSED = "refused"
    """Nobody listens at the server's address."""
    THROTTLED = "throttled"
    """The server is protecting itself (429)."""
    EXPIRED = "expired"
    """The version asked for has left the server's history (410)."""
    TOO_LARGE = "too_large"
    """The version asked for is newer than what the server has."""
    STUMBLED = "stumbled"
    """The server failed (500), inside the window in which that is forgiven."""
    UNREADABLE = "unreadable"
    """Something came that is no event."""
    SINK_FAILED = "sink_failed"
    """What came could not be put into the sink."""
    FAILED = "failed"
    """Anything else."""
    STOPPED = "stopped"
    """We were told to stop; nothing follows."""


class ReflectorState(enum.Enum):
    """What a reflector is doing; the tables below say how it gets from one to the next."""

    STOPPED = "stopped"
    """It does not run, or is about to begin a pass."""
    WATCH_LIST = "WatchList"
    """Filling the sink from the beginning of a watch (``sendInitialEvents``)."""
    LIST = "List"
    """Filling the sink from a list."""
    WATCHING = "Watch"
    """A watch is open."""
    BETWEEN_WATCHES = "between watches"
    """The last watch has ended, or the next one is being opened."""
    BACKING_OFF = "back-off"
    """Waiting before it asks again."""


class WatchStep(enum.Enum):
    """What follows a watch."""

    REWATCH = "watch"
    WAIT_THEN_REWATCH = "watch, after a delay"
    RELIST_AT_ONCE = "new pass, at once unless it is the second in a minute"
    WAIT_THEN_RELIST = "new pass, after a delay"
    REPORT_THEN_RELIST = "new pass, after a report and a delay"


class WatchListStep(enum.Enum):
    """What follows an attempt at a WatchList."""

    WATCH = "watch on the same stream"
    REPEAT = "WatchList"
    WAIT_THEN_REPEAT = "WatchList, after a delay"
    REPEAT_WITHOUT_VERSION = "WatchList of the newest state"
    LIST = "list"


class ListStep(enum.Enum):
    """What follows a list."""

    WATCH = "watch"
    REPEAT_WITHOUT_VERSION = "list of the newest state"
    REPORT_THEN_RELIST = "new pass, after a report and a delay"


AFTER_WATCH_REQUEST: Final[Mapping[Ending, WatchStep]] = MappingProxyType(
    {
        # A server that is away or throttles still holds our version: relisting would turn its
        # bad minute into a thundering herd.
        Ending.REFUSED: WatchStep.WAIT_THEN_REWATCH,
        Ending.THROTTLED: WatchStep.WAIT_THEN_REWATCH,
        # Nothing but a list helps, and the server is there: see retries.ExpiryGuard.
        Ending.EXPIRED: WatchStep.RELIST_AT_ONCE,
        Ending.TOO_LARGE: WatchStep.REPORT_THEN_RELIST,
        Ending.FAILED: WatchStep.REPORT_THEN_RELIST,
    }
)
"""A watch was refused before its first byte."""

AFTER_WATCH: Final[Mapping[Ending, WatchStep]] = MappingProxyType(
    {
        Ending.CLOSED: WatchStep.REWATCH,
        Ending.BROKEN: WatchStep.REWATCH,
        Ending.SILENT: WatchStep.REWATCH,
        Ending.STUMBLED: WatchStep.REWATCH,
        Ending.THROTTLED: WatchStep.WAIT_THEN_REWATCH,
        # A server that accepts watches only to drop them may have lost more than the stream.
        Ending.TOO_SHORT: WatchStep.WAIT_THEN_RELIST,
        Ending.EXPIRED: WatchStep.RELIST_AT_ONCE,
        Ending.TOO_LARGE: WatchStep.WAIT_THEN_RELIST,
        # Watching again would bring the same unreadable event again.
        Ending.UNREADABLE: WatchStep.WAIT_THEN_RELIST,
        Ending.SINK_FAILED: WatchStep.WAIT_THEN_RELIST,
        Ending.FAILED: WatchStep.WAIT_THEN_RELIST,
    }
)
"""An open watch ended."""

AFTER_WATCH_LIST: Final[Mapping[Ending, WatchListStep]] = MappingProxyType(
    {
        Ending.SYNCED: WatchListStep.WATCH,
        Ending.CLOSED: WatchListStep.REPEAT,
        Ending.BROKEN: WatchListStep.REPEAT,
        Ending.SILENT: WatchListStep.REPEAT,
        Ending.REFUSED: WatchListStep.WAIT_THEN_REPEAT,
        Ending.THROTTLED: WatchListStep.WAIT_THEN_REPEAT,
        Ending.EXPIRED: WatchListStep.REPEAT_WITHOUT_VERSION,
        Ending.TOO_LARGE: WatchListStep.REPEAT_WITHOUT_VERSION,
        # Servers and proxies that cannot stream lists show it in many ways; all can list.
        Ending.TOO_SHORT: WatchListStep.LIST,
        Ending.UNREADABLE: WatchListStep.LIST,
        Ending.SINK_FAILED: WatchListStep.LIST,
        Ending.FAILED: WatchListStep.LIST,
    }
)
"""A WatchList ended, as a request or as a stream."""

AFTER_LIST: Final[Mapping[Ending, ListStep]] = MappingProxyType(
    {
        Ending.SYNCED: ListStep.WATCH,
        Ending.EXPIRED: ListStep.REPEAT_WITHOUT_VERSION,
        Ending.TOO_LARGE: ListStep.REPEAT_WITHOUT_VERSION,
        Ending.REFUSED: ListStep.REPORT_THEN_RELIST,
        Ending.THROTTLED: ListStep.REPORT_THEN_RELIST,
        Ending.SINK_FAILED: ListStep.REPORT_THEN_RELIST,
        Ending.FAILED: ListStep.REPORT_THEN_RELIST,
    }
)
"""A list ended.  The newest state is asked for once; refused again, the list has failed."""


def ending_of_request(error: Exception) -> Ending:
    """Say how a list, or a watch that was never open, ended."""
    if is_connection_refused(error):
        return Ending.REFUSED
    return _refusal(error)


def ending_of_stream(
    error: Exception | None, *, lasted: float, events: int, forgiven: bool = False
) -> Ending:
    """Say how an open stream ended: with *error*, or closed by the server without one.

    *lasted* is in seconds and counts from before the request; *forgiven* says that a failure of
    the server is to be forgiven.
    """
    match error:
        case None:
            ending = Ending.CLOSED
        case DeadlineExceeded():
            ending = Ending.SILENT
        case TransportError():
            ending = Ending.BROKEN
        case DecodeError():
            return Ending.UNREADABLE
        case _ if forgiven:
            return Ending.STUMBLED
        case _:
            return _refusal(error)
    if lasted < SHORTEST_HONEST_WATCH and not events:
        return Ending.TOO_SHORT
    return ending


class WatchListAttempts:
    """The WatchLists of one pass.

    Only the first that ends early is repeated at once: a server that ends every stream must not
    be hammered.  After ``ENOUGH_ATTEMPTS``, and when even the newest state is refused as too old
    or too new, a plain list is tried.
    """

    __slots__ = ("_ended_early",)

    def __init__(self) -> None:
        self._ended_early = 0

    def after(self, ending: Ending, *, newest: bool) -> WatchListStep:
        """Say what follows an attempt; *newest* says that it asked for the newest state."""
        step = AFTER_WATCH_LIST[ending]
        if step is WatchListStep.REPEAT:
            self._ended_early += 1
            if self._ended_early >= ENOUGH_ATTEMPTS:
                return WatchListStep.LIST
            if self._ended_early > 1:
                return WatchListStep.WAIT_THEN_REPEAT
        if step is WatchListStep.REPEAT_WITHOUT_VERSION and newest:
            return WatchListStep.LIST
        return step


def _refusal(error: Exception) -> Ending:
    if is_too_many_requests(error):
        return Ending.THROTTLED
    if is_expired(error):
        return Ending.EXPIRED
    if is_too_large_version(error):
        return Ending.TOO_LARGE
    return Ending.FAILED
