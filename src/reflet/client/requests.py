"""One request to the API server and its answer, errors included.

Owns: the translation of refused requests to API errors with the facts of the request.  Must
not know kinds.

A watch stream as typed events.

Owns: what comes out of a watch, and that an ERROR event is raised as the error it holds.  Must
not know why the watch was opened or when it is worth opening again.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, Generic, TypeVar, cast

from reflet.api.meta import KubernetesObject
from reflet.api.status import error_from_response, error_from_status
from reflet.api.watch_events import BrokenLine, ErrorEvent, EventDecoder, WatchEvent
from reflet.errors import ApiError, RefletError
from reflet.transport.connection import retry_after
from reflet.transport.interface import Request, Response, Stream, Transport
from reflet.transport.lines import line_runs

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


T = TypeVar("T", bound=KubernetesObject)


class Watch(Generic[T]):
    """The events of one watch, in the server's order, until the server ends it.

    ::

        async with client.watch() as watch:
            async for event in watch:
                print(event.type, event.object.metadata.name)

    ``batches()`` gives the same events as they arrive together, which is much cheaper for a
    busy stream.  Use one of the two.  Both raise the ApiError that an ERROR event holds
    (Expired, for one), TransportError when the connection breaks or goes silent, DecodeError
    for what is not an event; the events before it have been given out.
    """

    def __init__(self, stream: Stream, decoder: EventDecoder[T]) -> None:
        self._stream = stream
        self._decoder = decoder
        self.received_bytes = 0

    async def batches(self) -> AsyncIterator[Sequence[WatchEvent[T]]]:
        """Yield the events that arrived together, at least one at a time."""
        async for run in line_runs(self._stream):
            self.received_bytes += len(run)
            events = self._decoder.decode_lines(run)
            match events[-1] if events else None:
                case None:
                    continue
                case ErrorEvent(object=status):
                    failure: RefletError = error_from_status(status, verb="watch")
                case BrokenLine(error=error):
                    failure = error
                case _:
                    yield cast("Sequence[WatchEvent[T]]", events)
                    del run, events  # a silent watch must not keep its last event
                    continue
            if len(events) > 1:
                yield cast("Sequence[WatchEvent[T]]", events[:-1])
            raise failure

    async def __aiter__(self) -> AsyncIterator[WatchEvent[T]]:
        async for batch in self.batches():
            for event in batch:
                yield event
