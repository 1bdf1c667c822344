"""Logs, commands and ports: our client, a development server and an agent."""

from __future__ import annotations

import asyncio
import os
from contextlib import aclosing
from pathlib import Path

import pytest

import reflet
import reflet.blocking
from reflet.errors import BadRequest, InternalError, NotFound, TransportError
from reflet.node.server import exec_service
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import web_on
from tests.node_scenes import (
    PATIENCE,
    pod_document,
    until,
)

pytestmark = pytest.mark.time_limit(2 * PATIENCE)


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


async def test_logs_are_followed_line_by_line_and_left(
    server: RunningServer, tmp_path: Path
) -> None:
    async with web_on(server, tmp_path) as scene:
        async with aclosing(scene.cluster.logs("web", follow=True)) as lines:
            assert [await anext(lines), await anext(lines)] == ["one", "two"]
        assert [line async for line in scene.cluster.logs("web", tail_lines=1)] == ["two"]


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
