"""The verbs that read one resource, in one namespace or in all: get, list and watch.

Upstream: client-go/gentype/type.go, Client; client-go/dynamic/simple.go
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final, Generic, Literal, TypeAlias, TypeVar, overload

from msgspec.structs import replace

from reflet.api.codec import Listing, decode, decode_at, decode_list
from reflet.api.meta import KubernetesObject, PartialObjectMetadata
from reflet.api.options import (
    GetOptions,
    ListOptions,
    Query,
    WatchOptions,
)
from reflet.api.paging import PAGE_SIZE, Paging
from reflet.api.resources import ALL_NAMESPACES, Resource
from reflet.api.status import Status
from reflet.api.tables import TABLES, Table
from reflet.api.unstructured import AnyObject
from reflet.api.watch_events import event_decoder
from reflet.client.resource_lookup import ResourceLookup
from reflet.client.rest import (
    JSON,
    AnswerHead,
    OnPage,
    answer,
    fetch_all,
    left_after,
    pages_ahead,
    refusal,
)
from reflet.client.watch import Watch
from reflet.errors import NotFound
from reflet.runtime.gate import Gate
from reflet.runtime.tasks import Opened, entered
from reflet.transport.interface import Request, Stream, Transport

T = TypeVar("T", bound=KubernetesObject)
Taken = TypeVar("Taken")

Whole: TypeAlias = Literal["status"] | None
"""The subresources of which the answer is the whole object."""
Answered: TypeAlias = T | Status | AnyObject
"""What the server may answer for any other subresource."""

METADATA: Final = "application/json;as=PartialObjectMetadata{};g=meta.k8s.io;v=v1"
"""Asks for the metadata of objects, or of a ``List`` of them, and nothing else."""
WATCH_SILENCE: Final = 900.0
"""Seconds.  A last resort: a quiet stream is no fault, and a dead connection ends by itself."""


class ResourceReader(Generic[T]):
    """Get, list and watch the objects of one resource; ``ResourceClient`` also changes them.

    - *transport*: what sends the requests
    - *resource*: the resource, or how to look it up at the first request
    - *gate*: where reflectors wait together while the server cannot be reached; None is no gate
    """

    def __init__(
        self,
        transport: Transport,
        resource: Resource | ResourceLookup,
        kind: type[T],
        *,
        namespace: str | None,
        gate: Gate | None = None,
    ) -> None:
        self._transport = transport
        self._kind = kind
        self.gate = gate
        self._lookup = ResourceLookup(resource) if isinstance(resource, Resource) else resource
        self._namespace = None if namespace == ALL_NAMESPACES else namespace

    def __repr__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        return f"<{type(self).__name__} {self.resource}{where}>"

    @property
    def resource(self) -> Resource:
        """What the objects are; of a custom resource, only its name until it was asked for."""
        return self._lookup.resource

    @property
    def kind(self) -> type[T]:
        """The class that objects come out as."""
        return self._kind

    @property
    def namespace(self) -> str | None:
        """Where the objects are; None for all namespaces, and where there are none."""
        return self._namespace if self.resource.namespaced else None

    # Reading

    @overload
    async def get(
        self, name: str, options: GetOptions = GetOptions(), *, subresource: Whole = None
    ) -> T: ...

    @overload
    async def get(
        self, name: str, options: GetOptions = GetOptions(), *, subresource: str | None
    ) -> Answered[T]: ...

    async def get(
        self, name: str, options: GetOptions = GetOptions(), *, subresource: str | None = None
    ) -> Answered[T]:
        """The object called *name*."""
        body = await self._send("get", "GET", name, options.query(), subresource=subresource)
        return self._answered(body, subresource)

    async def page(self, options: ListOptions = ListOptions()) -> Listing[T]:
        """One list request, as *options* say; the answer may be only the first page."""
        body = await self._send("list", "GET", None, options.query())
        return decode_list(body, self._kind)

    async def list(
        self,
        options: ListOptions = ListOptions(),
        *,
        page_size: int = PAGE_SIZE,
        on_page: OnPage | None = None,
    ) -> Listing[T]:
        """Every object that *options* select, fetched in pages, one consistent state."""
        return await self.list_as(_itself, options, page_size=page_size, on_page=on_page)

    async def list_as(
        self,
        take: Callable[[T], Taken],
        options: ListOptions = ListOptions(),
        *,
        page_size: int = PAGE_SIZE,
        on_page: OnPage | None = None,
    ) -> Listing[Taken]:
        """Do as ``list`` does, and keep of each object what *take* makes of it.

        Of whole objects, no more than a page is in memory.
        """
        paging = Paging(options, page_size=page_size)

        async def fetch(asked: ListOptions) -> Listing[Taken]:
            page = await self.page(asked)
            if on_page is not None:
                on_page(len(page.items), left_after(page))
            return Listing(items=tuple(map(take, page.items)), metadata=page.metadata)

        pages = await fetch_all(paging, fetch)
        return Listing(
            items=tuple(item for page in pages for item in page.items), metadata=paging.metadata
        )

    def pages(
        self, options: ListOptions = ListOptions(), *, page_size: int = PAGE_SIZE
    ) -> AsyncIterator[Listing[T]]:
        """Yield page after page, so that a large collection need not fit in memory.

        The next pages are fetched while the caller works.  A continue token that expires on the
        way is raised as Expired: the pages already given out cannot be taken back.
        """
        paging = Paging(options, page_size=page_size, repair=False)
        return pages_ahead(paging, self.page, name=f"pages of {self.resource.plural}")

    async def table(
        self, options: ListOptions = ListOptions(), *, on_page: OnPage | None = None
    ) -> Table:
        """Every object that *options* select, as the rows that ``kubectl get`` shows."""
        paging = Paging(options)

        async def fetch(asked: ListOptions) -> Table:
            page = await self.table_page(asked)
            if on_page is not None:
                on_page(len(page.rows), left_after(page))
            return page

        pages = await fetch_all(paging, fetch)
        rows = tuple(row for page in pages for row in page.rows)
        return replace(pages[-1], rows=rows, metadata=paging.metadata)

    async def table_page(self, options: ListOptions, *, only_cells: bool = False) -> Table:
        """One request for rows, as *options* say; the answer may be only the first page.

        Without *only_cells*, the metadata of each object comes along.
        """
        query = options.query()
        if only_cells:
            query = (*query, ("includeObject", "None"))
        return decode(await self._send("list", "GET", None, query, accept=TABLES), Table)

    async def table_of(self, name: str) -> Table:
        """The object called *name*, as the row that ``kubectl get`` shows."""
        return decode(await self._send("get", "GET", name, (), accept=TABLES), Table)

    def watch(
        self, options: WatchOptions = WatchOptions(), *, silence: float | None = WATCH_SILENCE
    ) -> AbstractAsyncContextManager[Watch[T]]:
        """Open a watch; a refused one raises when it is entered, before anything is read.

        *silence* is the longest time in seconds without a byte, bookmarks included, before the
        stream counts as dead and raises DeadlineExceeded; None never does.
        """
        return Opened(partial(self._open_watch, options, silence))

    async def _open_watch(
        self, options: WatchOptions, silence: float | None
    ) -> tuple[Watch[T], AbstractAsyncContextManager[Stream]]:
        path = await self._path(None)
        accept = ("accept", self._accept("watch"))
        request = Request(path=path, query=options.query(), headers=(accept,))
        context = self._transport.stream(request, silence=silence)

        async def not_refused(stream: Stream) -> Watch[T]:
            error = await refusal(stream, request, verb="watch")
            if error is not None:
                self._lookup.forget(error)
                raise error
            return Watch(stream, event_decoder(self._kind))

        return await entered(context, not_refused), context

    # inside

    def _answered(self, data: bytes, subresource: str | None) -> Answered[T]:
        if subresource in (None, "status") or self._kind is AnyObject:
            return self._decoded(data)
        head = decode(data, AnswerHead)
        if head.kind == "Status":
            return decode(data, Status)
        if (head.api_version, head.kind) == (self.resource.api_version, self.resource.kind):
            return self._decoded(data)
        return decode_at(data, AnyObject, named=False)

    def _decoded(self, data: bytes) -> T:
        # Reviews and other virtual objects have no name; a kind that we know always has one.
        return decode_at(data, self._kind, named=self._kind is not AnyObject)

    def _accept(self, verb: str) -> str:
        if self._kind is not PartialObjectMetadata:
            return JSON
        return METADATA.format("List" if verb == "list" else "")

    async def _path(self, name: str | None, subresource: str | None = None) -> str:
        resource = await self._lookup.found()
        return resource.path(namespace=self.namespace, name=name, subresource=subresource)

    async def _send(
        self,
        verb: str,
        method: str,
        name: str | None,
        query: Query,
        *,
        body: bytes = b"",
        content_type: str = JSON,
        accept: str = "",
        subresource: str | None = None,
    ) -> bytes:
        headers = [("accept", accept or self._accept(verb))]
        if body:
            headers.append(("content-type", content_type))
        request = Request(
            method=method,
            path=await self._path(name, subresource),
            query=query,
            headers=tuple(headers),
            body=body,
        )
        try:
            response = await answer(self._transport, request, verb=verb)
        except NotFound as error:
            self._lookup.forget(error)
            raise
        return response.body


def _itself(item: T) -> T:
    return item
