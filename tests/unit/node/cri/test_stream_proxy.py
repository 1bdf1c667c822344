from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from reflet.errors import RpcNotFound
from reflet.node.cri.stream_proxy import StreamProxy
from reflet.node.server.stream_channels import StreamPlaces
from reflet.transport.serving.http_answers import Answer, Question, Upgrade, text

UPGRADE = {
    "connection": "Upgrade",
    "upgrade": "SPDY/3.1",
    "x-stream-protocol-version": "v5.channel.k8s.io",
}
QUESTION = Question(("exec", "shop", "web", "main"), {}, UPGRADE)
AGREED = (
    b"HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
    b"X-Stream-Protocol-Version: v5.channel.k8s.io\r\n\r\n"
)


class Line:
    """The client's side: what it sends, and what it was told."""

    def __init__(self, *sent: bytes) -> None:
        self._sent = [*sent]
        self.told = b""

    async def read(self) -> bytes:
        if not self._sent:
            await asyncio.Event().wait()
        return self._sent.pop(0)

    async def write(self, data: bytes) -> None:
        self.told += data

    async def flush(self) -> None:
        return

    async def close(self) -> None:
        return


Serve = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def streaming(serve: Serve) -> AsyncIterator[StreamProxy]:
    """A proxy to a streaming server that does this with each connection."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await serve(reader, writer)
        finally:
            writer.close()

    server = await asyncio.start_server(handle, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]

    async def address(_: Question) -> str:
        return f"http://127.0.0.1:{port}/exec/token"

    async with server:
        yield StreamProxy(address, StreamPlaces(1))


async def test_both_sides_agree_and_then_bytes_are_handed_over() -> None:
    heads: list[bytes] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        heads.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(AGREED + b"first ")
        writer.write(b"got " + await reader.readexactly(5))
        await writer.drain()

    line = Line(b"hello")
    async with streaming(serve) as proxy:
        answer = await proxy.answer(QUESTION)
        assert isinstance(answer, Upgrade)
        await answer.serve(line)

    assert heads[0].startswith(b"POST /exec/token HTTP/1.1\r\n")
    assert b"x-stream-protocol-version: v5.channel.k8s.io\r\n" in heads[0]
    assert dict(answer.headers)["upgrade"] == "SPDY/3.1"
    assert line.told == b"first got hello"


async def test_a_client_that_leaves_ends_the_stream_of_the_runtime() -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(AGREED)
        await reader.read()
        ended.set()

    async with streaming(serve) as proxy:
        answer = await proxy.answer(QUESTION)
        assert isinstance(answer, Upgrade)
        await answer.serve(Line(b""))
        await ended.wait()


async def test_a_client_that_left_before_the_answer_ends_the_stream_of_the_runtime() -> None:
    ended = asyncio.Event()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(AGREED)
        await reader.read()
        ended.set()

    async with streaming(serve) as proxy:
        answer = await proxy.answer(QUESTION)
        assert isinstance(answer, Upgrade)
        answer.give_up()
        await ended.wait()


async def test_a_refusal_of_the_runtime_is_handed_on() -> None:
    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 4\r\n\r\ngone")
        await writer.drain()

    async with streaming(serve) as proxy:
        answer = await proxy.answer(QUESTION)

    assert isinstance(answer, Answer)
    assert (answer.status, answer.body) == (404, b"gone\n")


async def test_what_is_no_upgrade_is_refused() -> None:
    async def never(_: Question) -> str:
        raise AssertionError

    answer = await StreamProxy(never, StreamPlaces(1)).answer(Question((), {}, {}))

    assert isinstance(answer, Answer)
    assert answer.status == 400


async def test_a_container_that_is_gone_and_a_runtime_that_is_away_are_told() -> None:
    async def gone(_: Question) -> str:
        raise RpcNotFound("NotFound", "no such container")

    async def away(_: Question) -> str:
        return "http://127.0.0.1:1/exec"

    async def refused(_: Question) -> Answer:
        return text(404, "no such pod")

    answers = [
        await StreamProxy(each, StreamPlaces(1)).answer(QUESTION) for each in (gone, away, refused)
    ]

    assert [each.status for each in answers if isinstance(each, Answer)] == [404, 503, 404]


async def test_more_streams_than_there_is_room_for_are_refused() -> None:
    async def never(_: Question) -> str:
        raise AssertionError

    answer = await StreamProxy(never, StreamPlaces(0)).answer(QUESTION)

    assert isinstance(answer, Answer)
    assert answer.status == 429
