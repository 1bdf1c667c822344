"""Pod lifecycle events: what happened between two looks at a pod, and their way to who acts.

``container_events`` is pure: the table ``EVENTS`` says it all.

Upstream: pkg/kubelet/pleg/pleg.go, PodLifecycleEvent
Upstream: pkg/kubelet/pleg/generic.go, computeEvents, generateEvents
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import Enum, StrEnum, auto
from types import MappingProxyType
from typing import Final, Self

from reflet.pleg.runtime_status import RuntimePod, RuntimeState


class PodEventType(StrEnum):
    """What happened to a container, or with POD_SYNC, that the pod as a whole was looked at."""

    CONTAINER_STARTED = "ContainerStarted"
    CONTAINER_DIED = "ContainerDied"
    CONTAINER_REMOVED = "ContainerRemoved"
    CONTAINER_CHANGED = "ContainerChanged"
    POD_SYNC = "PodSync"


@dataclass(frozen=True, slots=True)
class PodEvent:
    """Something that happened to the pod ``uid``; sandboxes count as containers.

    - *uid*: UID of the pod
    - *type*: what happened
    - *container_id*: id of the container or sandbox; empty for POD_SYNC
    """

    uid: str
    type: PodEventType
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

_STARTED: Final = (PodEventType.CONTAINER_STARTED,)
_DIED: Final = (PodEventType.CONTAINER_DIED,)
_CHANGED: Final = (PodEventType.CONTAINER_CHANGED,)
_REMOVED: Final = (PodEventType.CONTAINER_REMOVED,)

EVENTS: Final[Mapping[tuple[Seen, Seen], tuple[PodEventType, ...]]] = MappingProxyType(
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


class EventChannel:
    """Events to iterate, at most *capacity* of them waiting.

    ::

        async for event in channel:
            workers[event.uid].wake()

    ``put`` never waits: what does not fit is dropped and counted, so code that acts on events
    also looks by himself from time to time.  Several tasks that iterate share the events: each
    event comes to one of them.  After ``close``, the iteration ends with the last event that
    waited.  Used by one event loop.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 1:
            raise ValueError(f"a channel for {capacity} events can carry none")
        self._capacity = capacity
        self._waiting: deque[PodEvent] = deque()
        self._closed = False
        self._dropped = 0
        # Set while something waits, and once when nothing more will.
        self._ready = asyncio.Event()

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def dropped(self) -> int:
        """How many events did not fit."""
        return self._dropped

    def put(self, event: PodEvent) -> bool:
        """Let *event* wait behind the others; False when it is dropped."""
        if self._closed or len(self._waiting) >= self._capacity:
            self._dropped += 1
            return False
        self._waiting.append(event)
        self._ready.set()
        return True

    def take_all(self) -> Sequence[PodEvent]:
        """Take what waits, in order, without waiting for more."""
        taken = tuple(self._waiting)
        self._waiting.clear()
        self._rest()
        return taken

    def close(self) -> None:
        """Say that nothing more comes; harmless when it was said before."""
        self._closed = True
        self._ready.set()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> PodEvent:
        while not self._waiting:
            if self._closed:
                raise StopAsyncIteration
            await self._ready.wait()
        event = self._waiting.popleft()
        self._rest()
        return event

    def _rest(self) -> None:
        if not self._waiting:
            self._ready.clear()
