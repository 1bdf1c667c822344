"""Logs, commands and ports through a real API server, to the agent: our client and kubectl."""

from __future__ import annotations

import asyncio
import fcntl
import os
import signal
import socket
import struct
import subprocess
import termios
from collections.abc import Iterator
from contextlib import aclosing
from datetime import UTC, datetime, timedelta
from typing import Final

import pytest

import reflet
import reflet.blocking
from reflet.cluster import Cluster
from reflet.errors import BadRequest, Forbidden, InternalError, NotFound
from tests.node_scenes import NODE, PATIENCE, until_async
from tests.real.kube_server import KubeServer
from tests.real.stream_scenes import StreamScene

pytestmark = pytest.mark.time_limit(4 * PATIENCE)

NAMESPACE: Final = "pod-streams"


@pytest.fixture(scope="module")
def scene(kube: KubeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamScene]:
    with StreamScene(kube, tmp_path_factory.mktemp("node"), NAMESPACE).running() as scene:
        yield scene


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_kubectl_runs_a_command_and_gets_what_it_returned(
    scene: StreamScene, websockets: str
) -> None:
    script = "cat; echo wrong >&2; exit 3"
    command = ("exec", "-i", "web", "--", "sh", "-c", script)

    finished = scene.kubectl(*command, given="hello", KUBECTL_REMOTE_COMMAND_WEBSOCKETS=websockets)

    assert finished.stdout == "hello"
    assert finished.stderr.splitlines() == ["wrong", "command terminated with exit code 3"]
    assert finished.returncode == 3


def test_kubectl_has_a_terminal_of_a_size(scene: StreamScene) -> None:
    ours, theirs = os.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 90, 0, 0))
    script = "until [ $(stty size | cut -c1) = 3 ]; do sleep 0.05; done; stty size; exit 4"

    with os.fdopen(ours, "rb", buffering=0) as terminal:
        command = ["kubectl", "exec", "-it", "web", "--", "sh", "-c", script]
        code = subprocess.run(
            command,
            env=scene.environment,
            stdin=theirs,
            stdout=theirs,
            stderr=subprocess.DEVNULL,
            check=False,
            timeout=PATIENCE,
        ).returncode
        os.close(theirs)
        said = terminal.read(100)

    assert (said, code) == (b"33 90\r\n", 4)


async def test_our_client_runs_a_command_and_gets_what_it_returned(scene: StreamScene) -> None:
    async with scene.cluster() as cluster:
        finished = await cluster.run_in(
            "web", ["sh", "-c", "cat; echo wrong >&2; exit 3"], input=b"hello"
        )

    assert (finished.stdout, finished.stderr, finished.returncode) == (b"hello", b"wrong\n", 3)


async def test_megabytes_pass_both_ways_and_none_is_lost(scene: StreamScene) -> None:
    data = os.urandom(1024) * 3000

    async with scene.cluster() as cluster:
        finished = await cluster.run_in("web", ["cat"], input=data)

    assert finished.stdout == data


async def test_a_command_is_talked_to_while_it_runs(scene: StreamScene) -> None:
    script = "while read line; do echo got $line; done; echo all"
    async with (
        scene.cluster() as cluster,
        cluster.exec("web", ["sh", "-c", script], stdin=True) as process,
    ):
        await process.stdin.write(b"one\n")
        first = await process.stdout.read()
        await process.stdin.write(b"two\n")
        second = await process.stdout.read()
        await process.stdin.close()
        rest = b"".join([piece async for piece in process.stdout])

        assert (first, second, rest) == (b"got one\n", b"got two\n", b"all\n")
        assert await process.wait() == process.returncode == 0


async def test_a_terminal_takes_its_size_and_new_ones(scene: StreamScene) -> None:
    script = "trap 'stty size' WINCH; echo ready; while :; do sleep 0.05; done"
    async with scene.cluster() as cluster:
        context = cluster.exec("web", ["sh", "-c", script], stdin=True, tty=True)
        async with context as process:
            said = b""
            while b"ready" not in said:
                said += await process.stdout.read()
            await process.resize(width=90, height=33)
            while b"33 90" not in said:
                said += await process.stdout.read()
            await process.stdin.write(b"\x03")

            assert await process.wait() == 130


async def test_a_command_ends_when_its_caller_leaves(scene: StreamScene) -> None:
    async with scene.cluster() as cluster:
        async with cluster.exec("web", ["sh", "-c", "echo $$; exec sleep 4711"]) as process:
            assert await process.stdout.read()
            assert await _sleepers(cluster) == 1

        async def is_over() -> bool:
            return await _sleepers(cluster) == 0

        await until_async(is_over)


async def _sleepers(cluster: Cluster) -> int:
    script = "cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' ' | grep -o 'sleep 471[1]' | wc -l"
    return int((await cluster.run_in("web", ["sh", "-c", script])).stdout)


