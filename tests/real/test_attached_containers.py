"""Attaching to containers through a real API server: our client and kubectl."""

from __future__ import annotations

import fcntl
import os
import pty
import signal
import struct
import subprocess
import termios
from collections.abc import Iterator
from typing import Final

import pytest

import reflet.blocking
from reflet.errors import ApiError, BadRequest, Forbidden, NotFound
from tests.node_scenes import NODE, PATIENCE
from tests.real.kube_server import KubeServer
from tests.real.stream_scenes import StreamScene

pytestmark = pytest.mark.time_limit(4 * PATIENCE)

NAMESPACE: Final = "attached-containers"
READS: Final = "echo ready; while read line; do echo got $line; done; echo end; exit 3"
TICKS: Final = "echo ready; while :; do echo tick; echo tock >&2; sleep 0.05; done"


@pytest.fixture(scope="module")
def scene(kube: KubeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamScene]:
    with StreamScene(kube, tmp_path_factory.mktemp("node"), NAMESPACE).running() as scene:
        scene.create("reads", ["sh", "-c", READS], stdin=True)
        scene.create("ticks", ["sh", "-c", TICKS])
        scene.has_said("reads", "ready")
        scene.has_said("ticks", "tick")
        yield scene


def once(scene: StreamScene, name: str) -> str:
    """A pod that reads once, and waits for whoever is attached first."""
    scene.create(name, ["sh", "-c", READS], stdin=True, stdinOnce=True)
    scene.has_said(name, "ready")
    return name


async def test_our_client_writes_and_hears_the_answer(scene: StreamScene) -> None:
    async with scene.cluster() as cluster, cluster.attach("reads", stdin=True) as attached:
        await attached.stdin.write(b"one\n")

        assert await attached.stdout.read() == b"got one\n"


async def test_both_outputs_come_from_now_on(scene: StreamScene) -> None:
    async with scene.cluster() as cluster, cluster.attach("ticks") as attached:
        said = await attached.stdout.read(), await attached.stderr.read()

    assert (said[0].split()[0], said[1].split()[0]) == (b"tick", b"tock")
    assert b"ready" not in said[0]


async def test_refusals_are_the_servers_and_the_nodes_own_words(scene: StreamScene) -> None:
    async with scene.cluster() as cluster:
        for name, error, words in (
            ("nobody", NotFound, 'pods "nobody" not found'),
            ("web", BadRequest, "container main has no stdin to attach to"),
        ):
            with pytest.raises(error, match=words):
                async with cluster.attach(name, stdin=True):
                    pass
    async with reflet.connect(kubeconfig=str(scene.restricted)) as cluster:
        with pytest.raises(Forbidden, match="pods/attach"):
            async with cluster.attach("web"):
                pass


def test_without_an_event_loop_it_is_the_same(scene: StreamScene) -> None:
    name = once(scene, "blocking")
    with (
        reflet.blocking.connect(kubeconfig=str(scene.config)) as cluster,
        cluster.attach(name, stdin=True) as attached,
    ):
        attached.stdin.write(b"one\n")
        attached.stdin.close()
        said = b"".join(attached.stdout)
        attached.wait()

    assert said == b"got one\nend\n"


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_kubectl_attaches_once_and_the_container_sees_the_end(
    scene: StreamScene, websockets: str
) -> None:
    name = once(scene, f"once-{websockets}")

    finished = scene.kubectl(
        *("attach", "-i", "-q", name),
        given="one\ntwo\n",
        KUBECTL_REMOTE_COMMAND_WEBSOCKETS=websockets,
    )

    # What the container returned is for its pod to say; kubectl attach returns 0.
    assert finished.stdout == "got one\ngot two\nend\n"
    assert (finished.stderr, finished.returncode) == ("", 0)


@pytest.mark.parametrize("websockets", ["true", "false"])
def test_kubectl_shows_what_a_container_says_until_it_is_interrupted(
    scene: StreamScene, websockets: str
) -> None:
    settings = {"KUBECTL_REMOTE_COMMAND_WEBSOCKETS": websockets}
    with scene.started("attach", "-q", "ticks", environment=settings) as attached:
        try:
            assert attached.stdout is not None
            assert attached.stderr is not None
            said = attached.stdout.readline(), attached.stderr.readline()
        finally:
            attached.send_signal(signal.SIGINT)

    assert said == ("tick\n", "tock\n")


def test_kubectl_warns_of_a_container_without_a_terminal_and_attaches_all_the_same(
    scene: StreamScene,
) -> None:
    ours, theirs = pty.openpty()
    fcntl.ioctl(ours, termios.TIOCSWINSZ, struct.pack("HHHH", 33, 90, 0, 0))
    os.write(ours, b"one\n")
    with (
        os.fdopen(ours, "rb", buffering=0),
        scene.started("attach", "-it", "reads", stdin=theirs) as attached,
    ):
        os.close(theirs)
        try:
            assert attached.stdout is not None
            assert attached.stderr is not None
            said, warned = attached.stdout.readline(), attached.stderr.readline()
        finally:
            attached.send_signal(signal.SIGINT)

    assert said == "got one\n"
    assert warned == "error: Unable to use a TTY - container main did not allocate one\n"


def test_kubectl_says_why_it_cannot(scene: StreamScene) -> None:
    refused = scene.kubectl("attach", "-i", "web")

    assert refused.returncode == 1
    assert "container main has no stdin to attach to" in refused.stderr


def test_kubectl_run_attaches_and_shows_everything(scene: StreamScene) -> None:
    overrides = (
        '{"spec":{"nodeName":"%s","automountServiceAccountToken":false}}' % NODE  # noqa: UP031 - braces
    )
    finished: subprocess.CompletedProcess[str] = scene.kubectl(
        *("run", "visitor", "-i", "-q", "--rm", "--restart=Never", "--image=none"),
        *(f"--overrides={overrides}", "--command", "--", "sh", "-c", "cat; echo bye"),
        given="hello\n",
    )

    assert finished.stdout == "hello\nbye\n", finished.stderr
    assert finished.returncode == 0


async def test_a_server_that_translates_is_answered_too(scene: StreamScene) -> None:
    # As every server before 1.36 does, which knows nothing of what a node declares.
    patch = '{"status":{"declaredFeatures":null}}'
    scene.kubectl("patch", "node", NODE, "--subresource=status", "--type=merge", "-p", patch)

    async with scene.cluster() as cluster, cluster.attach("reads", stdin=True) as attached:
        await attached.stdin.write(b"one\n")

        assert await attached.stdout.read() == b"got one\n"
    async with scene.cluster() as cluster, cluster.attach("web", stdin=True) as refused:
        with pytest.raises(ApiError, match="container main has no stdin to attach to"):
            await refused.wait()
