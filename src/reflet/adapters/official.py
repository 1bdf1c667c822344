"""The connection of the official client, ``kubernetes``, for Reflet.

It carries requests, over urllib3, and the bytes of their answers are decoded by our own codec.

::

    from kubernetes import client, config

    config.load_kube_config()
    cluster = official.client(client.ApiClient())
    async with cluster.mirror(ConfigMap, namespace="shop") as config_maps:
        await config_maps.synced()
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import AbstractAsyncContextManager, contextmanager, suppress
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlencode

from reflet.adapters.threaded_stream import ThreadedStream
from reflet.cluster import MirroringClient
from reflet.errors import CredentialsError
from reflet.transport.failures import wrapped_failure
from reflet.transport.interface import ANSWER_TIMEOUT, Request, Response

if TYPE_CHECKING:
    from kubernetes.client import ApiClient
    from urllib3 import BaseHTTPResponse

READ_SIZE: Final = 64 * 1024


def client(api_client: ApiClient, *, namespace: str = "default") -> MirroringClient:
    """Everything that can be asked of the server of *api_client*, on its connections.

    Its credentials, proxy and certificates are used, and renewed as it renews them.  Closing what
    comes back leaves *api_client* open: it belongs to the program that made it.  *namespace* is the
    one that counts where none is given: the official client knows none.

    Requests wait in threads, and each watch has one of its own.
    """
    return MirroringClient(OfficialTransport(api_client), namespace=namespace)


class OfficialTransport:
    """Sends requests with the official client.  Is a ``Transport``.

    - *api_client*: the client whose connection is used; it stays yours to close
    """

    def __init__(self, api_client: ApiClient) -> None:
        self._api_client = api_client

    async def send(self, request: Request, /) -> Response:
        """Send in a thread and collect the whole answer."""
        return await asyncio.to_thread(self._send, request)

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[ThreadedStream]:
        """Send, and hand out the answer's body while it arrives, in a thread of its own."""
        return ThreadedStream(
            # The reader keeps the limit of silence; this one is for a thread that nobody reads.
            lambda: _Urllib3Body(
                self._open(request, read=None if silence is None else max(silence, ANSWER_TIMEOUT)),
                self._server,
            ),
            server=self._server,
            head_timeout=request.timeout or ANSWER_TIMEOUT,
            silence=silence,
        )

    async def close(self) -> None:
        """Nothing: the connections belong to the official client."""

    @property
    def _server(self) -> str:
        return str(self._api_client.configuration.host)

    def _send(self, request: Request) -> Response:
        response = self._open(request, read=ANSWER_TIMEOUT, total=request.timeout)
        with _translated(self._server):
            try:
                body = response.read()
            finally:
                response.release_conn()
        return Response(status=response.status, headers=_lower(response.headers), body=body)

    def _open(
        self, request: Request, *, read: float | None, total: float | None = None
    ) -> BaseHTTPResponse:
        import urllib3  # noqa: PLC0415 - an extra, here because the official client is

        url = self._server + request.path
        if request.query:
            url += "?" + urlencode(request.query)
        headers = self._headers(request)
        with _translated(self._server):
            response: BaseHTTPResponse = self._api_client.rest_client.pool_manager.request(
                request.method,
                url,
                body=request.body or None,
                headers=headers,
                timeout=urllib3.Timeout(total=total, connect=ANSWER_TIMEOUT, read=read),
                # Whoever sends the request decides when it is worth repeating; urllib3 would
                # sleep in the thread as long as the server asks it to.
                retries=False,
                preload_content=False,
            )
        return response

    def _headers(self, request: Request) -> dict[str, str]:
        ours = dict(request.headers)
        given: Mapping[str, Any] = self._api_client.default_headers
        headers = {name: str(value) for name, value in given.items() if name.lower() not in ours}
        headers |= ours
        if self._api_client.cookie:
            headers["cookie"] = str(self._api_client.cookie)
        try:
            # May run a plugin or read a file to renew a token.
            settings = self._api_client.configuration.auth_settings()
        except Exception as error:
            # Its words may quote a plugin's.
            raise CredentialsError(
                f"{self._server}: the official client could not renew its credentials"
            ) from error
        for setting in settings.values():
            if setting["in"] == "header" and setting["value"]:
                headers[setting["key"]] = setting["value"]
        return headers


class _Urllib3Body:
    """urllib3's answer as a blocking body."""

    def __init__(self, response: BaseHTTPResponse, server: str) -> None:
        self._response = response
        self._server = server
        self.status = response.status
        self.headers: Mapping[str, str] = _lower(response.headers)

    def read(self) -> bytes:
        with _translated(self._server):
            return self._response.read1(READ_SIZE)

    def interrupt(self) -> None:
        # It raises when the body has ended meanwhile: then there is nothing to interrupt.
        with suppress(ValueError, RuntimeError, OSError):
            self._response.shutdown()

    def close(self) -> None:
        self._response.close()


@contextmanager
def _translated(server: str) -> Iterator[None]:
    import urllib3.exceptions  # noqa: PLC0415 - an extra

    try:
        yield
    except (urllib3.exceptions.HTTPError, OSError) as error:
        timed_out = isinstance(error, urllib3.exceptions.TimeoutError)
        raise wrapped_failure(error, server, timed_out=timed_out) from error


def _lower(headers: Mapping[str, str]) -> dict[str, str]:
    return {name.lower(): value for name, value in headers.items()}
