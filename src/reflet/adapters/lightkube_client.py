"""The connection of ``lightkube`` for Reflet.

It carries requests, over the httpx2 of either face, and the bytes of their answers are decoded by
our own codec.

::

    cluster = lightkube_client.client(lightkube.AsyncClient())
    async with cluster.mirror(ConfigMap) as config_maps:
        await config_maps.synced()
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    contextmanager,
    suppress,
)
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from reflet.adapters.threaded_stream import ThreadedStream
from reflet.cluster import MirroringClient
from reflet.errors import ConfigurationError, CredentialsError, DeadlineExceeded, TransportError
from reflet.transport.failures import wrapped_failure
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response, Stream

if TYPE_CHECKING:
    import httpx2
    import lightkube


def client(
    light_client: lightkube.Client | lightkube.AsyncClient, *, namespace: str = ""
) -> MirroringClient:
    """Everything that can be asked of the server of *light_client*, on its connections.

    Its credentials, proxy and certificates are used, and renewed as it renews them.  Closing what
    comes back leaves *light_client* open: it belongs to the program that made it.  *namespace* is
    the one that counts where none is given, *light_client*'s own by default.

    Requests of a plain ``lightkube.Client`` wait in threads, and each watch has one of its own.
    """
    import httpx2  # noqa: PLC0415 - an extra

    # lightkube has no public way to its connection.
    inside: Any = getattr(getattr(light_client, "_client", None), "_client", None)
    transport: ThreadedTransport | AsyncTransport
    if isinstance(inside, httpx2.AsyncClient):
        transport = AsyncTransport(inside)
    elif isinstance(inside, httpx2.Client):
        transport = ThreadedTransport(inside)
    else:
        raise ConfigurationError(
            f"a {type(light_client).__qualname__} has no connection as a client of lightkube 1 has"
        )
    return MirroringClient(transport, namespace=namespace or light_client.namespace)


class AsyncTransport:
    """Sends requests with the httpx2 client of ``lightkube.AsyncClient``.  Is a ``Transport``.

    - *http*: the client whose connection is used; it stays yours to close
    """

    def __init__(self, http: httpx2.AsyncClient) -> None:
        self._http = http
        self._server = _server(http)

    async def send(self, request: Request, /) -> Response:
        """Send and collect the whole answer."""
        with _translated(self._server):
            async with asyncio.timeout(request.timeout):
                answer = await self._http.send(_prepared(self._http, request, self._server))
        return _response(answer)

    @asynccontextmanager
    async def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AsyncIterator[Stream]:
        """Send, and hand out the answer's body while it arrives."""
        prepared = _prepared(self._http, request, self._server, streamed=True)
        with _translated(self._server):
            async with asyncio.timeout(request.timeout or ANSWER_TIMEOUT):
                answer = await self._http.send(prepared, stream=True)
        try:
            yield _AsyncBody(answer, self._server, silence)
        finally:
            await answer.aclose()

    async def close(self) -> None:
        """Nothing: the connections belong to lightkube."""


class ThreadedTransport:
    """Sends requests with the httpx2 client of ``lightkube.Client``.  Is a ``Transport``.

    - *http*: the client whose connection is used; it stays yours to close
    """

    def __init__(self, http: httpx2.Client) -> None:
        self._http = http
        self._server = _server(http)

    async def send(self, request: Request, /) -> Response:
        """Send in a thread and collect the whole answer."""
        prepared = _prepared(self._http, request, self._server)
        with _translated(self._server):
            async with asyncio.timeout(request.timeout):
                return _response(await asyncio.to_thread(self._http.send, prepared))

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[ThreadedStream]:
        """Send, and hand out the answer's body while it arrives, in a thread of its own."""
        return ThreadedStream(
            lambda: self._open(request, silence),
            server=self._server,
            head_timeout=request.timeout or ANSWER_TIMEOUT,
            silence=silence,
        )

    async def close(self) -> None:
        """Nothing: the connections belong to lightkube."""

    def _open(self, request: Request, silence: float | None) -> _HttpxBody:
        # The reader keeps the limit of silence; this one is for a thread that nobody reads.
        read_timeout = None if silence is None else max(silence, ANSWER_TIMEOUT)
        prepared = _prepared(
            self._http, request, self._server, streamed=True, read_timeout=read_timeout
        )
        with _translated(self._server):
            answer = self._http.send(prepared, stream=True)
        if answer.http_version == "HTTP/2":
            answer.close()
            raise ConfigurationError(
                "a watch of lightkube.Client(http2=True) cannot be ended without ending every "
                "other request on its connection: leave out http2, or use lightkube.AsyncClient"
            )
        return _HttpxBody(answer, self._server)


