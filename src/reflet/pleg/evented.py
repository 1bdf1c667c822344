"""Evented PLEG: looks at a pod when the runtime says that something happened to it.

An event is a reason to look, never the answer: what it says of the pod is not used.  The kubelet
takes the status that comes with the event, so that what is lost, late or out of order is believed
until the next relist; and it is without the containers of earlier sandboxes.  A look costs a
few milliseconds, and events of one pod that come together cost one look.

The whole runtime is still relisted, every five minutes, and whenever the stream begins anew, for
what was lost; and every second while the runtime cannot tell what it was asked, or more pods are to
be looked at than may wait.  A stream that fails again and again gives way to the generic PLEG's
pace, until there is one that brings events.

Upstream: pkg/kubelet/pleg/evented.go, EventedPLEG; pkg/kubelet/kubelet.go, eventedPlegRelistPeriod
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from typing import Final, Self

from reflet.errors import RpcUnimplemented
from reflet.pleg.relist import EVENT_CAPACITY, PERIOD, REQUEST_CAPACITY, THRESHOLD, Pleg
from reflet.pleg.runtime_status import EventedRuntime, RuntimeEvent
from reflet.pleg.status_cache import StatusCache, ignore_waits
from reflet.runtime.backoff import Backoff
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import Failure
from reflet.runtime.waits import came_within

MAX_STREAM_RETRIES: Final = 5
"""How often a stream may fail before relisting goes on as without events."""
WAITERS_PERIOD: Final = 5.0
"""Seconds after which a pod that somebody waits for is looked at again: globalCacheUpdatePeriod."""
AFTERWARDS: Final = PERIOD
"""Seconds after an event when the pod is looked at once more: containerd sends that a sandbox is
deleted before it deletes it."""
FIRST_RETRY, LAST_RETRY = 0.1, 30.0  # seconds until a stream that failed is tried again

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Pace:
    """How often to relist.

    - *period*: seconds between two relists
    - *threshold*: seconds without a relist after which that is unhealthy
    """

    period: float
    threshold: float


GENERIC: Final = Pace(PERIOD, THRESHOLD)
EVENTED: Final = Pace(300.0, 600.0)


class EventedPleg(Pleg):
    """A ``Pleg`` that is notified by the runtime, and so relists every five minutes only.

    ::

        async with EventedPleg(CriRuntime(cri.runtime), cache) as pleg:
            async for event in pleg.events:
                workers[event.uid].wake()

    A pod that somebody waits for (``StatusCache.newer_than``) is looked at: at once, and again
    every few seconds while the runtime does not answer.  The kubelet instead declares, every five
    seconds and without looking, that everything is as new as now.

    ``is_streaming`` says whether events come.  Without them, because the runtime has none or the
    stream failed *max_retries* times, this is a ``Pleg`` in all that can be seen, and the stream
    is tried again from time to time.

    - *generic*: period and health threshold while no events come
    - *evented*: period and health threshold while events come
    """

    _absence_counts = True

    def __init__(
        self,
        runtime: EventedRuntime,
        cache: StatusCache,
        *,
        clock: Clock | None = None,
        max_retries: int = MAX_STREAM_RETRIES,
        generic: Pace = GENERIC,
        evented: Pace = EVENTED,
        event_capacity: int = EVENT_CAPACITY,
        request_capacity: int = REQUEST_CAPACITY,
        metrics: Metrics = NO_METRICS,
        permanent: PermanentTasks | None = None,
    ) -> None:
        super().__init__(
            runtime,
            cache,
            clock=clock,
            event_capacity=event_capacity,
            request_capacity=request_capacity,
            metrics=metrics,
            permanent=permanent,
        )
        self._stream = runtime.events
        self._stream_metrics = StreamMetrics(metrics)
        self._event_capacity = event_capacity
        self._max_retries = max_retries
        self._generic = generic
        self._evented = evented
        self._repaced = asyncio.Event()
        self._has_discarded = False  # a pod is to be looked at for which there was no room
        self._set_pace(evented)
        # Pods to look at once more, and when: in the order of time, as each comes last anew.
        self._afterwards: dict[str, float] = {}
        self._has_afterwards = asyncio.Event()

    async def __aenter__(self) -> Self:
        await super().__aenter__()
        loop = asyncio.get_running_loop()
        self._cache.on_wait = lambda uid: _call_in(loop, self.request_relist, uid)
        for work, name in (
            (self._follow_events, "pleg events"),
            (self._look_afterwards, "pleg afterwards"),
            (self._serve_waiters, "pleg waiters"),
        ):
            self._permanent.keep(self._tasks, work, name=name)
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        self._cache.on_wait = ignore_waits
        await super().__aexit__(*failure)

    @property
    def is_streaming(self) -> bool:
        """Whether events come, or may come; relists are seldom then."""
        return self._pace is self._evented

    def why_unhealthy(self) -> str | None:
        """Say since when the runtime was not listed, or that nobody takes the events."""
        waiting = len(self.events)
        if waiting >= self._event_capacity:
            return f"EventedPLEG: pleg event channel capacity is full with {waiting} events"
        return super().why_unhealthy()

    def request_relist(self, uid: str) -> bool:
        """Have one pod looked at soon; where too many wait, all are listed within a second."""
        is_taken = super().request_relist(uid)
        if not is_taken:
            self._has_discarded = True
            self._relist_if_behind()
        return is_taken

    # inside

    def _set_pace(self, pace: Pace) -> None:
        self._pace = pace
        self._period, self._threshold = pace.period, pace.threshold
        self._repaced.set()

    async def _rest(self) -> None:
        self._repaced.clear()
        # However many pods the runtime fails for, it is not listed more often than this.
        await self._clock.sleep(self._generic.period)
        if not self._is_behind:  # no event will come for what it could not tell
            left = max(0.0, self._period - self._generic.period)
            await came_within(self._repaced, left, clock=self._clock)

    @property
    def _is_behind(self) -> bool:
        return self._listing_fails or self._has_discarded or bool(self._to_reinspect)

    async def _relist(self, began: float) -> None:
        self._has_discarded = False
        await super()._relist(began)
        self._relist_if_behind()

    async def _look_at(self, uid: str, began: float) -> None:
        await super()._look_at(uid, began)
        self._relist_if_behind()

    def _relist_if_behind(self) -> None:
        if self._is_behind:
            self._repaced.set()

    async def _follow_events(self) -> None:
        """Read the stream, and open it again when it ends, at an ever slower pace."""
        failures = 0
        backoff = Backoff(
            first=FIRST_RETRY, ceiling=LAST_RETRY, jitter=0, reset_after=None, clock=self._clock
        )
        while True:
            seen = 0
            problem: Exception | str = "the runtime ended the stream"
            try:
                async with self._stream() as events:
                    self._stream_metrics.opened()
                    # For what happened before it was open.
                    await self.relist()
                    async for event in events:
                        seen += 1
                        self._take(event)
            except Exception as error:  # noqa: BLE001 - a runtime's own; relists go on without
                problem = error
            self._stream_metrics.failed()
            if seen:
                failures = 0
                backoff.reset()
            failures = self._max_retries if isinstance(problem, RpcUnimplemented) else failures + 1
            if failures >= self._max_retries:
                self._fall_back(problem)
            else:
                logger.info("the stream of container events is opened again: %s", problem)
            await self._clock.sleep(backoff.next_delay())

    def _fall_back(self, problem: Exception | str) -> None:
        if self.is_streaming:
            logger.warning(
                "Fall back to Generic PLEG relisting since Evented PLEG is not working: %s", problem
            )
            self._set_pace(self._generic)

    def _take(self, event: RuntimeEvent) -> None:
        self._stream_metrics.came((self._clock.now() - event.at).total_seconds())
        if not self.is_streaming:
            logger.info("container events come again")
            self._set_pace(self._evented)
        uid = event.uid or self._pod_of(event.container_id)
        if uid is None:
            return  # nothing that was ever seen: it came and went, or the next relist will find it
        self.request_relist(uid)
        self._afterwards.pop(uid, None)
        self._afterwards[uid] = self._clock.monotonic() + AFTERWARDS
        self._has_afterwards.set()

    def _pod_of(self, container: str) -> str | None:
        for uid, pod in self._told.items():
            if pod is not None and any(
                each.id == container for each in (*pod.containers, *pod.sandboxes)
            ):
                return uid
        return None

    async def _look_afterwards(self) -> None:
        while True:
            await self._has_afterwards.wait()
            uid, due = next(iter(self._afterwards.items()))
            left = due - self._clock.monotonic()
            if left > 0:
                await self._clock.sleep(left)
                continue  # another event of the same pod may have put it off
            del self._afterwards[uid]
            if not self._afterwards:
                self._has_afterwards.clear()
            self.request_relist(uid)

    async def _serve_waiters(self) -> None:
        while True:
            await self._clock.sleep(WAITERS_PERIOD)
            for uid in self._cache.waited_for():
                self.request_relist(uid)


class StreamMetrics:
    """Reports streams of events, and how late events come."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = guarded(metrics)

    def opened(self) -> None:
        """A stream was asked for."""
        self._metrics.count("reflet_pleg_event_streams_total")

    def failed(self) -> None:
        """A stream could not be opened, or has ended."""
        self._metrics.count("reflet_pleg_event_stream_failures_total")

    def came(self, late: float) -> None:
        """An event came *late* seconds after it happened, by two wall clocks."""
        self._metrics.observe("reflet_pleg_event_delay_duration_seconds", max(0.0, late))


def _call_in(loop: asyncio.AbstractEventLoop, call: Callable[[str], object], uid: str) -> None:
    """Call it in its own loop: who waits may be in another, or in none."""
    # The only RuntimeError of call_soon_threadsafe is that the loop is closed: nobody looks then.
    with suppress(RuntimeError):
        loop.call_soon_threadsafe(call, uid)
