"""A connection to one API server, as its settings say: the transport that everybody uses.

Chooses HTTP/2 when the server offers it in the TLS handshake, else HTTP/1.1, and puts around
every request: credentials, the rate limit, impersonation, the User-Agent, compression, and the
retries that the server asks for with ``Retry-After``.

Upstream: client-go/rest/with_retry.go; client-go/rest/request.go, tryThrottle;
    client-go/transport/round_trippers.go
"""

from __future__ import annotations

import asyncio
import ipaddress
import os
import platform
import re
import zlib
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import (
    AbstractAsyncContextManager,
    asynccontextmanager,
    nullcontext,
    suppress,
)
from functools import partial
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

import msgspec

from reflet._version import __version__
from reflet.errors import ConfigurationError, MisuseError, TransportError
from reflet.runtime.clock import Clock, SystemClock
from reflet.runtime.tasks import Opened, entered
from reflet.runtime.threads import import_beside
from reflet.transport.config.settings import ConnectionSettings, ssl_context
from reflet.transport.failures import connection_failure
from reflet.transport.http.cert_rotation import Replaceable, TransportRotation
from reflet.transport.interface import Request, Response, Stream, Upgraded
from reflet.transport.rate_limit import RateLimit
from reflet.transport.upgrades.byte_streams import ByteStream

if TYPE_CHECKING:
    import ssl

    from reflet.transport.http.http2 import Http2Connection

MAX_RETRIES: Final = 10
"""How often a request is sent again because the server said ``Retry-After``, as in client-go."""
LONGEST_RETRY_AFTER: Final = 60.0
"""Seconds.  An answer that asks for more is passed on: somebody should know."""
CONNECT_TIMEOUT: Final = 30.0
PATH_CHARACTERS: Final = "/%:@!$&'()*+,;=~"
"""What stays as it is in the path of a server's address; escapes in it were meant as escapes."""
UNSENDABLE: Final = re.compile(r"[\x00-\x1f\x7f-\x9f\ud800-\udfff]")
"""What would end a header early, or cannot be encoded at all."""

HTTP1: Final = ("encodings.idna", "reflet.transport.http.http1")
HTTP2: Final = ("encodings.idna", "reflet.transport.http.http2", "reflet.transport.http.http2_pool")
"""What is imported when a connection is opened, and beside the event loop: some 150 modules."""