async def test_refusals_are_the_servers_own_words(scene: StreamScene) -> None:
    async with scene.cluster() as cluster:
        with pytest.raises(NotFound, match='pods "nobody" not found'):
            await cluster.run_in("nobody", ["true"])
        with pytest.raises(BadRequest, match="container nothing is not valid for pod web"):
            await cluster.run_in("web", ["true"], container="nothing")
        with pytest.raises(NotFound, match='pods "nobody" not found'):
            async with cluster.port_forward("nobody", 80):
                pass
        with pytest.raises(NotFound, match='pods "nobody" not found'):
            [line async for line in cluster.logs("nobody")]
        with pytest.raises(InternalError, match="the command is not found"):
            await cluster.run_in("web", ["no-such-program"])


async def test_whoever_may_not_is_told_so(scene: StreamScene) -> None:
    async with reflet.connect(kubeconfig=str(scene.restricted)) as cluster:
        with pytest.raises(Forbidden, match="pods/exec"):
            await cluster.run_in("web", ["true"])
        with pytest.raises(Forbidden, match="pods/portforward"):
            async with cluster.port_forward("web", 80):
                pass


async def test_logs_are_followed_and_left(scene: StreamScene) -> None:
    async with scene.cluster() as cluster:
        assert [line async for line in cluster.logs("web")] == ["one", "two"]
        assert [line async for line in cluster.logs("web", tail_lines=1)] == ["two"]
        later = datetime.now(UTC) + timedelta(hours=1)
        assert [line async for line in cluster.logs("web", since_time=later)] == []
        async with aclosing(cluster.logs("web", follow=True)) as lines:
            assert [await anext(lines), await anext(lines)] == ["one", "two"]


async def test_ports_are_forwarded_with_half_closed_connections(scene: StreamScene) -> None:
    data = os.urandom(1000) * 500
    async with (
        scene.cluster() as cluster,
        cluster.port_forward("echo", scene.port) as forwarded,
    ):

        async def reversed_by_the_pod() -> bytes:
            reader, writer = await asyncio.open_connection(forwarded.host, forwarded.port)
            writer.write(data)
            writer.write_eof()
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()
            return answer

        answers = await asyncio.gather(*(reversed_by_the_pod() for _ in range(5)))

    assert answers == [data[::-1]] * 5


async def test_a_port_that_nobody_has_is_told_and_reset(scene: StreamScene) -> None:
    errors: list[Exception] = []
    async with (
        scene.cluster() as cluster,
        cluster.port_forward("echo", 1, on_error=errors.append) as forwarded,
    ):
        reader, writer = await asyncio.open_connection(forwarded.host, forwarded.port)
        with pytest.raises(ConnectionResetError):
            await reader.read()
        writer.close()

    assert "failed to connect to localhost:1: connection refused" in str(errors[0])


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_kubectl_forwards_a_port(scene: StreamScene, websockets: str) -> None:
    command = ("port-forward", "pod/echo", f":{scene.port}")
    settings = {"KUBECTL_PORT_FORWARD_WEBSOCKETS": websockets}
    with scene.started(*command, environment=settings) as forwarding:
        try:
            assert forwarding.stdout is not None
            local = int(forwarding.stdout.readline().split()[2].rpartition(":")[2])
            with socket.create_connection(("127.0.0.1", local), timeout=PATIENCE) as connection:
                connection.sendall(b"abc")
                connection.shutdown(socket.SHUT_WR)
                answer = connection.recv(10)
        finally:
            forwarding.send_signal(signal.SIGINT)

    assert answer == b"cba"


async def test_a_server_that_translates_is_answered_too(scene: StreamScene) -> None:
    # As every server before 1.36 does, which knows nothing of what a node declares.
    patch = '{"status":{"declaredFeatures":null}}'
    scene.kubectl("patch", "node", NODE, "--subresource=status", "--type=merge", "-p", patch)

    async with scene.cluster() as cluster:
        finished = await cluster.run_in("web", ["sh", "-c", "cat; exit 3"], input=b"hello")
        async with cluster.port_forward("echo", scene.port) as forwarded:
            reader, writer = await asyncio.open_connection(forwarded.host, forwarded.port)
            writer.write(b"abc")
            writer.write_eof()
            answer = await reader.read()
            writer.close()
            await writer.wait_closed()

    assert (finished.stdout, finished.returncode, answer) == (b"hello", 3, b"cba")


def test_without_an_event_loop_it_is_the_same(scene: StreamScene) -> None:
    with reflet.blocking.connect(kubeconfig=str(scene.config)) as cluster:
        assert list(cluster.logs("web")) == ["one", "two"]
        assert cluster.run_in("web", ["cat"], input=b"x").stdout == b"x"
        with cluster.exec("web", ["cat"], stdin=True) as process:
            process.stdin.write(b"hello")
            process.stdin.close()
            assert b"".join(process.stdout) == b"hello"
            assert process.wait() == 0
        with (
            cluster.port_forward("echo", scene.port) as forwarded,
            socket.create_connection((forwarded.host, forwarded.port)) as connection,
        ):
            connection.sendall(b"abc")
            connection.shutdown(socket.SHUT_WR)
            assert connection.recv(10) == b"cba"
