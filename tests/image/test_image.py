"""The images as a cluster runs them: not as root, on a root file system that cannot be written."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import time
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final

import pytest

from reflet.testing.pytest_plugin import RunningServer
from tests.image.images import Container, Image, mounted, running, why_not
from tests.integration.plain_client import Client
from tests.patience import Deadline

LARGEST: Final = 35_000_000  # bytes that we add to the base
PATIENCE: Final = 50.0  # seconds

pytestmark = [
    pytest.mark.skipif(bool(why_not()) and os.environ.get("CI") != "true", reason=why_not()),
    pytest.mark.time_limit(120),
]


@pytest.fixture(scope="module")
def reflet() -> Iterator[Image]:
    with mounted("localhost/reflet:test") as image:
        yield image


@pytest.fixture(scope="module")
def sidecar() -> Iterator[Image]:
    with mounted("localhost/reflet-sidecar:test") as image:
        yield image


def until(container: Container, claim: Callable[[], bool]) -> None:
    """Wait until something is true of a container that runs."""
    deadline = Deadline(PATIENCE)
    while not claim():
        assert container.process.poll() is None, container.output
        assert not deadline.passed, container.output
        time.sleep(0.05)


def answer_at(url: str) -> bytes:
    try:
        with urllib.request.urlopen(url, timeout=5) as answer:
            return bytes(answer.read())
    except OSError:
        return b""


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_our_layers_are_small(reflet: Image) -> None:
    size = int(subprocess.check_output(["du", "-sb", reflet.rootfs / "opt/reflet"]).split()[0])

    assert size < LARGEST


def test_without_a_command_it_says_what_it_can_do(reflet: Image, tmp_path: Path) -> None:
    with running(reflet, tmp_path / "bundle", reflet.config["Cmd"]) as container:
        code = container.process.wait(PATIENCE)

    assert code == 0
    assert "Usage: reflet" in container.output


def test_nothing_runs_as_root_and_nothing_can_be_written(reflet: Image, tmp_path: Path) -> None:
    check = "import os; print(os.geteuid(), os.access('/opt', os.W_OK), os.access('/', os.W_OK))"
    image = Image(reflet.rootfs, {**reflet.config, "Entrypoint": ["python", "-c", check]})

    with running(image, tmp_path / "bundle", []) as container:
        container.process.wait(PATIENCE)

    assert container.output == "65532 False False\n"


def test_it_serves_an_api_and_stops_when_it_is_told(reflet: Image, tmp_path: Path) -> None:
    port = free_port()
    url = f"http://127.0.0.1:{port}"

    with running(reflet, tmp_path / "bundle", ["serve", "--no-tls", f"--port={port}"]) as container:
        until(container, lambda: answer_at(f"{url}/version") != b"")
        container.runc("kill", container.id, "TERM")
        code = container.process.wait(PATIENCE)

    assert code in {0, 128 + signal.SIGTERM}


def test_a_node_registers_itself(
    reflet: Image, reflet_server: RunningServer, tmp_path: Path
) -> None:
    shared = shared_folder(tmp_path, reflet_server, owner=reflet.user)
    arguments = ["node", "--name=in-an-image", "--root=/shared/root", "--kubeconfig=/shared/config"]
    client = Client(reflet_server.url, reflet_server.token)

    with running(reflet, tmp_path / "bundle", arguments, shared=shared) as container:
        until(container, lambda: client.get("/api/v1/nodes/in-an-image").code == 200)
        container.runc("kill", container.id, "TERM")
        container.process.wait(PATIENCE)


def test_the_sidecar_needs_no_arguments_no_home_and_no_place_but_its_folder(
    sidecar: Image, reflet_server: RunningServer, tmp_path: Path
) -> None:
    nobody = (54_321, 472)
    shared = shared_folder(tmp_path, reflet_server, owner=nobody)
    board = {"metadata": {"name": "board", "labels": {"dashboard": "1"}}, "data": {"a.json": "{}"}}
    client = Client(reflet_server.url, reflet_server.token)
    client.create("/api/v1/namespaces/default/configmaps", board)
    variables = {
        "LABEL": "dashboard",
        "FOLDER": "/shared/files",
        "METHOD": "LIST",
        "KUBECONFIG": "/shared/config",
        "HOME": "/",
    }

    with running(
        sidecar,
        tmp_path / "bundle",
        [],
        variables=variables,
        user=nobody,
        shared=shared,
        tmp=False,
    ) as container:
        code = container.process.wait(PATIENCE)

    assert code == 0, container.output
    assert (shared / "files/a.json").read_text() == "{}"


def shared_folder(above: Path, server: RunningServer, *, owner: tuple[int, int]) -> Path:
    """A folder that the container's user may write, with a kubeconfig in it."""
    folder = above / "shared"
    folder.mkdir()
    config = folder / "config"
    config.write_text(server.kubeconfig.read_text())
    for path in (folder, config):
        os.chown(path, *owner)
    return folder
