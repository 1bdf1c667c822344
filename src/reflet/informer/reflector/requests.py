"""The lists and watches that a reflector sends, and a watch while it is open.

``ReflectorRequests`` chooses the options of each request (``resourceVersion``,
``resourceVersionMatch``, ``sendInitialEvents``, limit, timeout), waits at the connection's gate
and tells ``health`` of every answer.  ``OpenWatch`` is a watch from its opening to its end.

Upstream: client-go/tools/cache/reflector.go, the options in list, watch and watchList;
client-go/tools/pager/pager.go
"""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Final, Generic, Self, TypeVar

from reflet.api.codec import Listing
from reflet.api.meta import KubernetesObject
from reflet.api.options import ListOptions, ResourceVersionMatch, WatchOptions
from reflet.api.paging import PAGE_SIZE, Paging
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.api.watch_events import WatchEvent
from reflet.errors import ApiError, ConnectionRefused, RefletError, TransportError
from reflet.informer.reflector.endings import ENOUGH_ATTEMPTS
from reflet.informer.reflector.health import ServerHealth
from reflet.informer.reflector.source import Source, WatchStream
from reflet.informer.reflector.versions import StreamPosition
from reflet.runtime.clock import Clock
from reflet.runtime.gate import Gate
from reflet.store.sharing import Sharing

T = TypeVar("T", bound=KubernetesObject)
Answer = TypeVar("Answer")

SHORTEST_WATCH_TIMEOUT: Final = 300.0
"""Seconds; watches that end more often than this would cost the server more than they spare."""

_TABLES: Final = frozenset({"meta.k8s.io/v1", "meta.k8s.io/v1beta1"})


@dataclass(frozen=True, slots=True)
class Selection:
    """Which objects of the collection; for how long to watch, and how much silence to bear."""

    label_selector: LabelSelector | str = ""
    field_selector: FieldSelector | str = ""
    minimum_watch_timeout: float = SHORTEST_WATCH_TIMEOUT
    silence: float | None = None


@dataclass(frozen=True, slots=True)
class Listed(Generic[T]):
    """A whole list; *paginated* says that it came in pages."""

    items: list[T]
    version: str
    paginated: bool


class ReflectorRequests(Generic[T]):
    """Asks a source.  *description* is the word for what is asked for, in errors.

    ``is_of_one_object`` says that the selection is one name.
    """

    def __init__(
        self,
        source: Source[T],
        selection: Selection,
        *,
        description: str,
        clock: Clock,
        chance: Callable[[], float],
        health: ServerHealth,
        awaited: Callable[[], bool] = lambda: False,
    ) -> None:
        self._source = source
        # A source of somebody's own may not have one, and then waits by the back-off.
        self._gate: Gate | None = getattr(source, "gate", None)
        self._selection = selection
        self._description = description
        self._clock = clock
        self._chance = chance
        self._health = health
        self._awaited = awaited
        self.is_of_one_object = _selects_one(selection.field_selector)
        self._watch_timeout = max(selection.minimum_watch_timeout, SHORTEST_WATCH_TIMEOUT)

    async def list(
        self,
        version: str,
        *,
        page_size: int = PAGE_SIZE,
        match: ResourceVersionMatch | None = None,
    ) -> Listed[T]:
        """Every object at *version*, page by page."""
        options = ListOptions(
            label_selector=self._selection.label_selector,
            field_selector=self._selection.field_selector,
            resource_version=version,
            resource_version_match=match,
        )
        paging = Paging(options, page_size=page_size)
        items: list[T] = []
        share = Sharing().share
        while paging.request is not None:
            try:
                page = await self._page(paging.request)
            except ApiError as error:
                paging.failed(error)
                items.clear()
            else:
                self._health.reached()
                self._refuse_table(page)
                paging.answered(page.metadata)
                # Now, and not when all are there: memory that is given back serves the next page.
                for item in page.items:
                    share(item.metadata)
                items.extend(page.items)
                del page
        return Listed(items, paging.metadata.resource_version, paging.paginated)

    async def watch(self, version: str, *, initial_events: bool = False) -> OpenWatch[T]:
        """Watch from *version* on, or, with *initial_events*, first a state at least as fresh."""
        options = WatchOptions(
            label_selector=self._selection.label_selector,
            field_selector=self._selection.field_selector,
            resource_version=version,
            resource_version_match="NotOlderThan" if initial_events else None,
            send_initial_events=True if initial_events else None,
            # Spread, so that watches which were opened together do not end together.
            timeout_seconds=int(self._watch_timeout * (1 + self._chance())),
        )

        async def open_watch() -> OpenWatch[T]:
            # Before the request: some proxies hold the answer back until the first event.
            since = self._clock.monotonic()
            context = self._source.watch(options, silence=self._selection.silence)
            return await OpenWatch.open(context, opened_at=version, since=since)

        broken = 0

        def gives_up(error: Exception) -> bool:
            # Who cannot stream lists may drop the connection, and can still list.
            nonlocal broken
            if isinstance(error, TransportError) and not isinstance(error, ConnectionRefused):
                broken += 1
            return initial_events and broken >= ENOUGH_ATTEMPTS

        opened = await self._answered(open_watch, gives_up)
        self._health.reached()
        return opened

    def broke(self) -> None:
        """An open watch broke: the way to the server may be gone."""
        if self._gate is not None:
            self._gate.broke()

    async def _page(self, options: ListOptions) -> Listing[T]:
        return await self._answered(lambda: self._source.page(options))

    async def _answered(
        self,
        request: Callable[[], Awaitable[Answer]],
        gives_up: Callable[[Exception], bool] = lambda _: False,
    ) -> Answer:
        """What the server answers; while it cannot be reached, the gate waits for it."""
        if self._gate is None:
            return await request()
        return await self._gate.send(
            request, urgent=self._awaited, failed=self._health.lost, gives_up=gives_up
        )

    def _refuse_table(self, page: Listing[T]) -> None:
        if page.kind == "Table" and page.api_version in _TABLES:
            raise RefletError(
                f"unsupported list gvk: {page.api_version}, Kind=Table, type: {self._description}"
            )


