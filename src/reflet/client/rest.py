"""One request to the API server and its answer, and the series of requests behind a paged listing.

A refusal is raised as the ApiError that it means.

Upstream: client-go/rest/request.go, Request.Do and transformResponse;
    client-go/tools/pager/pager.go, ListPager.List (``fetch_all``) and
    eachListChunkBuffered (``pages_ahead``)
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final, Protocol, TypeAlias, TypeVar

from reflet.api.frozen import Frozen
from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.paging import Paging
from reflet.api.status import error_from_response
from reflet.errors import ApiError
from reflet.transport.connection import retry_after
from reflet.transport.interface import Request, Response, Stream, Transport

JSON: Final = "application/json"

PAGES_AHEAD: Final = 10
"""How many pages ``pages_ahead`` fetches before they are asked for."""

OnPage: TypeAlias = Callable[[int, int | None], None]
"""Is told of each page of a list: its objects, and how many are left, None if nobody says."""


class AnswerHead(Frozen, frozen=True, kw_only=True):
    """The first look at an answer of which it is not known what it is."""

    api_version: str = ""
    kind: str = ""


class ListPage(Protocol):
    """What a page must tell: how the listing goes on."""

    @property
    def metadata(self) -> ListMeta:
        """The version of the listing, and the token of the next page."""


P = TypeVar("P", bound=ListPage)


async def answer(transport: Transport, request: Request, *, verb: str) -> Response:
    """Send *request*; an answer that is not a success is raised as an ApiError."""
    response = await transport.send(request)
    if 200 <= response.status < 300:
        return response
    raise error_from_response(
        response.status,
        retry_after(response.headers),
        response.body,
        verb=verb,
        path=request.path,
    )


async def refusal(stream: Stream, request: Request, *, verb: str) -> ApiError | None:
    """The error that a stream's head announces; None when it is a success."""
    if 200 <= stream.status < 300:
        return None
    parts = []
    while part := await stream.read():
        parts.append(part)
    return error_from_response(
        stream.status,
        retry_after(stream.headers),
        b"".join(parts),
        verb=verb,
        path=request.path,
    )


async def fetch_all(paging: Paging, fetch: Callable[[ListOptions], Awaitable[P]]) -> list[P]:
    """Every page of *paging*, in order; when it starts over, the pages before are dropped."""
    pages: list[P] = []
    while paging.request is not None:
        try:
            page = await fetch(paging.request)
        except ApiError as error:
            paging.failed(error)
            pages.clear()
        else:
            paging.answered(page.metadata)
            pages.append(page)
    return pages


async def pages_ahead(
    paging: Paging, fetch: Callable[[ListOptions], Awaitable[P]], *, name: str
) -> AsyncIterator[P]:
    """Yield the pages of *paging*, the next ones fetched while the caller works."""
    arrived: asyncio.Queue[P | Exception | None] = asyncio.Queue(PAGES_AHEAD)

    async def fetch_them() -> None:
        try:
            while paging.request is not None:
                page = await fetch(paging.request)
                paging.answered(page.metadata)
                await arrived.put(page)
            await arrived.put(None)
        except Exception as error:  # noqa: BLE001 - raised again where the pages are read
            await arrived.put(error)

    fetching = asyncio.create_task(fetch_them(), name=name)
    try:
        while (arrival := await arrived.get()) is not None:
            if isinstance(arrival, Exception):
                raise arrival
            yield arrival
    finally:
        fetching.cancel()
        await asyncio.wait((fetching,))


def left_after(page: ListPage) -> int | None:
    """How many objects follow a page; a server need not say, and with selectors it does not."""
    return page.metadata.remaining_item_count if page.metadata.continue_ else 0
