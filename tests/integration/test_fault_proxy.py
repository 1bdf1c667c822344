"""The fault proxy does what it is told, to whom it is told, and nothing else."""

from __future__ import annotations

import asyncio
import random
import socket
import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Self

import pytest

from reflet.errors import ConnectionRefused, DeadlineExceeded, TransportError
from reflet.transport.interface import Request
from tests.faults.harms import Ambush, Harm, Weather
from tests.faults.http_answers import AnswerFraming, Part, framed
from tests.faults.proxy import FaultProxy, SpokenTls
from tests.patience import within
from tests.unit.transport.dialling import http1_to
from tests.unit.transport.scripted_certificates import client_context, server_context
from tests.unit.transport.scripted_http1 import Http1Peer, Http1Server

LINES = (b"first\n", b"second\n", b"third\n")


async def echo(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    while line := await reader.readline():
        writer.write(line)


class EchoServer:
    """Says again what it hears, in the clear or over TLS; ``left`` is set once somebody left."""

    def __init__(self, context: ssl.SSLContext | None = None) -> None:
        self._context = context
        self._tasks: set[asyncio.Task[None]] = set()
        self.left = asyncio.Event()

    async def __aenter__(self) -> Self:
        self._server = await asyncio.start_server(self._accepted, "127.0.0.1", 0, ssl=self._context)
        self.port: int = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    def _accepted(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._tasks.add(asyncio.create_task(self._serve(reader, writer)))

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await echo(reader, writer)
        except OSError:
            pass  # the proxy broke it, as it was told to
        finally:
            self.left.set()
            writer.transport.abort()


@asynccontextmanager
async def proxy_to(
    server: EchoServer | Http1Server, **options: object
) -> AsyncIterator[FaultProxy]:
    proxy = FaultProxy("127.0.0.1", server.port, chance=random.Random(7), **options)  # type: ignore[arg-type]  # the proxy's own options
    async with within(20), proxy:
        yield proxy


class Caller:
    """A client that speaks in lines."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def hears(self, line: bytes) -> bytes:
        self.writer.write(line)
        return await self.reader.readline()


@asynccontextmanager
async def caller_of(
    proxy: FaultProxy, context: ssl.SSLContext | None = None
) -> AsyncIterator[Caller]:
    reader, writer = await asyncio.open_connection("127.0.0.1", proxy.port, ssl=context)
    try:
        yield Caller(reader, writer)
    finally:
        writer.transport.abort()
        await asyncio.sleep(0)


async def gone(proxy: FaultProxy) -> None:
    """Wait until no connection is open."""
    while proxy.connections:  # noqa: ASYNC110 - nobody tells
        await asyncio.sleep(0.005)


# In the clear


async def test_in_fair_weather_every_byte_passes_both_ways() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy:
        async with caller_of(proxy) as caller:
            assert [await caller.hears(line) for line in LINES] == list(LINES)
        await gone(proxy)

        assert not proxy.struck


async def test_latency_holds_back_every_byte() -> None:
    loop = asyncio.get_running_loop()
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        proxy.weather = Weather(latency=0.05)
        begun = loop.time()
        await caller.hears(b"one\n")

        assert loop.time() - begun >= 0.1  # there and back


async def test_throttling_takes_its_time() -> None:
    loop = asyncio.get_running_loop()
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        proxy.weather = Weather(bytes_per_second=10_000)
        begun = loop.time()
        await caller.hears(b"x" * 499 + b"\n")

        assert loop.time() - begun >= 0.1


async def test_a_slow_first_byte_slows_only_the_first() -> None:
    loop = asyncio.get_running_loop()
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        proxy.weather = Weather(first_byte=0.1)
        times = []
        for line in LINES:
            begun = loop.time()
            await caller.hears(line)
            times.append(loop.time() - begun)

        assert times[0] >= 0.1
        assert min(times[1:]) < 0.1  # a busy machine may hold back some of them, not the proxy all


async def test_a_half_open_connection_says_nothing_and_stays() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy:
        async with caller_of(proxy) as caller:
            await caller.hears(b"one\n")
            proxy.strike(Harm.HALF_OPEN)
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.1):
                    await caller.hears(b"two\n")
            assert proxy.connections == 1
        await gone(proxy)

        assert proxy.struck == {Harm.HALF_OPEN: 1}


async def test_a_half_open_connection_hides_that_the_server_left() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        await caller.hears(b"one\n")
        proxy.strike(Harm.HALF_OPEN)
        for task in server._tasks:
            task.cancel()
        await server.left.wait()
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await caller.reader.read()


async def test_a_reset_reaches_both_ends() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        await caller.hears(b"one\n")
        proxy.strike(Harm.RESET)

        with pytest.raises(ConnectionResetError):
            await caller.reader.read()
        await server.left.wait()


@pytest.mark.parametrize("harm", [Harm.HANG_UP, Harm.FAREWELL])
async def test_an_ended_connection_ends_for_both(harm: Harm) -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        await caller.hears(b"one\n")
        proxy.strike(harm)

        assert await caller.reader.read() == b""
        await server.left.wait()


async def test_cut_bytes_come_in_part() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        proxy.strike(Harm.CUT, share=0)
        await caller.hears(b"one\n")
        proxy.strike(Harm.CUT)
        caller.writer.write(b"hundred " * 100)
        caller.writer.write(b"\n")
        heard = await caller.reader.read()

        assert 0 <= len(heard) < 801
        assert (b"hundred " * 100).startswith(heard)
        assert proxy.struck == {Harm.CUT: 1}


async def test_repeated_bytes_come_twice() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        await caller.hears(b"one\n")
        proxy.strike(Harm.REPEAT)

        assert await caller.hears(b"two\n") == b"two\n"
        assert await caller.reader.readline() == b"two\n"
        assert await caller.hears(b"three\n") == b"three\n"


async def test_a_refusing_proxy_keeps_its_port_and_its_connections() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as caller:
        await caller.hears(b"one\n")
        port = proxy.port
        await proxy.refuse()
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.1", port)
        assert await caller.hears(b"two\n") == b"two\n"
        await proxy.accept()

        async with caller_of(proxy) as other:
            assert await other.hears(b"three\n") == b"three\n"
        assert proxy.port == port


async def test_an_ambush_strikes_those_to_come_as_often_as_it_says() -> None:
    async with EchoServer() as server, proxy_to(server) as proxy, caller_of(proxy) as before:
        await before.hears(b"one\n")
        proxy.lay(Ambush(harm=Harm.HANG_UP, after=4, times=2))
        for _ in range(2):
            async with caller_of(proxy) as caller:
                caller.writer.write(b"one\ntwo\n")
                assert await caller.reader.read() == b"one\n"
        async with caller_of(proxy) as after:
            assert await after.hears(b"one\n") == b"one\n"
            assert await after.hears(b"two\n") == b"two\n"
        assert await before.hears(b"two\n") == b"two\n"


async def test_a_server_that_is_away_resets_the_client() -> None:
    async with EchoServer() as server:
        pass
    async with proxy_to(server) as proxy, caller_of(proxy) as caller:
        with pytest.raises(ConnectionResetError):
            await caller.reader.read()


async def test_the_same_seed_strikes_the_same_connections() -> None:
    async def story() -> list[int]:
        async with (
            EchoServer() as server,
            proxy_to(server) as proxy,
            callers_of(proxy, 8) as callers,
        ):
            for caller in callers:
                await caller.hears(b"one\n")
            proxy.strike(Harm.HALF_OPEN, share=0.5)
            return sorted(link.number for link in proxy._links if link.half_open)

    first = await story()

    assert first == await story()
    assert 0 < len(first) < 8


@asynccontextmanager
async def callers_of(proxy: FaultProxy, count: int) -> AsyncIterator[list[Caller]]:
    if count == 0:
        yield []
        return
    async with caller_of(proxy) as caller, callers_of(proxy, count - 1) as others:
        yield [caller, *others]


# Over TLS


async def test_repeated_bytes_are_garbage_to_tls() -> None:
    async with (
        EchoServer(server_context("http/1.1")) as server,
        proxy_to(server) as proxy,
        caller_of(proxy, client_context("http/1.1")) as caller,
    ):
        await caller.hears(b"one\n")
        proxy.strike(Harm.REPEAT)
        caller.writer.write(b"two\n")
        with pytest.raises(ssl.SSLError):
            await caller.reader.read()


@pytest.mark.parametrize(
    ("harm", "is_spoken", "is_clean"),
    [(Harm.FAREWELL, True, True), (Harm.HANG_UP, True, False), (Harm.CUT, False, False)],
)
async def test_tls_ends_with_a_farewell_or_without(
    harm: Harm, is_spoken: bool, is_clean: bool
) -> None:
    tls = SpokenTls(server_context("http/1.1"), client_context("http/1.1"))
    loop = asyncio.get_running_loop()
    async with (
        EchoServer(server_context("http/1.1")) as server,
        proxy_to(server, tls=tls if is_spoken else None) as proxy,
    ):
        assert await asyncio.to_thread(ends_cleanly, proxy, harm, loop) is is_clean


def ends_cleanly(proxy: FaultProxy, harm: Harm, loop: asyncio.AbstractEventLoop) -> bool:
    """What OpenSSL itself says: asyncio takes every end for a clean one."""

    async def strike() -> None:
        proxy.strike(harm)

    context = client_context("http/1.1")
    context.options &= ~ssl.OP_IGNORE_UNEXPECTED_EOF  # which Python 3.11.2 sets by itself
    with (
        socket.create_connection(("127.0.0.1", proxy.port), timeout=10) as plain,
        context.wrap_socket(
            plain, server_hostname="127.0.0.1", suppress_ragged_eofs=False
        ) as encrypted,
    ):
        encrypted.sendall(b"one\n")
        assert encrypted.recv(100) == b"one\n"
        asyncio.run_coroutine_threadsafe(strike(), loop).result()
        try:
            if harm is Harm.CUT:
                encrypted.sendall(b"two\n")
            return encrypted.recv(100) == b""
        except ssl.SSLError as error:  # of the kind for this, SSLEOFError, only in later Pythons
            return error.reason != "UNEXPECTED_EOF_WHILE_READING"


async def test_a_handshake_can_be_ambushed() -> None:
    async with EchoServer(server_context("http/1.1")) as server, proxy_to(server) as proxy:
        proxy.lay(Ambush(harm=Harm.HANG_UP, after=100))
        with pytest.raises((ssl.SSLError, ConnectionError)):
            async with caller_of(proxy, client_context("http/1.1")):
                pytest.fail("there was no handshake")
        async with caller_of(proxy, client_context("http/1.1")) as caller:
            assert await caller.hears(b"one\n") == b"one\n"


# HTTP/1.1


async def answer(peer: Http1Peer) -> None:
    await peer.request()
    peer.chunked()
    for line in LINES:
        peer.chunk(line)
    peer.chunk(b"")


async def body_of(server: Http1Server, proxy: FaultProxy) -> bytes:
    async with http1_to(f"http://127.0.0.1:{proxy.port}") as transport:
        return (await transport.send(Request(path="/"))).body


@pytest.mark.parametrize(
    ("harm", "body"),
    [
        (Harm.REPEAT_CHUNK, b"first\nsecond\nsecond\nthird\n"),
        (Harm.SHORTEN_CHUNK, b"first\nse"),
    ],
)
async def test_one_chunk_of_an_answer_is_harmed(harm: Harm, body: bytes) -> None:
    async with Http1Server(answer) as server, proxy_to(server, http=True) as proxy:
        harm_next(proxy, harm)
        got = await body_of(server, proxy)

        assert got.startswith(body)
        assert got.endswith(b"third\n")
        assert proxy.struck == {harm: 1}


async def test_a_chunk_that_is_cut_ends_the_connection() -> None:
    async with Http1Server(answer) as server, proxy_to(server, http=True) as proxy:
        harm_next(proxy, Harm.CUT_CHUNK)
        with pytest.raises(TransportError, match="broke in the middle"):
            await body_of(server, proxy)
        assert await body_of(server, proxy) == b"".join(LINES)


def harm_next(proxy: FaultProxy, harm: Harm) -> None:
    """Harm the chunk with the second line, on the connection that comes next."""
    proxy.lay(Ambush(harm=harm, chooses=lambda chunk: chunk == LINES[1]))


async def test_our_client_gives_up_on_a_half_open_stream_and_a_refusing_server() -> None:
    async with Http1Server(answer) as server, proxy_to(server, http=True) as proxy:
        proxy.lay(Ambush(harm=Harm.HALF_OPEN))
        async with http1_to(f"http://127.0.0.1:{proxy.port}") as transport:
            with pytest.raises(DeadlineExceeded):
                await transport.send(Request(path="/", timeout=0.1))
            await proxy.refuse()
            with pytest.raises(ConnectionRefused):
                await transport.send(Request(path="/"))


def test_a_harm_of_chunks_needs_a_proxy_that_understands_http() -> None:
    proxy = FaultProxy("127.0.0.1", 1, chance=random.Random(0))

    with pytest.raises(ValueError, match="understands HTTP"):
        proxy.strike(Harm.CUT_CHUNK)


# The framing


ANSWERS = (
    b"HTTP/1.1 100 Continue\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + framed(b"ab") + framed(b"c"),
    b"0\r\n\r\n",
    b"HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nxyz",
    b"HTTP/1.1 304 Not Modified\r\n\r\n",
    b"HTTP/1.1 200 OK\r\n\r\nuntil the end",
)


@pytest.mark.parametrize("step", [1, 2, 7, 1000])
def test_the_pieces_are_the_same_bytes_however_they_come(step: int) -> None:
    whole = b"".join(ANSWERS)
    framing = AnswerFraming()
    pieces = [
        piece
        for begin in range(0, len(whole), step)
        for piece in framing.feed(whole[begin : begin + step])
    ]

    assert b"".join(piece.raw for piece in pieces) + framing.rest() == whole
    assert [piece.content for piece in pieces if piece.part is Part.CHUNK] == [b"ab", b"c"]
    assert sum(piece.part is Part.HEAD for piece in pieces) == 5


def test_what_is_not_http_passes_as_it_is() -> None:
    framing = AnswerFraming()

    assert [piece.raw for piece in framing.feed(b"SSH-2.0\r\n\r\n")] == [b"SSH-2.0\r\n\r\n"]
