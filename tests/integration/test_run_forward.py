"""``reflet run --forward``: Services of a development server whose pods an agent runs."""

from __future__ import annotations

import asyncio
import re
import signal
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.pods import Pod
from reflet.devserver.faults import Fault
from reflet.testing.pytest_plugin import RunningServer
from tests.integration.node_agents import scene_on
from tests.integration.running import LOOP, Running, memory, running, shell
from tests.node_scenes import (
    PATIENCE,
    Scene,
    free_port,
    pod_document,
    until,
    until_async,
)

pytestmark = pytest.mark.time_limit(3 * PATIENCE)

ANSWER = """
import socket, sys
listening = socket.create_server(("127.0.0.1", int(sys.argv[2])))
print("listens", flush=True)
while True:
    connection, _ = listening.accept()
    connection.sendall(sys.argv[1].encode())
    connection.close()
"""
ASK = """
import os, socket, urllib.parse
url = urllib.parse.urlsplit(os.environ["DATABASE_URL"])
for place in ((os.environ["DB_HOST"], 5432), (url.hostname, url.port)):
    with socket.create_connection(place) as connection:
        print(connection.recv(100).decode(), flush=True)
print(url.username, url.password, url.path, os.environ["MODE"], flush=True)
"""
SERVICE = {
    "metadata": {"name": "db"},
    "spec": {
        "selector": {"app": "db"},
        "ports": [{"port": 5432, "targetPort": "sql"}],
    },
}
WEB: dict[str, Any] = {
    "metadata": {"name": "web"},
    "spec": {
        "selector": {"matchLabels": {"app": "web"}},
        "template": {
            "metadata": {"labels": {"app": "web"}},
            "spec": {
                "enableServiceLinks": False,
                "terminationGracePeriodSeconds": 2,
                "containers": [
                    {
                        "name": "web",
                        "image": "none",
                        "envFrom": [{"configMapRef": {"name": "settings"}}],
                        "env": [
                            {
                                "name": "DATABASE_URL",
                                "valueFrom": {"secretKeyRef": {"name": "database", "key": "url"}},
                            }
                        ],
                    }
                ],
            },
        },
    },
}


class ForwardScene:
    """A Deployment that names a Service, on a server with an agent."""

    def __init__(self, scene: Scene, server: RunningServer, folder: Path) -> None:
        self.scene = scene
        self.server = server
        self.folder = folder

    async def database(self, name: str) -> None:
        """Start a pod of the Service that answers with its name."""
        port = free_port()
        await self.scene.pods.create(
            pod_document(
                name,
                ["python3", "-c", ANSWER, name, str(port)],
                container={"ports": [{"containerPort": port, "name": "sql"}]},
                metadata={"labels": {"app": "db"}},
            )
        )
        pod = await self.scene.pod(name, is_ready)
        await until(lambda: self.scene.log(pod))

    @asynccontextmanager
    async def run(self, *arguments: str, command: Sequence[str]) -> AsyncIterator[Running]:
        with (
            memory() as place,
            running(
                self.folder,
                ("deploy/web", *arguments, "--", *command),
                environment={
                    "KUBECONFIG": str(self.server.kubeconfig),
                    "XDG_RUNTIME_DIR": str(place),
                },
            ) as started,
        ):
            try:
                yield started
            finally:
                # Its server lives in another thread, but its agent in this one.
                await asyncio.to_thread(ended, started)


def is_ready(pod: Pod) -> bool:
    return any((each.type, each.status) == ("Ready", "True") for each in pod.status.conditions)


def ended(run: Running) -> int:
    if run.process.poll() is None:
        run.signal(signal.SIGTERM)
    return run.code()


@asynccontextmanager
async def forward_scene(server: RunningServer, tmp_path: Path) -> AsyncIterator[ForwardScene]:
    async with scene_on(server, tmp_path / "node") as scene:
        await scene.cluster.resource("services").create(SERVICE)
        settings = {"DB_HOST": "db", "MODE": "db"}
        await scene.config_maps.create({"metadata": {"name": "settings"}, "data": settings})
        url = "postgres://ada:sesame@db.default.svc:5432/shop"
        await scene.secrets.create({"metadata": {"name": "database"}, "stringData": {"url": url}})
        await scene.cluster.resource("deployments").create(WEB)
        yield ForwardScene(scene, server, tmp_path)


def place_in(said: str) -> tuple[str, int]:
    found = re.search(r"forwarding db\.default at ([\d.]+):(\d+)", said)
    assert found is not None, said
    return found[1], int(found[2])


