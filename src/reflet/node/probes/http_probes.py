"""One GET of a probe or a hook, as the kubelet's HTTP client makes it and in the words it has.

Each request has a connection of its own, certificates are not verified, redirects are followed on
the same host only, and of an answer ten kilobytes are read.  Written on sockets because the texts
of what went wrong are those of Go's client, which users see in events.

Upstream: pkg/probe/http/http.go, DoHTTPProbe;
pkg/probe/http/request.go, NewRequestForHTTPGetAction.
"""

from __future__ import annotations

import asyncio
import contextlib
import errno
import functools
import os
import re
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from typing import Final
from urllib.parse import quote, urljoin, urlsplit

from reflet.gotext.urls import join_host_port
from reflet.runtime.sockets import abort

LONGEST_BODY: Final = 10 * 1024  # bytes that are read of an answer
LONGEST_HEAD: Final = 64 * 1024  # bytes
MOST_REDIRECTS: Final = 10
REDIRECTS: Final = frozenset({301, 302, 303, 307, 308})
TIMED_OUT: Final = "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"
TIMED_OUT_IN_BODY: Final = (
    "context deadline exceeded (Client.Timeout or context cancellation while reading body)"
)
PLAIN_ANSWER: Final = "http: server gave HTTP response to HTTPS client"
_SAFE: Final = "/?&=%:;@!$'()*+,~-._[]"
_HEADER_NAME: Final = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_STATUS_LINE: Final = re.compile(rb"HTTP/1\.[01] ([1-9][0-9]{2})(?: [^\r\n]*)?\r?\n")
_NOT_TLS: Final = frozenset({"WRONG_VERSION_NUMBER", "HTTP_REQUEST", "RECORD_LAYER_FAILURE"})


class NoAnswer(Exception):
    """There is no answer; the text is what the kubelet's client would say."""


class BrokenAnswer(Exception):
    """An answer came, and its body broke off."""


@dataclass(frozen=True, slots=True, kw_only=True)
class HttpRequest:
    """A page to ask for; what headers say is not shown."""

    scheme: str
    host: str
    port: int
    target: str
    headers: tuple[tuple[str, str], ...] = field(default=(), repr=False)

    @property
    def place(self) -> str:
        """Host and port."""
        return join_host_port(self.host, self.port)

    @property
    def url(self) -> str:
        """The whole address."""
        return f"{self.scheme}://{self.place}{self.target}"


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    """The status of an answer, and the beginning of its body."""

    status: int
    body: str = field(default="", repr=False)


def http_request(
    scheme: str,
    place: tuple[str, int],
    path: str,
    headers: tuple[tuple[str, str], ...],
    *,
    agent: str,
) -> HttpRequest:
    """The request for a path, with the headers that are added where they were not given."""
    names = {name.lower() for name, _ in headers}
    added = (("User-Agent", agent), ("Accept", "*/*"))
    kept = tuple(each for each in headers if each != ("Accept", ""))
    more = tuple(each for each in added if each[0].lower() not in names)
    target = quote(path.partition("#")[0], safe=_SAFE)
    return HttpRequest(
        scheme=scheme,
        host=place[0],
        port=place[1],
        target=target if target.startswith("/") else f"/{target}",
        headers=(*kept, *more),
    )


async def get(request: HttpRequest, *, seconds: float | None) -> HttpAnswer:
    """Ask, and follow redirects that stay on the host; an answer that leads away is the answer.

    Raises NoAnswer, or BrokenAnswer when only the body did not come.
    """
    asked, limit = request, None if seconds is None else _now() + seconds
    for _ in range(MOST_REDIRECTS):
        answer, location = await _asked_in_time(asked, limit)
        following = _redirected(asked, location) if answer.status in REDIRECTS else None
        if following is None or following.host != request.host:
            return answer
        asked = following
    raise NoAnswer(f'Get "{asked.url}": stopped after {MOST_REDIRECTS} redirects')


def _now() -> float:
    return asyncio.get_running_loop().time()


async def _asked_in_time(request: HttpRequest, limit: float | None) -> tuple[HttpAnswer, str]:
    has_head = False
    try:
        async with asyncio.timeout_at(limit), connected(request) as (reader, writer):
            writer.write(_head(request))
            status, headers = await _answered(reader)
            has_head = True
            body = await _body(reader, status, headers)
    except TimeoutError:
        if has_head:
            raise BrokenAnswer(TIMED_OUT_IN_BODY) from None
        raise NoAnswer(f'Get "{request.url}": {TIMED_OUT}') from None
    except ssl.SSLError as error:
        is_plain = error.reason in _NOT_TLS
        said = PLAIN_ANSWER if is_plain else f"tls: {error.reason or 'handshake failure'}"
        raise NoAnswer(f'Get "{request.url}": {said}') from None
    except (OSError, EOFError, ValueError) as error:
        if has_head:
            raise BrokenAnswer("unexpected EOF") from None
        raise NoAnswer(f'Get "{request.url}": {_told(request, error)}') from None
    text = body.decode(errors="replace")
    return HttpAnswer(status, text), headers.get("location", "")


