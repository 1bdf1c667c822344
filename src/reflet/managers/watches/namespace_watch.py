"""One stream for all objects of a namespace that somebody refers to.

It also says when a namespace may not, or should not, be watched as a whole.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from typing import Generic, Protocol, assert_never

from reflet.api.resource_versions import rank
from reflet.api.watch_events import WatchEvent
from reflet.errors import Forbidden
from reflet.informer.reflector.reflector import Reflector
from reflet.managers.object_store import C
from reflet.managers.watches.namespace_filter import NamespaceFilter
from reflet.managers.watches.object_watch import MINIMUM_WATCH_TIMEOUT, OF_AN_OBJECT, StreamSettings
from reflet.runtime.tasks import TaskOwner
from reflet.store.deltas import Changed, Delta, Replaced, Resynced

logger = logging.getLogger(__name__)


class NamespaceAudience(Protocol[C]):
    """Who hears what the stream of a namespace brings."""

    def filled(self, found: Mapping[str, C], unknown: frozenset[str]) -> None:
        """The namespace has these of the wanted objects, and of *unknown* names nothing is known.

        What is in neither does not exist.
        """
        ...

    def changed(self, events: list[WatchEvent[C]]) -> None:
        """These happened to wanted objects, perhaps none; the stream's version has moved."""
        ...

    def refused(self, reason: str) -> None:
        """The namespace may not, or should not, be watched as a whole."""
        ...

    def failed(self, error: Exception) -> None:
        """The stream is in trouble, and goes on trying."""
        ...


class NamespaceWatch(Generic[C]):
    """Follows the wanted objects of a namespace from ``start`` to ``stop``.  Is a ``Sink``.

    ``version`` is the one up to which everything has come.  Names may be wanted before and
    after the start; of one that is wanted late nothing is known until something happens to it,
    or until the collection is filled anew.  *since* is the newest version that readers of it
    have seen, and *awaited* says whether somebody waits for one of its objects.  A namespace
    that has, or comes to have, more than *most_objects* is refused.
    """

    def __init__(
        self,
        settings: StreamSettings[C],
        namespace: str,
        audience: NamespaceAudience[C],
        *,
        most_objects: int,
        since: str = "",
        awaited: Callable[[], bool] = lambda: False,
    ) -> None:
        self.version = ""
        self.synced = False
        self._audience = audience
        self._most_objects = most_objects
        self._wanted: set[str] = set()
        self._task: asyncio.Task[None] | None = None
        self._running = False
        self._filter = NamespaceFilter(
            settings.source(namespace), settings.kind, self._wanted, counted=self._counted
        )
        self._reflector = Reflector(
            self._filter,
            self,
            name=f'objects of "{namespace}"',
            resource=settings.word,
            description=settings.word,
            clock=settings.clock,
            minimum_watch_timeout=MINIMUM_WATCH_TIMEOUT,
            streaming=settings.streaming,
            on_error=self._report,
            on_connection=self._connection,
            expected_errors=(Forbidden,),  # then every object gets a stream of its own
            since=since,
            awaited=awaited,
            metrics=settings.metrics,
        )

    def __repr__(self) -> str:
        return f"<NamespaceWatch {self._reflector.name}, {len(self._wanted)} at {self.version!r}>"

    def want(self, name: str) -> None:
        """Hear of a name from now on; of what came until now, ``reached`` tells how far it went."""
        self._wanted.add(name)

    @property
    def reached(self) -> float:
        """The rank of the newest version of which the stream has told anything.

        That is its own version, not only those of the objects that came: a list says also what
        was deleted before it, and a deletion leaves no object.  What comes while the collection
        is being filled may be ahead of that.
        """
        ahead = self._filter.seen_up_to
        return max(ahead, rank(self.version)) if self.version else ahead

    def unwant(self, name: str) -> None:
        """Hear of a name no more."""
        self._wanted.discard(name)

    @property
    def running(self) -> bool:
        """Whether it is started and not stopped."""
        return self._running

    def start(self, tasks: TaskOwner) -> None:
        """Open the stream; once only."""
        self._running = True
        self._task = tasks.start(self._reflector.run(), name=f"reflector {self._reflector.name}")

    def stop(self) -> None:
        """Close the stream, without waiting for its end; nothing is told from now on."""
        self._running = False
        if self._task is not None:
            self._task.cancel()

    def apply(self, delta: Delta[C], /) -> None:
        """Take what the reflector learned."""
        if not self._running:
            # It was stopped by what it told; or the source has swallowed that it was stopped.
            raise asyncio.CancelledError
        match delta:
            case Replaced(items=items, version=version):
                self.version = version
                self.synced = True
                unknown = self._filter.take_dropped() & self._wanted
                found = {item.metadata.name: item for item in items}
                self._audience.filled(found, unknown)
            case Changed(events=events):
                self.version = events[-1].object.metadata.resource_version or self.version
                self._audience.changed([event for event in events if self._is_wanted(event)])
            case Resynced():
                pass
            case _:
                assert_never(delta)

    def _is_wanted(self, event: WatchEvent[C]) -> bool:
        return event.type in OF_AN_OBJECT and event.object.metadata.name in self._wanted

    def _counted(self, objects: int) -> None:
        if objects > self._most_objects and self._running:
            self._audience.refused(f"the namespace has more than {self._most_objects} objects")

    def _report(self, error: Exception) -> None:
        refusal = error if isinstance(error, Forbidden) else error.__cause__
        if isinstance(refusal, Forbidden):
            logger.debug("%s: not as a whole: %s", self._reflector.name, refusal)
            if self._running:
                self._audience.refused("watching the whole namespace is forbidden")
            return
        logger.warning("%s: %s", self._reflector.name, error)
        self._audience.failed(error)

    def _connection(self, error: Exception | None) -> None:
        if error is not None and not isinstance(error, Forbidden):
            self._audience.failed(error)
