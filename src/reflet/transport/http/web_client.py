"""Requests to any web server, as programs expect them: proxies, redirects, retries, passwords.

For what is not the API server: the address that is asked after a change, and what is downloaded.
Honours ``HTTPS_PROXY``, ``HTTP_PROXY``, ``NO_PROXY``, ``REQUESTS_CA_BUNDLE``, ``CURL_CA_BUNDLE``
and ``~/.netrc``.  Each request has a connection of its own.  No error holds more of an address than
scheme, host and port: the rest may be secret.
"""

from __future__ import annotations

import base64
import email.utils
import netrc
import os
import ssl
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

import aiohttp
import yarl

from reflet.errors import ConnectionRefused, TLSFailure, TransportError
from reflet.runtime.clock import Clock, SystemClock
from reflet.transport.config.proxies import proxy_for
from reflet.transport.connection import user_agent
from reflet.transport.failures import connection_failure
from reflet.transport.http.retry_series import Missed, RetryPolicy, RetrySeries

MOST_REDIRECTS: Final = 30
LARGEST_BODY: Final = 256 * 1024 * 1024  # bytes
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
DEFAULT_PORTS: Final = {("http", 80), ("https", 443)}

Login = tuple[bytes, bytes]
"""User and password, encoded."""


class RetriesExceeded(TransportError):
    """Every try was answered with a *status* that is no answer."""

    def __init__(self, server: str, status: int) -> None:
        super().__init__(f"{server}: too many {status} error responses")
        self.status = status


@dataclass(frozen=True, slots=True, kw_only=True)
class WebRequest:
    """What to ask for; nothing but the method is in the repr."""

    url: str = field(repr=False)
    method: str = "GET"
    body: bytes | None = field(default=None, repr=False)
    content_type: str = ""
    login: Login | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class WebAnswer:
    """What was answered."""

    status: int
    reason: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)

    @property
    def is_good(self) -> bool:
        """Whether the server did what it was asked for."""
        return self.status < 400

    def text(self) -> str:
        """The body by its charset; without one UTF-8, and Latin-1 where it is not that."""
        content_type = self.headers.get("content-type", "")
        for parameter in content_type.split(";")[1:]:
            name, _, value = parameter.partition("=")
            if name.strip().lower() == "charset":
                try:
                    return self.body.decode(value.strip().strip("'\""), "replace")
                except (LookupError, ValueError):  # there is none such, or it is for no text
                    break
        try:
            return self.body.decode()
        except UnicodeDecodeError:
            is_text = content_type.lower().startswith("text/")
            return self.body.decode("latin-1" if is_text else "utf-8", "replace")


