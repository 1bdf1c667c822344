"""Attaching to containers: our client, a development server and an agent."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

import pytest

import reflet
import reflet.blocking
from reflet.client.remote_command import ProcessOutput
from reflet.errors import BadRequest, NotFound
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on
from tests.node_scenes import PATIENCE, Scene, end_of, is_running, pod_document, until

pytestmark = pytest.mark.time_limit(2 * PATIENCE)

ECHO: Final = "echo ready; while read line; do echo got $line; printf 'next? '; done; echo end"


@asynccontextmanager
async def container(
    server: RunningServer, root: Path, script: str, **settings: Any
) -> AsyncIterator[Scene]:
    """An agent with one pod, whose container has said that it is ready."""
    async with scene_on(server, root) as scene:
        command = ["sh", "-c", script]
        document = pod_document("web", command, container=settings, restartPolicy="Never")
        await scene.pods.create(document)
        pod = await scene.pod("web", is_running)
        await until(lambda: scene.log(pod))
        yield scene


async def heard(output: ProcessOutput, *, until: bytes) -> bytes:
    """What a container says, to the end of those words."""
    said = b""
    while not said.endswith(until):
        piece = await output.read()
        assert piece, said
        said += piece
    return said


async def test_what_is_written_is_read_and_the_answer_comes_from_now_on(
    server: RunningServer, tmp_path: Path
) -> None:
    async with (
        container(server, tmp_path, ECHO, stdin=True) as scene,
        scene.cluster.attach("web", stdin=True) as attached,
    ):
        await attached.stdin.write(b"one\n")
        first = await heard(attached.stdout, until=b"next? ")
        await attached.stdin.write(b"two\n")
        second = await heard(attached.stdout, until=b"next? ")

    assert (first, second) == (b"got one\nnext? ", b"got two\nnext? ")


async def test_both_outputs_come_apart_until_the_container_ends(
    server: RunningServer, tmp_path: Path
) -> None:
    script = "echo ready; read line; echo out; echo wrong >&2; printf last; exit 3"
    async with (
        container(server, tmp_path, script, stdin=True) as scene,
        scene.cluster.attach("web", stdin=True) as attached,
    ):
        await attached.stdin.write(b"go\n")
        stdout = b"".join([piece async for piece in attached.stdout])
        stderr = b"".join([piece async for piece in attached.stderr])
        await attached.wait()
        await attached.wait()
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Failed")

    assert (stdout, stderr) == (b"out\nlast", b"wrong\n")
    assert end_of(pod).exit_code == 3


async def test_who_leaves_ends_nothing_and_the_next_goes_on(
    server: RunningServer, tmp_path: Path
) -> None:
    async with container(server, tmp_path, ECHO, stdin=True) as scene:
        async with scene.cluster.attach("web", stdin=True) as attached:
            await attached.stdin.write(b"one\n")
            await heard(attached.stdout, until=b"next? ")
        async with scene.cluster.attach("web", stdin=True) as attached:
            await attached.stdin.write(b"two\n")
            second = await heard(attached.stdout, until=b"next? ")

    assert second == b"got two\nnext? "


async def test_whose_input_ends_lets_go_and_the_container_goes_on(
    server: RunningServer, tmp_path: Path
) -> None:
    async with container(server, tmp_path, ECHO, stdin=True) as scene:
        async with scene.cluster.attach("web", stdin=True) as attached:
            await attached.stdin.write(b"one\n")
            await attached.stdin.close()
            await attached.wait()

        pod = await scene.pods.get("web")
        await until(lambda: "got one" in scene.log(pod))
        assert is_running(await scene.pods.get("web"))


@pytest.mark.parametrize("closes", [True, False])
async def test_once_attached_a_container_sees_the_end_with_its_input(
    server: RunningServer, tmp_path: Path, closes: bool
) -> None:
    settings = {"stdin": True, "stdinOnce": True}
    async with container(server, tmp_path, ECHO, **settings) as scene:
        said = b"got one\nnext? end\n"
        async with scene.cluster.attach("web", stdin=True) as attached:
            await attached.stdin.write(b"one\n")
            if closes:
                await attached.stdin.close()
                said = b"".join([piece async for piece in attached.stdout])
                await attached.wait()
        pod = await scene.pod("web", lambda pod: pod.status.phase == "Succeeded")

        assert said == b"got one\nnext? end\n"
        assert scene.log(pod).endswith("got one\nnext? end\n")


async def test_what_cannot_be_attached_to_is_refused_with_the_reason(
    server: RunningServer, tmp_path: Path
) -> None:
    script = "echo ready; cat; sleep 60"
    async with container(server, tmp_path, script, stdin=True, stdinOnce=True) as scene:
        async with scene.cluster.attach("web", stdin=True) as attached:
            await attached.stdin.close()
        await until(lambda: not list(scene.root.glob("node/pods/*/containers/main/0.stdin")))
        plain = pod_document("plain", container={"tty": True})
        never = pod_document("never", ["true"], restartPolicy="Never")
        for document in (plain, never):
            await scene.pods.create(document)
        await scene.pod("plain", is_running)
        await scene.pod("never", lambda pod: pod.status.phase == "Succeeded")
        for name, options, error, words in REFUSED:
            with pytest.raises(error, match=words):
                async with scene.cluster.attach(name, **options):
                    pass


REFUSED: Final[list[tuple[str, Any, type[Exception], str]]] = [
    ("web", {"stdin": True}, BadRequest, "the stdin of container main is closed"),
    ("plain", {"stdin": True}, BadRequest, "container main has no stdin to attach to"),
    ("plain", {"tty": True}, BadRequest, "container main has no terminal"),
    ("plain", {"stdout": False, "stderr": False}, BadRequest, "at least 1 of stdin, stdout"),
    ("plain", {"container": "other"}, BadRequest, "container other is not valid for pod plain"),
    ("never", {}, NotFound, "container main not found in pod never_default"),
    ("nobody", {}, NotFound, 'pods "nobody" not found'),
]


async def test_without_an_event_loop_it_is_the_same(server: RunningServer, tmp_path: Path) -> None:
    def use() -> bytes:
        with (
            reflet.blocking.connect(kubeconfig=str(server.kubeconfig)) as cluster,
            cluster.attach("web", stdin=True) as attached,
        ):
            attached.stdin.write(b"one\n")
            attached.stdin.close()
            said = b"".join(attached.stdout) + attached.stderr.read()
            attached.wait()
            return said

    async with container(server, tmp_path, ECHO, stdin=True, stdinOnce=True):
        assert await asyncio.to_thread(use) == b"got one\nnext? end\n"
