"""gRPC calls over one HTTP/2 connection: messages as bytes, errors as codes.

A call is a POST whose body is a message behind a head of five bytes, and the answer's trailers
say how it ended.  What the messages mean is the caller's affair (``reflet.cri``, and gRPC probes).

The connection is opened by the first call, shared by all that it has room for, and opened again by
the next call after it was lost.  No call is repeated here but one that the server certainly did
not see.

Upstream: github.com/grpc/grpc/doc/PROTOCOL-HTTP2.md;
    google.golang.org/grpc/internal/transport/http2_client.go
"""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final, Self
from urllib.parse import unquote

from reflet.errors import (
    MisuseError,
    RpcAlreadyExists,
    RpcDeadlineExceeded,
    RpcError,
    RpcNotFound,
    RpcUnavailable,
    RpcUnimplemented,
    TransportError,
)
from reflet.gotext.urls import join_host_port
from reflet.transport.failures import Unprocessed
from reflet.transport.http.http2 import Http2Connection
from reflet.transport.http.http2_stream import Http2Stream
from reflet.transport.interface import Request

CODES: Final = (
    "OK",
    "Canceled",
    "Unknown",
    "InvalidArgument",
    "DeadlineExceeded",
    "NotFound",
    "AlreadyExists",
    "PermissionDenied",
    "ResourceExhausted",
    "FailedPrecondition",
    "Aborted",
    "OutOfRange",
    "Unimplemented",
    "Internal",
    "Unavailable",
    "DataLoss",
    "Unauthenticated",
)
ERRORS: Final[Mapping[str, type[RpcError]]] = {
    "DeadlineExceeded": RpcDeadlineExceeded,
    "NotFound": RpcNotFound,
    "AlreadyExists": RpcAlreadyExists,
    "Unimplemented": RpcUnimplemented,
    "Unavailable": RpcUnavailable,
}
HTTP_CODES: Final[Mapping[int, str]] = {
    400: "Internal",
    401: "Unauthenticated",
    403: "PermissionDenied",
    404: "Unimplemented",
    429: "Unavailable",
    502: "Unavailable",
    503: "Unavailable",
    504: "Unavailable",
}
"""What an answer of something that does not speak gRPC means."""

CONNECT_TIMEOUT: Final = 5.0
"""Seconds until the server has introduced itself; the kubelet's minConnectionTimeout."""
LARGEST_MESSAGE: Final = 16 * 1024 * 1024  # bytes; the kubelet's maxMsgSize
ATTEMPTS: Final = 2  # of a call that the server did not see: it was about to close the connection
HEAD: Final = 5  # bytes: a flag that says compressed, and the length


