"""Which events of a source count, where the source itself does not check.

Owns: what is skipped and what is passed on without its object.  Must not know sources or sinks.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from typing import Final, TypeVar

from reflet.api.meta import KubernetesObject
from reflet.api.watch_events import WatchEvent

T = TypeVar("T", bound=KubernetesObject)

_KNOWN_TYPES: Final = frozenset({"ADDED", "MODIFIED", "DELETED", "BOOKMARK"})

logger = logging.getLogger(__name__)


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