def _selects_one(selector: FieldSelector | str) -> bool:
    parsed = FieldSelector.parse(selector) if isinstance(selector, str) else selector
    return any(each.field == "metadata.name" and not each.negated for each in parsed.requirements)


logger = logging.getLogger(__name__)


class OpenWatch(Generic[T]):
    """A stream that somebody reads and closes, perhaps not the one who opened it.

    ``opened_at`` is the version asked for, ``since`` the moment before the request was sent,
    ``events`` how many counted so far.  Belongs to one task.
    """

    __slots__ = (
        "_batches",
        "_context",
        "_put_back",
        "_seen_bytes",
        "_stream",
        "events",
        "opened_at",
        "position",
        "since",
    )

    def __init__(
        self,
        context: AbstractAsyncContextManager[WatchStream[T]],
        stream: WatchStream[T],
        *,
        opened_at: str,
        since: float,
    ) -> None:
        self.opened_at = opened_at
        self.since = since
        self.events = 0
        self.position = StreamPosition(opened_at)
        self._stream = stream
        self._batches = stream.batches()
        self._seen_bytes = 0
        self._put_back: Sequence[WatchEvent[T]] = ()
        self._context: AbstractAsyncContextManager[WatchStream[T]] | None = context

    @classmethod
    async def open(
        cls,
        context: AbstractAsyncContextManager[WatchStream[T]],
        *,
        opened_at: str,
        since: float,
    ) -> Self:
        """Enter *context*; what it raises is the server's refusal."""
        stream = await context.__aenter__()
        return cls(context, stream, opened_at=opened_at, since=since)

    def new_bytes(self) -> int:
        """How many bytes have come since this was last asked."""
        seen, self._seen_bytes = self._seen_bytes, self._stream.received_bytes
        return self._seen_bytes - seen

    async def next_batch(self) -> Sequence[WatchEvent[T]] | None:
        """The events that come next, at least one; None when the server has closed the stream."""
        if self._put_back:
            events, self._put_back = self._put_back, ()
            return events
        return await anext(self._batches, None)

    def hand_over(self, rest: Sequence[WatchEvent[T]], *, version: str) -> None:
        """Begin anew as a watch from *version*: *rest* was read already and comes first."""
        self._put_back = rest
        self.opened_at = version
        self.events = 0
        self.position.ordered = True

    async def close(self) -> None:
        """Close the stream; once it is closed, closing changes nothing."""
        context, self._context = self._context, None
        if context is None:
            return
        try:
            try:
                # One that is left in the middle must end before what it reads from.
                if isinstance(self._batches, AsyncGenerator):
                    await self._batches.aclose()
            finally:
                await context.__aexit__(None, None, None)
        except Exception:
            # All that it had to bring has come: how it closes changes nothing.
            logger.warning("a watch did not close cleanly", exc_info=True)
