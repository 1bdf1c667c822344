"""The seam between everything above and HTTP: ``send`` and ``stream``, and seldom ``upgrade``.

Two methods, so that every layer above can be tested without a socket and every HTTP library can
stand below; a third, which our own connections have, for what stops being HTTP.  When a request is
worth repeating is not said here: see ``connection`` for what the server asks for,
``http.http2_pool`` for what it never saw.

Upstream: net/http.RoundTripper, which client-go wraps (client-go/transport/round_trippers.go)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from contextlib import AbstractAsyncContextManager
from typing import Final, Protocol, runtime_checkable

import msgspec

from reflet.transport.upgrades.byte_streams import ByteStream

ANSWER_TIMEOUT: Final = 75.0
"""Seconds without a byte after which an answer will not come: API servers give up after 60."""


class Request(msgspec.Struct, frozen=True, kw_only=True):
    """One HTTP request.

    - *method*: the HTTP method
    - *path*: URL path, escaped already
    - *query*: names and values, not escaped
    - *headers*: pairs, because a name may come more than once (``Impersonate-Group`` does)
    - *body*: what is sent
    - *timeout*: seconds to the whole answer (``send``) or to its head (``stream``); with None, only
      ``ANSWER_TIMEOUT`` without any byte ends the wait
    """

    method: str = "GET"
    path: str
    query: tuple[tuple[str, str], ...] = ()
    headers: tuple[tuple[str, str], ...] = ()
    body: bytes = b""
    timeout: float | None = None

    def with_headers(self, headers: Iterable[tuple[str, str]]) -> Request:
        """The same request with *headers* added."""
        return msgspec.structs.replace(self, headers=(*self.headers, *headers))


class Response(msgspec.Struct, frozen=True, kw_only=True):
    """A whole answer.

    - *status*: HTTP status code
    - *headers*: names in lower case
    - *body*: the whole body, decompressed
    """

    status: int
    headers: Mapping[str, str]
    body: bytes


class Stream(Protocol):
    """The body of an answer that goes on: read until ``b""``."""

    @property
    def status(self) -> int:
        """The HTTP status code."""
        ...

    @property
    def headers(self) -> Mapping[str, str]:
        """The answer's headers, names in lower case."""
        ...

    async def read(self) -> bytes:
        """Everything that has arrived, at least one byte; ``b""`` at the end of the body.

        Raises TransportError when the connection breaks before the end, DeadlineExceeded when
        nothing arrives within the stream's silence limit.
        """
        ...


class Transport(Protocol):
    """Sends requests to one server.  Both methods translate every failure to TransportError."""

    async def send(self, request: Request, /) -> Response:
        """Send and collect the whole answer, whatever its status."""
        ...

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        """Send, and hand out the answer's body while it arrives.

        Leaving the context closes the stream at once.  A stream that is read by lines
        (``line_runs``) may end although the server did not end it, because its connection is
        replaced: a caller that needs the rest asks again.  *silence* is the longest time in seconds
        without a byte before the stream counts as dead; None trusts the connection's own
        liveness checks.
        """
        ...

    async def close(self) -> None:
        """Close every connection; open streams end with TransportError."""
        ...


class Upgraded(msgspec.Struct, frozen=True):
    """An answer; with status 101 *line* goes on where HTTP ends, else the body is a refusal."""

    response: Response
    line: ByteStream


@runtime_checkable
class Upgrading(Protocol):
    """A transport that can also leave HTTP, for WebSocket."""

    def upgrade(self, request: Request, /) -> AbstractAsyncContextManager[Upgraded]:
        """Send, and hand out the connection that the answer came on; leaving closes it."""
        ...
