"""The streams of one namespace: one for each object, or one for all, and moving between them.

Owns: the moves.  Whoever takes over must have come at least as far as readers have seen; only
then does the other one end.  So a move misses no change and shows no older version.  Which of
the two is right is decided in ``stream_plan``.  Must not know who reads.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from typing import Generic

from reflet.api.watch_events import WatchEvent
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.object_kinds import C
from reflet.managers.resource_versions import is_at_least, newest, rank
from reflet.managers.watches.namespace_watch import NamespaceWatch
from reflet.managers.watches.object_watch import ObjectWatch, StreamSettings
from reflet.managers.watches.stream_plan import (
    Decision,
    OpenStream,
    Refusal,
    Shape,
    StreamLimits,
    decide,
)
from reflet.runtime.clock import Clock
from reflet.runtime.tasks import TaskOwner


class _Member(Generic[C]):
    """An entry of the namespace, and what keeps it fresh.

    ``needed`` is false while it is idle.  ``covered`` says that the stream of the namespace
    feeds it, else its own ``watch`` does, if there is one.  While it is not covered, ``seen``
    holds what the stream of the namespace says of it, once that says anything: ``seen_at`` is
    the version of that, None before.  Before it was to tell of this entry, that stream had come
    up to the rank ``joined``.
    """

    __slots__ = ("covered", "entry", "joined", "needed", "seen", "seen_at", "watch")

    def __init__(self, entry: ObjectEntry[C]) -> None:
        self.entry = entry
        self.needed = True
        self.covered = False
        self.watch: ObjectWatch[C] | None = None
        self.joined = 0.0
        self.forget()

    def forget(self) -> None:
        """Nothing is known from the stream of the namespace."""
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
        # The wanted ones among them, mostly none; in their order, in which changes are told.
        self._uncovered: dict[str, None] = {}
        self._wide: NamespaceWatch[C] | None = None
        self._leaving = False
        self._slow = False
        self._refusal: Refusal | None = None
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
        if not member.covered:
            self._part(member)
            entry.hide()
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
        if self._wide is not None:
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
            is_open=self._wide is not None and not self._leaving,
            refusal=self._refusal,
            now=now,
        )
        if self._decision.shape is Shape.NAMESPACE:
            self._enter_namespace()
        elif self._wide is not None:
            self._leave_namespace()
        self._open_watches()
        self._close_if_left()
        if not self._members and self._wide is None and self._refusal is None:
            self._emptied(self)

    def _enter_namespace(self) -> None:
        if self._wide is None:
            self._slow = False
            seen = newest(it.entry.version for it in self._members.values() if it.entry.known)
            self._wide = wide = NamespaceWatch(
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
            wide.start(self._tasks)
            self._tasks.start(
                self._lose_patience(wide), name=f"patience with namespace {self.namespace}"
            )
        elif self._leaving:
            self._leaving = False
            for member in self._members.values():
                if member.covered:
                    member.drop_watch()
                elif member.needed:
                    self._join(member)

    def _is_awaited(self) -> bool:
        return any(member.entry.is_awaited() for member in self._members.values())

    def _leave_namespace(self) -> None:
        self._leaving = True
        if self._wide is not None and not self._wide.synced:
            self._close_namespace()  # it never had anything to hand over

    def _open_watches(self) -> None:
        """Give a stream of its own to every entry that needs one and has no other."""
        loading = self._wide is not None and not (self._wide.synced or self._slow or self._leaving)
        for member in self._members.values():
            if member.needed and not loading and (self._leaving or not member.covered):
                self._open_watch(member)

    def _open_watch(self, member: _Member[C]) -> None:
        if member.watch is None:
            member.watch = ObjectWatch(self._settings, member.entry, shown=self._shown)
        member.watch.start(self._tasks)

    async def _lose_patience(self, wide: NamespaceWatch[C]) -> None:
        await self._clock.sleep(self._limits.patience)
        if self._wide is wide and not wide.synced:
            self._slow = True
            self._replan_soon()

    # Moving into the stream of the namespace

    def _join(self, member: _Member[C]) -> None:
        """Let the stream of the namespace tell of an entry."""
        wide, name = self._wide, member.entry.name
        if wide is None or self._leaving or member.covered or wide.wants(name):
            return
        member.forget()
        wide.want(name)
        member.joined = wide.reached
        self._uncovered[name] = None

    def _part(self, member: _Member[C]) -> None:
        """Let the stream of the namespace tell no more of an entry."""
        member.covered = False
        member.forget()
        self._uncovered.pop(member.entry.name, None)
        if self._wide is not None:
            self._wide.unwant(member.entry.name)

    def _settle_all(self) -> None:
        for name in tuple(self._uncovered):
            self._settle(self._members[name])

    def _settle(self, member: _Member[C]) -> None:
        """Move an entry into the stream of the namespace, if that has come far enough."""
        wide, entry = self._wide, member.entry
        if wide is None or not wide.synced or self._leaving or member.covered:
            return
        if entry.known and not is_at_least(wide.version, entry.version):
            return
        if member.seen_at is not None:
            found, version = member.seen, member.seen_at
        elif self._watch_knows_what_came_before(member):
            found, version = entry.object, entry.version
        else:
            return
        member.covered = True
        member.forget()
        self._uncovered.pop(entry.name, None)
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
        if member.covered:
            if not is_at_least(watch.version, entry.version):
                return
            self._part(member)
            entry.show(watch.object, watch.claim)
            self._replan_soon()
            return
        entry.show(watch.object, watch.claim)
        if entry.name in self._uncovered:
            self._settle(member)

    def _close_if_left(self) -> None:
        if self._wide is None or not self._leaving:
            return
        if not any(member.covered and member.needed for member in self._members.values()):
            self._close_namespace()

    def _close_namespace(self) -> None:
        wide, self._wide = self._wide, None
        self._leaving = False
        self._uncovered.clear()
        if wide is not None:
            wide.stop()
        for member in self._members.values():
            if member.covered:
                # It has not come as far as what readers have seen; the next one is asked to.
                member.drop_watch()
                if not member.needed:
                    member.entry.hide()
            member.covered = False
            member.forget()

    # What the stream of the namespace brings

    def filled(self, found: Mapping[str, C], unknown: frozenset[str]) -> None:
        """Show the wanted objects; the unknown ones need streams of their own for a while."""
        wide = self._wide
        if wide is None:
            return
        for name, member in self._members.items():
            if wide.wants(name) and name not in unknown:
                self._saw(member, found.get(name), wide.version)
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
        if member.covered:
            member.entry.show(found, version)
        else:
            member.seen, member.seen_at = found, version

    def refused(self, reason: str) -> None:
        """Remember it, and give every object a stream of its own."""
        if self._closed:
            return
        self._refusal = Refusal(reason, self._clock.monotonic() + self._limits.refused_for)
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
