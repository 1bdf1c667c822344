"""One request to the API server and its answer; a refusal is raised as the ApiError it means.

Upstream: client-go/rest/request.go, Request.Do and transformResponse
"""

from __future__ import annotations

from typing import Final

from reflet.api.status import error_from_response
from reflet.errors import ApiError
from reflet.transport.connection import retry_after
from reflet.transport.interface import Request, Response, Stream, Transport

JSON: Final = "application/json"


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
