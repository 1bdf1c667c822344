"""Events: what a program tells people about objects, in the form that the kubelet's events have.

Recording never waits and never fails.  The same event counts up, many that are alike become one,
and an object has only so many (``event_correlation``); how they reach the server is
``event_sender``.  Events of the newer form, with a series, are ``event_series``.

Upstream: client-go/tools/record/event.go, recorderImpl; client-go/tools/reference/ref.go,
GetReference
"""

from __future__ import annotations

import contextlib
import logging
import secrets
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, Self

from reflet.api.core.small_kinds import Event, EventSource
from reflet.api.meta import KubernetesObject, ObjectMeta, ObjectReference
from reflet.api.options import PatchType
from reflet.client.client import Client
from reflet.controllers.event_correlation import EventCorrelation, Happening, Telling
from reflet.controllers.event_sender import MOST_WAITING, PAUSE, EventSender, Write
from reflet.errors import AlreadyExists, NotFound
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.runtime.tasks import Failure

LONGEST_MESSAGE: Final = 1024  # characters; what events of the newer API may have
NORMAL, WARNING = "Normal", "Warning"

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class _Sent:
    namespace: str
    name: str


class EventRecorder:
    """Reports events about objects to the API server, as *component*, on *host*::

        recorder = EventRecorder(cluster, "my-operator")
        async with recorder:
            recorder.normal(widget, "Scaled", "3 replicas")

    ``normal``, ``warning`` and ``note`` return at once.  What does not fit in the line, or is
    refused, is dropped and counted: an event is a courtesy.  Leaving the block sends what waits,
    without retries, and takes five seconds at most.

    - *component*: the program that reports, ``source.component`` of events
    - *host*: the machine it runs on, ``source.host`` of events; may be empty
    - *pause*: seconds between two tries to send an event
    - *reason*: one word in CamelCase, such as ``Scaled``
    - *message*: one sentence for people
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
        self._correlation = EventCorrelation()
        self._sent: dict[tuple[str, ...], _Sent] = {}
        self._sender = EventSender(component, clock=clock, metrics=metrics, pause=pause)
        self._clock = self._sender.clock

    async def __aenter__(self) -> Self:
        await self._sender.__aenter__()
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        await self._sender.__aexit__(*failure)

    async def run(self) -> None:
        """Send what waits until cancelled: for use in a task of your own."""
        await self._sender.run()

    async def sent(self) -> None:
        """Return when nothing waits any more; for the end, when there is no time for retries."""
        await self._sender.sent()

    def normal(self, item: KubernetesObject, reason: str, message: str) -> None:
        """Something happened to *item* as it should."""
        self.note(reference_to(item), NORMAL, reason, message)

    def warning(self, item: KubernetesObject, reason: str, message: str) -> None:
        """Something happened to *item* that somebody should look at."""
        self.note(reference_to(item), WARNING, reason, message)

    def note(self, involved: ObjectReference, type_: str, reason: str, message: str) -> None:
        """Something happened to what *involved* refers to, or to a part of it.

        - *type_*: ``Normal`` or ``Warning``
        """
        text = told(involved, type_, reason, message)
        happening = Happening(involved=involved, type=type_, reason=reason, message=text)
        telling = self._correlation.tell(happening, self._clock.monotonic())
        if telling is None:
            self._sender.count("suppressed")
            return
        # Made once: when an answer was lost, its name shows that it is there.
        event = self._event(telling)

        async def send() -> None:
            await self._tell(telling, event)

        self._sender.put(Write(send, lambda: self._correlation.forget(telling.key)))

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
        return Event(
            metadata=event_metadata(involved, now),
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
    """A reference to an object, or with *field_path* to a part of it.

    - *item*: the object
    """
    return ObjectReference(
        api_version=item.api_version,
        kind=item.kind,
        namespace=item.metadata.namespace,
        name=item.metadata.name,
        uid=item.metadata.uid,
        resource_version=item.metadata.resource_version,
        field_path=field_path,
    )


def event_metadata(involved: ObjectReference, now: datetime) -> ObjectMeta:
    """The name of an event, which is nobody else's, and the namespace of what it is about."""
    suffix = f"{int(now.timestamp() * 1e9):x}{secrets.token_hex(2)}"
    return ObjectMeta(name=f"{involved.name}.{suffix}", namespace=involved.namespace or "default")


def told(involved: ObjectReference, type_: str, reason: str, message: str) -> str:
    """Log what happened, and give the message as it fits in an event."""
    text = message if len(message) <= LONGEST_MESSAGE else f"{message[: LONGEST_MESSAGE - 1]}…"
    who = f"{involved.namespace}/{involved.name}".lstrip("/")
    level = logging.WARNING if type_ == WARNING else logging.INFO
    logger.log(level, "%s: %s: %s", who, reason, text)
    return text
