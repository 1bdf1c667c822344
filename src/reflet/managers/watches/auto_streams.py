"""The streams of the strategy ``auto``: the answers of ``watch`` with far fewer streams.

Owns: the namespaces.  What happens in each is ``namespace_streams``; who reads, and what, is
``watched_objects``.
"""

from __future__ import annotations

from typing import Generic

from reflet.managers.object_entry import ObjectEntry
from reflet.managers.object_kinds import C
from reflet.managers.watches.namespace_streams import NamespaceStreams
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.stream_plan import StreamLimits, StreamPlan
from reflet.runtime.clock import SystemClock
from reflet.runtime.tasks import TaskOwner


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
