"""The connection of ``kubernetes_asyncio`` for Reflet.

It carries requests, over aiohttp, and the bytes of their answers are decoded by our own codec.

::

    await config.load_kube_config()
    async with ApiClient() as api_client:
        cluster = asyncio_client.client(api_client)
        async with cluster.mirror(ConfigMap, namespace="shop") as config_maps:
            await config_maps.synced()
"""

from __future__ import annotations

import asyncio
import inspect
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode

from reflet.cluster import MirroringClient
from reflet.errors import CredentialsError, TransportError
from reflet.runtime.sockets import abort
from reflet.transport.failures import wrapped_failure
from reflet.transport.http.http1 import BodyStream
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response, Stream

if TYPE_CHECKING:
    import aiohttp
    from kubernetes_asyncio.client import ApiClient


def client(api_client: ApiClient, *, namespace: str = "default") -> MirroringClient:
    """Everything that can be asked of the server of *api_client*, on its connections.

    Its credentials, proxy and certificates are used, and renewed as it renews them.  Closing what
    comes back leaves *api_client* open: it belongs to the program that made it.  *namespace* is the
    one that counts where none is given: kubernetes_asyncio knows none.

    Each watch takes one of the connections that ``Configuration.connection_pool_maxsize`` (100)
    allows.
    """
    return MirroringClient(AsyncioTransport(api_client), namespace=namespace)


class AsyncioTransport:
    """Sends requests with kubernetes_asyncio.  Is a ``Transport``.

    - *api_client*: the client whose connection is used; it stays yours to close
    """

    def __init__(self, api_client: ApiClient) -> None:
        self._api_client = api_client

    async def send(self, request: Request, /) -> Response:
        """Send and collect the whole answer."""
        with _translated(self._server):
            async with asyncio.timeout(request.timeout):
                async with self._open(request, head_timeout=None) as answer:
                    stream = BodyStream(answer, self._server, ANSWER_TIMEOUT)
                    parts = []
                    while part := await stream.read():
                        parts.append(part)
        return Response(status=stream.status, headers=stream.headers, body=b"".join(parts))

    @asynccontextmanager
    async def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AsyncIterator[Stream]:
        """Send, and hand out the answer's body while it arrives."""
        async with self._open(request, head_timeout=request.timeout) as answer:
            yield BodyStream(answer, self._server, silence)

    async def close(self) -> None:
        """Nothing: the connections belong to kubernetes_asyncio."""

    @property
    def _server(self) -> str:
        return str(self._api_client.configuration.host)

    @asynccontextmanager
    async def _open(
        self, request: Request, *, head_timeout: float | None
    ) -> AsyncIterator[aiohttp.ClientResponse]:
        import aiohttp  # noqa: PLC0415 - costs start-up time

        rest_client = self._api_client.rest_client
        if rest_client.pool_manager.closed:
            raise TransportError(f"{self._server}: the kubernetes_asyncio client is closed")
        headers = await self._headers(request)
        url = self._server + request.path
        if request.query:
            url += "?" + urlencode(request.query)
        with _translated(self._server):
            async with asyncio.timeout(ANSWER_TIMEOUT if head_timeout is None else head_timeout):
                answer: aiohttp.ClientResponse = await rest_client.request(
                    request.method,
                    url,
                    headers=headers,
                    body=_given(request),
                    _preload_content=False,
                    _request_timeout=aiohttp.ClientTimeout(total=None),
                )
        try:
            yield answer
        finally:
            if answer.content.at_eof():
                answer.release()
            else:
                _hang_up(answer)

    async def _headers(self, request: Request) -> dict[str, str]:
        # kubernetes_asyncio looks for this name, in these letters.
        ours = {
            "Content-Type" if name == "content-type" else name: v for name, v in request.headers
        }
        lower = {name.lower() for name in ours}
        given: Mapping[str, Any] = self._api_client.default_headers
        headers = {name: str(value) for name, value in given.items() if name.lower() not in lower}
        headers |= ours
        if self._api_client.cookie:
            headers["Cookie"] = str(self._api_client.cookie)
        try:
            # May run a plugin or read a file to renew a token.
            settings: Any = self._api_client.configuration.auth_settings()
            if inspect.isawaitable(settings):  # in its newer versions
                settings = await settings
        except Exception as error:
            # Its words may quote a plugin's.
            raise CredentialsError(
                f"{self._server}: kubernetes_asyncio could not renew its credentials"
            ) from error
        for setting in settings.values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        return headers


def _hang_up(answer: aiohttp.ClientResponse) -> None:
    """Close the connection of a half-read answer, which cannot be reused; that tells the server."""
    transport = None if answer.connection is None else answer.connection.transport
    answer.close()
    if transport is not None:
        # Closing alone would go on in the background until the server has said goodbye too.
        abort(transport)


def _given(request: Request) -> Any:
    """The body in the form in which kubernetes_asyncio wants it: it makes the JSON itself."""
    if not request.body:
        return None
    import json  # noqa: PLC0415 - most requests have no body

    return json.loads(request.body)


@contextmanager
def _translated(server: str) -> Iterator[None]:
    import aiohttp  # noqa: PLC0415 - costs start-up time

    try:
        yield
    except (aiohttp.ClientError, OSError) as error:
        timed_out = isinstance(error, TimeoutError)
        raise wrapped_failure(error, server, timed_out=timed_out) from error
