"""The relist loop: looks at the runtime again and again, and tells what happened.

The kubelet's pod lifecycle event generator, GenericPLEG.  What it saw last is its podRecords;
what two looks mean is decided in ``compute_events``; how new a status is, and who waits for it, is
kept by ``status_cache``.

Upstream: pkg/kubelet/pleg/generic.go, GenericPLEG.Relist, podRecords
Upstream: pkg/kubelet/metrics/metrics.go, PLEGRelistDuration
"""

from __future__ import annotations

import asyncio
import logging
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import Final, Self

from reflet.gotext.durations import go_duration
from reflet.pleg.compute_events import EventChannel, PodEvent, PodEventType, container_events
from reflet.pleg.runtime_status import PodRuntime, RuntimePod, RuntimeState, RuntimeStatus
from reflet.pleg.status_cache import StatusCache
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded
from reflet.runtime.permanent_tasks import PermanentTasks
from reflet.runtime.tasks import Failure, TaskOwner

PERIOD: Final = 1.0  # seconds from the end of a relist to the next one
THRESHOLD: Final = 180.0  # seconds after which a missing relist is unhealthy
EVENT_CAPACITY: Final = 1000
REQUEST_CAPACITY: Final = 200

logger = logging.getLogger(__name__)


class Pleg:
    """Keeps *cache* as new as the runtime, and reports what happens to containers.

    ::

        async with Pleg(runtime, cache) as pleg:
            async for event in pleg.events:
                workers[event.uid].wake()

    Inside the context the whole runtime is relisted at once and then every *period* seconds,
    counted from the end of the relist before.  An event is given after the cache has the status
    that belongs to it.  When a status cannot be fetched, the cache gets the error, and the
    same events are given once it can be.  ``events`` takes *event_capacity* events that nobody
    has taken yet; more are dropped and counted.

    Between relists, ``request_relist`` has a single pod looked at, and ``request_reinspection``
    has its status fetched by the next relist although nothing seems to have happened.

    A container that comes and goes between two looks is never seen; ``evented`` looks when the
    runtime says so.  *permanent* keeps the tasks that look, and knows if one of them has ended.
    Used by one event loop; ``healthy`` and ``why_unhealthy`` may be asked from any thread.  Can be
    entered once.

    - *runtime*: the container runtime
    - *threshold*: seconds without a relist after which it is unhealthy
    - *request_capacity*: pods that may wait for ``request_relist``
    """

    # A single pod that the runtime does not know is left to the next relist, as in the kubelet.
    _absence_counts = False

    def __init__(
        self,
        runtime: PodRuntime,
        cache: StatusCache,
        *,
        clock: Clock | None = None,
        period: float = PERIOD,
        threshold: float = THRESHOLD,
        event_capacity: int = EVENT_CAPACITY,
        request_capacity: int = REQUEST_CAPACITY,
        metrics: Metrics = NO_METRICS,
        permanent: PermanentTasks | None = None,
    ) -> None:
        self.events = EventChannel(event_capacity)
        self._runtime = runtime
        self._cache = cache
        self._clock = SystemClock() if clock is None else clock
        self._period = period
        self._threshold = threshold
        self._request_capacity = request_capacity
        self._metrics = PlegMetrics(metrics)
        self._tasks = TaskOwner("pleg")
        self._permanent = permanent or PermanentTasks(clock=self._clock)
        # One look at a time.  The lock is fair: a relist that is due comes before the next of
        # the single pods, however many of them wait.
        self._turn = asyncio.Lock()
        self._last_relist: float | None = None
        self._listing_fails = False
        # Each pod as it was when its events were last told; None before the first time.
        self._told: dict[str, RuntimePod | None] = {}
        self._to_reinspect: set[str] = set()
        # When each pod that waits to be looked at was last asked for, in the order of asking.
        self._requests: dict[str, float] = {}
        self._requested = asyncio.Event()

    async def __aenter__(self) -> Self:
        await self._tasks.__aenter__()
        self._permanent.keep(self._tasks, self._relist_for_ever, name="pleg relist")
        self._permanent.keep(self._tasks, self._serve_requests, name="pleg requests")
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        try:
            await self._tasks.__aexit__(*failure)
        finally:
            self.events.close()

    # Health

    def healthy(self) -> bool:
        """Whether the runtime was listed lately."""
        return self.why_unhealthy() is None

    def why_unhealthy(self) -> str | None:
        """Say since when the runtime was not listed, None when all is well."""
        last = self._last_relist
        if last is None:
            return "pleg has yet to be successful"
        elapsed = self._clock.monotonic() - last
        if elapsed <= self._threshold:
            return None
        return (
            f"pleg was last seen active {go_duration(elapsed)} ago; "
            f"threshold is {go_duration(self._threshold)}"
        )

    # Asking for more

    def request_reinspection(self, uid: str) -> None:
        """Have the pod's status fetched by the next look at it, whatever that finds.

        If nothing happened to its containers, a POD_SYNC says that it was.
        """
        self._to_reinspect.add(uid)

    def request_relist(self, uid: str) -> bool:
        """Have one pod looked at soon; False, and logged, when too many wait already.

        Asking again for a pod that waits is asking once.  A relist that begins after the last
        asking serves it too.
        """
        if uid not in self._requests and len(self._requests) >= self._request_capacity:
            self._metrics.request_discarded()
            logger.error(
                "pod %s is not looked at now: %d others wait; the next relist will",
                uid,
                len(self._requests),
            )
            return False
        self._requests[uid] = self._clock.monotonic()
        self._requested.set()
        return True

    # Looking

    async def relist(self) -> None:
        """Look at every pod now; when the runtime cannot list them, nothing changes."""
        async with self._turn:
            began = self._clock.monotonic()
            try:
                await self._relist(began)
            finally:
                self._metrics.relist_ended(self._clock.monotonic() - began)

    async def relist_pod(self, uid: str) -> None:
        """Look at one pod now.

        When the runtime cannot say, or does not know the pod, nothing changes: the next relist
        will tell.
        """
        async with self._turn:
            await self._relist_pod(uid)

    # inside

    async def _relist_for_ever(self) -> None:
        while True:
            await self.relist()
            await self._rest()

    async def _rest(self) -> None:
        await self._clock.sleep(self._period)

    async def _serve_requests(self) -> None:
        while True:
            await self._requested.wait()
            async with self._turn:
                uid = next(iter(self._requests))
                asked = self._requests.pop(uid)
                if not self._requests:
                    self._requested.clear()
                # Decided in turn: while this waited for it, a relist may have served it.
                if self._last_relist is None or asked >= self._last_relist:
                    await self._relist_pod(uid)

    async def _relist(self, began: float) -> None:
        last = self._last_relist
        self._metrics.relist_began(since_last=None if last is None else began - last)
        wall_time = self._clock.now().timestamp()
        asked_before = frozenset(self._to_reinspect)
        try:
            pods = await self._runtime.list_pods()
        except Exception as error:  # noqa: BLE001 - a runtime's own; told by the health too
            self._note_failed_list(error)
            return
        self._listing_fails = False
        self._last_relist = began
        self._metrics.listed(pods, wall_time)
        listed = {pod.uid: pod for pod in pods}
        # At rest every pod is as it was told, second after second.
        if self._to_reinspect or self._told != listed:
            for uid in self._told | listed:
                await self._reconcile(uid, listed.get(uid), began)
        # A pod that appears later brings events, so it is inspected anyway.
        self._to_reinspect -= asked_before - self._told.keys()
        self._cache.update_time(began)

    async def _relist_pod(self, uid: str) -> None:
        began = self._clock.monotonic()
        try:
            await self._look_at(uid, began)
        finally:
            self._metrics.pod_relist_ended(self._clock.monotonic() - began)

    async def _look_at(self, uid: str, began: float) -> None:
        try:
            pod = await self._runtime.find_pod(uid)
        except Exception as error:  # noqa: BLE001 - a runtime's own; the next relist asks again
            self._to_reinspect.add(uid)
            self._metrics.failed("pod")
            logger.warning("pod %s could not be looked at: %s", uid, error)
            return
        if pod is None and not self._absence_counts:
            return
        if pod is not None or uid in self._told:
            await self._reconcile(uid, pod, began)
        # The global time does not move, so this says that the pod was looked at.
        self._cache.set_observed(uid, began)

    async def _reconcile(self, uid: str, now: RuntimePod | None, at: float) -> None:
        """Bring the cache up to date with a pod as it was at *at*, then tell what happened."""
        before = self._told.setdefault(uid, None)
        events = container_events(uid, before, now)
        flagged = uid in self._to_reinspect
        # Before the status is fetched: a request that comes meanwhile is for the next time.
        self._to_reinspect.discard(uid)
        if now is None:
            self._cache.delete(uid)
            del self._told[uid]
        if not events and not flagged:
            return
        if now is not None:
            if not await self._inspect(now, at, again=flagged):
                return
            self._told[uid] = now
        self._tell(uid, events or (PodEvent(uid, PodEventType.POD_SYNC),))

    async def _inspect(self, pod: RuntimePod, at: float, *, again: bool) -> bool:
        """Fetch a pod's status into the cache; False when there is nothing to tell yet."""
        uid = pod.uid
        known_ips = self._cache.get(uid).status.ips
        try:
            status = await self._runtime.pod_status(pod)
        except Exception as error:  # noqa: BLE001 - a runtime's own; the cache hands it on
            self._to_reinspect.add(uid)
            self._metrics.failed("status")
            level = logging.DEBUG if again else logging.WARNING
            logger.log(level, "status of pod %s/%s: %s", pod.namespace, pod.name, error)
            known = RuntimeStatus(uid=uid, name=pod.name, namespace=pod.namespace, ips=known_ips)
            # The cache may keep it for long, and must not keep the runtime's frames with it.
            self._cache.set(uid, known, error.with_traceback(None), at)
            return False
        except BaseException:
            self._to_reinspect.add(uid)
            raise
        return self._cache.set(uid, _keeping_ips(status, known_ips), None, at)

    def _tell(self, uid: str, events: Sequence[PodEvent]) -> None:
        # A container that merely is in an unknown state is nothing to act upon.
        reliable = [event for event in events if event.type is not PodEventType.CONTAINER_CHANGED]
        discarded = sum(not self.events.put(event) for event in reliable)
        if discarded:
            self._metrics.events_discarded(discarded)
            logger.error("the event channel is full: %d of pod %s dropped", discarded, uid)

    def _note_failed_list(self, error: Exception) -> None:
        self._metrics.failed("list")
        # Once a second is too often to say the same.
        level = logging.DEBUG if self._listing_fails else logging.ERROR
        self._listing_fails = True
        logger.log(level, "the runtime's pods could not be listed: %s", error)


