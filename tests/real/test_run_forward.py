"""``reflet run --forward`` on a real API server: Services of pods that an agent runs."""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from tests.integration.running import Running, memory, running
from tests.node_scenes import PATIENCE, until
from tests.real.kube_server import KubeServer
from tests.real.stream_scenes import StreamScene

pytestmark = pytest.mark.time_limit(4 * PATIENCE)

NAMESPACE: Final = "run-forward"
USER: Final = "forwarder"
ASK: Final = """
import os, socket
for value in (os.environ["ECHO"], os.environ["ECHO_SERVICE_HOST"] + ":7007"):
    host, port = value.split(":")
    with socket.create_connection((host, int(port))) as connection:
        connection.sendall(b"hello")
        connection.shutdown(socket.SHUT_WR)
        print(connection.recv(100).decode(), flush=True)
"""


@pytest.fixture(scope="module")
def scene(kube: KubeServer, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StreamScene]:
    folder = tmp_path_factory.mktemp("node")
    with StreamScene(kube, folder, NAMESPACE).running() as scene:
        ports = [
            {"name": "echo", "port": 7007, "targetPort": scene.port},
            {"name": "nobody", "port": 7008, "targetPort": 1},
        ]
        create(scene, "v1", "Service", "echo", {"selector": {"app": "echo"}, "ports": ports})
        labels = {"app": "web"}
        env = [{"name": "ECHO", "value": f"echo.{NAMESPACE}.svc:7007"}]
        container = {"name": "web", "image": "none", "env": env}
        template = {"metadata": {"labels": labels}, "spec": {"containers": [container]}}
        spec = {"selector": {"matchLabels": labels}, "template": template}
        create(scene, "apps/v1", "Deployment", "web", spec)
        assert scene.kubectl("label", "pod", "echo", "app=echo").returncode == 0
        asyncio.run(until(lambda: is_ready(scene)))
        yield scene


def create(scene: StreamScene, version: str, kind: str, name: str, spec: dict[str, Any]) -> None:
    document = {"apiVersion": version, "kind": kind, "metadata": {"name": name}, "spec": spec}
    made = scene.kubectl("apply", "-f", "-", given=json.dumps(document))
    assert made.returncode == 0, made.stderr


def is_ready(scene: StreamScene) -> bool:
    path = "{.status.conditions[?(@.type=='Ready')].status}"
    return scene.kubectl("get", "pod", "echo", "-o", f"jsonpath={path}").stdout == "True"


def asked(scene: StreamScene, folder: Path, *arguments: str, command: str = ASK) -> Running:
    behind = ("--", sys.executable, "-c", command)
    with memory() as place:
        environment = {"KUBECONFIG": str(scene.config), "XDG_RUNTIME_DIR": str(place)}
        words = ("deploy/web", *arguments, *behind)
        with running(folder, words, environment=environment) as run:
            run.code()
            return run


def test_the_process_reaches_what_its_variables_name(scene: StreamScene, tmp_path: Path) -> None:
    run = asked(scene, tmp_path, "--forward")

    assert (run.output, run.process.returncode) == ("olleh\nolleh\n", 0), run.said


def test_a_port_at_which_nothing_listens_is_said_in_few_words(
    scene: StreamScene, tmp_path: Path
) -> None:
    command = ASK.replace(":7007", ":7008")
    words = "was not forwarded: nothing listens at port 1 of pod echo"

    run = asked(scene, tmp_path, "--forward", command=command)

    assert run.process.returncode == 1
    assert run.output == "olleh\n"
    assert f"reflet: warning: a connection to echo.{NAMESPACE}:7008 {words}\n" in run.said


def test_the_rights_that_rbac_prints_are_enough(scene: StreamScene, tmp_path: Path) -> None:
    before = asked(scene, tmp_path, "--forward", "--as", USER)
    arguments = ("rbac", "deploy/web", "--forward", "--subject", f"user:{USER}")
    printed = subprocess.run(
        [sys.executable, "-m", "reflet", *arguments],
        env=scene.environment,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
        timeout=PATIENCE,
    ).stdout
    made = scene.kubectl("apply", "-f", "-", given=printed)
    assert made.returncode == 0, made.stderr
    # Until the server knows the role.
    asyncio.run(until(lambda: scene.kubectl("get", "pods", "--as", USER).returncode == 0))

    run = asked(scene, tmp_path, "--forward", "--as", USER)

    assert before.process.returncode == 125
    assert run.output == "olleh\nolleh\n", run.said
