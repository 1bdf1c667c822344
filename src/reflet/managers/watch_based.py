"""The strategies ``watch`` and ``auto``: memory that streams keep fresh.

Here are references, what a read answers and how long it waits, and when the stream of an object
is stopped: ``_stop_if_immutable``, ``stop_if_idle``.  The states of an object are in
``object_entry``; what opens and closes streams is in ``watches``.

A live entry answers even while the server is away.  An immutable one does not notice that its
object was deleted or made anew, until nobody refers to it.

Two quirks of the kubelet are not copied.  A reference that is deleted more often than it was
added stays at zero instead of going below, where it would keep the object for ever.  And being
referred to counts as a read: the kubelet counts reads from the beginning of time, so that it
closes the stream of an object that was never read at its first look for idle ones, to open it
again a moment later when the pod's containers start.

Upstream: pkg/kubelet/util/manager/watch_based_manager.go, objectCache
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from contextlib import AsyncExitStack
from dataclasses import dataclass
from typing import Final, Generic, Self
from weakref import WeakSet

from reflet.api.status import not_found
from reflet.errors import CacheNotSynced, NotRegistered
from reflet.managers.object_entry import EntryEvent, EntryState, ObjectEntry
from reflet.managers.object_store import C, Follower
from reflet.managers.watches.stream_plan import StreamPlan
from reflet.managers.watches.streams import Streams
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Failure, TaskOwner

SYNC_TIMEOUT: Final = 1.0
"""Seconds that a read waits for the first state of an object."""

SYNC_FREQUENCY: Final = 60.0
"""Seconds between two looks of the kubelet at a pod, each of which reads the pod's volumes."""
LOOK_EVERY: Final = 60.0
SHORTEST_IDLE: Final = 60.0
MISSED_SYNCS: Final = 5
"""How many looks at its pods an object may be left out of: then only variables use it."""

# Looked up at every read: a member of an enum costs a good deal more than a name.
_LIVE: Final = EntryState.LIVE
_IMMUTABLE: Final = EntryState.IMMUTABLE


@dataclass(frozen=True, slots=True)
class IdleRule:
    """When an object's stream is closed because nobody reads it.

    - *longest*: seconds that an object may go unread
    - *look_every*: seconds between two looks for such objects
    """

    longest: float
    look_every: float = LOOK_EVERY

    @classmethod
    def for_syncs_every(cls, seconds: float) -> IdleRule:
        """The kubelet's rule for a sync frequency.

        - *seconds*: the kubelet's ``syncFrequency``
        """
        return cls(max(SHORTEST_IDLE, MISSED_SYNCS * seconds))

    def is_idle(self, last_access: float, now: float) -> bool:
        """Whether what was last read at *last_access* has not been read for too long.  Pure.

        - *now*: the present, on the same clock as *last_access*
        """
        return last_access + self.longest < now


DEFAULT_IDLE_RULE: Final = IdleRule.for_syncs_every(SYNC_FREQUENCY)


