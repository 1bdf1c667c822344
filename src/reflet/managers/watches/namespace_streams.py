"""The streams of one namespace: one for each object, or one for all, and moving between them.

The stream that takes an entry over must have come at least as far as readers have seen; only
then does the other one end.  So a move misses no change and shows no older version.  Which of
the two is right is decided in ``stream_plan``.  The kubelet has no counterpart.
"""

from __future__ import annotations

import asyncio
import enum
import math
from collections.abc import Callable, Mapping
from typing import Generic

from reflet.api.resource_versions import is_at_least, newest, rank
from reflet.api.watch_events import WatchEvent
from reflet.managers.object_entry import EntryEvent, ObjectEntry
from reflet.managers.object_store import C
from reflet.managers.watches.namespace_watch import NamespaceWatch
from reflet.managers.watches.object_watch import ObjectWatch, StreamSettings
from reflet.managers.watches.stream_plan import (
    Decision,
    NamespaceRefusal,
    OpenStream,
    Shape,
    StreamLimits,
    decide,
)
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner


class Phase(enum.Enum):
    """How far a namespace is with its shared stream, which is the one for all its objects."""

    INDIVIDUAL = enum.auto()  # there is none: each object has its own stream
    LOADING = enum.auto()  # it has brought nothing yet, and objects wait for it
    SLOW = enum.auto()  # the same for so long that objects get streams of their own meanwhile
    SHARED = enum.auto()  # it feeds those that it has caught up with, and takes on others
    LEAVING = enum.auto()  # it feeds what it did until streams of their own have caught up


class Feed(enum.Enum):
    """What brings the news of an entry."""

    OWN = enum.auto()  # a stream of its own, if it has one
    JOINING = enum.auto()  # the same, while the shared stream tells of it but has not caught up
    SHARED = enum.auto()  # the shared stream


class _Member(Generic[C]):
    """An entry of the namespace, and what keeps it fresh.

    ``needed`` is false while nobody reads it.  While it is joining, ``seen`` holds what the
    shared stream says of it, once that says anything: ``seen_at`` is the version of that, None
    before.  Before it was to tell of this entry, that stream had come up to the rank ``joined``.
    """

    __slots__ = ("entry", "feed", "joined", "needed", "seen", "seen_at", "watch")

    def __init__(self, entry: ObjectEntry[C]) -> None:
        self.entry = entry
        self.needed = True
        self.watch: ObjectWatch[C] | None = None
        self.joined = 0.0
        self.fed_by(Feed.OWN)

    def fed_by(self, feed: Feed) -> None:
        """Change the feed, and forget what the shared stream said before."""
        self.feed = feed
        self.seen: C | None = None
        self.seen_at: str | None = None

    def drop_watch(self) -> None:
        """End its own stream, for good."""
        if self.watch is not None:
            self.watch.stop()
            self.watch = None


