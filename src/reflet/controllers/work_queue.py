"""Keys that wait for work: each of them once, and with one worker at a time.

The contract is client-go's.  A key that is added while it waits is there once; one that is added
while a worker has it is *dirty*: it waits until the worker is done, and is then given out again.
So nobody works on a key twice at the same time, and no change that came in between is lost.
Besides: delays (``add_after``), the back-off of keys that fail (``add_rate_limited``), priorities,
a limit, and a shutdown that lets the workers finish.

Upstream: client-go/util/workqueue/queue.go, Typed; delaying_queue.go, delayingType;
rate_limiting_queue.go; metrics.go; controller-runtime/pkg/controller/priorityqueue
"""

from __future__ import annotations

import asyncio
import heapq
from collections import OrderedDict, deque
from collections.abc import Callable, Hashable
from itertools import count
from typing import Final, Generic, TypeVar

from reflet.controllers.rate_limiters import RateLimiter, default_rate_limiter
from reflet.errors import RefletError
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.metrics import NO_METRICS, Metrics, guarded

K = TypeVar("K", bound=Hashable)

FAIR_TURN: Final = 8
"""Every so many keys the one that has waited longest is next, whatever its priority: what is
urgent goes first, and what is not must not wait for ever."""
LOOK_EVERY: Final = 0.5  # seconds between two looks at how long the work takes, as in client-go


class QueueShutDown(RefletError):
    """The queue was shut down and nothing waits in it any more: the worker can end."""


class QueueFull(RefletError):
    """As many keys wait as the queue may hold; ``put`` waits for room."""


