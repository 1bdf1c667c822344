"""Rude clients, directly at the agent: what is no frame, what is never read, who never leaves."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from reflet.devserver.http import node_streams
from reflet.node.descriptor_budget import MOST_COMMANDS
from reflet.node.server import stream_channels
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.serving import connections
from reflet.transport.upgrades.spdy_frames import Data, SpdyCodec, SynStream
from reflet.transport.upgrades.websocket_frames import Opcode, WebSocketMessage, encode_frame
from tests.integration.node_agents import web_on
from tests.node_scenes import PATIENCE, Scene, processes_below, until
from tests.patience import within

pytestmark = pytest.mark.time_limit(2 * PATIENCE)


class Rude:
    """A connection to the agent's port that has asked for a command."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def until_closed(self) -> bytes:
        """All that the agent says before it ends the connection."""
        async with within(PATIENCE):
            try:
                return await self.reader.read()
            except ConnectionResetError:
                return b""


@asynccontextmanager
async def asking(
    scene: Scene, server: RunningServer, *headers: str, method: str = "GET", path: str = ""
) -> AsyncIterator[Rude]:
    place = urlsplit(scene.agent.health_url)
    reader, writer = await asyncio.open_connection(place.hostname, place.port)
    target = path or "/exec/default/web/main?output=1&input=1&command=cat"
    lines = [f"{method} {target} HTTP/1.1", f"Authorization: Bearer {server.token}", *headers]
    writer.write("\r\n".join((*lines, "", "")).encode())
    try:
        yield Rude(reader, writer)
    finally:
        writer.transport.abort()


WEBSOCKET = (
    "Connection: Upgrade",
    "Upgrade: websocket",
    "Sec-WebSocket-Version: 13",
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
    "Sec-WebSocket-Protocol: v5.channel.k8s.io",
)
SPDY = (
    "Connection: Upgrade",
    "Upgrade: SPDY/3.1",
    "X-Stream-Protocol-Version: v9.channel.k8s.io",
    "X-Stream-Protocol-Version: v4.channel.k8s.io",
)


@pytest.mark.parametrize(
    "rude",
    [
        encode_frame(WebSocketMessage(Opcode.BINARY, b"\0" * 10)),  # not masked
        b"\x82\xff" + (2**63).to_bytes(8) + bytes(4),  # of a size that there is not
        b"\x83\x80\0\0\0\0",  # of no known kind
        b"\xc2\x80\0\0\0\0",  # with reserved bits
        b"GET / HTTP/1.1\r\n\r\n",
    ],
)
async def test_what_is_no_frame_of_a_websocket_ends_the_connection(
    server: RunningServer, tmp_path: Path, rude: bytes
) -> None:
    async with web_on(server, tmp_path) as scene:
        async with asking(scene, server, *WEBSOCKET) as connection:
            head = await connection.reader.readuntil(b"\r\n\r\n")
            connection.writer.write(rude)
            await connection.until_closed()

        assert head.startswith(b"HTTP/1.1 101 ")
        await until(lambda: not list((scene.root / "node" / "commands").iterdir()))


@pytest.mark.parametrize(
    "rude",
    [
        b"\x80\x03\x00\x01\x00\xff\xff\xff",  # headers of sixteen megabytes
        b"\x80\x02\x00\x01\x00\x00\x00\x00",  # of another version
        b"\x80\x03\x00\x01\x00\x00\x00\x0a" + bytes(10),  # a stream of number zero
        SpdyCodec().encode(SynStream(2, {"streamtype": "error"})),  # a server's number
        b"\x80\x03\x00\x01\x00\x00\x00\x0e" + b"\0\0\0\1" + bytes(6) + b"nope",  # not compressed
    ],
)
async def test_what_is_no_frame_of_spdy_ends_the_connection(
    server: RunningServer, tmp_path: Path, rude: bytes
) -> None:
    async with (
        web_on(server, tmp_path) as scene,
        asking(scene, server, *SPDY, method="POST") as connection,
    ):
        head = await connection.reader.readuntil(b"\r\n\r\n")
        connection.writer.write(rude)
        await connection.until_closed()

        assert b"X-Stream-Protocol-Version: v4.channel.k8s.io\r\n" in head


