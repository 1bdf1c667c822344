"""The seam over HTTP/1.1: one connection for each stream.  Everything that concerns aiohttp.

Used for plain HTTP (``kubectl proxy``, a development server without TLS), through forward
proxies, and with servers that do not offer HTTP/2.  HTTP/1.1 has no pings: half-open connections
are found by TCP keepalive (``KEEPALIVE``).
"""

from __future__ import annotations

import asyncio
import io
import socket
import ssl
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from types import SimpleNamespace
from typing import Any, Final

import aiohttp
import yarl
from aiohttp.connector import Connection

from reflet.errors import DeadlineExceeded, TransportError
from reflet.runtime.sockets import abort, keepalive
from reflet.transport.failures import ConnectionReplaced, connection_failure
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response, Stream

READ_BUFFER: Final = 256 * 1024
KEEPALIVE: Final = keepalive(idle=20, interval=10, count=3)
"""A peer whose machine vanished is noticed by the kernel after 50 quiet seconds."""


class BodyStream:
    """The body of one answer, read as it arrives.  Is a ``Stream``."""

    def __init__(
        self, response: aiohttp.ClientResponse, server: str, silence: float | None
    ) -> None:
        self._response = response
        self._server = server
        self._silence = silence
        self.status = response.status
        self.headers: Mapping[str, str] = _lower(response.headers)

    async def read(self) -> bytes:
        """Everything that has arrived; ``b""`` at the end of the body."""
        content = self._response.content
        try:
            # Bytes that waited for a slow reader are not silence: the clock runs while we wait.
            data = content.read_nowait()
            if data or content.at_eof():
                return data
            if self._response.connection is None or self._response.connection.closed:
                raise TransportError(f"{self._server}: the connection was closed")
            async with asyncio.timeout(self._silence):
                return await content.readany()
        except TimeoutError as error:
            raise DeadlineExceeded(
                f"{self._server}: the stream was silent for {self._silence:g} seconds"
            ) from error
        except (aiohttp.ClientError, OSError) as error:
            raise _failure(error, self._server) from error


class Http1Transport:
    """The seam over aiohttp."""

    def __init__(
        self,
        server: str,
        *,
        ssl_context: ssl.SSLContext | None = None,
        server_hostname: str | None = None,
        proxy: str | None = None,
    ) -> None:
        self._server = server
        self._server_hostname = server_hostname
        self._proxy = proxy or ""
        self._bodies: set[aiohttp.StreamReader] = set()  # of the answers that are being read
        self._streams: set[aiohttp.StreamReader] = set()  # those of them that may go on for ever
        self._unanswered: set[_Sending] = set()  # that wait for the head of their answer
        tracing = aiohttp.TraceConfig()
        tracing.on_connection_reuseconn.append(_note_reuse)
        self._session = aiohttp.ClientSession(
            connector=aiohttp.TCPConnector(
                limit=0,  # every watch needs its own connection
                ssl=ssl_context if ssl_context is not None else True,
                socket_factory=_keepalive_socket,
            ),
            timeout=aiohttp.ClientTimeout(total=None, connect=None),
            cookie_jar=aiohttp.DummyCookieJar(),
            read_bufsize=READ_BUFFER,
            auto_decompress=False,  # the layer above asks for compression and undoes it
            skip_auto_headers=("User-Agent", "Accept-Encoding", "Content-Type"),
            trace_configs=[tracing],
            request_class=_Request,
        )

    async def send(self, request: Request, /) -> Response:
        """Send and collect the whole answer."""
        try:
            async with self._request(
                request, aiohttp.ClientTimeout(total=request.timeout, sock_read=ANSWER_TIMEOUT)
            ) as answer:
                with self._reading(answer):
                    body = await answer.read()
                return Response(status=answer.status, headers=_lower(answer.headers), body=body)
        except (aiohttp.ClientError, OSError) as error:
            raise _failure(error, self._server, self._proxy) from error

    @asynccontextmanager
    async def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AsyncIterator[Stream]:
        """Send, and hand out the answer's body while it arrives."""
        try:
            # Not aiohttp's own limits: they would go on to hold for the body.
            limit = ANSWER_TIMEOUT if request.timeout is None else request.timeout
            async with asyncio.timeout(limit):
                answer = await self._request(request, aiohttp.ClientTimeout(total=None))
        except (aiohttp.ClientError, OSError) as error:
            raise _failure(error, self._server, self._proxy) from error
        try:
            with self._reading(answer):
                self._streams.add(answer.content)
                yield BodyStream(answer, self._server, silence)
        finally:
            self._streams.discard(answer.content)
            _end(answer)

    def retire(self) -> Sequence[Callable[[], None]]:
        """Leave every request its connection; see ``cert_rotation.Replaceable``."""
        return [partial(self._give_way, body) for body in self._streams]

    def _give_way(self, body: aiohttp.StreamReader) -> None:
        body.set_exception(ConnectionReplaced(f"{self._server}: the connection is replaced"))

    @property
    def is_unused(self) -> bool:
        """Every answer is over."""
        return not self._unanswered and not self._bodies

    async def close(self) -> None:
        """Close every connection; open streams fail."""
        for body in self._bodies:  # aiohttp leaves their readers waiting
            body.set_exception(TransportError(f"{self._server}: the client is closed"))
        await self._session.close()

    @contextmanager
    def _reading(self, answer: aiohttp.ClientResponse) -> Iterator[None]:
        self._check_open()  # it may have been closed after the head arrived
        self._bodies.add(answer.content)
        try:
            yield
        finally:
            self._bodies.discard(answer.content)

    def _check_open(self) -> None:
        if self._session.closed:
            raise TransportError(f"{self._server}: the client is closed")

    def _request(
        self, request: Request, timeout: aiohttp.ClientTimeout
    ) -> aiohttp.client._RequestContextManager:
        self._check_open()
        url = yarl.URL(self._server + request.path, encoded=True)
        if request.query:
            url = url.with_query(request.query)
        sending = _Sending(self._server, self._proxy, self._unanswered)
        return self._session.request(
            request.method,
            url,
            headers=request.headers,
            data=io.BytesIO(request.body) if request.body else None,
            timeout=timeout,
            server_hostname=self._server_hostname,
            proxy=self._proxy or None,
            allow_redirects=False,
            trace_request_ctx=sending,
            middlewares=(sending,),
        )


