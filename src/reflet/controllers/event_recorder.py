"""Events: what a program tells people about objects, on its way to the API server.

Recording never waits and never fails: what does not fit in the line is dropped and counted.  An
event is tried twelve times, ten seconds apart, as by client-go.  Which are told at all is
``event_correlation``.

Upstream: client-go/tools/record/event.go, recorderImpl, recordToSink;
client-go/tools/reference/ref.go, GetReference
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import secrets
from dataclasses import dataclass
from typing import Any, Final, Self

from reflet.api.core.small_kinds import Event, EventSource
from reflet.api.meta import KubernetesObject, ObjectMeta, ObjectReference
from reflet.api.options import PatchType
from reflet.client.client import Client
from reflet.controllers.event_correlation import EventCorrelation, Happening, Telling
from reflet.errors import (
    AlreadyExists,
    CredentialsError,
    DecodeError,
    NotFound,
    RefletError,
    ServerTimeout,
    ServiceUnavailable,
    TooManyRequests,
    TransportError,
)
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.runtime.tasks import Failure, TaskOwner
from reflet.runtime.waits import came_within

MOST_WAITING: Final = 1000
TRIES: Final = 12
PAUSE: Final = 10.0  # seconds between two tries
LONGEST_MESSAGE: Final = 1024  # characters; what events of the newer API may have
NORMAL, WARNING = "Normal", "Warning"
_PASSING: Final = (
    CredentialsError,
    DecodeError,  # of an answer that came garbled: its name shows whether the event is there
    TransportError,
    TooManyRequests,
    ServerTimeout,
    ServiceUnavailable,
    OSError,  # descriptors or memory ran out on the way to the server
)

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Sent:
    namespace: str
    name: str


class EventRecorder:
    """Tells the API server what happens to objects, as *component*, on *host*::

        recorder = EventRecorder(cluster, "my-operator")
        async with recorder:
            recorder.normal(widget, "Scaled", "3 replicas")

    ``normal``, ``warning`` and ``note`` return at once.  What does not fit in the line, or is
    refused, is dropped and counted: an event is a courtesy.  Leaving the block sends what waits,
    without retries.
    """

    def __init__(
        self,
        cluster: Client,
        component: str,
        *,
        host: str = "",
        clock: Clock | None = None,
        metrics: Metrics = NO_METRICS,
        pause: float = PAUSE,
    ) -> None:
        self._cluster = cluster
        self._component = component
        self._host = host
        self._clock = clock or SystemClock()
        self._metrics = metrics
        self._pause = pause
        self._correlation = EventCorrelation()
        self._waiting: asyncio.Queue[Telling] = asyncio.Queue(MOST_WAITING)
        self._sent: dict[tuple[str, ...], _Sent] = {}
        self._last_call = asyncio.Event()
        self._tasks = TaskOwner(f"events of {component}")

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._tasks.start(self.run(), name=f"events of {self._component}")
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self.sent()
        finally:
            await self._tasks.__aexit__(*failure)

    def normal(self, item: KubernetesObject, reason: str, message: str) -> None:
        """Something happened to *item* as it should."""
        self.note(reference_to(item), NORMAL, reason, message)

    def warning(self, item: KubernetesObject, reason: str, message: str) -> None:
        """Something happened to *item* that somebody should look at."""
        self.note(reference_to(item), WARNING, reason, message)

    async def run(self) -> None:
        """Send what waits until cancelled."""
        while True:
            telling = await self._waiting.get()
            try:
                await self._send(telling)
            finally:
                self._waiting.task_done()

    async def sent(self) -> None:
        """Return when nothing waits any more; for the end, when there is no time for retries.

        What waits for a server that was away is tried once more, at once, and then given up.
        """
        self._last_call.set()
        try:
            await self._waiting.join()
        finally:
            self._last_call.clear()

    def note(self, involved: ObjectReference, type_: str, reason: str, message: str) -> None:
        """Something happened to what *involved* refers to, or to a part of it."""
        text = message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
        who = f"{involved.namespace}/{involved.name}".lstrip("/")
        level = logging.WARNING if type_ == WARNING else logging.INFO
        logger.log(level, "%s: %s: %s", who, reason, text)
        happening = Happening(involved=involved, type=type_, reason=reason, message=text)
        telling = self._correlation.tell(happening, self._clock.monotonic())
        if telling is None:
            self._metrics.count("reflet_events_total", result="suppressed")
            return
        try:
            self._waiting.put_nowait(telling)
        except asyncio.QueueFull:
            self._metrics.count("reflet_events_total", result="dropped")

    async def _send(self, telling: Telling) -> None:
        # Made once: when an answer was lost, its name shows that it is there.
        event = self._event(telling)
        for attempt in range(TRIES):
            is_last = self._last_call.is_set()
            try:
                await self._tell(telling, event)
            except _PASSING as error:
                if attempt == 0:
                    logger.info("an event waits for the server: %s", error)
                if is_last:
                    break
                await came_within(self._last_call, self._pause, clock=self._clock)
            except RefletError as error:
                logger.warning("an event is refused: %s", error)
                break
            else:
                self._metrics.count("reflet_events_total", result="sent")
                return
        self._correlation.forget(telling.key)
        self._metrics.count("reflet_events_total", result="failed")

    async def _tell(self, telling: Telling, event: Event) -> None:
        known = self._sent.get(telling.key)
        if known is not None and not telling.is_new:
            now = self._clock.now().replace(microsecond=0)
            patch: dict[str, Any] = {
                "count": telling.count,
                "message": telling.happening.message,
                "lastTimestamp": now.strftime("%Y-%m-%dT%H:%M:%SZ"),
            }
            try:
                events = self._cluster.resource(Event, namespace=known.namespace)
                await events.patch(known.name, patch, PatchType.STRATEGIC)
            except NotFound:
                self._sent.pop(telling.key, None)  # they live for an hour only
            else:
                return
        namespace = event.metadata.namespace
        with contextlib.suppress(AlreadyExists):
            await self._cluster.resource(Event, namespace=namespace).create(event)
        if len(self._sent) >= MOST_WAITING:
            del self._sent[next(iter(self._sent))]
        self._sent[telling.key] = _Sent(namespace, event.metadata.name)

    def _event(self, telling: Telling) -> Event:
        happening = telling.happening
        involved = happening.involved
        now = self._clock.now()
        moment = now.replace(microsecond=0)
        suffix = f"{int(now.timestamp() * 1e9):x}{secrets.token_hex(2)}"
        return Event(
            metadata=ObjectMeta(
                name=f"{involved.name}.{suffix}", namespace=involved.namespace or "default"
            ),
            involved_object=involved,
            reason=happening.reason,
            message=happening.message,
            type=happening.type,
            source=EventSource(component=self._component, host=self._host),
            first_timestamp=moment,
            last_timestamp=moment,
            count=telling.count,
            reporting_component=self._component,
            reporting_instance=self._host,
        )


def reference_to(item: KubernetesObject, *, field_path: str = "") -> ObjectReference:
    """A reference to an object, or with *field_path* to a part of it."""
    return ObjectReference(
        api_version=item.api_version,
        kind=item.kind,
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        uid=item.metadata.uid,
        resource_version=item.metadata.resource_version,
        field_path=field_path,
    )