async def test_a_client_that_opens_no_streams_is_sent_away(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream_channels, "STREAMS_TIMEOUT", 0.05)
    async with (
        web_on(server, tmp_path) as scene,
        asking(scene, server, *SPDY, method="POST") as connection,
    ):
        codec = SpdyCodec()
        connection.writer.write(codec.encode(SynStream(1, {"streamtype": "error"})))
        connection.writer.write(codec.encode(Data(1, b"x" * 1000)))

        await connection.until_closed()


@pytest.mark.parametrize(
    ("path", "headers", "answer"),
    [
        ("", (), b"HTTP/1.1 400 "),
        ("", ("Upgrade: websocket", "Sec-WebSocket-Protocol: chat"), b"HTTP/1.1 403 "),
        ("", ("Upgrade: websocket", "Sec-WebSocket-Protocol: v5.channel.k8s.io"), b"HTTP/1.1 400 "),
        ("/exec/default/web/main?command=cat", WEBSOCKET, b"HTTP/1.1 400 "),
        ("/exec/default/web/main?output=1", WEBSOCKET, b"HTTP/1.1 400 "),
        ("/exec/default/web", WEBSOCKET, b"HTTP/1.1 404 "),
        ("/exec/default/web/other-uid/main?output=1&command=cat", WEBSOCKET, b"HTTP/1.1 404 "),
        ("/portForward/default", WEBSOCKET, b"HTTP/1.1 404 "),
        ("/portForward/default/nobody", WEBSOCKET, b"HTTP/1.1 404 "),
        ("/portForward/default/web", WEBSOCKET, b"HTTP/1.1 403 "),
        ("/attach/default/web/main", WEBSOCKET, b"HTTP/1.1 400 "),
    ],
)
async def test_what_cannot_be_answered_is_refused_before_anything_runs(
    server: RunningServer, tmp_path: Path, path: str, headers: tuple[str, ...], answer: bytes
) -> None:
    async with (
        web_on(server, tmp_path) as scene,
        asking(scene, server, *headers, path=path) as connection,
    ):
        assert (await connection.until_closed()).startswith(answer)


async def test_a_stranger_runs_nothing(server: RunningServer, tmp_path: Path) -> None:
    async with web_on(server, tmp_path) as scene:
        place = urlsplit(scene.agent.health_url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        lines = ("GET /exec/default/web/main?output=1&command=id HTTP/1.1", *WEBSOCKET, "", "")
        writer.write("\r\n".join(lines).encode())
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()

    assert answer.startswith(b"HTTP/1.1 401 ")


async def test_only_so_many_commands_run_at_a_time(server: RunningServer, tmp_path: Path) -> None:
    async with web_on(server, tmp_path) as scene, AsyncExitStack() as running:
        for _ in range(MOST_COMMANDS):
            await running.enter_async_context(scene.cluster.exec("web", ["sleep", "60"]))

        async with asking(scene, server, *WEBSOCKET) as connection:
            refusal = await connection.until_closed()

    assert refusal.startswith(b"HTTP/1.1 429 ")


async def test_an_agent_stops_though_somebody_never_reads(
    server: RunningServer, tmp_path: Path
) -> None:
    async with AsyncExitStack() as rude, web_on(server, tmp_path) as scene:
        path = "/exec/default/web/main?output=1&command=yes"
        client = asking(scene, server, *WEBSOCKET, path=path)
        connection = await rude.enter_async_context(client)
        connection.writer.transport.pause_reading()  # type: ignore[attr-defined] # it has it
        for _ in range(5):
            written = -1
            while written != (written := await written_by(scene, b"yes")):
                pass


async def written_by(scene: Scene, command: bytes) -> int:
    """How much a command of the agent's has written, after a moment."""
    await asyncio.sleep(0.05)
    for pid in processes_below(scene.root):
        if command in Path(f"/proc/{pid}/cmdline").read_bytes():
            counters = Path(f"/proc/{pid}/io").read_text().split()
            return int(counters[counters.index("wchar:") + 1])
    return -1


async def test_a_command_ends_with_a_caller_whose_input_it_never_read(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connections, "LOOK_EVERY", 0.05)
    monkeypatch.setattr(node_streams, "LOOK_EVERY", 0.05)
    async with web_on(server, tmp_path) as scene:
        async with scene.cluster.exec("web", ["sleep", "60"], stdin=True) as process:
            with pytest.raises(TimeoutError):
                async with asyncio.timeout(0.5):
                    await process.stdin.write(bytes(50 * 2**20))

        await until(lambda: not list((scene.root / "node" / "commands").iterdir()))