class Connection:
    """Sends requests to the server of *settings*.  Is a ``Transport``.

    Nothing is opened before the first request.  From then on it belongs to the event loop and the
    process of that request, and MisuseError is raised in any other.  The rate limit of *settings*
    holds for ``send``, not for ``stream``.  A 401 is tried once more when the credentials can be
    renewed; 429 and 5xx answers that name a ``Retry-After`` are repeated after it, except 504.
    """

    def __init__(self, settings: ConnectionSettings, *, clock: Clock | None = None) -> None:
        self.settings = settings
        self._clock = clock or SystemClock()
        self._limit = RateLimit(
            qps=settings.qps,
            burst=settings.burst,
            monotonic=self._clock.monotonic,
            sleep=self._clock.sleep,
        )
        impersonation = settings.impersonation
        self._headers = _sendable(
            ("user-agent", user_agent(settings.user_agent_extra)),
            *(impersonation.headers() if impersonation is not None else ()),
        )
        self._prefix = quote(urlsplit(settings.server).path, safe=PATH_CHARACTERS)
        self._rotation = TransportRotation(
            settings, partial(_open_transport, settings), clock=self._clock
        )
        self._loop: asyncio.AbstractEventLoop | None = None  # of the first request
        self._process = 0
        self._lines: set[ByteStream] = set()  # that were upgraded and are open
        self._closed = False

    async def send(self, request: Request, /) -> Response:
        """Send and collect the whole answer, decompressed."""
        self._refuse_elsewhere()
        if not self.settings.disable_compression:
            request = request.with_headers((("accept-encoding", "gzip"),))
        tried = _Tried()
        while True:
            await self._limit.acquire(f"{request.method}:{request.path}")
            transport, dressed = await self._prepared(request, tried)
            response = await transport.send(dressed)
            pause = await self._retry_delay(response.status, response.headers, tried)
            if pause is None:
                return _decompressed(response, self.settings.server)
            await self._clock.sleep(pause)

    def stream(
        self, request: Request, /, *, silence: float | None = None
    ) -> AbstractAsyncContextManager[Stream]:
        """Send, and hand out the answer's body while it arrives.

        Streams are outside the rate limit, as in client-go: a thousand watches that were lost
        together would be back after twenty seconds at the earliest.
        """
        return Opened(partial(self._open_stream, request, silence))

    async def _open_stream(
        self, request: Request, silence: float | None
    ) -> tuple[Stream, AbstractAsyncContextManager[Stream]]:
        self._refuse_elsewhere()
        tried = _Tried()

        async def looked_at(stream: Stream) -> tuple[Stream, float | None]:
            return stream, await self._retry_delay(stream.status, stream.headers, tried)

        while True:
            transport, dressed = await self._prepared(request, tried)
            context = transport.stream(dressed, silence=silence)
            stream, pause = await entered(context, looked_at)
            if pause is None:
                return stream, context
            await context.__aexit__(None, None, None)
            await self._clock.sleep(pause)

    @asynccontextmanager
    async def upgrade(self, request: Request, /) -> AsyncIterator[Upgraded]:
        """Ask for another protocol, on a connection of its own; see ``Upgrading``."""
        self._refuse_elsewhere()
        tried = _Tried()
        while True:
            self._refuse_when_closed()
            upgraded = await self._dialled(request, tried)
            answer, line = upgraded.response, upgraded.line
            self._lines.add(line)
            try:
                self._refuse_when_closed()  # while we dialled: nobody else will close it
                pause = await self._retry_delay(answer.status, answer.headers, tried)
                if pause is None:
                    yield upgraded
                    return
            finally:
                self._lines.discard(line)
                await line.close()
            await self._clock.sleep(pause)

    async def _dialled(self, request: Request, tried: _Tried) -> Upgraded:
        from reflet.transport.upgrades.dialing import dial  # noqa: PLC0415 - costs start-up time

        settings, context = self.settings, None
        _check_names(settings)
        dressed = await self._dressed(request, tried)
        if settings.server.startswith("https:"):
            # One of its own, of the files as they are now: it offers HTTP/1.1 alone.
            shown = await settings.credentials.client_certificate()
            context = ssl_context(settings, client_certificate=shown, now=self._clock.now)
            context.set_alpn_protocols(["http/1.1"])
        return await dial(settings, context, dressed)

    async def close(self) -> None:
        """Close every connection; what is open fails."""
        ended = self._loop is not None and self._loop.is_closed()
        if self._loop is not None and not ended:
            self._refuse_elsewhere()
        self._closed = True
        # Connections of a loop that has ended can only be let go.
        with suppress(RuntimeError) if ended else nullcontext():
            for line in tuple(self._lines):
                await line.close()
            await self._rotation.close()

    async def _prepared(self, request: Request, tried: _Tried) -> tuple[Replaceable, Request]:
        """The transport to use now, and the request with everything that belongs to it now."""
        dressed = await self._dressed(request, tried)
        try:
            async with asyncio.timeout(dressed.timeout):
                transport = await self._current_transport()
        except TimeoutError as error:
            raise connection_failure(error, self.settings.server) from error
        return transport, dressed

    async def _dressed(self, request: Request, tried: _Tried) -> Request:
        tried.said = await self.settings.credentials.headers()
        return msgspec.structs.replace(
            request,
            path=self._prefix + request.path,
            timeout=request.timeout or self.settings.request_timeout,
            headers=(*self._headers, *tried.said.items(), *request.headers),
        )

    async def _retry_delay(
        self, status: int, headers: Mapping[str, str], tried: _Tried
    ) -> float | None:
        """Seconds to wait before the request is sent again; None takes the answer as it is."""
        if status == 401 and not tried.renewed:
            tried.renewed = True
            return 0.0 if await self.settings.credentials.refused(tried.said) else None
        # A server that says 504 has waited already: "Too large resource version", for one.
        if status == 504 or (status != 429 and status < 500):
            return None
        pause = retry_after(headers)
        tried.retries += 1
        if pause is None or pause > LONGEST_RETRY_AFTER or tried.retries > MAX_RETRIES:
            return None
        return pause

    async def _current_transport(self) -> Replaceable:
        return await self._rotation.current()

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise TransportError(f"{self.settings.server}: the client is closed")

    def _refuse_elsewhere(self) -> None:
        """Raise MisuseError in another loop or process than that of the first request."""
        loop, process = asyncio.get_running_loop(), os.getpid()
        if self._loop is None:
            self._loop, self._process = loop, process
        if process != self._process:
            raise MisuseError(
                f"{self.settings.server}: this connection was opened in process {self._process}, "
                f"before a fork, and cannot be used in this one, {process}: connect in each process"
            )
        if loop is not self._loop:
            ended = ", which has ended" if self._loop.is_closed() else ""
            raise MisuseError(
                f"{self.settings.server}: this connection belongs to another event loop{ended}: "
                "connect in each event loop (each asyncio.run has one of its own)"
            )


class _Tried:
    """What has been tried for one request."""

    __slots__ = ("renewed", "retries", "said")

    def __init__(self) -> None:
        self.renewed = False
        self.retries = 0
        self.said: Mapping[str, str] = {}