class WatchedObjects(Generic[C]):
    """Objects in memory, kept fresh by *streams* while the context is open.

    References may be added before it is open; streams begin when it is.  Once it is closed, what
    is known is still answered.  *word* is ``secret`` or ``configmap``, for errors.

    While anybody follows changes no object is idle: whoever follows wants to be told.
    """

    def __init__(
        self,
        streams: Streams[C],
        *,
        word: str,
        clock: Clock | None = None,
        idle: IdleRule = DEFAULT_IDLE_RULE,
        sync_timeout: float = SYNC_TIMEOUT,
    ) -> None:
        self._streams = streams
        self._word = word
        self._clock = clock
        self._idle = idle
        self._sync_timeout = sync_timeout
        self._entries: dict[tuple[str, str], ObjectEntry[C]] = {}
        self._followers: WeakSet[Follower] = WeakSet()
        self._now: Callable[[], float] = time.monotonic if clock is None else clock.monotonic
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended = False
        self._closing = AsyncExitStack()

    async def __aenter__(self) -> Self:
        self._loop = asyncio.get_running_loop()
        if self._clock is None:
            # The loop's own stopwatch: cheap, and the same for every thread.
            self._now = self._loop.time
        tasks = await self._closing.enter_async_context(TaskOwner(f"{self._word} streams"))
        self._streams.open(tasks)
        for entry in self._entries.values():
            entry.last_access = self._now()
            self._streams.start(entry)
        tasks.start(self._stop_idle_for_ever(), name=f"idle {self._word} streams")
        return self

    async def __aexit__(self, *failure: *Failure) -> None:
        self._ended = True
        self._loop = None
        self._streams.close()
        for follower in tuple(self._followers):
            follower.close()
        for entry in self._entries.values():
            entry.wake()
        await self._closing.__aexit__(*failure)

    def __len__(self) -> int:
        """How many objects are referred to."""
        return len(self._entries)

    # References

    def add_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """Count a reference; the first one opens a stream."""
        entry = self._entries.get((namespace, name))
        if entry is None:
            entry = ObjectEntry(namespace, name, now=self._now(), changed=self._changed)
            self._entries[namespace, name] = entry
            entry.refer(referrer)
            self._start(entry)
        else:
            entry.refer(referrer)

    def delete_reference(self, namespace: str, name: str, referrer: str, /) -> None:
        """Take a reference back; with the last one the object is forgotten."""
        entry = self._entries.get((namespace, name))
        if entry is None or not entry.release(referrer):
            return
        del self._entries[namespace, name]
        self._streams.release(entry)
        entry.wake()
        for follower in self._followers:
            follower.forget(namespace, name)

    def references(self, namespace: str, name: str) -> int:
        """How many references there are to an object."""
        entry = self._entries.get((namespace, name))
        return 0 if entry is None else sum(entry.references.values())

    def state_of(self, namespace: str, name: str) -> EntryState:
        """The state of an object; NotRegistered for one that nobody refers to."""
        entry = self._entries.get((namespace, name))
        if entry is None:
            raise NotRegistered(namespace, name)
        return entry.state

    # Reading

    async def get(self, namespace: str, name: str) -> C:
        """The object; waits for its first state, at most for the timeout."""
        # The hot path: a read of what is known is a look into memory.
        while True:
            entry = self._entries.get((namespace, name))
            if entry is None:
                raise NotRegistered(namespace, name)
            entry.last_access = self._now()
            state = entry.state
            if state is not _LIVE and state is not _IMMUTABLE:
                self._restart_if_needed(entry)
                if not entry.synced:
                    await self._arrival(entry)
                    continue
            found = entry.object
            if found is None:
                raise not_found(self._word, name)
            if found.immutable and state is not _IMMUTABLE:
                self._stop_if_immutable(entry)
            return found

    def peek(self, namespace: str, name: str) -> C:
        """The object as it is in memory, from any thread and without waiting."""
        entry = self._entries.get((namespace, name))
        if entry is None:
            raise NotRegistered(namespace, name)
        entry.last_access = self._now()
        # Before the object: ``show`` writes that first, perhaps while we look.
        state = entry.state
        if state is not _LIVE and state is not _IMMUTABLE:
            if state is not EntryState.LOADING:
                self._soon(self._restart_if_needed, entry)
            if state is not EntryState.UNREAD:
                raise self._not_synced(entry, reason="nothing is known yet")
        found = entry.object
        if found is None:
            raise not_found(self._word, name)
        if found.immutable and state is not _IMMUTABLE:
            self._soon(self._stop_if_immutable, entry)
        return found

    # Following

    def follow(self, follower: Follower, /) -> None:
        """Tell *follower* whatever changes from now on, as long as somebody refers to it."""
        if self._ended:
            follower.close()
            return
        self._followers.add(follower)
        for entry in tuple(self._entries.values()):
            self._restart_if_needed(entry)

    def plan(self) -> StreamPlan:
        """The streams that are open, and why."""
        return self._streams.plan()

    # Streams that are not worth keeping

    def stop_if_idle(self) -> None:
        """Close the streams of what nobody has read for long: the kubelet's stopIfIdle."""
        if any(not follower.closed for follower in self._followers):
            return
        now = self._now()
        for entry in tuple(self._entries.values()):
            is_idle = self._idle.is_idle(entry.last_access, now)
            if is_idle and entry.happened(EntryEvent.UNREAD_FOR_LONG):
                self._streams.idle(entry)

    def _stop_if_immutable(self, entry: ObjectEntry[C]) -> None:
        """Close the stream of an object that can never change: the kubelet's setImmutable.

        As there, the first read of it does so: what nobody reads is not worth a decision.
        """
        found = entry.object
        if found is None or not found.immutable or not self._is_current(entry):
            return
        if entry.happened(EntryEvent.READ_IMMUTABLE):
            self._streams.release(entry)

    def _restart_if_needed(self, entry: ObjectEntry[C]) -> None:
        """Open the stream of an idle entry again: the kubelet's restartReflectorIfNeeded."""
        is_open = self._loop is not None and self._is_current(entry)
        if is_open and entry.happened(EntryEvent.NEEDED):
            self._streams.start(entry)

    async def _stop_idle_for_ever(self) -> None:
        clock = self._clock or SystemClock()
        while True:
            await clock.sleep(self._idle.look_every)
            self.stop_if_idle()

    # inside

    def _is_current(self, entry: ObjectEntry[C]) -> bool:
        return self._entries.get((entry.namespace, entry.name)) is entry

    def _start(self, entry: ObjectEntry[C]) -> None:
        if self._loop is not None:
            self._streams.start(entry)

    async def _arrival(self, entry: ObjectEntry[C]) -> None:
        """Return when it is worth looking again; CacheNotSynced when it is not."""
        if self._ended or not await entry.wait(self._sync_timeout):
            raise self._not_synced(entry)

    def _not_synced(self, entry: ObjectEntry[C], *, reason: str = "") -> CacheNotSynced:
        words = {"reason": reason} if reason else {}
        error = CacheNotSynced(self._word, entry.namespace, entry.name, **words)
        error.__cause__ = entry.failure
        return error

    def _soon(self, step: Callable[[ObjectEntry[C]], None], entry: ObjectEntry[C]) -> None:
        """Have *step* done on the loop, from any thread."""
        loop = self._loop
        if loop is None:
            return
        try:
            loop.call_soon_threadsafe(step, entry)
        except RuntimeError:
            # The only RuntimeError of call_soon_threadsafe is that the loop is closed; then
            # there are no streams to open or close.
            if not loop.is_closed():
                raise

    def _changed(self, entry: ObjectEntry[C]) -> None:
        for follower in tuple(self._followers):
            follower.tell(entry.namespace, entry.name)
