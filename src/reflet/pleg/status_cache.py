"""The latest status of every pod, and waiting for a newer one: the kubelet's PodCache.

``newer_than`` is its GetNewerThan.

Moments are seconds on one stopwatch, ``Clock.monotonic()`` of whoever writes and waits.  The
kubelet compares the times of its wall clock, but Go's carry a reading of the stopwatch and are
compared by that.  Python's ``datetime`` carries none: a clock set back by an hour would let
every waiter wait for an hour.

Upstream: pkg/kubelet/container/cache.go, cache.GetNewerThan, cache.UpdateTime
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable
from dataclasses import dataclass, replace

from reflet.errors import RefletError
from reflet.pleg.runtime_status import RuntimeStatus


@dataclass(frozen=True, slots=True)
class Inspection:
    """What came of looking at a pod: its status, and the error if looking failed.

    With an error, the status is what is known all the same.

    - *status*: what is known of the pod
    - *error*: why the runtime could not report; None if it did
    """

    status: RuntimeStatus
    error: Exception | None = None


class StatusTooOld(RefletError, TimeoutError):
    """No status of pod ``uid`` newer than ``moment`` came within ``timeout`` seconds.

    - *moment*: the moment that was asked for
    - *timeout*: seconds that were waited
    """

    def __init__(self, uid: str, moment: float, timeout: float) -> None:
        self.uid = uid
        self.moment = moment
        self.timeout = timeout
        super().__init__(f"no newer status of pod {uid} came within {timeout:g} s")


class StatusCache:
    """The status of every pod as it was last seen.

    ``get`` is one look-up, from any thread.  Waiting is for tasks of any event loop
    (``newer_than``) and for threads without one (``newer_than_blocking``); a waiter that is
    cancelled or runs out of time leaves nothing behind.  Writing never waits, wakes the waiters
    that are due before it returns, and may be done from any thread.

    As in the kubelet, a status in memory answers at once only when it is *strictly newer* than the
    time asked for, while a new status wakes a waiter when it is *not older*.

    Moments may go back, and older data overwrites newer, unless *ignore_older* is set: that is
    for several writers, whose data may overtake each other.
    """

    def __init__(self, *, ignore_older: bool = False) -> None:
        self._ignore_older = ignore_older
        self.on_wait: Callable[[str], None] = ignore_waits
        """Called with a pod's uid when somebody begins to wait for it, in that thread."""
        self._lock = threading.Lock()
        self._entries: dict[str, _Entry] = {}
        self._everything_at: float | None = None
        # Dictionaries, because waiters wake in the order in which they came.
        self._waiters: dict[str, dict[_Waiter, None]] = {}

    def __repr__(self) -> str:
        return f"<StatusCache of {len(self._entries)} pods, {self.waiting} waiting>"

    @property
    def waiting(self) -> int:
        """How many wait for a newer status of any pod."""
        with self._lock:
            return sum(map(len, self._waiters.values()))

    def waited_for(self) -> tuple[str, ...]:
        """The pods that somebody waits for."""
        with self._lock:
            return tuple(self._waiters)

    # Reading

    def get(self, uid: str) -> Inspection:
        """Return what is known of a pod; of an unknown one, an empty status with its uid."""
        entry = self._entries.get(uid)
        return Inspection(RuntimeStatus(uid=uid)) if entry is None else entry.inspection

    def uids(self) -> tuple[str, ...]:
        """The pods of which something is known."""
        with self._lock:
            return tuple(self._entries)

    def as_of(self, uid: str) -> float | None:
        """The moment that what is known of a pod is as new as; None before the first look.

        ``newer_than`` answers at once for any moment before it.
        """
        with self._lock:
            entry = self._entries.get(uid)
            moments = [] if entry is None else [entry.modified, entry.observed]
            if self._everything_at is not None:
                moments.append(self._everything_at)
        return max(moments, default=None)

    async def newer_than(
        self, uid: str, moment: float, *, timeout: float | None = None
    ) -> Inspection:
        """Return what is known of a pod once that is newer than *moment*.

        At once, without letting others run first, when it is already.  StatusTooOld when it
        takes longer than *timeout* seconds.
        """
        arrival: asyncio.Future[Inspection] = asyncio.get_running_loop().create_future()
        waiter = _Waiter(moment, _TaskDelivery(arrival))
        known = self._known_or_queue(uid, waiter)
        if known is not None:
            return known
        try:
            if timeout is None:
                return await arrival
            # Unlike asyncio.timeout, this prefers an arrival to a deadline at the same moment.
            await asyncio.wait((arrival,), timeout=timeout)
            if arrival.done():
                return arrival.result()
            raise StatusTooOld(uid, moment, timeout)
        finally:
            self._forget(uid, waiter)

    def newer_than_blocking(
        self, uid: str, moment: float, *, timeout: float | None = None
    ) -> Inspection:
        """Do as ``newer_than`` does, in a thread that runs no event loop.

        - *moment*: on the clock of the ``Pleg`` that fills the cache
        """
        if _running_loop() is not None:
            raise RuntimeError("an event loop runs in this thread: await newer_than instead")
        longest = threading.TIMEOUT_MAX
        patience = longest if timeout is None else min(timeout, longest)
        delivery = _ThreadDelivery()
        waiter = _Waiter(moment, delivery)
        known = self._known_or_queue(uid, waiter)
        if known is not None:
            return known
        try:
            arrived = delivery.wait(patience)
        finally:
            self._forget(uid, waiter)
        if arrived is None:
            raise StatusTooOld(uid, moment, patience)
        return arrived

    # Writing

    def set(self, uid: str, status: RuntimeStatus, error: Exception | None, at: float) -> bool:
        """Store what a look at a pod brought, begun at *at*, and wake the tasks that waited.

        False, and nothing happens, when it is older than what is stored and that counts.

        - *status*: what the runtime reported
        - *error*: why the runtime could not report; None if it did
        """
        inspection = Inspection(status, error)
        with self._lock:
            before = self._entries.get(uid)
            if self._ignore_older and before is not None and before.modified > at:
                return False
            self._entries[uid] = _Entry(inspection, modified=at, observed=at)
            due = self._take_due(uid, at)
        _deliver(due, inspection)
        return True

    def set_observed(self, uid: str, at: float) -> None:
        """A look at a pod, begun at *at*, brought nothing new; not remembered of unknown pods."""
        with self._lock:
            entry = self._entries.get(uid)
            if entry is not None:
                self._entries[uid] = replace(entry, observed=at)
            due = self._take_due(uid, at)
            inspection = self.get(uid)
        _deliver(due, inspection)

    def delete(self, uid: str) -> None:
        """Forget a pod; tasks that wait for it go on waiting."""
        with self._lock:
            self._entries.pop(uid, None)

    def update_time(self, at: float) -> None:
        """Everything here, and everything that is not, is as it was at *at* or later."""
        with self._lock:
            self._everything_at = at
            due = [
                (waiters, self.get(uid))
                for uid in tuple(self._waiters)
                if (waiters := self._take_due(uid, at))
            ]
        for waiters, inspection in due:
            _deliver(waiters, inspection)

    # inside; with the lock held

    def _take_due(self, uid: str, at: float) -> list[_Waiter]:
        """Take those out of the line for whom something of *at* is new enough."""
        line = self._waiters.get(uid)
        if line is None:
            return []
        due = [waiter for waiter in line if waiter.moment <= at]
        for waiter in due:
            del line[waiter]
        if not line:
            del self._waiters[uid]
        return due

    def _is_newer(self, uid: str, moment: float) -> bool:
        if self._everything_at is not None and self._everything_at > moment:
            return True
        entry = self._entries.get(uid)
        return entry is not None and (entry.modified > moment or entry.observed > moment)

    # inside; these take the lock

    def _known_or_queue(self, uid: str, waiter: _Waiter) -> Inspection | None:
        """Return what is newer than the waiter's moment, or put the waiter in the line."""
        with self._lock:
            if self._is_newer(uid, waiter.moment):
                return self.get(uid)
            self._waiters.setdefault(uid, {})[waiter] = None
        self.on_wait(uid)
        return None

    def _forget(self, uid: str, waiter: _Waiter) -> None:
        with self._lock:
            line = self._waiters.get(uid)
            if line is not None:
                line.pop(waiter, None)
                if not line:
                    del self._waiters[uid]


