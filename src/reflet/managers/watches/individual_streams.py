"""A stream for each object, as the kubelet has it; and what a strategy asks of streams.

Upstream: pkg/kubelet/util/manager/watch_based_manager.go, objectCache.newReflectorLocked
"""

from __future__ import annotations

from typing import Generic, Protocol

from reflet.managers.object_entry import EntryEvent, ObjectEntry
from reflet.managers.object_kinds import C
from reflet.managers.watches.object_watch import ObjectWatch, StreamSettings
from reflet.managers.watches.stream_plan import OpenStream, StreamPlan
from reflet.runtime.tasks import TaskOwner


class Streams(Protocol[C]):
    """Whoever keeps entries fresh.

    Is opened once and closed once; in between it is told which entries need it.  Nothing here
    waits.
    """

    def open(self, tasks: TaskOwner) -> None:
        """Begin; streams are tasks of *tasks*."""
        ...

    def close(self) -> None:
        """Start no more streams; those that run end with their owner."""
        ...

    def start(self, entry: ObjectEntry[C]) -> None:
        """An entry is to be fresh from now on."""
        ...

    def idle(self, entry: ObjectEntry[C]) -> None:
        """Nobody has read an entry for long; if its stream is closed now, the entry is told."""
        ...

    def release(self, entry: ObjectEntry[C]) -> None:
        """An entry needs no stream any more, ever."""
        ...

    def plan(self) -> StreamPlan:
        """The streams that are open, and why."""
        ...


class IndividualStreams(Generic[C]):
    """One watch for each entry, which an idle entry keeps to go on from where it was."""

    def __init__(self, settings: StreamSettings[C]) -> None:
        self._settings = settings
        self._tasks: TaskOwner | None = None
        self._watches: dict[ObjectEntry[C], ObjectWatch[C]] = {}

    def open(self, tasks: TaskOwner) -> None:
        """Begin; streams are tasks of *tasks*."""
        self._tasks = tasks

    def close(self) -> None:
        """Start no more streams."""
        self._tasks = None

    def start(self, entry: ObjectEntry[C]) -> None:
        """Open the entry's stream."""
        if self._tasks is None:
            return
        watch = self._watches.get(entry)
        if watch is None:
            watch = self._watches[entry] = ObjectWatch(self._settings, entry, shown=_show)
        watch.start(self._tasks)

    def idle(self, entry: ObjectEntry[C]) -> None:
        """Close the entry's stream, and remember how far it was."""
        self._watches[entry].stop()
        entry.happened(EntryEvent.STREAM_CLOSED)

    def release(self, entry: ObjectEntry[C]) -> None:
        """Close the entry's stream for good."""
        watch = self._watches.pop(entry, None)
        if watch is not None:
            watch.stop()

    def plan(self) -> StreamPlan:
        """One stream for each entry that is neither idle nor released."""
        return StreamPlan(
            tuple(
                OpenStream(entry.namespace, entry.name, "every object has its own")
                for entry, watch in self._watches.items()
                if watch.running
            )
        )


def _show(watch: ObjectWatch[C]) -> None:
    watch.entry.show(watch.object, watch.claim)
