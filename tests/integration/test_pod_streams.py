"""Logs, commands and ports: our client, a development server and an agent, and rude clients."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, aclosing, asynccontextmanager
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import kubernetes.client
import kubernetes.config
import kubernetes.stream
import pytest

import reflet
import reflet.blocking
from reflet.errors import BadRequest, InternalError, NotFound, TransportError
from reflet.node.descriptor_budget import MOST_COMMANDS
from reflet.node.server import exec_service
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.upgrades.spdy_frames import Data, SpdyCodec, SynStream
from reflet.transport.upgrades.websocket_frames import Opcode, WebSocketMessage, encode_frame
from tests.integration.node_agents import web_on
from tests.node_scenes import (
    PATIENCE,
    Scene,
    pod_document,
    until,
)

pytestmark = pytest.mark.time_limit(2 * PATIENCE)

official: Any = kubernetes.config.new_client_from_config  # which has no types


async def test_a_command_reads_and_writes_and_returns(
    server: RunningServer, tmp_path: Path
) -> None:
    async with web_on(server, tmp_path) as scene:
        script = "cat; echo wrong >&2; exit 3"
        finished = await scene.cluster.run_in("web", ["sh", "-c", script], input=b"hello")

    assert (finished.stdout, finished.stderr, finished.returncode) == (b"hello", b"wrong\n", 3)


async def test_without_an_event_loop_it_is_the_same(server: RunningServer, tmp_path: Path) -> None:
    def use() -> list[object]:
        with (
            reflet.blocking.connect(kubeconfig=str(server.kubeconfig)) as cluster,
            cluster.exec("web", ["sh", "-c", "cat; echo e >&2; exit 3"], stdin=True) as process,
        ):
            process.stdin.write(b"in")
            process.stdin.close()
            heard = [b"".join(process.stdout), process.stderr.read(), process.wait()]
            with cluster.port_forward("web", 1) as forwarded:
                return [*heard, process.returncode, *cluster.logs("web"), forwarded.host]

    async with web_on(server, tmp_path):
        assert await asyncio.to_thread(use) == [b"in", b"e\n", 3, 3, "one", "two", "127.0.0.1"]


async def test_the_official_clients_version_of_the_protocol_is_spoken(
    server: RunningServer, tmp_path: Path
) -> None:
    def use() -> tuple[str, str, int]:
        with official(str(server.kubeconfig)) as api:
            running = kubernetes.stream.stream(
                kubernetes.client.CoreV1Api(api).connect_get_namespaced_pod_exec,
                *("web", "default"),
                command=["sh", "-c", "echo out; echo wrong >&2; exit 3"],
                stdin=False,
                stdout=True,
                stderr=True,
                tty=False,
                _preload_content=False,
            )
            running.run_forever(timeout=PATIENCE)
            said = running.read_stdout(), running.read_stderr(), running.returncode
            running.sock.shutdown()  # which it forgets when the server ends first
            return said

    async with web_on(server, tmp_path):
        assert await asyncio.to_thread(use) == ("out\n", "wrong\n", 3)


async def test_megabytes_pass_in_both_directions(server: RunningServer, tmp_path: Path) -> None:
    data = os.urandom(1024) * 3000
    async with web_on(server, tmp_path) as scene:
        finished = await scene.cluster.run_in("web", ["cat"], input=data)

    assert finished.stdout == data


async def test_a_slow_reader_stops_the_command_and_loses_nothing(
    server: RunningServer, tmp_path: Path
) -> None:
    command = ["sh", "-c", "head -c 5000000 /dev/zero; echo done >&2"]
    async with (
        web_on(server, tmp_path) as scene,
        scene.cluster.exec("web", command) as process,
    ):
        first = await process.stdout.read()
        rest = [len(piece) async for piece in process.stdout]

        assert len(first) + sum(rest) == 5_000_000
        assert await process.wait() == 0


async def test_a_command_without_readers_ends_with_its_caller(
    server: RunningServer, tmp_path: Path
) -> None:
    async with web_on(server, tmp_path) as scene:
        async with scene.cluster.exec("web", ["sh", "-c", "echo $$; yes"]) as process:
            await process.stdout.read()

        await until(lambda: not list((scene.root / "node" / "commands").iterdir()))


async def test_a_command_ends_with_its_container(server: RunningServer, tmp_path: Path) -> None:
    async with (
        web_on(server, tmp_path) as scene,
        scene.cluster.exec("web", ["sh", "-c", "echo here; exec sleep 60"]) as process,
    ):
        await process.stdout.read()
        await scene.pods.delete("web")

        assert await process.wait() == 137


async def test_what_a_command_leaves_behind_keeps_nobody(
    server: RunningServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(exec_service, "QUIET", 0.01)
    async with web_on(server, tmp_path) as scene:
        finished = await scene.cluster.run_in("web", ["sh", "-c", "sleep 50 & echo done"])

    assert (finished.stdout, finished.returncode) == (b"done\n", 0)


async def test_a_terminal_says_its_size_and_hears_of_interrupts(
    server: RunningServer, tmp_path: Path
) -> None:
    script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done"
    async with (
        web_on(server, tmp_path) as scene,
        scene.cluster.exec("web", ["sh", "-c", script], stdin=True, tty=True) as process,
    ):
        said = b""
        while b"ready" not in said:
            said += await process.stdout.read()
        await process.resize(width=90, height=33)
        while b"33 90" not in said:
            said += await process.stdout.read()
        await process.stdin.write(b"\x03")

        assert await process.wait() == 130


async def test_refusals_say_what_is_wrong(server: RunningServer, tmp_path: Path) -> None:
    async with web_on(server, tmp_path) as scene:
        cluster = scene.cluster
        await scene.pods.create(pod_document("never", ["true"], restartPolicy="Never"))
        await scene.pod("never", lambda pod: pod.status.phase == "Succeeded")
        with pytest.raises(NotFound, match='pods "nobody" not found'):
            await cluster.run_in("nobody", ["true"])
        with pytest.raises(BadRequest, match="container nothing is not valid for pod web"):
            await cluster.run_in("web", ["true"], container="nothing")
        with pytest.raises(InternalError, match="the command is not found"):
            await cluster.run_in("web", ["no-such-program"])
        with pytest.raises(NotFound, match='container not found \\("main"\\)'):
            await cluster.run_in("never", ["true"])


async def test_only_so_many_commands_run_at_a_time(server: RunningServer, tmp_path: Path) -> None:
    async with web_on(server, tmp_path) as scene, AsyncExitStack() as running:
        for _ in range(MOST_COMMANDS):
            await running.enter_async_context(scene.cluster.exec("web", ["sleep", "60"]))

        async with asking(scene, server, *WEBSOCKET) as connection:
            refusal = await connection.until_closed()

    assert refusal.startswith(b"HTTP/1.1 429 ")


async def test_logs_are_followed_line_by_line_and_left(
    server: RunningServer, tmp_path: Path
) -> None:
    async with web_on(server, tmp_path) as scene:
        async with aclosing(scene.cluster.logs("web", follow=True)) as lines:
            assert [await anext(lines), await anext(lines)] == ["one", "two"]
        assert [line async for line in scene.cluster.logs("web", tail_lines=1)] == ["two"]


# Rude clients, directly at the agent


class Rude:
    """A connection to the agent's port that has asked for a command."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.reader = reader
        self.writer = writer

    async def until_closed(self) -> bytes:
        """All that the agent says before it ends the connection."""
        async with asyncio.timeout(PATIENCE):
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
        b"\x82\xff" + (2**62).to_bytes(8),  # of a size that nobody has
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
        b"\x00\x00\x00\x01\x00\xff\xff\xff",  # data of sixteen megabytes
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
    monkeypatch.setattr(exec_service, "STREAMS_TIMEOUT", 0.05)
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
        ("/attach/default/web/main", WEBSOCKET, b"HTTP/1.1 404 "),
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


async def test_a_connection_that_breaks_is_no_end_of_a_command(
    server: RunningServer, tmp_path: Path
) -> None:
    async with (
        web_on(server, tmp_path) as scene,
        reflet.Cluster(scene.cluster.settings) as cluster,
        cluster.exec("web", ["sh", "-c", "echo one; exec sleep 60"]) as process,
    ):
        await process.stdout.read()
        await cluster.close()

        with pytest.raises(TransportError):
            await process.wait()