@dataclass(frozen=True, slots=True)
class _Entry:
    """Frozen, so that a reader in another thread sees all of it or nothing."""

    inspection: Inspection
    modified: float
    observed: float


@dataclass(frozen=True, slots=True, eq=False)
class _Waiter:
    moment: float
    deliver: Callable[[Inspection], None]


class _TaskDelivery:
    """Brings the answer to a task, in its own loop."""

    __slots__ = ("_arrival",)

    def __init__(self, arrival: asyncio.Future[Inspection]) -> None:
        self._arrival = arrival

    def __call__(self, inspection: Inspection) -> None:
        loop = self._arrival.get_loop()
        if loop is _running_loop():
            self._arrive(inspection)
            return
        try:
            loop.call_soon_threadsafe(self._arrive, inspection)
        except RuntimeError:
            # The only RuntimeError of call_soon_threadsafe is that the loop is closed; then
            # nobody is left in it to wake.
            if not loop.is_closed():
                raise

    def _arrive(self, inspection: Inspection) -> None:
        # The task may have been cancelled in the meantime.
        if not self._arrival.done():
            self._arrival.set_result(inspection)


class _ThreadDelivery:
    """Brings the answer to a thread."""

    __slots__ = ("_arrived", "_inspection")

    def __init__(self) -> None:
        self._arrived = threading.Event()
        self._inspection: Inspection | None = None

    def __call__(self, inspection: Inspection) -> None:
        self._inspection = inspection
        self._arrived.set()

    def wait(self, seconds: float) -> Inspection | None:
        """Return the answer, None when there is none after so many seconds."""
        self._arrived.wait(seconds)
        return self._inspection


def ignore_waits(uid: str) -> None:
    """Nobody looks because somebody waits: the usual relist is soon enough."""


def _deliver(waiters: list[_Waiter], inspection: Inspection) -> None:
    for waiter in waiters:
        waiter.deliver(inspection)


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
