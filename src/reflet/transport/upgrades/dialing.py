"""From one HTTP/1.1 request to a line of bytes both ways, on a connection of its own.

Why not aiohttp's WebSocket: it throws away the body of a refusal, which is where an API server
says what is wrong.

Upstream: client-go/transport/websocket/roundtripper.go; RFC 9110, section 7.8
"""

from __future__ import annotations

import asyncio
import base64
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final
from urllib.parse import quote, unquote, urlencode, urlsplit

from reflet.errors import TransportError
from reflet.gotext.urls import join_host_port
from reflet.runtime.sockets import abort
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.failures import connection_failure
from reflet.transport.interface import Request, Response, Upgraded
from reflet.transport.upgrades.byte_streams import KEEPALIVE, SocketBytes

if TYPE_CHECKING:
    import ssl

SWITCHING: Final = 101
CONNECT_TIMEOUT: Final = 30.0  # seconds, to the head of the answer
LONGEST_HEAD: Final = 64 * 1024  # bytes
LONGEST_REFUSAL: Final = 2**20  # bytes


async def dial(
    settings: ConnectionSettings, context: ssl.SSLContext | None, request: Request
) -> Upgraded:
    """Connect, ask, and read the head of the answer; TransportError when there is none."""
    limit = CONNECT_TIMEOUT if request.timeout is None else request.timeout
    writer: asyncio.StreamWriter | None = None
    try:
        async with asyncio.timeout(limit):
            reader, writer = await _connected(settings, context)
            writer.write(_head(settings, request))
            await writer.drain()
            response = await _answer(reader, settings.server)
    except (OSError, TimeoutError) as error:
        _abort(writer)
        raise connection_failure(error, settings.server) from error
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError) as error:
        _abort(writer)
        raise TransportError(f"{settings.server}: the answer is no HTTP/1.1") from error
    except BaseException:
        _abort(writer)
        raise
    return Upgraded(response, SocketBytes(reader, writer, settings.server))


def _abort(writer: asyncio.StreamWriter | None) -> None:
    if writer is not None:
        abort(writer.transport)


async def _connected(
    settings: ConnectionSettings, context: ssl.SSLContext | None
) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    server = urlsplit(settings.server)
    host, port = server.hostname or "", server.port or (80 if context is None else 443)
    name = None if context is None else settings.tls_server_name or host
    if not settings.proxy_url:
        reader, writer = await asyncio.open_connection(
            host, port, ssl=context, server_hostname=name, limit=LONGEST_HEAD
        )
        _keep_alive(writer)
        return reader, writer
    proxy = urlsplit(settings.proxy_url)
    is_secure = proxy.scheme == "https"
    reader, writer = await asyncio.open_connection(
        proxy.hostname,
        proxy.port or (443 if is_secure else 80),
        ssl=True if is_secure else None,
        limit=LONGEST_HEAD,
    )
    try:
        _keep_alive(writer)
        writer.write(_connect(host, port, proxy.username, proxy.password))
        await writer.drain()
        status, _ = _parsed(await reader.readuntil(b"\r\n\r\n"), settings.server)
        if status != 200:
            raise TransportError(
                f"{settings.server}: the proxy {proxy.hostname} answered {status}: check proxy-url"
            )
        if context is not None:
            await writer.start_tls(context, server_hostname=name)
    except BaseException:
        abort(writer.transport)
        raise
    return reader, writer


def _keep_alive(writer: asyncio.StreamWriter) -> None:
    connection = writer.get_extra_info("socket")
    for level, option, value in KEEPALIVE:
        connection.setsockopt(level, option, value)


def _connect(host: str, port: int, user: str | None, password: str | None) -> bytes:
    place = join_host_port(host, port)
    lines = [f"CONNECT {place} HTTP/1.1", f"Host: {place}"]
    if user is not None:
        pair = f"{unquote(user)}:{unquote(password or '')}".encode()
        lines.append(f"Proxy-Authorization: Basic {base64.b64encode(pair).decode()}")
    return "\r\n".join((*lines, "", "")).encode()


def _head(settings: ConnectionSettings, request: Request) -> bytes:
    query = urlencode(request.query, quote_via=quote)
    target = f"{request.path}?{query}" if query else request.path
    lines = [f"{request.method} {target} HTTP/1.1", f"Host: {urlsplit(settings.server).netloc}"]
    lines += (f"{name}: {value}" for name, value in request.headers)
    return "\r\n".join((*lines, "", "")).encode()


async def _answer(reader: asyncio.StreamReader, server: str) -> Response:
    status = 0
    while status < 200:  # what comes before is information
        status, headers = _parsed(await reader.readuntil(b"\r\n\r\n"), server)
        if status == SWITCHING:
            return Response(status=status, headers=headers, body=b"")
    if headers.get("transfer-encoding", "").lower() == "chunked":
        body = await _chunks(reader, server)
    else:
        length = headers.get("content-length", "")
        is_short = length.isascii() and length.isdecimal() and len(length) < 10
        body = await _up_to(
            reader, min(int(length) if is_short else LONGEST_REFUSAL, LONGEST_REFUSAL)
        )
    return Response(status=status, headers=headers, body=body)


async def _up_to(reader: asyncio.StreamReader, size: int) -> bytes:
    body = b""
    while len(body) < size and (more := await reader.read(size - len(body))):
        body += more
    return body


async def _chunks(reader: asyncio.StreamReader, server: str) -> bytes:
    body = b""
    while len(body) <= LONGEST_REFUSAL:
        try:
            size = int((await reader.readuntil(b"\r\n")).partition(b";")[0], 16)
        except ValueError:
            raise TransportError(f"{server}: the answer is no HTTP/1.1") from None
        if not 0 < size <= LONGEST_REFUSAL:
            break
        body += (await reader.readexactly(size + 2))[:size]
    return body


def _parsed(head: bytes, server: str) -> tuple[int, Mapping[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    version, _, rest = first.partition(" ")
    code = rest[:3]
    if not version.startswith("HTTP/1.") or not (code.isascii() and code.isdecimal()):
        raise TransportError(f"{server}: the answer is no HTTP/1.1")
    headers: dict[str, str] = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if colon:
            headers[name.strip().lower()] = value.strip()
    return int(code), headers
