"""A watch stream as typed events: bytes, whole lines, decoded events.

An ERROR event is raised as the ApiError that its Status means; whether the watch is worth
opening again is for the reflector to say.  Lines are handed on in runs, as many as have arrived,
because decoding by the run is much faster than one by one.

Upstream: client-go/rest/watch/decoder.go; apimachinery/pkg/watch/streamwatcher.go;
    apimachinery/pkg/util/framer/framer.go, NewJSONFramedReader
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from typing import Final, Generic, TypeVar, cast

from reflet.api.meta import KubernetesObject
from reflet.api.status import error_from_status
from reflet.api.watch_events import BrokenLine, ErrorEvent, EventDecoder, WatchEvent
from reflet.errors import RefletError, TransportError
from reflet.transport.failures import ConnectionReplaced
from reflet.transport.interface import Stream

T = TypeVar("T", bound=KubernetesObject)

LONGEST_LINE: Final = 16 * 1024 * 1024
"""Bytes.  etcd refuses objects above 1.5 MB, so a longer line is not a watch event."""


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

    - *stream*: the body of the answer
    - *decoder*: what makes events of its lines
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


async def line_runs(stream: Stream, *, longest: int = LONGEST_LINE) -> AsyncIterator[bytes]:
    """Yield buffers that each hold one or more whole lines, the last newline included.

    Raises TransportError when a line is longer than *longest* or the stream ends inside a line:
    half an event must never be taken for a whole one.  A stream whose connection is replaced ends
    after its last whole line: whoever reads asks for what follows anyway.
    """
    parts: list[bytes] = []
    waiting = 0  # bytes in parts, a line that is not complete yet
    try:
        while chunk := await stream.read():
            end = chunk.rfind(b"\n") + 1
            if end:
                run = chunk if end == len(chunk) else chunk[:end]
                if parts:
                    parts.append(run)
                    run = b"".join(parts)
                    parts = []
                    waiting = 0
                if len(run) > longest and max(map(len, run.split(b"\n"))) > longest:
                    raise TransportError(f"the server sent a line of more than {longest} bytes")
                yield run
                del run  # a silent stream must not keep its last event
            if end != len(chunk):
                parts.append(chunk[end:] if end else chunk)
                waiting += len(chunk) - end
                if waiting > longest:
                    raise TransportError(f"the server sent a line of more than {longest} bytes")
            del chunk
        if parts:
            raise TransportError(f"the stream ended inside a line, after {waiting} bytes of it")
    except ConnectionReplaced:
        return