class WebClient:
    """Sends requests; *timeout* seconds for a connection, and for each piece of an answer.

    *insecure* trusts any certificate.  Used by one event loop.
    """

    def __init__(
        self,
        *,
        timeout: float,
        insecure: bool = False,
        environ: Mapping[str, str] | None = None,
        clock: Clock | None = None,
    ) -> None:
        self._timeout = aiohttp.ClientTimeout(
            total=None, sock_connect=timeout or None, sock_read=timeout or None
        )
        self._insecure = insecure
        self._environ = os.environ if environ is None else environ
        self._clock = clock or SystemClock()

    async def send(
        self,
        request: WebRequest,
        policy: RetryPolicy,
        *,
        pause: Callable[[float], Awaitable[None]] | None = None,
    ) -> WebAnswer:
        """The answer at the end of all redirects, each address tried as *policy* says.

        *pause* waits between tries, and may raise to end them.  Raises RetriesExceeded, and
        TransportError for every other way of having no answer.
        """
        request = self._with_login(_checked(request))
        for _ in range(MOST_REDIRECTS + 1):
            answer = await self._tried(request, policy, pause or self._clock.sleep)
            location = answer.headers.get("location")
            if answer.status not in REDIRECTS or not location:
                return answer
            request = self._redirected(request, answer.status, location)
        raise TransportError(f"{_server(request.url)}: more than {MOST_REDIRECTS} redirects")

    async def _tried(
        self,
        request: WebRequest,
        policy: RetryPolicy,
        pause: Callable[[float], Awaitable[None]],
    ) -> WebAnswer:
        series = RetrySeries(policy)
        while True:
            asked: float | None = None
            try:
                answer = await self._once(request)
                asked = _retry_after(answer.headers, self._clock)
                if not policy.retries(answer.status, says_when=asked is not None):
                    return answer
                failure: TransportError = RetriesExceeded(_server(request.url), answer.status)
                missed = Missed.OTHER
            except (aiohttp.ClientError, OSError, ValueError, _Broken) as caught:
                error = caught.error if isinstance(caught, _Broken) else caught
                missed = _missed(error)
                failure = _failure(error, request.url)
            wait = series.wait_after(missed, asked=asked)
            if wait is None:
                raise failure
            await pause(wait)

    async def _once(self, request: WebRequest) -> WebAnswer:
        url = yarl.URL(request.url)
        headers = {"User-Agent": user_agent()}
        if request.content_type:
            headers["Content-Type"] = request.content_type
        if request.login is not None:
            headers["Authorization"] = (
                f"Basic {base64.b64encode(b':'.join(request.login)).decode()}"
            )
        _, proxy = proxy_for(str(url), self._environ)
        async with (
            aiohttp.ClientSession(
                timeout=self._timeout,
                connector=aiohttp.TCPConnector(force_close=True),
                cookie_jar=aiohttp.DummyCookieJar(),
                skip_auto_headers=("Content-Type",),
            ) as session,
            session.request(
                request.method,
                url,
                headers=headers,
                data=request.body,
                allow_redirects=False,
                proxy=proxy or None,
                ssl=self._context() if url.scheme == "https" else True,
                middlewares=(_sent_once,),
            ) as answer,
        ):
            body = bytearray()
            async for piece in answer.content.iter_any():
                body += piece
                if len(body) > LARGEST_BODY:
                    raise ValueError(f"the answer has more than {LARGEST_BODY} bytes")
            names = {name.lower(): value for name, value in answer.headers.items()}
            return WebAnswer(answer.status, answer.reason or "", names, bytes(body))

    def _context(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        if self._insecure:
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            return context
        bundle = self._environ.get("REQUESTS_CA_BUNDLE") or self._environ.get("CURL_CA_BUNDLE")
        if not bundle:
            context.load_default_certs(ssl.Purpose.SERVER_AUTH)
        elif Path(bundle).is_dir():
            context.load_verify_locations(capath=bundle)
        else:
            context.load_verify_locations(cafile=bundle)
        return context

    def _with_login(self, request: WebRequest) -> WebRequest:
        """The request with whom it is made by: its own login, else netrc's, else the address's."""
        url = yarl.URL(request.url)
        login = request.login or _netrc_login(url.host or "", self._environ)
        if login is None and url.user is not None:
            login = (url.user.encode("latin-1", "replace"), (url.password or "").encode())
        return replace(request, url=str(url.with_user(None)), login=login)

    def _redirected(self, request: WebRequest, status: int, location: str) -> WebRequest:
        old = yarl.URL(request.url)
        try:
            new = old.join(yarl.URL(location))
        except ValueError as error:
            raise TransportError(f"{_server(request.url)}: it redirects to no address") from error
        becomes_get = status == 303 or (status in {301, 302} and request.method == "POST")
        keeps = old.host == new.host and (
            (old.scheme, old.port) == (new.scheme, new.port)
            or {(old.scheme, old.port), (new.scheme, new.port)} == DEFAULT_PORTS
        )
        redirected = replace(
            request,
            url=str(new),
            method="GET" if becomes_get else request.method,
            body=None if becomes_get else request.body,
            content_type="" if becomes_get else request.content_type,
            login=request.login if keeps else None,
        )
        return self._with_login(_checked(redirected))


class _Broken(Exception):
    """A connection failed, in a form in which aiohttp does not know it."""

    def __init__(self, error: Exception) -> None:
        super().__init__()
        self.error = error


async def _sent_once(
    request: aiohttp.ClientRequest, handler: aiohttp.ClientHandlerType
) -> aiohttp.ClientResponse:
    """Keep aiohttp from sending a second time by itself, which nobody counts."""
    try:
        return await handler(request)
    except (aiohttp.ClientError, OSError) as error:
        raise _Broken(error) from error


def shown_address(url: str) -> str:
    """An address for logs: without user, password and query, which may be secret."""
    try:
        return str(yarl.URL(url).with_user(None).with_query(None).with_fragment(None))
    except ValueError:
        return "what is no address"


def _checked(request: WebRequest) -> WebRequest:
    try:
        url = yarl.URL(request.url)
        is_web = url.scheme in {"http", "https"} and bool(url.host) and url.port is not None
    except ValueError:
        is_web = False
    if not is_web:
        raise TransportError("this is no address of a web server, like https://host/path")
    return request


def _server(url: str) -> str:
    return str(yarl.URL(url).origin())


def _missed(error: Exception) -> Missed:
    match error:
        case aiohttp.ClientConnectorCertificateError() | aiohttp.ClientConnectorSSLError():
            return Missed.OTHER
        case ssl.SSLError() | ValueError():
            return Missed.OTHER
        case aiohttp.ClientConnectorError() | aiohttp.ConnectionTimeoutError():
            return Missed.CONNECTION
        case _:
            return Missed.ANSWER


def _failure(error: Exception, url: str) -> TransportError:
    """What went wrong, in words that hold nothing of the address but the server."""
    server = _server(url)
    match error:
        case aiohttp.ClientProxyConnectionError():
            return TransportError(f"{server}: the proxy cannot be reached: {error.os_error}")
        case aiohttp.ClientConnectorCertificateError():
            why = getattr(error.certificate_error, "verify_message", "")
            found: TransportError = TLSFailure(f"{server}: its certificate is not trusted ({why})")
        case aiohttp.ClientConnectorError():
            found = connection_failure(error.os_error, server)
            if isinstance(found, ConnectionRefused):
                found = ConnectionRefused(f"{server}: connection refused")
        case aiohttp.ServerDisconnectedError():
            found = TransportError(f"{server}: the server closed the connection")
        case aiohttp.ClientPayloadError():
            found = TransportError(f"{server}: the connection broke in the middle of the answer")
        case aiohttp.ClientResponseError():
            found = TransportError(f"{server}: {' '.join(error.message.split())}")
        case ValueError():
            found = TransportError(f"{server}: {error}")
        case _:
            found = connection_failure(error, server)
    found.__cause__ = error
    return found


def _retry_after(headers: Mapping[str, str], clock: Clock) -> float | None:
    text = headers.get("retry-after", "").strip()
    if text.isdecimal():
        return float(text)
    try:
        moment = email.utils.parsedate_to_datetime(text)
        return max(0.0, (moment - clock.now()).total_seconds())
    except (ValueError, TypeError):
        return None


def _netrc_login(host: str, environ: Mapping[str, str]) -> Login | None:
    home = environ.get("HOME", "")
    places = [environ["NETRC"]] if environ.get("NETRC") else [f"{home}/.netrc", f"{home}/_netrc"]
    for place in places:
        if not place.startswith("/") or not Path(place).is_file():
            continue
        try:
            found = netrc.netrc(place).authenticators(host)
        except (OSError, netrc.NetrcParseError):
            return None  # as for requests: a file that cannot be used is none
        if found is not None:
            user, account, password = found
            return (user or account or "").encode("latin-1", "replace"), (password or "").encode()
    return None
