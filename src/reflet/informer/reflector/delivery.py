"""What came goes to the sink, and only then does the version move.

In that order, because a reflector that is cancelled between the two resumes from its version: an
event may then come twice, and must not be missed.  Also which events count, where the source does
not check kinds and types itself, and what a sink that fails means.

Upstream: client-go/tools/cache/reflector.go, syncWith and the body of handleAnyWatch
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, Generic, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent
from reflet.errors import RefletError
from reflet.informer.reflector.reflector_metrics import ReflectorMetrics
from reflet.informer.reflector.requests import OpenWatch
from reflet.informer.reflector.versions import VersionCursor
from reflet.runtime.latch import Latch
from reflet.store.deltas import Changed, Replaced, Resynced, Sink

T = TypeVar("T", bound=KubernetesObject)

logger = logging.getLogger(__name__)


class SinkFailed(RefletError):
    """The sink did not take the collection, or a resync; ``__cause__`` is why."""


class Delivery(Generic[T]):
    """The way into a sink; ``synced`` is set once the sink has taken the collection."""

    def __init__(
        self,
        sink: Sink[T],
        cursor: VersionCursor,
        metrics: ReflectorMetrics,
        *,
        name: str,
        expected_kind: tuple[str, str] | None,
    ) -> None:
        self.synced = Latch()
        self._sink = sink
        self._cursor = cursor
        self._metrics = metrics
        self._name = name
        self._expected_kind = expected_kind

    def counted(self, events: Sequence[WatchEvent[T]]) -> Sequence[WatchEvent[T]]:
        """The events that count."""
        if self._expected_kind is None:
            return events
        return of_expected_kind(events, self._expected_kind, self._name)

    def replace(self, items: Sequence[T], version: str, what: str) -> None:
        """The whole collection came, by way of a *what*; SinkFailed when the sink fails."""
        try:
            self._sink.apply(Replaced(items, version))
        except Exception as error:
            self._failed("replaced", error)
            raise SinkFailed(f"unable to sync {what} result: {error}") from error
        self._cursor.synced(version)
        self.synced.set()

    def change(self, events: Sequence[WatchEvent[T]], watch: OpenWatch[T]) -> None:
        """A batch of events came; a sink that fails is reported, and the next batch follows."""
        if self._expected_kind is None:
            counted = told = events
        else:
            counted = self.counted(events)
            if not counted:
                return
            told = of_known_types(counted, self._name)
        try:
            self._sink.apply(Changed(told))
        except Exception as error:  # noqa: BLE001 - a sink may be anybody's; reported
            self._failed("changed", error)
        version = watch.position.after(counted)
        # An event without a version must not send us back to the beginning.
        if version:
            self._cursor.synced(version)
        count = len(counted)
        watch.events += count
        self._metrics.events(count)

    def resync(self) -> None:
        """It is time to tell everybody the present state; SinkFailed when the sink fails."""
        try:
            self._sink.apply(Resynced())
        except Exception as error:
            self._failed("resynced", error)
            raise SinkFailed(f"unable to resync: {error}") from error

    def _failed(self, delta: str, error: Exception) -> None:
        self._metrics.sink_failed(delta)
        logger.error("%s: the sink did not take %s: %s", self._name, delta, error, exc_info=error)


_KNOWN_TYPES: Final = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})


def of_expected_kind(
    events: Sequence[WatchEvent[T]], expected: tuple[str, str], name: str
) -> Sequence[WatchEvent[T]]:
    """The events whose objects have the expected ``apiVersion`` and ``kind``; others are logged."""
    counted = []
    for event in events:
        found = (event.object.api_version, event.object.kind)
        if found == expected:
            counted.append(event)
        else:
            logger.error("%s: expected %s, but watch event object had %s", name, expected, found)
    return counted


def of_known_types(events: Sequence[WatchEvent[T]], name: str) -> Sequence[WatchEvent[T]]:
    """The same events; one of a type that nobody knows becomes a bookmark.

    So its version counts, and its object does not.
    """
    if all(event.type in _KNOWN_TYPES for event in events):
        return events
    told = []
    for event in events:
        if event.type in _KNOWN_TYPES:
            told.append(event)
        else:
            logger.error("%s: unable to understand watch event of type %r", name, event.type)
            told.append(WatchEvent(type="BOOKMARK", object=event.object))
    return told
