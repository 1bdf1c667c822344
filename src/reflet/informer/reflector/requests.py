"""The lists and watches that a reflector sends.

Owns: the options of each request, and taking note of its answer.  Must not know which version
to ask for, nor what follows an answer.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final, Generic, TypeVar

from reflet.api.codec import Listing
from reflet.api.meta import KubernetesObject
from reflet.api.options import ListOptions, ResourceVersionMatch, WatchOptions
from reflet.api.paging import PAGE_SIZE, Paging
from reflet.api.selectors.fields import FieldSelector
from reflet.api.selectors.labels import LabelSelector
from reflet.errors import ApiError, ConnectionRefused, RefletError, TransportError
from reflet.informer.reflector.endings import ENOUGH_ATTEMPTS
from reflet.informer.reflector.health import Liveness
from reflet.informer.reflector.open_watch import OpenWatch
from reflet.informer.reflector.source import Source
from reflet.runtime.clock import Clock
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
        liveness: Liveness,
        awaited: Callable[[], bool] = lambda: False,
    ) -> None:
        self._source = source
        self._selection = selection
        self._description = description
        self._clock = clock
        self._chance = chance
        self._liveness = liveness
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
                self._liveness.reached()
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
        self._liveness.reached()
        return opened

    def broke(self) -> None:
        """An open watch broke: the way to the server may be gone."""
        if self._source.gate is not None:
            self._source.gate.broke()

    async def _page(self, options: ListOptions) -> Listing[T]:
        return await self._answered(lambda: self._source.page(options))

    async def _answered(
        self,
        request: Callable[[], Awaitable[Answer]],
        gives_up: Callable[[Exception], bool] = lambda _: False,
    ) -> Answer:
        """What the server answers; while it cannot be reached, the gate waits for it."""
        gate = self._source.gate
        if gate is None:
            return await request()
        return await gate.send(
            request, urgent=self._awaited, failed=self._liveness.lost, gives_up=gives_up
        )

    def _refuse_table(self, page: Listing[T]) -> None:
        if page.kind == "Table" and page.api_version in _TABLES:
            raise RefletError(
                f"unsupported list gvk: {page.api_version}, Kind=Table, type: {self._description}"
            )


def _selects_one(selector: FieldSelector | str) -> bool:
    parsed = FieldSelector.parse(selector) if isinstance(selector, str) else selector
    return any(each.field == "metadata.name" and not each.negated for each in parsed.requirements)