@asynccontextmanager
async def connected(
    request: HttpRequest,
) -> AsyncIterator[tuple[asyncio.StreamReader, asyncio.StreamWriter]]:
    """A connection for one request."""
    context = unverified() if request.scheme == "https" else None
    try:
        reader, writer = await asyncio.open_connection(
            request.host, request.port, ssl=context, limit=LONGEST_HEAD
        )
    except ssl.SSLError:
        raise
    except OSError as error:
        raise ConnectionError(dial_failure(request.host, request.port, error)) from None
    try:
        yield reader, writer
    finally:
        # Nothing more is said, so nobody has to wait for the other side to hear it.
        abort(writer.transport)


def dial_failure(host: str, port: int, error: OSError) -> str:
    """Why no connection could be opened, in Go's words."""
    if isinstance(error, TimeoutError):
        return f"dial tcp {join_host_port(host, port)}: i/o timeout"
    if isinstance(error, socket.gaierror):
        return f"dial tcp: lookup {host}: no such host"
    # Without a number, several addresses were tried, each in vain.
    said = os.strerror(error.errno or errno.ECONNREFUSED)
    return f"dial tcp {join_host_port(host, port)}: connect: {said.lower()}"


@functools.cache
def unverified() -> ssl.SSLContext:
    """TLS that believes everybody: a probe asks whether somebody answers, not who."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    return context


def _head(request: HttpRequest) -> bytes:
    named = {name.lower(): value for name, value in request.headers}
    lines = [f"GET {request.target} HTTP/1.1", f"Host: {named.get('host', request.place)}"]
    for name, value in request.headers:
        if not _HEADER_NAME.fullmatch(name):
            raise ValueError(f'net/http: invalid header field name "{name}"')
        if any(ord(each) < ord(" ") and each != "\t" for each in value):
            raise ValueError(f'net/http: invalid header field value for "{name}"')
        if name.lower() != "host":
            lines.append(f"{name}: {value}")
    return ("\r\n".join((*lines, "Connection: close", "", ""))).encode("latin-1", "replace")


async def _answered(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    """The status and the headers of the first answer that is not a provisional one."""
    while True:
        first = _STATUS_LINE.fullmatch(await _line(reader))
        if first is None:
            raise ValueError("net/http: HTTP/1.x transport connection broken: malformed response")
        headers: dict[str, str] = {}
        size = 0
        while (line := await _line(reader)).strip():
            size += len(line)
            if size > LONGEST_HEAD:
                raise ValueError("net/http: server response headers exceeded the limit")
            name, _, value = line.decode("latin-1").partition(":")
            headers.setdefault(name.strip().lower(), value.strip())
        if (status := int(first[1])) >= 200:
            return status, headers


async def _line(reader: asyncio.StreamReader) -> bytes:
    line = await reader.readline()
    if not line.endswith(b"\n"):
        raise EOFError
    return line


async def _body(reader: asyncio.StreamReader, status: int, headers: dict[str, str]) -> bytes:
    if status in {204, 304}:
        return b""
    if "chunked" in headers.get("transfer-encoding", "").lower():
        return await _chunks(reader)
    if (length := headers.get("content-length")) is not None:
        return await reader.readexactly(min(int(length), LONGEST_BODY))
    body = b""
    while len(body) < LONGEST_BODY and (piece := await reader.read(LONGEST_BODY - len(body))):
        body += piece
    return body


async def _chunks(reader: asyncio.StreamReader) -> bytes:
    body = b""
    while len(body) < LONGEST_BODY:
        size = int((await _line(reader)).partition(b";")[0], 16)
        if size <= 0:
            break
        body += await reader.readexactly(min(size, LONGEST_BODY - len(body)))
        if len(body) < LONGEST_BODY:
            await _line(reader)
    return body


def _redirected(request: HttpRequest, location: str) -> HttpRequest | None:
    """The request that a redirect asks for, None when it asks for none that can be made."""
    if not location:
        return None
    parts = urlsplit(urljoin(request.url, location))
    with contextlib.suppress(ValueError):
        if parts.scheme in {"http", "https"} and parts.hostname:
            target = parts.path or "/"
            port = parts.port or (443 if parts.scheme == "https" else 80)
            return replace(
                request,
                scheme=parts.scheme,
                host=parts.hostname,
                port=port,
                target=quote(f"{target}?{parts.query}" if parts.query else target, safe=_SAFE),
            )
    return None


def _told(request: HttpRequest, error: Exception) -> str:
    if isinstance(error, EOFError):
        return "EOF"
    if isinstance(error, OSError) and error.errno == errno.ECONNRESET:
        return f"read tcp {request.place}: read: connection reset by peer"
    return str(error) or "EOF"