class GrpcChannel:
    """Calls to the server at *address*: the path of a unix socket, or a host and a port.

    ::

        async with GrpcChannel("/run/containerd/containerd.sock") as channel:
            answer = await channel.call("/runtime.v1.RuntimeService/Version", b"", timeout=120)

    Leaving the context closes the connection; calls that are under way fail.  A call that is
    cancelled is cancelled at the server.  Used by one event loop.  A connection by *tls* is pinged
    when it is quiet; one without is for this machine, or for calls that the caller ends.
    """

    def __init__(
        self,
        address: str | tuple[str, int],
        *,
        agent: str = "reflet",
        tls: ssl.SSLContext | None = None,
        connect_timeout: float | None = CONNECT_TIMEOUT,
        largest_message: int = LARGEST_MESSAGE,
    ) -> None:
        self._address = address
        self._server = address if isinstance(address, str) else join_host_port(*address)
        self._tls = tls
        self._connect_timeout = connect_timeout
        self._largest_message = largest_message
        self._headers: tuple[tuple[str, str], ...] = (
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            ("user-agent", agent),
        )
        self._connections: list[Http2Connection] = []  # more than one when one is full, or drains
        self._dialling = asyncio.Lock()
        self._closed = False

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def close(self) -> None:
        """Close the connection; harmless when it was closed before."""
        self._closed = True
        connections, self._connections = self._connections, []
        for connection in connections:
            connection.abort()
        for connection in connections:
            await connection.closed()

    async def connect(self) -> None:
        """Open the connection now; raises RpcUnavailable when the server cannot be reached."""
        await self._connected("")

    async def call(self, method: str, message: bytes, *, timeout: float | None) -> bytes:
        """Send one message and return the one that answers it, within *timeout* seconds."""
        try:
            async with asyncio.timeout(timeout):
                async with self.stream(method, message, timeout=timeout) as answers:
                    answer = await anext(answers, None)
                    if answer is None:
                        raise _error("Internal", "the server sent no message", method)
                    # The trailers, which say whether it is to be believed, come last.
                    if await anext(answers, None) is not None:
                        raise _error("Internal", "the server sent more than one message", method)
                    return answer
        except TimeoutError as error:
            raise _error("DeadlineExceeded", "context deadline exceeded", method) from error

    @asynccontextmanager
    async def stream(
        self, method: str, message: bytes, *, timeout: float | None = None
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """Send one message, and hand out those that answer it while they arrive.

        The iteration ends when the server says that all is well, and raises what it says
        otherwise.  *timeout* is only said to the server here.
        """
        headers = self._headers
        if timeout is not None:
            headers = (*headers, ("grpc-timeout", f"{max(1, int(timeout * 1000))}m"))
        body = b"\0" + len(message).to_bytes(4, "big") + message
        request = Request(method="POST", path=method, headers=headers, body=body)
        stream = await self._open(request)
        try:
            yield _messages(stream, method, self._largest_message)
        finally:
            stream.close()

    async def _open(self, request: Request) -> Http2Stream:
        for attempt in range(1, ATTEMPTS + 1):
            connection = await self._connected(request.path)
            try:
                return await connection.open(request)
            except Unprocessed as error:
                if attempt == ATTEMPTS:
                    raise _error("Unavailable", str(error), request.path) from error
            except TransportError as error:
                raise _error("Unavailable", str(error), request.path) from error
        raise AssertionError  # the loop returns or raises

    async def _connected(self, method: str) -> Http2Connection:
        async with self._dialling:
            self._refuse_when_closed()
            self._connections = [each for each in self._connections if not each.lost]
            free = next((each for each in self._connections if each.room > 0), None)
            if free is None:
                free = await self._dial(method)
                if self._closed:  # while we dialled: nobody else will close it
                    free.abort()
                    await free.closed()
                    self._refuse_when_closed()
                self._connections.append(free)
            return free

    def _refuse_when_closed(self) -> None:
        if self._closed:
            raise MisuseError(f"{self._server}: the channel is closed")

    async def _dial(self, method: str) -> Http2Connection:
        connection: Http2Connection | None = None
        is_ready = False
        try:
            async with asyncio.timeout(self._connect_timeout):
                connection = await self._new_connection()
                if not connection.offered:
                    raise TransportError(f"{self._server}: the server did not choose HTTP/2")
                await connection.ready
        except TimeoutError as error:
            raise _error("Unavailable", self._dial_words("i/o timeout"), method) from error
        except OSError as error:
            words = (error.strerror or str(error)).lower()
            raise _error("Unavailable", self._dial_words(words), method) from error
        except TransportError as error:
            raise _error("Unavailable", str(error), method) from error
        else:
            is_ready = True
            return connection
        finally:
            if connection is not None and not is_ready:
                connection.abort()
                await connection.closed()

    async def _new_connection(self) -> Http2Connection:
        loop = asyncio.get_running_loop()
        if isinstance(path := self._address, str):
            _, connection = await loop.create_unix_connection(
                lambda: Http2Connection(path, "localhost", is_plain=True), path
            )
            return connection
        server = self._server
        _, connection = await loop.create_connection(
            lambda: Http2Connection(server, server, is_plain=self._tls is None),
            *self._address,
            ssl=self._tls,
        )
        return connection

    def _dial_words(self, why: str) -> str:
        network = "unix" if isinstance(self._address, str) else "tcp"
        place = f"dial {network} {self._server}: connect: {why}"
        dialling = f"transport: Error while dialing: {place}"
        return f'connection error: desc = "{dialling}"'


async def _messages(stream: Http2Stream, method: str, largest: int) -> AsyncIterator[bytes]:
    """Cut the body into messages; ends well only when the trailers say so."""
    received = bytearray()
    try:
        await stream.head()
        while stream.status == 200 and (chunk := await stream.read()):
            received += chunk
            while (size := _whole_message(received, method, largest)) is not None:
                yield bytes(received[HEAD:size])
                del received[:size]
    except TransportError as error:
        raise _error("Unavailable", f"error reading from server: {error}", method) from error
    failure = _ending(stream, method)
    if failure is not None:
        raise failure
    if received:
        raise _error("Internal", "unexpected EOF", method)


def _whole_message(received: bytearray, method: str, largest: int) -> int | None:
    """The size of the first message with its head, None while it is not all there."""
    if len(received) < HEAD:
        return None
    if received[0]:
        raise _error("Internal", "the message is compressed, which was not asked for", method)
    length = int.from_bytes(received[1:HEAD], "big")
    if length > largest:
        words = f"grpc: received message larger than max ({length} vs. {largest})"
        raise _error("ResourceExhausted", words, method)
    size = HEAD + length
    return size if len(received) >= size else None


def _ending(stream: Http2Stream, method: str) -> RpcError | None:
    """How the call ended, None when well."""
    headers = stream.headers
    status = headers.get("grpc-status")
    if status is None:
        code = HTTP_CODES.get(stream.status, "Unknown")
        if stream.status == 200:
            code, words = "Internal", "server closed the stream without sending trailers"
        else:
            words = f"unexpected HTTP status code received from server: {stream.status}"
        return _error(code, words, method)
    number = int(status) if status.isdecimal() else 2
    if number == 0:
        return None
    code = CODES[number] if number < len(CODES) else f"Code({number})"
    return _error(code, unquote(headers.get("grpc-message", "")), method)


def _error(code: str, description: str, method: str) -> RpcError:
    return ERRORS.get(code, RpcError)(code, description, method=method)