def user_agent(extra: str = "") -> str:
    """Who asks, for the server's logs: ``reflet/0.1.0 (linux/x86_64; python 3.11.7)``."""
    about = f"{platform.system().lower()}/{platform.machine()}; python {platform.python_version()}"
    return f"reflet/{__version__} ({about}{'; ' + extra if extra else ''})"


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds that a ``Retry-After`` header asks for; None when it is absent or a date."""
    text = headers.get("retry-after", "").strip()
    return float(text) if text.isascii() and text.isdecimal() else None


def _sendable(*headers: tuple[str, str]) -> tuple[tuple[str, str], ...]:
    """The headers, when HTTP can carry them; ConfigurationError names the one it cannot."""
    for name, value in headers:
        if UNSENDABLE.search(value):
            raise ConfigurationError(f"{name} cannot be sent: {value!r} is not one line of text")
    return headers


def _decompressed(response: Response, server: str) -> Response:
    if response.headers.get("content-encoding", "").lower() != "gzip":
        return response
    try:
        body = zlib.decompress(response.body, wbits=zlib.MAX_WBITS | 16)
    except zlib.error as error:
        raise TransportError(f"{server}: the answer's compression is broken: {error}") from error
    # These described the body as it travelled.
    headers = {
        name: value
        for name, value in response.headers.items()
        if name not in ("content-encoding", "content-length")
    }
    return msgspec.structs.replace(response, headers=headers, body=body)


async def _open_transport(
    settings: ConnectionSettings, context: ssl.SSLContext | None
) -> Replaceable:
    """HTTP/2 when the server offers it and nothing stands between, else HTTP/1.1."""
    if context is None or settings.proxy_url:
        await import_beside(*HTTP1)
        _check_names(settings)
        return _http1(settings, context)
    await import_beside(*HTTP2)
    _check_names(settings)
    context.set_alpn_protocols(["h2", "http/1.1"])
    first = await _dial(settings, context, lambda: None)
    if first is None:
        await import_beside(*HTTP1)
        context.set_alpn_protocols(["http/1.1"])
        return _http1(settings, context)

    from reflet.transport.http.http2_pool import Http2Transport  # noqa: PLC0415 - costs start-up time

    async def dial(on_room: Callable[[], None]) -> Http2Connection:
        connection = await _dial(settings, context, on_room)
        if connection is None:
            raise TransportError(f"{settings.server}: the server offers HTTP/2 no longer")
        return connection

    transport = Http2Transport(settings.server, dial)
    transport.adopt(first)
    return transport


def _check_names(settings: ConnectionSettings) -> None:
    """Raise ConfigurationError for a host that can be none: the libraries fail in odd ways."""
    names = (
        ("server", urlsplit(settings.server).hostname or ""),
        ("proxy-url", urlsplit(settings.proxy_url).hostname or ""),
        ("tls-server-name", settings.tls_server_name),
    )
    for setting, name in names:
        try:
            encoded = name.encode("idna")
        except UnicodeError as error:
            raise ConfigurationError(f"{setting}: {name!r} is not a host name") from error
        if b"\0" in encoded:
            raise ConfigurationError(f"{setting}: {name!r} is not a host name")


def _http1(settings: ConnectionSettings, context: ssl.SSLContext | None) -> Replaceable:
    from reflet.transport.http.http1 import Http1Transport  # noqa: PLC0415 - costs start-up time

    parts = urlsplit(settings.server)
    return Http1Transport(
        f"{parts.scheme}://{parts.netloc}",
        ssl_context=context,
        server_hostname=settings.tls_server_name or None,
        proxy=settings.proxy_url or None,
    )


async def _dial(
    settings: ConnectionSettings, context: ssl.SSLContext, on_room: Callable[[], None]
) -> Http2Connection | None:
    """A connection that is ready for requests; None when the server did not choose HTTP/2."""
    from reflet.transport.http.http2 import Http2Connection  # noqa: PLC0415 - costs start-up time

    parts = urlsplit(settings.server)
    loop = asyncio.get_running_loop()
    connection: Http2Connection | None = None
    try:
        async with asyncio.timeout(CONNECT_TIMEOUT):
            _, connection = await loop.create_connection(
                lambda: Http2Connection(settings.server, parts.netloc, on_room=on_room),
                parts.hostname or "",
                parts.port or 443,
                ssl=context,
                server_hostname=settings.tls_server_name or parts.hostname,
                **_race(parts.hostname or "", loop),
            )
            if connection.offered:
                await connection.ready
                return connection
    except (OSError, TimeoutError) as error:
        if connection is not None:
            connection.abort()
        raise connection_failure(error, settings.server) from error
    except BaseException:
        if connection is not None:
            connection.abort()
        raise
    connection.abort()
    await connection.closed()
    return None


def _race(host: str, loop: asyncio.AbstractEventLoop) -> dict[str, Any]:
    """How to try the addresses of a name together; uvloop has no such option."""
    if _is_address(host) or not isinstance(loop, asyncio.BaseEventLoop):
        return {}
    return {"happy_eyeballs_delay": 0.25}


def _is_address(host: str) -> bool:
    """Whether *host* is one address, so that there is nothing to race.

    asyncio's race forgets its socket until the next garbage collection when it is cancelled in
    the wrong moment; most servers are written as addresses and need not run that risk.
    """
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True