class WorkQueue(Generic[K]):
    """A work queue::

        queue = WorkQueue("deployments")
        queue.add("shop/web")

        key = await queue.get()           # in each worker
        try:
            await work_on(key)
        except Exception:
            queue.add_rate_limited(key)   # later, and later each time
        else:
            queue.forget(key)             # it works: the back-off of the key ends
        finally:
            queue.done(key)               # others may have the key now

    Keys of a higher *priority* are given out first, and among equals who came first; a key that is
    added again keeps its place, or moves up to the higher priority.  *limit* is the most keys that
    may wait, 0 for any number.  Used by one event loop: from another thread,
    ``loop.call_soon_threadsafe(queue.add, key)``.

    - *name*: what logs and metrics call it
    - *rate_limiter*: delays of ``add_rate_limited``; None is ``default_rate_limiter``
    - *priority*: higher ones are given out first
    """

    def __init__(
        self,
        name: str = "",
        *,
        rate_limiter: RateLimiter | None = None,
        limit: int = 0,
        metrics: Metrics = NO_METRICS,
        clock: Clock | None = None,
    ) -> None:
        self.name = name
        self._clock = clock or SystemClock()
        self._limiter = rate_limiter or default_rate_limiter(clock=self._clock)
        self._limit = limit
        self._numbers = _Numbers(name, guarded(metrics), self._clock)
        self._number = count()
        # Where nobody reads them, moments need only have an order: a clock costs more.
        self._moment: Callable[[], float] = (
            self._number.__next__ if self._numbers.is_silent else self._clock.monotonic
        )
        # What waits, by priority; each lane in the order of arrival, with its moment.  Not plain
        # dicts: the first key of one is found behind the places of all that were taken before.
        self._lanes: dict[int, OrderedDict[K, float]] = {}
        self._lane_of: dict[K, int] = {}
        self._working: dict[K, float] = {}
        self._dirty: dict[K, int] = {}  # added while a worker has them, with their priority
        self._delayed: dict[K, tuple[float, int, int]] = {}  # due, number, priority
        self._due: list[tuple[float, int, K]] = []
        self._timer: asyncio.Task[None] | None = None  # until the first of them is due
        self._given_out = 0
        self._getters: deque[asyncio.Future[None]] = deque()
        self._putters: deque[asyncio.Future[None]] = deque()
        self._drainers: deque[asyncio.Future[None]] = deque()
        self._is_shut_down = False

    def __len__(self) -> int:
        """How many keys wait to be worked on now."""
        return len(self._lane_of)

    def __repr__(self) -> str:
        return (
            f"<WorkQueue {self.name!r}: {len(self)} waiting, {len(self._working)} worked on, "
            f"{len(self._delayed)} later>"
        )

    @property
    def is_shut_down(self) -> bool:
        """Whether nothing more is taken."""
        return self._is_shut_down

    @property
    def is_idle(self) -> bool:
        """Whether no key waits and no worker has one; delayed keys may be left."""
        return not self._lane_of and not self._working

    # Adding

    def add(self, key: K, *, priority: int = 0) -> None:
        """Let *key* be worked on; after ``shut_down`` nothing happens.  Raises QueueFull."""
        if self._is_shut_down:
            return
        if key in self._working:
            if key not in self._dirty:
                self._numbers.added()
            self._dirty[key] = max(priority, self._dirty.get(key, priority))
            return
        lane = self._lane_of.get(key)
        if lane is None:
            if self._limit and len(self._lane_of) >= self._limit:
                raise QueueFull(f"{self._limit} keys wait in {self.name or 'the queue'} already")
            self._numbers.added()
            self._enqueue(key, priority, self._moment())
        elif priority > lane:
            self._enqueue(key, priority, self._leave_lane(key))

    async def put(self, key: K, *, priority: int = 0) -> None:
        """Add as soon as there is room; a key that waits already, or is worked on, needs none."""
        while (
            self._limit
            and len(self._lane_of) >= self._limit
            and key not in self._lane_of
            and key not in self._working
            and not self._is_shut_down
        ):
            await _wait_in(self._putters)
        self.add(key, priority=priority)

    def add_after(self, key: K, seconds: float, *, priority: int = 0) -> None:
        """Add in some seconds; of two moments for one key the earlier counts.

        A queue that is full then takes it as soon as it has room.

        - *seconds*: how long to wait
        """
        if self._is_shut_down:
            return
        if seconds <= 0 and not (self._limit and len(self._lane_of) >= self._limit):
            self.add(key, priority=priority)
            return
        due, number = self._clock.monotonic() + seconds, next(self._number)
        known = self._delayed.get(key)
        if known is not None and known[0] <= due:
            self._delayed[key] = (known[0], known[1], max(priority, known[2]))
            return
        self._delayed[key] = (due, number, priority if known is None else max(priority, known[2]))
        heapq.heappush(self._due, (due, number, key))
        if self._due[0][1] == number:
            self._set_timer()

    def add_rate_limited(self, key: K, *, priority: int = 0) -> float:
        """Add after the delay that the rate limiter gives a key that has failed once more.

        Return the delay, in seconds.
        """
        self._numbers.retried()
        delay = self._limiter.when(key)
        self.add_after(key, delay, priority=priority)
        return delay

    def forget(self, key: K) -> None:
        """End the back-off of a key; it stays wherever it waits."""
        self._limiter.forget(key)

    def retries(self, key: K) -> int:
        """How often the key was added by ``add_rate_limited`` since it was last forgotten."""
        return self._limiter.retries(key)

    # Working

    async def get(self) -> K:
        """Take the next key, as soon as there is one; give it back by ``done``.

        Raises QueueShutDown when the queue is shut down and empty.
        """
        while not self._lane_of:
            if self._is_shut_down:
                raise QueueShutDown(f"{self.name or 'the queue'} is shut down")
            await _wait_in(self._getters)
        priority = self._next_lane()
        lane = self._lanes[priority]
        key, since = lane.popitem(last=False)
        if not lane:
            del self._lanes[priority]
        del self._lane_of[key]
        self._working[key] = now = self._moment()
        self._numbers.taken(len(self._lane_of), waited=now - since, working=self._working)
        _wake_one(self._putters)
        return key

    def done(self, key: K) -> None:
        """Say that the work on a key has ended; it is given out again if it was added meanwhile."""
        began = self._working.pop(key, None)
        if began is None:
            return
        now = self._moment()
        self._numbers.ended(took=now - began)
        priority = self._dirty.pop(key, None)
        if priority is not None:
            self._enqueue(key, priority, now)
        if self._drainers and self.is_idle:
            _wake_all(self._drainers)

    # Ending

    def shut_down(self) -> None:
        """Take nothing more, and forget what was for later; what waits is still given out."""
        self._close()
        _wake_all(self._drainers)

    async def shut_down_with_drain(self) -> None:
        """Shut down, and return when the workers have done everything that was taken.

        A ``shut_down`` meanwhile ends the wait.
        """
        self._close()
        if not self.is_idle:
            await _wait_in(self._drainers)

    # inside

    def _close(self) -> None:
        self._is_shut_down = True
        self._delayed.clear()
        self._due.clear()
        self._set_timer()
        self._numbers.close()
        _wake_all(self._getters)
        _wake_all(self._putters)

    def _enqueue(self, key: K, priority: int, since: float) -> None:
        lane = self._lanes.get(priority)
        if lane is None:
            lane = self._lanes[priority] = OrderedDict()
        lane[key] = since
        self._lane_of[key] = priority
        self._numbers.depth(len(self._lane_of))
        _wake_one(self._getters)

    def _leave_lane(self, key: K) -> float:
        priority = self._lane_of.pop(key)
        lane = self._lanes[priority]
        since = lane.pop(key)
        if not lane:
            del self._lanes[priority]
        return since

    def _next_lane(self) -> int:
        if len(self._lanes) == 1:
            return next(iter(self._lanes))
        self._given_out += 1
        if self._given_out % FAIR_TURN:
            return max(self._lanes)
        return min(self._lanes, key=lambda lane: next(iter(self._lanes[lane].values())))

    def _set_timer(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self._due:
            waiting = self._add_due(self._due[0][0])
            self._timer = asyncio.get_running_loop().create_task(waiting, name=f"{self.name} later")

    async def _add_due(self, moment: float) -> None:
        await self._clock.sleep(max(0.0, moment - self._clock.monotonic()))
        self._timer = None
        # A sleep may end a little early; what it was for is due all the same.
        now = max(moment, self._clock.monotonic())
        while self._due and self._due[0][0] <= now:
            due, number, key = heapq.heappop(self._due)
            known = self._delayed.get(key)
            if known is None or known[:2] != (due, number):
                continue  # an earlier moment was asked for since
            del self._delayed[key]
            try:
                self.add(key, priority=known[2])
            except QueueFull:
                self.add_after(key, LOOK_EVERY, priority=known[2])
        self._set_timer()


class _Numbers:
    """What a queue reports; without the prefix these are the names of client-go."""

    def __init__(self, name: str, metrics: Metrics, clock: Clock) -> None:
        self._name = name
        self._metrics = metrics
        self._clock = clock
        self.is_silent = metrics is NO_METRICS
        self._looking: asyncio.Task[None] | None = None

    def added(self) -> None:
        self._metrics.count("reflet_workqueue_adds_total", name=self._name)

    def retried(self) -> None:
        self._metrics.count("reflet_workqueue_retries_total", name=self._name)

    def depth(self, keys: int) -> None:
        self._metrics.gauge("reflet_workqueue_depth", keys, name=self._name)

    def taken(self, keys: int, *, waited: float, working: dict[K, float]) -> None:
        self.depth(keys)
        self._metrics.observe("reflet_workqueue_queue_duration_seconds", waited, name=self._name)
        if self._looking is None and not self.is_silent:
            looking = self._look(working)
            name = f"{self._name} numbers"
            self._looking = asyncio.get_running_loop().create_task(looking, name=name)

    def ended(self, *, took: float) -> None:
        self._metrics.observe("reflet_workqueue_work_duration_seconds", took, name=self._name)

    def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            self._looking = None
        self.is_silent = True

    async def _look(self, working: dict[K, float]) -> None:
        """Say how long the work takes that has not ended, as long as there is any."""
        while working:
            self._report_ages(working)
            await self._clock.sleep(LOOK_EVERY)
        self._report_ages(working)
        self._looking = None

    def _report_ages(self, working: dict[K, float]) -> None:
        now = self._clock.monotonic()
        ages = [now - began for began in working.values()]
        self._metrics.gauge("reflet_workqueue_unfinished_work_seconds", sum(ages), name=self._name)
        self._metrics.gauge(
            "reflet_workqueue_longest_running_processor_seconds",
            max(ages, default=0.0),
            name=self._name,
        )


async def _wait_in(waiting: deque[asyncio.Future[None]]) -> None:
    """Return when somebody wakes this waiter; one that is cancelled wakes the next instead."""
    waiter = asyncio.get_running_loop().create_future()
    waiting.append(waiter)
    try:
        await waiter
    except asyncio.CancelledError:
        if waiter in waiting:
            waiting.remove(waiter)
        elif not waiter.cancelled():
            _wake_one(waiting)
        raise


def _wake_one(waiting: deque[asyncio.Future[None]]) -> None:
    while waiting:
        waiter = waiting.popleft()
        if not waiter.done():
            waiter.set_result(None)
            return


def _wake_all(waiting: deque[asyncio.Future[None]]) -> None:
    while waiting:
        _wake_one(waiting)