class NamespaceStreams(Generic[C]):
    """Keeps the entries of one namespace fresh with as few streams as *limits* allow.

    *emptied* is called when there is nothing left to keep or to remember.
    """

    def __init__(
        self,
        settings: StreamSettings[C],
        namespace: str,
        *,
        limits: StreamLimits,
        clock: Clock,
        tasks: TaskOwner,
        emptied: Callable[[NamespaceStreams[C]], None],
    ) -> None:
        self.namespace = namespace
        self._settings = settings
        self._limits = limits
        self._clock = clock
        self._tasks = tasks
        self._emptied = emptied
        self._members: dict[str, _Member[C]] = {}
        # Those with the feed JOINING, mostly none; in their order, in which changes are told.
        self._joining: dict[str, None] = {}
        self._phase = Phase.INDIVIDUAL
        self._shared: NamespaceWatch[C] | None = None
        self._refusal: NamespaceRefusal | None = None
        self._decision = Decision(Shape.INDIVIDUAL, "nothing is needed yet")
        self._replanning = False
        self._closed = False

    def close(self) -> None:
        """Start no more streams; those that run end with their owner."""
        self._closed = True

    # What is needed

    def start(self, entry: ObjectEntry[C]) -> None:
        """An entry is to be fresh from now on."""
        member = self._members.get(entry.name)
        if member is None:
            member = self._members[entry.name] = _Member(entry)
        member.needed = True
        self._join(member)
        self._replan_soon()

    def idle(self, entry: ObjectEntry[C]) -> None:
        """Nobody has read an entry for long; it stays fresh as long as that costs no stream."""
        member = self._members[entry.name]
        member.needed = False
        if member.watch is not None:
            member.watch.stop()  # and kept: it knows from where to go on
        if member.feed is not Feed.SHARED:
            self._part(member)
            entry.happened(EntryEvent.STREAM_CLOSED)
        self._replan_soon()

    def release(self, entry: ObjectEntry[C]) -> None:
        """An entry needs no stream any more, ever."""
        member = self._members.pop(entry.name, None)
        if member is not None:
            self._part(member)
            member.drop_watch()
            self._replan_soon()

    def open_streams(self) -> list[OpenStream]:
        """The streams that are open, and why."""
        reason = self._decision.reason
        streams = [
            OpenStream(self.namespace, name, reason)
            for name, member in self._members.items()
            if member.watch is not None and member.watch.running
        ]
        if self._shared is not None:
            streams.append(OpenStream(self.namespace, None, reason))
        return streams

    # The plan

    def _replan_soon(self) -> None:
        # Not at once: a pod brings its references one by one, and all of them should count.
        if not self._replanning:
            self._replanning = True
            asyncio.get_running_loop().call_soon(self._replan)

    def _replan(self) -> None:
        self._replanning = False
        if self._closed:
            return
        now = self._clock.monotonic()
        if self._refusal is not None and now >= self._refusal.until:
            self._refusal = None
        self._decision = decide(
            self._limits,
            needed=sum(member.needed for member in self._members.values()),
            is_open=self._phase not in {Phase.INDIVIDUAL, Phase.LEAVING},
            refusal=self._refusal,
            now=now,
        )
        if self._decision.shape is Shape.NAMESPACE:
            self._enter_namespace()
        elif self._shared is not None:
            self._leave_namespace()
        self._open_watches()
        self._close_if_left()
        if not self._members and self._shared is None and self._refusal is None:
            self._emptied(self)

    def _enter_namespace(self) -> None:
        if self._phase is Phase.INDIVIDUAL:
            self._phase = Phase.LOADING
            seen = newest(it.entry.version for it in self._members.values() if it.entry.known)
            self._shared = shared = NamespaceWatch(
                self._settings,
                self.namespace,
                self,
                most_objects=self._limits.most_objects,
                since=seen,
                awaited=self._is_awaited,
            )
            for member in self._members.values():
                if member.needed:
                    self._join(member)
            shared.start(self._tasks)
            self._tasks.start(
                self._wait_for_first_state(shared), name=f"loading of namespace {self.namespace}"
            )
        elif self._phase is Phase.LEAVING:
            self._phase = Phase.SHARED
            for member in self._members.values():
                if member.feed is Feed.SHARED:
                    member.drop_watch()
                elif member.needed:
                    self._join(member)

    def _is_awaited(self) -> bool:
        return any(member.entry.is_awaited() for member in self._members.values())

    def _leave_namespace(self) -> None:
        if self._phase is Phase.SHARED:
            self._phase = Phase.LEAVING
        elif self._phase is not Phase.LEAVING:
            self._close_namespace()  # it never had anything to hand over

    def _open_watches(self) -> None:
        """Give a stream of its own to every entry that needs one and has no other."""
        if self._phase is Phase.LOADING:
            return
        for member in self._members.values():
            has_other = member.feed is Feed.SHARED and self._phase is not Phase.LEAVING
            if member.needed and not has_other:
                self._open_watch(member)

    def _open_watch(self, member: _Member[C]) -> None:
        if member.watch is None:
            member.watch = ObjectWatch(self._settings, member.entry, shown=self._shown)
        member.watch.start(self._tasks)

    async def _wait_for_first_state(self, shared: NamespaceWatch[C]) -> None:
        await self._clock.sleep(self._limits.loading_timeout)
        if self._shared is shared and self._phase is Phase.LOADING:
            self._phase = Phase.SLOW
            self._replan_soon()

    # Moving into the shared stream

    def _join(self, member: _Member[C]) -> None:
        """Let the shared stream tell of an entry."""
        shared, name = self._shared, member.entry.name
        if shared is None or self._phase is Phase.LEAVING or member.feed is not Feed.OWN:
            return
        member.fed_by(Feed.JOINING)
        shared.want(name)
        member.joined = shared.reached
        self._joining[name] = None

    def _part(self, member: _Member[C]) -> None:
        """Let the shared stream tell no more of an entry."""
        member.fed_by(Feed.OWN)
        self._joining.pop(member.entry.name, None)
        if self._shared is not None:
            self._shared.unwant(member.entry.name)

    def _settle_all(self) -> None:
        for name in tuple(self._joining):
            self._settle(self._members[name])

    def _settle(self, member: _Member[C]) -> None:
        """Move an entry into the shared stream, if that has come far enough."""
        shared, entry = self._shared, member.entry
        if shared is None or self._phase is not Phase.SHARED or member.feed is Feed.SHARED:
            return
        if entry.known and not is_at_least(shared.version, entry.version):
            return
        if member.seen_at is not None:
            found, version = member.seen, member.seen_at
        elif self._watch_knows_what_came_before(member):
            found, version = entry.object, entry.version
        else:
            return
        member.fed_by(Feed.SHARED)
        self._joining.pop(entry.name, None)
        member.drop_watch()
        entry.show(found, version)

    def _watch_knows_what_came_before(self, member: _Member[C]) -> bool:
        watch = member.watch
        if watch is None or not watch.synced or not member.entry.synced:
            return False
        reached = rank(watch.version)
        return math.isfinite(reached) and member.joined <= reached

    # Moving out of it

    def _shown(self, watch: ObjectWatch[C]) -> None:
        """An entry's own stream has brought something."""
        entry = watch.entry
        member = self._members[entry.name]
        if member.feed is Feed.SHARED:
            if not is_at_least(watch.version, entry.version):
                return
            self._part(member)
            entry.show(watch.object, watch.claim)
            self._replan_soon()
            return
        entry.show(watch.object, watch.claim)
        if member.feed is Feed.JOINING:
            self._settle(member)

    def _close_if_left(self) -> None:
        if self._phase is not Phase.LEAVING:
            return
        members = self._members.values()
        if not any(member.needed and member.feed is Feed.SHARED for member in members):
            self._close_namespace()

    def _close_namespace(self) -> None:
        shared, self._shared = self._shared, None
        self._phase = Phase.INDIVIDUAL
        self._joining.clear()
        if shared is not None:
            shared.stop()
        for member in self._members.values():
            if member.feed is Feed.SHARED:
                # Its own has not come as far as what readers have seen; the next is asked to.
                member.drop_watch()
                if not member.needed:
                    member.entry.happened(EntryEvent.STREAM_CLOSED)
            member.fed_by(Feed.OWN)

    # What the shared stream brings

    def filled(self, found: Mapping[str, C], unknown: frozenset[str]) -> None:
        """Show the wanted objects; the unknown ones need streams of their own for a while."""
        shared = self._shared
        if shared is None:
            return
        if self._phase is not Phase.LEAVING:
            self._phase = Phase.SHARED
        for name, member in self._members.items():
            if member.feed is not Feed.OWN and name not in unknown:
                self._saw(member, found.get(name), shared.version)
        self._settle_all()
        self._replan_soon()

    def changed(self, events: list[WatchEvent[C]]) -> None:
        """Show what happened; and what could not be moved before, perhaps can now."""
        for event in events:
            item = event.object
            member = self._members.get(item.metadata.name)
            if member is not None:
                gone = event.type == "DELETED"
                self._saw(member, None if gone else item, item.metadata.resource_version)
        # After all of them: the stream has come as far as the last one.
        self._settle_all()

    def _saw(self, member: _Member[C], found: C | None, version: str) -> None:
        if member.feed is Feed.SHARED:
            member.entry.show(found, version)
        else:
            member.seen, member.seen_at = found, version

    def refused(self, reason: str) -> None:
        """Remember it, and give every object a stream of its own."""
        if self._closed:
            return
        self._refusal = NamespaceRefusal(reason, self._clock.monotonic() + self._limits.refused_for)
        self._tasks.start(
            self._forgive(), name=f"memory of a refusal in namespace {self.namespace}"
        )
        self._close_namespace()
        self._replan_soon()

    def failed(self, error: Exception) -> None:
        """Tell those who wait why they wait."""
        for member in self._members.values():
            if not member.entry.synced:
                member.entry.failure = error

    async def _forgive(self) -> None:
        await self._clock.sleep(self._limits.refused_for)
        self._replan_soon()
