"""One request to the API server and its answer, and the series of requests behind a paged listing.

A refusal is raised as the ApiError that it means.

Upstream: client-go/rest/request.go, Request.Do and transformResponse;
    client-go/tools/pager/pager.go, ListPager.List (``fetch_all``)
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeVar

from reflet.api.meta import ListMeta
from reflet.api.options import ListOptions
from reflet.api.paging import Paging
from reflet.api.status import error_from_response
from reflet.errors import ApiError
from reflet.transport.connection import retry_after
from reflet.transport.interface import Request, Response, Stream, Transport

JSON: Final = "application/json"


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
