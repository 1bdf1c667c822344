"""A namespace's collection, without the objects that nobody refers to.

Those are dropped as soon as they come, so that a large namespace costs no memory; what was
dropped is remembered as far as anybody may ask later.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Callable, Collection, Sequence
from contextlib import asynccontextmanager
from typing import Any, Generic

from reflet.api.codec import Listing
from reflet.api.meta import ObjectMeta
from reflet.api.options import ListOptions, WatchOptions
from reflet.api.resource_versions import rank
from reflet.api.watch_events import WatchEvent
from reflet.informer.reflector.source import Source, WatchStream
from reflet.managers.object_store import C
from reflet.runtime.gate import Gate


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
