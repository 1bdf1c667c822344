"""One object that somebody refers to, as readers see it, and the states that it goes through.

Upstream: pkg/kubelet/util/manager/watch_based_manager.go, objectCacheItem.  Its hasSynced,
immutable, stopped and lastAccessTime are one state here.
"""

from __future__ import annotations

import asyncio
import enum
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Final, Generic

from reflet.managers.object_store import C


class EntryState(enum.StrEnum):
    """Whether a read gets an answer, and whether anybody keeps the answer fresh."""

    LOADING = "loading"  # no answer yet; a stream is about to bring one
    LIVE = "live"  # an answer, which a stream keeps fresh
    UNREAD = "unread"  # the same, though nobody has read it for long: the stream costs nothing
    IDLE = "idle"  # nobody has read it for long: no stream, and so no answer
    IMMUTABLE = "immutable"  # an answer that cannot change: no stream, for ever


class EntryEvent(enum.Enum):
    """What can happen to an entry."""

    SHOWN = enum.auto()  # a stream says what the object is, or that there is none
    NEEDED = enum.auto()  # somebody reads it, or follows all changes
    UNREAD_FOR_LONG = enum.auto()
    STREAM_CLOSED = enum.auto()  # nobody keeps an unread entry fresh any more
    READ_IMMUTABLE = enum.auto()  # somebody has read an object that is immutable


NEXT_STATE: Final[Mapping[tuple[EntryState, EntryEvent], EntryState]] = MappingProxyType(
    {
        (EntryState.LOADING, EntryEvent.SHOWN): EntryState.LIVE,
        # One that is loading is about to be read: being unread for long does not concern it.
        (EntryState.LIVE, EntryEvent.UNREAD_FOR_LONG): EntryState.UNREAD,
        (EntryState.UNREAD, EntryEvent.NEEDED): EntryState.LIVE,
        (EntryState.UNREAD, EntryEvent.STREAM_CLOSED): EntryState.IDLE,
        (EntryState.IDLE, EntryEvent.NEEDED): EntryState.LOADING,
        (EntryState.IDLE, EntryEvent.SHOWN): EntryState.UNREAD,
        # Only what has an answer can be immutable.  Nothing leads out of that state: a deletion,
        # or another object of the name, is not noticed while anybody refers to this one.
        (EntryState.LIVE, EntryEvent.READ_IMMUTABLE): EntryState.IMMUTABLE,
        (EntryState.UNREAD, EntryEvent.READ_IMMUTABLE): EntryState.IMMUTABLE,
    }
)
"""Any other event changes nothing."""

_NOT_SYNCED: Final = frozenset({EntryState.LOADING, EntryState.IDLE})


def next_state(state: EntryState, event: EntryEvent) -> EntryState:
    """The state after an event.  Pure."""
    return NEXT_STATE.get((state, event), state)


class ObjectEntry(Generic[C]):
    """The answer that a read gets, who refers to the object, and who waits for it.

    ``object`` and ``state`` may be read from any thread.  ``version`` is that of the object,
    or that at which it was known that there is none.  ``known`` says that there has been an
    answer once: an idle entry has one, which is not shown.  ``failure`` is why there is none.

    *changed* is called when a read gives another answer than before.
    """

    __slots__ = (
        "_changed",
        "_waiters",
        "failure",
        "known",
        "last_access",
        "name",
        "namespace",
        "object",
        "references",
        "state",
        "version",
    )

    def __init__(
        self, namespace: str, name: str, *, now: float, changed: Callable[[ObjectEntry[C]], None]
    ) -> None:
        self.namespace = namespace
        self.name = name
        self.references: dict[str, int] = {}
        self.object: C | None = None
        self.version = ""
        self.known = False
        self.state = EntryState.LOADING
        self.last_access = now
        self.failure: Exception | None = None
        self._changed = changed
        self._waiters: list[asyncio.Future[None]] | None = None  # hardly ever any

    def __repr__(self) -> str:
        return f"<ObjectEntry {self.namespace}/{self.name} {self.state} at {self.version!r}>"

    @property
    def synced(self) -> bool:
        """Whether a read gets an answer."""
        return self.state not in _NOT_SYNCED

    def happened(self, event: EntryEvent) -> bool:
        """Go to the next state; whether that is another one."""
        before, self.state = self.state, next_state(self.state, event)
        return before is not self.state

    # References

    def refer(self, referrer: str) -> None:
        """Count a reference."""
        self.references[referrer] = self.references.get(referrer, 0) + 1

    def release(self, referrer: str) -> bool:
        """Take a reference back; whether none is left.

        One that was never counted is ignored.  The kubelet would count it as less than nothing,
        and keep the object for ever.
        """
        count = self.references.get(referrer, 0)
        if count > 1:
            self.references[referrer] = count - 1
        elif count == 1:
            del self.references[referrer]
        return not self.references

    # The answer

    def show(self, found: C | None, version: str) -> None:
        """The answer from now on; *version* is that at which it is true."""
        before = self.object
        changed = not self.known or _differ(before, found)
        self.object = found
        self.version = found.metadata.resource_version if found is not None else version
        self.known = True
        self.happened(EntryEvent.SHOWN)  # after the object: other threads look at this first
        self.failure = None
        self.wake()
        if changed:
            self._changed(self)

    # Waiting

    def is_awaited(self) -> bool:
        """Whether somebody waits for an answer."""
        return bool(self._waiters)

    async def wait(self, seconds: float) -> bool:
        """Wait for an answer, or for being woken; whether that was in time."""
        waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        if self._waiters is None:
            self._waiters = []
        self._waiters.append(waiter)
        try:
            # Unlike asyncio.timeout, this prefers an arrival to a deadline at the same moment.
            done, _ = await asyncio.wait((waiter,), timeout=seconds)
            return bool(done)
        finally:
            waiters = self._waiters
            if waiters and waiter in waiters:
                waiters.remove(waiter)

    def wake(self) -> None:
        """Let whoever waits look again."""
        waiters, self._waiters = self._waiters, None
        for waiter in waiters or ():
            if not waiter.done():
                waiter.set_result(None)


def _differ(before: C | None, after: C | None) -> bool:
    if before is None or after is None:
        return before is not after
    old, new = before.metadata, after.metadata
    return (old.resource_version, old.uid) != (new.resource_version, new.uid)
