"""What passes through between a client and a node: all of it, to its end, and no longer."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Final

import pytest

from reflet.devserver.http import node_streams
from reflet.devserver.http.application import Application
from reflet.devserver.http.malformed_requests import TacitServer
from reflet.devserver.request.authentication import Authenticator, TokenIssuer
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key
from reflet.devserver.verbs.state import State

SWITCHED: Final = b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\n\r\n"
SMALL: Final = 4096  # bytes that the system keeps of a connection
EXEC: Final = "exec?command=true&stdout=1"

Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


class Scene:
    """A server with one pod, whose node answers every upgrade with *serve*.

    ``heads`` are what the node was asked.
    """

    def __init__(self, serve: Serve) -> None:
        self.heads: list[str] = []
        self._serve = serve
        self._answering: set[asyncio.Task[None]] = set()

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        listening = socket.create_server(("127.0.0.1", 0))
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, SMALL)
        self._place = listening.getsockname()
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as node:
            state = state_with(node.sockets[0].getsockname()[1])
            issuer = TokenIssuer(b"secret")
            authenticator = Authenticator("token", issuer, now=lambda: datetime.now(UTC))
            application = Application(
                state, authenticator, restart=lambda _: None, address=lambda: ""
            )
            server = TacitServer(application.handle, handler_cancellation=True, access_log=None)
            async with await asyncio.get_running_loop().create_server(server, sock=listening):
                try:
                    yield
                finally:
                    await server.shutdown(0.1)
                    for task in self._answering:
                        task.cancel()
                    await asyncio.gather(*self._answering, return_exceptions=True)

    def _accept(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._answering.add(asyncio.create_task(self._answer(reader, writer)))

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            self.heads.append((await reader.readuntil(b"\r\n\r\n")).decode())
            writer.write(SWITCHED)
            await self._serve(reader, writer)
        finally:
            writer.close()
            await asyncio.gather(writer.wait_closed(), return_exceptions=True)

    async def asking(self, what: str = EXEC) -> socket.socket:
        """A client that has asked and read nothing."""
        loop, connection = asyncio.get_running_loop(), socket.socket()
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, SMALL)
        connection.setblocking(False)
        await loop.sock_connect(connection, self._place)
        lines = (
            f"GET /api/v1/namespaces/default/pods/web/{what} HTTP/1.1",
            "Host: here",
            "Authorization: Bearer token",
            "Connection: Upgrade",
            "Upgrade: websocket",
        )
        await loop.sock_sendall(connection, "\r\n".join((*lines, "", "")).encode())
        return connection


def state_with(port: int) -> State:
    storage = Storage()
    metadata = {"name": "web", "namespace": "default", "uid": "u"}
    spec = {"nodeName": "n", "containers": [{"name": "main"}]}
    storage.create(Key("pods", "default", "web"), {"metadata": metadata, "spec": spec})
    status = {
        "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}],
        "daemonEndpoints": {"kubeletEndpoint": {"Port": port}},
    }
    storage.create(Key("nodes", "", "n"), {"metadata": {"name": "n", "uid": "v"}, "status": status})
    return State(storage, tokens=TokenIssuer(b"secret"))


def is_established(connection: socket.socket) -> bool:
    return connection.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 1) == b"\1"


async def all_of(connection: socket.socket) -> bytes:
    heard = b""
    while piece := await asyncio.get_running_loop().sock_recv(connection, 65536):
        heard += piece
    return heard


async def test_who_reads_late_gets_the_last_words_of_a_node_that_has_ended() -> None:
    has_ended = asyncio.Event()

    async def serve(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(bytes(50_000) + b"last words")
        writer.close()
        await writer.wait_closed()
        has_ended.set()

    scene = Scene(serve)
    async with scene.running():
        with await scene.asking() as connection:
            await has_ended.wait()
            for _ in range(100):  # turns in which the server hears of it
                await asyncio.sleep(0)
            heard = await all_of(connection)

    assert heard == SWITCHED + bytes(50_000) + b"last words"


async def test_a_client_that_leaves_is_noticed_though_the_node_does_not_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(node_streams, "LOOK_EVERY", 0.02)
    is_asked, is_gone = asyncio.Event(), asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        is_asked.set()
        reader.feed_data(bytes(2**20))  # more than it takes: the connection is not read any more
        connection = writer.get_extra_info("socket")
        while is_established(connection):  # noqa: ASYNC110 - the system tells nobody
            await asyncio.sleep(0.01)
        is_gone.set()

    scene = Scene(serve)
    async with scene.running():
        connection = await scene.asking()
        await is_asked.wait()
        loop = asyncio.get_running_loop()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.5):
                await loop.sock_sendall(connection, bytes(50 * 2**20))
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, bytes((1, *[0] * 7)))
        connection.close()

        await is_gone.wait()