def _keeping_ips(status: RuntimeStatus, known_ips: tuple[str, ...]) -> RuntimeStatus:
    """Keep the addresses of a pod that has ended: its network goes first, and people still ask."""
    if status.ips or any(sandbox.ready for sandbox in status.sandboxes):
        return status
    return replace(status, ips=known_ips)


class PlegMetrics:
    """Reports relists, what they found and what was lost."""

    def __init__(self, metrics: Metrics) -> None:
        self._metrics = guarded(metrics)
        self._counted: tuple[RuntimePod, ...] | None = None

    def relist_began(self, *, since_last: float | None) -> None:
        """A relist begins, *since_last* seconds after the last successful one began."""
        if since_last is not None:
            self._metrics.observe("reflet_pleg_relist_interval_seconds", since_last)

    def listed(self, pods: Sequence[RuntimePod], timestamp: float) -> None:
        """A relist that began at *timestamp*, in seconds since 1970, found these pods."""
        self._metrics.gauge("reflet_pleg_last_seen_timestamp_seconds", timestamp)
        found = tuple(pods)
        if found == self._counted:
            return  # at rest that is so each second, and the same pods are quickly compared
        self._counted = found
        self._metrics.gauge("reflet_pleg_running_pods", sum(map(_is_running, pods)))
        states = Counter(container.state for pod in pods for container in pod.containers)
        for state in RuntimeState:
            self._metrics.gauge("reflet_pleg_containers", states[state], state=state)

    def relist_ended(self, lasted: float) -> None:
        """A relist, successful or not, has ended after *lasted* seconds."""
        self._metrics.observe("reflet_pleg_relist_duration_seconds", lasted)

    def pod_relist_ended(self, lasted: float) -> None:
        """A look at a single pod has ended after *lasted* seconds."""
        self._metrics.observe("reflet_pleg_pod_relist_duration_seconds", lasted)

    def failed(self, what: str) -> None:
        """The runtime could not tell: *what* is ``list``, ``pod`` or ``status``."""
        self._metrics.count("reflet_pleg_runtime_failures_total", what=what)

    def events_discarded(self, count: int) -> None:
        """Events did not fit into the channel."""
        self._metrics.count("reflet_pleg_discarded_events_total", count)

    def request_discarded(self) -> None:
        """Too many pods wait to be looked at."""
        self._metrics.count("reflet_pleg_discarded_requests_total")


def _is_running(pod: RuntimePod) -> bool:
    return any(sandbox.state is RuntimeState.RUNNING for sandbox in pod.sandboxes)