async def answer_at(place: tuple[str, int]) -> str:
    reader, writer = await asyncio.open_connection(*place)
    try:
        return (await reader.read()).decode()
    finally:
        writer.close()
        await asyncio.gather(writer.wait_closed(), return_exceptions=True)


async def test_the_process_reaches_what_its_variables_name(
    server: RunningServer, tmp_path: Path
) -> None:
    async with forward_scene(server, tmp_path) as scene:
        await scene.database("db-a")
        async with scene.run("--forward", command=("python3", "-c", ASK)) as run:
            assert await asyncio.to_thread(run.code) == 0, run.said

    assert run.output == "db-a\ndb-a\nada sesame /shop db\n"
    assert "(DB_HOST, DATABASE_URL)" in run.said
    assert "note: MODE stays as it is: it may name Service db.default" in run.said
    assert "sesame" not in run.said


async def test_the_next_connection_takes_another_pod_when_one_is_gone(
    server: RunningServer, tmp_path: Path
) -> None:
    async with forward_scene(server, tmp_path) as scene:
        await scene.database("db-a")
        await scene.database("db-b")
        async with scene.run("--forward=db", command=shell(f"echo up; {LOOP}")) as run:
            await asyncio.to_thread(run.until_output, "up")
            place = place_in(run.said)
            first = await answer_at(place)
            await scene.scene.pods.delete(first)
            await scene.scene.gone(first)
            other = {"db-a": "db-b", "db-b": "db-a"}[first]

            async def is_answered_by_the_other() -> bool:
                # Until the watch has said so, a connection may still go to the first, and fail.
                return other in await asyncio.gather(answer_at(place), return_exceptions=True)

            await until_async(is_answered_by_the_other)


async def test_nobody_behind_a_service_is_said_once_and_the_connection_reset(
    server: RunningServer, tmp_path: Path
) -> None:
    async with (
        forward_scene(server, tmp_path) as scene,
        scene.run("--forward", command=shell(f"echo up; {LOOP}")) as run,
    ):
        await asyncio.to_thread(run.until_output, "up")
        for _ in range(2):
            with pytest.raises(ConnectionResetError):
                await answer_at(place_in(run.said))
        await scene.database("db-a")

        async def is_answered() -> bool:
            found = await asyncio.gather(answer_at(place_in(run.said)), return_exceptions=True)
            return "db-a" in found

        await until_async(is_answered)

    line = (
        "warning: a connection to db.default:5432 was not forwarded: there is no pod of Service db"
    )
    assert run.said.count(line) == 1


async def test_a_restart_for_a_change_is_rewritten_too_and_nothing_listens_at_the_end(
    server: RunningServer, tmp_path: Path
) -> None:
    script = f"trap 'exit 0' TERM; echo up $DB_HOST; {LOOP}"
    async with forward_scene(server, tmp_path) as scene:
        async with scene.run("--forward", command=shell(script)) as run:
            await asyncio.to_thread(run.until_output, "up 127.")
            address, port = place_in(run.said)
            name = "db.default.svc.cluster.local"
            await scene.scene.config_maps.patch(
                "settings", {"data": {"DB_HOST": name, "MODE": "x"}}
            )
            await asyncio.to_thread(run.until_output, f"up {address}\nup {address}\n")
        with pytest.raises(ConnectionRefusedError):
            await answer_at((address, port))

    assert "changed: variable MODE; restarting" in run.said


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        ("--forward=cache", "--forward=cache: there is no Service cache in namespace default"),
        (
            "--forward=db:80",
            "--forward=db:80: Service db.default has no such TCP port; it has 5432",
        ),
        ("--forward=outside", "cannot be forwarded: it is another name for example.com"),
    ],
)
async def test_a_service_that_cannot_be_forwarded_is_a_mistake_where_it_is_asked_for(
    server: RunningServer, tmp_path: Path, flag: str, words: str
) -> None:
    async with forward_scene(server, tmp_path) as scene:
        outside = {"type": "ExternalName", "externalName": "example.com"}
        await scene.scene.cluster.resource("services").create(
            {"metadata": {"name": "outside"}, "spec": outside}
        )
        async with scene.run(flag, command=("true",)) as run:
            assert await asyncio.to_thread(run.code) == 125

    assert words in run.said


async def test_a_run_that_is_told_to_end_waits_for_no_answer_about_a_service(
    server: RunningServer, tmp_path: Path
) -> None:
    async with forward_scene(server, tmp_path) as scene:
        server.add_fault(Fault("delay", path="*/services/db", seconds=3 * PATIENCE))
        async with scene.run("--forward=db", command=("true",)) as run:
            await until(lambda: any(each.path.endswith("/services/db") for each in server.requests))
            run.signal(signal.SIGINT)
            assert await asyncio.to_thread(run.code) == 130