class _AsyncBody:
    """httpx2's answer as a ``Stream``."""

    def __init__(self, answer: httpx2.Response, server: str, silence: float | None) -> None:
        self._parts = answer.aiter_bytes()
        self._server = server
        self._silence = silence
        self.status = answer.status_code
        self.headers: Mapping[str, str] = _lower(answer.headers)

    async def read(self) -> bytes:
        """Everything that has arrived, at least one byte; ``b""`` at the end of the body."""
        with _translated(self._server):
            try:
                async with asyncio.timeout(self._silence):
                    return await anext(self._parts, b"")
            except TimeoutError as error:
                raise DeadlineExceeded(
                    f"{self._server}: the stream was silent for {self._silence:g} seconds"
                ) from error


class _HttpxBody:
    """httpx2's answer as a blocking body."""

    def __init__(self, answer: httpx2.Response, server: str) -> None:
        self._answer = answer
        self._parts = answer.iter_bytes()
        self._server = server
        self.status = answer.status_code
        self.headers: Mapping[str, str] = _lower(answer.headers)

    def read(self) -> bytes:
        with _translated(self._server):
            return next(self._parts, b"")

    def interrupt(self) -> None:
        import socket  # noqa: PLC0415 - costs start-up time

        connection = self._answer.extensions["network_stream"].get_extra_info("socket")
        # Raises when it is closed already: then there is nothing to interrupt.
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    def close(self) -> None:
        self._answer.close()


def _server(http: httpx2.Client | httpx2.AsyncClient) -> str:
    return str(http.base_url).rstrip("/")


def _prepared(
    http: httpx2.Client | httpx2.AsyncClient,
    request: Request,
    server: str,
    *,
    streamed: bool = False,
    read_timeout: float | None = None,
) -> httpx2.Request:
    import httpx2  # noqa: PLC0415 - an extra

    if http.is_closed:
        raise TransportError(f"{server}: the lightkube client is closed")
    # Relative, so that it goes below the path that the server's address may have.
    url = request.path.lstrip("/")
    if request.query:
        url += "?" + urlencode(request.query)
    headers = list(request.headers)
    if streamed:
        headers.append(("accept-encoding", "identity"))  # compressed, events would come late
    read = read_timeout if streamed else ANSWER_TIMEOUT
    return http.build_request(
        request.method,
        url,
        headers=headers,
        content=request.body or None,
        timeout=httpx2.Timeout(ANSWER_TIMEOUT, read=read),
    )


def _response(answer: httpx2.Response) -> Response:
    return Response(status=answer.status_code, headers=_lower(answer.headers), body=answer.content)


@contextmanager
def _translated(server: str) -> Iterator[None]:
    import httpx2  # noqa: PLC0415 - an extra
    import lightkube  # noqa: PLC0415 - an extra

    try:
        yield
    except lightkube.ConfigError as error:
        # Its words may quote a plugin's.
        raise CredentialsError(f"{server}: lightkube could not obtain credentials") from error
    except (httpx2.HTTPError, httpx2.StreamError, OSError) as error:
        timed_out = isinstance(error, httpx2.TimeoutException)
        raise wrapped_failure(error, server, timed_out=timed_out) from error


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
