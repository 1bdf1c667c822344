"""The verbs for one resource, in one namespace or in all.

Upstream: client-go/gentype/type.go, Client; client-go/dynamic/simple.go
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Final, Generic, Literal, TypeAlias, TypeVar, overload

from msgspec.structs import replace

from reflet.api.codec import Listing, decode, decode_at, decode_list, encode
from reflet.api.meta import KubernetesObject
from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    PatchType,
    Query,
    UpdateOptions,
    WatchOptions,
)
from reflet.api.paging import PAGE_SIZE, Paging
from reflet.api.resources import Resource
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
from reflet.client.sent_objects import Body, PatchBody, loses_fields, name_of
from reflet.client.watch import Watch
from reflet.errors import ConfigurationError, NotFound
from reflet.runtime.gate import Gate
from reflet.runtime.tasks import Opened, entered
from reflet.transport.interface import Request, Stream, Transport

T = TypeVar("T", bound=KubernetesObject)
Taken = TypeVar("Taken")

Whole: TypeAlias = Literal["status"] | None
"""The subresources of which the answer is the whole object."""
Answered: TypeAlias = T | Status | AnyObject
"""What the server may answer for any other subresource."""

WATCH_SILENCE: Final = 900.0
"""Seconds.  A last resort: a quiet stream is no fault, and a dead connection ends by itself."""


class ResourceClient(Generic[T]):
    """Get, list, watch and change the objects of one resource.

    *namespace* is None for resources without namespaces, and to list and watch all namespaces.
    Objects come out as *kind*; what goes in may be such an object or a plain mapping.  With
    *subresource* a verb is about a part of an object, and gives what the server answers: the
    object for ``status``, a Status for ``binding`` and ``eviction``, an AnyObject for ``scale``
    and whatever else is of another kind.  A client whose *kind* is AnyObject gives nothing else.
    Every method raises ApiError when the server refuses and TransportError when it does not
    answer.  ``gate`` is for those who would rather wait: a method itself never does.
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
        self._namespace = namespace

    def __repr__(self) -> str:
        where = f" in {self.namespace}" if self.namespace else ""
        return f"<ResourceClient {self.resource}{where}>"

    @property
    def resource(self) -> Resource:
        """What the objects are; of a custom resource, only its name until it was asked for."""
        return self._lookup.resource

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
        request = Request(path=path, query=options.query(), headers=(("accept", JSON),))
        context = self._transport.stream(request, silence=silence)

        async def not_refused(stream: Stream) -> Watch[T]:
            error = await refusal(stream, request, verb="watch")
            if error is not None:
                self._lookup.forget(error)
                raise error
            return Watch(stream, event_decoder(self._kind))

        return await entered(context, not_refused), context

    # Changing

    @overload
    async def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: Whole = None,
    ) -> T: ...

    @overload
    async def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: str | None,
    ) -> Answered[T]: ...

    async def create(
        self,
        body: Body[T],
        options: CreateOptions = CreateOptions(),
        *,
        name: str | None = None,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Create an object; the answer is what the server made of it.

        With *name* and *subresource*, create that part of an existing object.
        """
        data = await self._send(
            "create", "POST", name, options.query(), body=encode(body), subresource=subresource
        )
        return self._answered(data, subresource)

    @overload
    async def replace(
        self, body: Body[T], options: UpdateOptions = UpdateOptions(), *, subresource: Whole = None
    ) -> T: ...

    @overload
    async def replace(
        self, body: Body[T], options: UpdateOptions = UpdateOptions(), *, subresource: str | None
    ) -> Answered[T]: ...

    async def replace(
        self,
        body: Body[T],
        options: UpdateOptions = UpdateOptions(),
        *,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Write the whole object; Conflict when it carries a version that is no longer current.

        Refuses a typed object that keeps only some of its kind's fields: the others would be
        lost on the server.  Use ``patch``, or read the object raw.
        """
        if loses_fields(body):
            raise ConfigurationError(
                f"a typed {self.resource.kind} does not hold every field, so writing it back would "
                "lose the others: use patch, or get and replace it raw"
            )
        data = await self._send(
            "update",
            "PUT",
            name_of(body),
            options.query(),
            body=encode(body),
            subresource=subresource,
        )
        return self._answered(data, subresource)

    @overload
    async def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: Whole = None,
    ) -> T: ...

    @overload
    async def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: str | None,
    ) -> Answered[T]: ...

    async def patch(
        self,
        name: str,
        patch: PatchBody[T],
        patch_type: PatchType = PatchType.MERGE,
        options: PatchOptions = PatchOptions(),
        *,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Change an object by a patch: a mapping, or a sequence of operations for a JSON patch."""
        data = await self._send(
            "patch",
            "PATCH",
            name,
            options.query(),
            body=encode(patch),
            content_type=patch_type.value,
            subresource=subresource,
        )
        return self._answered(data, subresource)

    @overload
    async def apply(
        self, body: Body[T], *, field_manager: str, force: bool = False, subresource: Whole = None
    ) -> T: ...

    @overload
    async def apply(
        self, body: Body[T], *, field_manager: str, force: bool = False, subresource: str | None
    ) -> Answered[T]: ...

    async def apply(
        self,
        body: Body[T],
        *,
        field_manager: str,
        force: bool = False,
        subresource: str | None = None,
    ) -> Answered[T]:
        """Server-side apply: own the fields of *body*; Conflict when others own some of them."""
        return await self.patch(
            name_of(body),
            body,
            PatchType.APPLY,
            PatchOptions(field_manager=field_manager, force=force),
            subresource=subresource,
        )

    async def delete(self, name: str, options: DeleteOptions = DeleteOptions()) -> T | Status:
        """Delete an object; the answer is its last state while it lingers, else a Status."""
        data = await self._send("delete", "DELETE", name, (), body=options.body())
        if decode(data, AnswerHead).kind == "Status":
            return decode(data, Status)
        return self._decoded(data)

    async def delete_collection(
        self,
        selected: ListOptions = ListOptions(),
        options: DeleteOptions = DeleteOptions(),
    ) -> None:
        """Delete every object that *selected* selects."""
        await self._send(
            "deletecollection",
            "DELETE",
            None,
            selected.query(),
            body=options.body(),
        )

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
        accept: str = JSON,
        subresource: str | None = None,
    ) -> bytes:
        headers = [("accept", accept)]
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
