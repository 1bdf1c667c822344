"""Events of the newer form: what happens again and again is one event with a series.

The first is told at once, the second begins the series, and all others are counted: the count is
written every half an hour, and when nothing came for six minutes, which ends the series.  There is
no limit for an object: a series is one event however long it is.

Different from client-go: an object whose version changed is the same object, so that a controller
which writes the status of what it complains about does not begin a new series each time.

Upstream: client-go/tools/events/event_broadcaster.go, recordToSink, finishSeries,
refreshExistingEventSeries; event_recorder.go, makeEvent
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final, Self

from msgspec.structs import replace

from reflet.api.core.small_kinds import Event, EventSeries
from reflet.api.meta import KubernetesObject, MicroTime, ObjectReference
from reflet.api.options import PatchType
from reflet.client.client import Client
from reflet.controllers.event_recorder import NORMAL, WARNING, event_metadata, reference_to, told
from reflet.controllers.event_sender import PAUSE, EventSender, Write
from reflet.errors import AlreadyExists, NotFound
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import came_within

FINISHED_AFTER: Final = 360.0  # seconds without another one
REFRESH_EVERY: Final = 1800.0  # seconds; events live for an hour on the server

Key = tuple[str, ...]


@dataclass(slots=True)
class _Series:
    """An event and what came after it; *count* is 1 as long as it was the only one."""

    event: Event
    count: int
    last_seen: float
    written_at: float
    last_moment: MicroTime


class OpenSeries:
    """Which events are the same again; pure, the moments are handed in."""

    def __init__(self) -> None:
        self._open: dict[Key, _Series] = {}

    def __len__(self) -> int:
        return len(self._open)

    def observe(self, key: Key, event: Event, now: float) -> Event | None:
        """Give the event to write now: the new one, or the one that becomes a series; or none."""
        known = self._open.get(key)
        moment = event.event_time
        if moment is None:
            raise ValueError("an event of the newer form has an event time")
        if known is None:
            self._open[key] = _Series(event, 1, now, now, moment)
            return event
        known.count += 1
        known.last_seen, known.last_moment = now, moment
        if known.count > 2:
            return None
        known.written_at = now
        return _written(known)

    def due(self, now: float) -> Iterator[Event]:
        """Give the series whose count is to be written now, and forget what has ended."""
        for key, known in list(self._open.items()):
            if now - known.last_seen >= FINISHED_AFTER:
                del self._open[key]
            elif known.count == 1 or now - known.written_at < REFRESH_EVERY:
                continue
            if known.count > 1:
                known.written_at = now
                yield _written(known)

    def all(self) -> Iterator[Event]:
        """Give every series with its count, for the end."""
        yield from (_written(known) for known in self._open.values() if known.count > 1)
        self._open.clear()

    def next_due(self, now: float) -> float | None:
        """In how many seconds there is something to do; None for never."""
        moments = [
            min(known.last_seen + FINISHED_AFTER, known.written_at + REFRESH_EVERY)
            if known.count > 1
            else known.last_seen + FINISHED_AFTER
            for known in self._open.values()
        ]
        return max(0.0, min(moments) - now) if moments else None


def _written(known: _Series) -> Event:
    series = EventSeries(count=known.count, last_observed_time=known.last_moment)
    return replace(known.event, series=series)


class SeriesRecorder:
    """Reports events with a series to the API server, as *component*::

        async with SeriesRecorder(cluster, "my-operator") as recorder:
            recorder.normal(widget, "Scaled", "Scaling", "3 replicas")

    *action* is what was done, or tried, when it happened.  The methods return at once.  Leaving the
    block sends what waits, and the counts, without retries, and takes five seconds at most.

    - *component*: the program that reports, ``reportingController`` of events
    - *instance*: which of its processes, ``reportingInstance`` of events; the host's name unless
      given
    - *pause*: seconds between two tries to send an event
    - *reason*: one word in CamelCase, such as ``Scaled``
    - *message*: one sentence for people
    - *related*: another object that has to do with it; None if there is none
    - *action*: what was done, or tried, when it happened: one word in CamelCase
    """

    def __init__(
        self,
        cluster: Client,
        component: str,
        *,
        instance: str = "",
        clock: Clock | None = None,
        metrics: Metrics = NO_METRICS,
        pause: float = PAUSE,
    ) -> None:
        self._cluster = cluster
        self._component = component
        self._instance = instance or component
        self._series = OpenSeries()
        self._news = asyncio.Event()
        self._tasks = TaskOwner(f"series of {component}")
        self._sender = EventSender(component, clock=clock, metrics=metrics, pause=pause)
        self._clock = self._sender.clock

    async def __aenter__(self) -> Self:
        await self._sender.__aenter__()
        await self._tasks.__aenter__()
        self._tasks.start(self._keep_counts(), name=f"series of {self._component}")
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._tasks.__aexit__(*failure)
            for event in self._series.all():
                self._put(event)
        finally:
            await self._sender.__aexit__(*failure)

    def normal(
        self,
        item: KubernetesObject,
        reason: str,
        action: str,
        message: str,
        *,
        related: KubernetesObject | None = None,
    ) -> None:
        """Something happened to *item* as it should, because of *related* perhaps."""
        self._note(NORMAL, reference_to(item), _reference(related), (reason, action, message))

    def warning(
        self,
        item: KubernetesObject,
        reason: str,
        action: str,
        message: str,
        *,
        related: KubernetesObject | None = None,
    ) -> None:
        """Something happened to *item* that somebody should look at."""
        self._note(WARNING, reference_to(item), _reference(related), (reason, action, message))

    def _note(
        self,
        type_: str,
        involved: ObjectReference,
        related: ObjectReference | None,
        words: tuple[str, str, str],
    ) -> None:
        reason, action, message = words
        now = self._clock.now()
        event = Event(
            metadata=event_metadata(involved, now),
            involved_object=involved,
            related=related,
            reason=reason,
            action=action,
            message=told(involved, type_, reason, message),
            type=type_,
            event_time=MicroTime.at(now),
            reporting_component=self._component,
            reporting_instance=self._instance,
        )
        key = (type_, action, reason, *_identity(involved), *_identity(related))
        written = self._series.observe(key, event, self._clock.monotonic())
        if written is not None:
            self._put(written)
        self._news.set()

    async def _keep_counts(self) -> None:
        while True:
            self._news.clear()
            wait = self._series.next_due(self._clock.monotonic())
            await came_within(self._news, wait, clock=self._clock)
            for event in self._series.due(self._clock.monotonic()):
                self._put(event)

    def _put(self, event: Event) -> None:
        async def send() -> None:
            await self._write(event)

        self._sender.put(Write(send, lambda: None))

    async def _write(self, event: Event) -> None:
        events = self._cluster.resource(Event, namespace=event.metadata.namespace)
        if event.series is not None:
            try:
                patch = {"series": event.series}
                await events.patch(event.metadata.name, patch, PatchType.STRATEGIC)
            except NotFound:
                pass  # it lived for an hour, or was never written: write it now
            else:
                return
        with contextlib.suppress(AlreadyExists):
            await events.create(event)


def _reference(item: KubernetesObject | None) -> ObjectReference | None:
    return None if item is None else reference_to(item)


def _identity(reference: ObjectReference | None) -> Key:
    """What tells an object from others; not its version: it is the same one when it changes."""
    if reference is None:
        return ()
    named = (reference.kind, reference.namespace, reference.name)
    return (reference.api_version, *named, reference.uid, reference.field_path)
