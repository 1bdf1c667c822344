"""Who keeps entries fresh: one stream for each object, or ``auto``, a stream for a namespace.

``auto`` gives the answers of ``watch`` with far fewer streams; what happens inside of a namespace
is ``namespace_streams``.

Upstream: pkg/kubelet/util/manager/watch_based_manager.go, objectCache.newReflectorLocked, for the
individual streams
"""

from __future__ import annotations

from typing import Generic, Protocol

from reflet.managers.object_entry import EntryEvent, ObjectEntry
from reflet.managers.object_store import C
from reflet.managers.watches.namespace_streams import NamespaceStreams
from reflet.managers.watches.object_watch import ObjectWatch, StreamSettings
from reflet.managers.watches.stream_plan import OpenStream, StreamLimits, StreamPlan
from reflet.runtime.clock import SystemClock
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


class AutoStreams(Generic[C]):
    """Keeps entries fresh, one namespace independent of the other."""

    def __init__(self, settings: StreamSettings[C], *, limits: StreamLimits | None = None) -> None:
        self._settings = settings
        self._limits = limits or StreamLimits()
        self._clock = settings.clock or SystemClock()
        self._tasks: TaskOwner | None = None
        self._namespaces: dict[str, NamespaceStreams[C]] = {}

    def open(self, tasks: TaskOwner) -> None:
        """Begin; streams are tasks of *tasks*."""
        self._tasks = tasks

    def close(self) -> None:
        """Start no more streams."""
        self._tasks = None
        for namespace in self._namespaces.values():
            namespace.close()

    def start(self, entry: ObjectEntry[C]) -> None:
        """An entry is to be fresh from now on."""
        if self._tasks is None:
            return
        namespace = self._namespaces.get(entry.namespace)
        if namespace is None:
            namespace = self._namespaces[entry.namespace] = NamespaceStreams(
                self._settings,
                entry.namespace,
                limits=self._limits,
                clock=self._clock,
                tasks=self._tasks,
                emptied=self._emptied,
            )
        namespace.start(entry)

    def idle(self, entry: ObjectEntry[C]) -> None:
        """Nobody has read an entry for long."""
        self._namespaces[entry.namespace].idle(entry)

    def release(self, entry: ObjectEntry[C]) -> None:
        """An entry needs no stream any more, ever."""
        namespace = self._namespaces.get(entry.namespace)
        if namespace is not None:
            namespace.release(entry)

    def plan(self) -> StreamPlan:
        """The streams that are open, and why."""
        namespaces = (self._namespaces[name] for name in sorted(self._namespaces))
        return StreamPlan(tuple(stream for each in namespaces for stream in each.open_streams()))

    def _emptied(self, streams: NamespaceStreams[C]) -> None:
        # Another may have come in its place.
        if self._namespaces.get(streams.namespace) is streams:
            del self._namespaces[streams.namespace]
