"""Connections that speak another protocol: when they are left, though nobody has noticed."""

from __future__ import annotations

import asyncio
import socket
import struct
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import pytest

from reflet.transport.serving import connections, http_answers
from reflet.transport.serving.http_answers import Answer, HttpAnswers, Question, Upgrade
from reflet.transport.upgrades.byte_streams import ByteStream

ASKED = b"GET /exec HTTP/1.1\r\nUpgrade: websocket\r\n\r\n"


class Served:
    """Answers with a stream that reads nothing, and says when it was left."""

    def __init__(self) -> None:
        self.is_left = asyncio.Event()

    async def answer(self, _: Question) -> Answer | Upgrade:
        return Upgrade((("Upgrade", "websocket"),), self._serve)

    async def _serve(self, _: ByteStream) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            self.is_left.set()


@asynccontextmanager
async def served(monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[tuple[Served, socket.socket]]:
    """A stream that is served, and its client, which has read that it is."""
    monkeypatch.setattr(connections, "LOOK_EVERY", 0.02)
    serving = Served()
    loop = asyncio.get_running_loop()
    async with HttpAnswers("127.0.0.1", 0, serving.answer) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.setblocking(False)
            await loop.sock_sendall(client, ASKED)
            assert (await loop.sock_recv(client, 1000)).startswith(b"HTTP/1.1 101 ")
            yield serving, client


async def test_who_leaves_is_noticed_though_nobody_reads(monkeypatch: pytest.MonkeyPatch) -> None:
    async with served(monkeypatch) as (serving, client):
        client.close()

        await serving.is_left.wait()


async def test_who_breaks_off_is_noticed_behind_what_nobody_reads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with served(monkeypatch) as (serving, client):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.2):
                await asyncio.get_running_loop().sock_sendall(client, bytes(50 * 2**20))
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        client.close()

        await serving.is_left.wait()


async def test_an_upgrade_is_given_up_when_whoever_asked_left_before_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    is_given_up = asyncio.Event()

    async def answer(_: Question) -> Answer | Upgrade:
        return Upgrade((), Served()._serve, give_up=is_given_up.set)

    async def gone(_: asyncio.StreamWriter) -> None:
        raise ConnectionResetError

    monkeypatch.setattr(http_answers, "_drained", gone)
    async with HttpAnswers("127.0.0.1", 0, answer) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(client, ASKED)

            await is_given_up.wait()


async def test_who_breaks_off_before_an_upgrade_is_no_warning(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    writers: list[asyncio.StreamWriter] = []
    is_asked, is_given_up = asyncio.Event(), asyncio.Event()

    async def streams_of(
        connection: socket.socket, *, longest: int
    ) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        reader, writer = await connections.streams_of(connection, longest=longest)
        writers.append(writer)
        return reader, writer

    async def answer(_: Question) -> Answer | Upgrade:
        is_asked.set()
        with suppress(ConnectionError):
            await writers[0].wait_closed()
        return Upgrade((), Served()._serve, give_up=is_given_up.set)

    monkeypatch.setattr(http_answers, "streams_of", streams_of)
    async with HttpAnswers("127.0.0.1", 0, answer) as server:
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.setblocking(False)
            await asyncio.get_running_loop().sock_sendall(client, ASKED)
            await is_asked.wait()
            client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        await is_given_up.wait()

    assert caplog.records == []
