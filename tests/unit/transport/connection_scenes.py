"""Connections to a server that answers as a test tells it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from types import MappingProxyType

import pytest

from reflet.testing.virtual_time import ManualClock
from reflet.transport.auth.certificates import ClientCertificate
from reflet.transport.auth.credentials import Credentials, StaticToken
from reflet.transport.config.settings import ConnectionSettings, Impersonation
from reflet.transport.connection import Connection
from reflet.transport.interface import Request
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Request, Http1Server

GET = Request(path="/api")
POST = Request(method="POST", path="/api", body=b'{"kind": "ConfigMap"}')

Script = Callable[[Http1Peer], Awaitable[None]]


@dataclass(frozen=True)
class Answer:
    status: str = "200 OK"
    body: bytes = b"ok"
    headers: Sequence[tuple[str, str]] = ()


UNAUTHORIZED = Answer("401 Unauthorized", b"who?")


def busy(status: str = "429 Too Many Requests", *, after: str | None = "7") -> Answer:
    return Answer(status, b"busy", [] if after is None else [("Retry-After", after)])


def in_order(*answers: Answer) -> Script:
    """Gives one answer after the other, whatever the connection; the last one for ever."""
    left = list(answers)

    async def script(peer: Http1Peer) -> None:
        while True:
            await peer.request()
            answer = left.pop(0) if len(left) > 1 else left[0]
            peer.answer(answer.body, status=answer.status, headers=answer.headers)

    return script


async def silence(peer: Http1Peer) -> None:
    await peer.request()
    await peer.client_left()


@asynccontextmanager
async def connection_to(
    server: Http1Server,
    *,
    clock: ManualClock | None = None,
    credentials: Credentials | None = None,
    impersonation: Impersonation | None = None,
    disable_compression: bool = False,
    request_timeout: float | None = None,
    qps: float = 50.0,
    burst: int = 100,
) -> AsyncIterator[Connection]:
    settings = ConnectionSettings(
        server=server.url,
        credentials=credentials or StaticToken("token"),
        impersonation=impersonation,
        disable_compression=disable_compression,
        request_timeout=request_timeout,
        qps=qps,
        burst=burst,
    )
    connection = Connection(settings, clock=clock)
    try:
        yield connection
    finally:
        await connection.close()


async def streamed(connection: Connection, request: Request = GET) -> tuple[int, bytes]:
    async with connection.stream(request) as stream:
        parts = []
        while part := await stream.read():
            parts.append(part)
        return stream.status, b"".join(parts)


async def sent(connection: Connection, request: Request = GET) -> tuple[int, bytes]:
    response = await connection.send(request)
    return response.status, response.body


Ask = Callable[[Connection], Awaitable[tuple[int, bytes]]]
both_ways = pytest.mark.parametrize("ask", [sent, streamed], ids=["send", "stream"])


def values(request: Http1Request, name: str) -> list[str]:
    return [value for each, value in request.headers if each.lower() == name]


class Renewable:
    """Says "token-1" until that is refused, then "token-2", and so on up to *last*."""

    def __init__(self, last: int) -> None:
        self.last = last
        self.number = 1

    async def headers(self) -> Mapping[str, str]:
        return MappingProxyType({"authorization": f"Bearer token-{self.number}"})

    async def client_certificate(self) -> ClientCertificate | None:
        return None

    async def refused(self, sent: Mapping[str, str] | None = None, /) -> bool:
        if sent == await self.headers() and self.number < self.last:
            self.number += 1
        return sent != await self.headers()
