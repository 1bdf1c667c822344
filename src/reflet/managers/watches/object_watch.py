"""The stream of one object: its reflector, its task, and the object as the stream shows it.

That a stream is stopped because its object is immutable, or because nobody reads it, is decided
in ``managers.watch_based`` (``_stop_if_immutable``, ``stop_if_idle``).

Upstream: pkg/kubelet/util/manager/watch_based_manager.go, objectCacheItem: its reflector,
stopThreadUnsafe and restartReflectorIfNeeded
"""

from __future__ import annotations

import asyncio
import enum
import logging
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, Generic, assert_never

from reflet.api.selectors.fields import FieldSelector
from reflet.informer.reflector.reflector import Reflector
from reflet.informer.reflector.source import Source
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.object_store import C, ObjectServer
from reflet.runtime.clock import Clock
from reflet.runtime.metrics import NO_METRICS, Metrics
from reflet.runtime.tasks import TaskOwner
from reflet.store.deltas import Changed, Delta, Replaced, Resynced

MINIMUM_WATCH_TIMEOUT: Final = 1800.0
"""Seconds.  Thousands of quiet streams are to be renewed rarely."""

OF_AN_OBJECT: Final = frozenset({"ADDED", "MODIFIED", "DELETED"})
"""Other events move the version alone: bookmarks, and what somebody's own source makes up."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, kw_only=True)
class StreamSettings(Generic[C]):
    """What all streams of one manager have in common.

    *word* is ``secret`` or ``configmap``.  ``streaming=False`` never asks for streaming lists.
    """

    server: ObjectServer
    kind: type[C]
    word: str
    clock: Clock | None = None
    streaming: bool = True
    metrics: Metrics = NO_METRICS

    def source(self, namespace: str) -> Source[C]:
        """The objects of a namespace."""
        return self.server.resource(self.kind, namespace=namespace)


class WatchState(enum.Enum):
    """Whether a watch is started; two runs of one reflector never overlap."""

    STOPPED = enum.auto()  # never started, or its run was told to end
    RUNNING = enum.auto()
    RESTARTING = enum.auto()  # is to run as soon as the run before has ended
    CALLED_OFF = enum.auto()  # was to, and was stopped before that


class ObjectWatch(Generic[C]):
    """Follows the object of an entry while it is started.  Is a ``Sink``.

    ``object`` is the last known state, None when there is none; ``claim`` is the version at
    which that was said, and ``version`` the one up to which it is known to hold.  All three mean
    something once it is ``synced``, and stay as they are when the stream breaks.

    *shown* is called after everything that came; errors are put into the entry.  If the entry is
    known, the first state is asked to be at least as new as what readers have seen.  A watch that
    was stopped goes on from its last version when it is started again.
    """

    __slots__ = (
        "_reflector",
        "_shown",
        "_state",
        "_task",
        "claim",
        "entry",
        "object",
        "synced",
        "version",
    )

    def __init__(
        self,
        settings: StreamSettings[C],
        entry: ObjectEntry[C],
        *,
        shown: Callable[[ObjectWatch[C]], None],
    ) -> None:
        self.entry = entry
        self.object: C | None = None
        self.claim = ""
        self.version = ""
        self.synced = False
        self._shown = shown
        self._task: asyncio.Task[None] | None = None
        self._state = WatchState.STOPPED
        self._reflector = Reflector(
            settings.source(entry.namespace),
            self,
            name=f'object-"{entry.namespace}"/"{entry.name}"',
            resource=settings.word,
            description=settings.word,
            field_selector=FieldSelector.one_object(entry.name),
            clock=settings.clock,
            minimum_watch_timeout=MINIMUM_WATCH_TIMEOUT,
            streaming=settings.streaming,
            on_error=self._report,
            on_connection=self._connection,
            since=entry.version if entry.known else "",
            awaited=entry.is_awaited,
            metrics=settings.metrics,
        )

    def __repr__(self) -> str:
        state = "running" if self.running else "stopped"
        return f"<ObjectWatch {self._reflector.name} {state} at {self.last_version!r}>"

    @property
    def running(self) -> bool:
        """Whether it is started and not stopped."""
        return self._state in {WatchState.RUNNING, WatchState.RESTARTING}

    @property
    def last_version(self) -> str:
        """The version from which the stream would go on."""
        return self._reflector.last_version

    def start(self, tasks: TaskOwner) -> None:
        """Follow the object, from where it was left; harmless when it is followed."""
        if self.running:
            return
        if self._state is WatchState.CALLED_OFF:
            self._state = WatchState.RESTARTING  # its task waits still
            return
        if self._task is None:
            self._state = WatchState.RUNNING
            run = self._reflector.run()
        else:
            self._state = WatchState.RESTARTING
            run = self._run_after(self._task)
        self._task = tasks.start(run, name=f"reflector {self._reflector.name}")

    def stop(self) -> None:
        """Close the stream, without waiting for its end; nothing is shown from now on."""
        if not self.running:
            return
        self.synced = False
        if self._state is WatchState.RESTARTING:
            self._state = WatchState.CALLED_OFF
            return
        self._state = WatchState.STOPPED
        if self._task is not None:
            self._task.cancel()

    def apply(self, delta: Delta[C], /) -> None:
        """Take what the reflector learned."""
        if self._state is not WatchState.RUNNING:
            # This run was stopped, and the source has swallowed that: asyncio.wait_for of Python
            # 3.11 does so when something comes in the same moment.
            raise asyncio.CancelledError
        match delta:
            case Replaced(items=items, version=version):
                self.object = next((item for item in items if self._is_it(item)), None)
                self.claim = self.version = version
                self.synced = True
            case Changed(events=events):
                for event in events:
                    self.version = event.object.metadata.resource_version or self.version
                    if event.type not in OF_AN_OBJECT or not self._is_it(event.object):
                        continue
                    self.object = None if event.type == "DELETED" else event.object
                    self.claim = self.version
            case Resynced():
                return
            case _:
                assert_never(delta)
        self._shown(self)

    def _is_it(self, item: C) -> bool:
        return item.metadata.name == self.entry.name

    async def _run_after(self, previous: asyncio.Task[None]) -> None:
        # Two runs of one reflector at a time would disagree about where it is.
        await asyncio.wait((previous,))
        del previous
        if self._state is WatchState.CALLED_OFF:
            self._state = WatchState.STOPPED
            return
        self._state = WatchState.RUNNING
        await self._reflector.run()

    def _report(self, error: Exception) -> None:
        logger.warning("%s: %s", self._reflector.name, error)
        self.entry.failure = error

    def _connection(self, error: Exception | None) -> None:
        if error is not None:
            self.entry.failure = error