class _Request(aiohttp.ClientRequest):
    """A request that knows whether any of it can have left.

    aiohttp takes a kept connection that is open, and writes to it a turn of the event loop later.
    A server that restarts can close it in between.
    """

    may_have_left = False

    async def send(self, conn: Connection) -> aiohttp.ClientResponse:
        self.may_have_left = not self.body  # without a body it is written at once
        return await super().send(conn)

    async def write_bytes(self, writer: Any, conn: Connection, *rest: Any) -> None:
        # With the first bytes of the body goes the head; no turn of the loop until then.
        self.may_have_left = conn.transport is not None and not conn.transport.is_closing()
        await super().write_bytes(writer, conn, *rest)


class _Sending:
    """One request on its way; says when it is sent a second time.

    aiohttp does so, once, for what HTTP calls idempotent and whatever went wrong.  That would ask
    a server that is away twice each time.  And where a PUT or DELETE had its effect, the second
    finds a conflict, or deletes what somebody created in between.  So over a kept connection that
    had died unnoticed, reads are repeated, and writes of which nothing has left.  Until the head
    of the answer has come it is one of *unanswered*.

    Upstream: net/http/transport.go, shouldRetryRequest
    """

    __slots__ = ("_proxy", "_server", "_unanswered", "reused")

    def __init__(self, server: str, proxy: str, unanswered: set[_Sending]) -> None:
        self._server = server
        self._proxy = proxy
        self._unanswered = unanswered
        self.reused = False

    async def __call__(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        self._unanswered.add(self)
        try:
            return await self._sent(request, handler)
        except (aiohttp.ClientError, OSError) as error:
            if self.reused and request.method in ("GET", "HEAD"):
                raise  # for aiohttp, which repeats it
            raise _failure(error, self._server, self._proxy) from error
        finally:
            self._unanswered.discard(self)

    async def _sent(
        self, request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
    ) -> aiohttp.ClientResponse:
        while True:
            self.reused = False
            try:
                return await handler(request)
            except (aiohttp.ClientError, OSError):
                # Ends: each time one kept connection fewer is there to die.
                if not self.reused or not isinstance(request, _Request) or request.may_have_left:
                    raise


async def _note_reuse(
    session: aiohttp.ClientSession,  # noqa: ARG001 - aiohttp's shape
    context: SimpleNamespace,
    parameters: aiohttp.TraceConnectionReuseconnParams,  # noqa: ARG001 - the same
) -> None:
    context.trace_request_ctx.reused = True


def _end(answer: aiohttp.ClientResponse) -> None:
    """Let go of an answer, and of its connection unless the answer was read to its end.

    A half-read answer cannot be reused, and closing its connection tells the server.  Without the
    close_notify of TLS: asyncio would wait half a minute for the other side's, and a stream often
    ends because the other side is gone.
    """
    transport = answer.connection.transport if answer.connection is not None else None
    if transport is not None:
        abort(transport)
    answer.close()


def _keepalive_socket(address: aiohttp.AddrInfoType) -> socket.socket:
    family, kind, protocol, _, _ = address
    made = socket.socket(family, kind, protocol)
    for level, option, value in KEEPALIVE:
        made.setsockopt(level, option, value)
    return made


def _lower(headers: Mapping[str, str]) -> Mapping[str, str]:
    """The headers; the values of a name that comes twice are joined."""
    lower: dict[str, str] = {}
    for name, value in headers.items():
        key = name.lower()
        lower[key] = f"{lower[key]}, {value}" if key in lower else value
    return lower


def _failure(error: BaseException, server: str, proxy: str = "") -> TransportError:
    """Look behind aiohttp's wrappers for what really happened."""
    match error:
        case aiohttp.ClientProxyConnectionError():
            kind = type(connection_failure(error.os_error, server))
            words = error.os_error.strerror or str(error.os_error)
            return kind(f"{server}: {_shown(proxy)} cannot be reached: {words}: check proxy-url")
        case aiohttp.ClientHttpProxyError():
            words = f"{error.status} {error.message}"
            return TransportError(f"{server}: {_shown(proxy)} answered {words}: check proxy-url")
        case aiohttp.ClientConnectorCertificateError():
            return connection_failure(error.certificate_error, server)
        case aiohttp.ClientConnectorError():
            return connection_failure(error.os_error, server)
        case TimeoutError():
            return connection_failure(error, server)
        case aiohttp.ServerDisconnectedError():
            return TransportError(f"{server}: the server closed the connection")
        case aiohttp.ClientPayloadError():
            return TransportError(f"{server}: the connection broke in the middle of the answer")
        case aiohttp.ClientResponseError():
            words = " ".join(error.message.split())
            return TransportError(f"{server}: the server broke HTTP/1.1: {words}")
        case _:
            return connection_failure(error, server)


def _shown(proxy: str) -> str:
    """The proxy without its password, which is nobody's business in a log."""
    return f"the proxy {yarl.URL(proxy).with_user(None)}"
