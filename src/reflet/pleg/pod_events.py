"""From two looks at a pod to what happened in between.

Owns: the events, and the table that makes them.  Must not know who looks, nor who is told.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final

from reflet.pleg.runtime_status import RuntimePod, RuntimeState


class EventType(StrEnum):
    """What happened to a container, or with POD_SYNC, that the pod as a whole was looked at."""

    CONTAINER_STARTED = "ContainerStarted"
    CONTAINER_DIED = "ContainerDied"
    CONTAINER_REMOVED = "ContainerRemoved"
    CONTAINER_CHANGED = "ContainerChanged"
    POD_SYNC = "PodSync"


@dataclass(frozen=True, slots=True)
class PodEvent:
    """Something that happened to the pod ``uid``; sandboxes count as containers."""

    uid: str
    type: EventType
    container_id: str = ""


class Seen(Enum):
    """How a look at a pod found one of its containers."""

    RUNNING = auto()
    EXITED = auto()
    UNKNOWN = auto()
    GONE = auto()


SEEN_AS: Final[Mapping[RuntimeState, Seen]] = MappingProxyType(
    {
        # Nobody acts on a container that has not started, so there is no event for it.
        RuntimeState.CREATED: Seen.UNKNOWN,
        RuntimeState.RUNNING: Seen.RUNNING,
        RuntimeState.EXITED: Seen.EXITED,
        RuntimeState.UNKNOWN: Seen.UNKNOWN,
    }
)

_STARTED: Final = (EventType.CONTAINER_STARTED,)
_DIED: Final = (EventType.CONTAINER_DIED,)
_CHANGED: Final = (EventType.CONTAINER_CHANGED,)
_REMOVED: Final = (EventType.CONTAINER_REMOVED,)

EVENTS: Final[Mapping[tuple[Seen, Seen], tuple[EventType, ...]]] = MappingProxyType(
    {
        (Seen.GONE, Seen.RUNNING): _STARTED,
        (Seen.EXITED, Seen.RUNNING): _STARTED,
        (Seen.UNKNOWN, Seen.RUNNING): _STARTED,
        (Seen.GONE, Seen.EXITED): _DIED,
        (Seen.RUNNING, Seen.EXITED): _DIED,
        (Seen.UNKNOWN, Seen.EXITED): _DIED,
        (Seen.GONE, Seen.UNKNOWN): _CHANGED,
        (Seen.RUNNING, Seen.UNKNOWN): _CHANGED,
        (Seen.EXITED, Seen.UNKNOWN): _CHANGED,
        # That it died has been told before.
        (Seen.EXITED, Seen.GONE): _REMOVED,
        (Seen.RUNNING, Seen.GONE): _DIED + _REMOVED,
        (Seen.UNKNOWN, Seen.GONE): _DIED + _REMOVED,
    }
)
"""What happened, by how a container was found before and now; unchanged means nothing."""


def container_events(
    uid: str, before: RuntimePod | None, now: RuntimePod | None
) -> tuple[PodEvent, ...]:
    """Say what happened to the containers and sandboxes of a pod; None is a pod that is not."""
    found_before, found_now = _containers(before), _containers(now)
    return tuple(
        PodEvent(uid, event, container)
        for container in found_before | found_now
        for event in EVENTS.get(
            (found_before.get(container, Seen.GONE), found_now.get(container, Seen.GONE)), ()
        )
    )


def _containers(pod: RuntimePod | None) -> dict[str, Seen]:
    found: dict[str, Seen] = {}
    if pod is not None:
        for container in (*pod.containers, *pod.sandboxes):
            found.setdefault(container.id, SEEN_AS[container.state])
    return found
