"""One stream for all objects of a namespace that somebody refers to.

It also says when a namespace may not, or should not, be watched as a whole.  Objects that nobody
refers to are dropped as soon as they come, so that a large namespace costs no memory; what was
dropped is remembered as far as anybody may ask later.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic, Protocol, assert_never

from reflet.api.codec import Listing
from reflet.api.meta import ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.resource_versions import rank
from reflet.api.watch_events import WatchEvent
from reflet.errors import Forbidden
from reflet.informer.reflector.reflector import Reflector
from reflet.informer.reflector.source import Source, WatchStream
from reflet.managers.object_store import C
from reflet.managers.watches.object_watch import MINIMUM_WATCH_TIMEOUT, OF_AN_OBJECT, StreamSettings
from reflet.runtime.gate import Gate
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


class NamespaceFilter(Generic[C]):
    """What *source* gives, of the names in *wanted* only; others may be added at any time.

    An event that is dropped leaves its version behind, in a bookmark, so that the stream is
    known to have come this far.

    While the collection is being filled, from the beginning of a list or streaming list until
    ``take_dropped``, the names that were dropped are remembered: of one that is wanted meanwhile
    nothing is known.  ``seen_up_to`` is the rank of the newest version of any object that came
    with it, dropped or not.  *counted* is told how many objects there are, with everything that
    comes.
    """

    def __init__(
        self,
        source: Source[C],
        kind: Callable[..., C],
        wanted: Collection[str],
        *,
        counted: Callable[[int], None],
    ) -> None:
        self.seen_up_to = 0.0
        self._source = source
        self._kind = kind
        self._wanted = wanted
        self._counted = counted
        self._filling = True
        self._dropped: set[str] = set()
        self._objects = 0

    @property
    def gate(self) -> Gate | None:
        """That of the collection."""
        return self._source.gate

    def take_dropped(self) -> frozenset[str]:
        """The names that were dropped; the collection is filled now."""
        dropped = frozenset(self._dropped)
        self._dropped.clear()
        self._filling = False
        return dropped

    async def page(self, options: ListOptions, /) -> Listing[C]:
        """One list request; the answer has only what is wanted."""
        if not options.continue_:
            self._begin()
        page = await self._source.page(options)
        items = tuple(item for item in page.items if self._is_kept(item))
        self._objects += len(page.items)
        self._counted(self._objects)
        return Listing(
            items=items, metadata=page.metadata, api_version=page.api_version, kind=page.kind
        )

    @asynccontextmanager
    async def watch(
        self, options: WatchOptions, /, *, silence: float | None
    ) -> AsyncIterator[_FilteredStream[C]]:
        """Open a watch that brings only what is wanted."""
        if options.send_initial_events:
            self._begin()
        async with self._source.watch(options, silence=silence) as stream:
            yield _FilteredStream(stream, self.kept)

    def kept(self, events: Sequence[WatchEvent[C]]) -> Sequence[WatchEvent[C]]:
        """The events that count, at least one, the last with the version of the last."""
        kept: list[WatchEvent[C]] = []
        for event in events:
            if event.type == "ADDED":
                self._objects += 1
            elif event.type == "DELETED":
                self._objects -= 1
            if event.type == "BOOKMARK" or self._is_kept(event.object):
                kept.append(event)
        self._counted(self._objects)
        last = events[-1]
        if not kept or kept[-1] is not last:
            metadata = ObjectMeta(resource_version=last.object.metadata.resource_version)
            kept.append(WatchEvent(type="BOOKMARK", object=self._kind(metadata=metadata)))
        return kept

    def _begin(self) -> None:
        self._filling = True
        self._dropped.clear()
        self._objects = 0
        self.seen_up_to = 0.0

    def _is_kept(self, item: C) -> bool:
        metadata = item.metadata
        is_wanted = metadata.name in self._wanted
        if self._filling:
            self.seen_up_to = max(self.seen_up_to, rank(metadata.resource_version))
            if not is_wanted:
                self._dropped.add(metadata.name)
        return is_wanted


class _FilteredStream(Generic[C]):
    """The events of one watch that count."""

    def __init__(
        self,
        stream: WatchStream[C],
        kept: Callable[[Sequence[WatchEvent[C]]], Sequence[WatchEvent[C]]],
    ) -> None:
        self._stream = stream
        self._kept = kept

    @property
    def received_bytes(self) -> int:
        """How many bytes have come so far, dropped ones included."""
        return self._stream.received_bytes

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[C]]]:
        """Yield the events that arrived together and count."""
        batches: AsyncIterator[Any] = self._stream.batches()
        try:
            async for events in batches:
                kept = self._kept(events)
                del events  # a silent watch must not keep its last event
                yield kept
                del kept
        finally:
            # One that is left in the middle must end before what it reads from.
            if isinstance(batches, AsyncGenerator):
                await batches.aclose()
