"""``reflet ui`` on a server and on files: what it asks for, what it shows, and who may see it."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import json
import os
import secrets
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import pytest

import reflet
from reflet.api.core.config import ConfigMap, Secret
from reflet.cli.main import run
from reflet.cluster import Cluster
from reflet.devserver.faults import Fault
from reflet.errors import Forbidden
from reflet.insight.page.page_document import PageDocument
from reflet.testing.pytest_plugin import RunningServer
from reflet.ui.board import Board
from reflet.ui.cluster_board import AWAY, ClusterBoard
from tests.integration.node_agents import scene_on
from tests.node_scenes import config_map, free_port, is_running, pod_document, until
from tests.patience import Deadline, overload, within

PATIENCE: Final = 30.0
POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "containers": [
            {
                "name": "web",
                "image": "web",
                "envFrom": [
                    {"configMapRef": {"name": "settings"}},
                    {"secretRef": {"name": "db"}},
                ],
            }
        ]
    },
}
WEB: Final = "Pod/default/web"


class BoardScene:
    """A board that a server fills, and the looks that are due at it."""

    def __init__(self, cluster: Cluster, namespaces: tuple[str, ...]) -> None:
        self.board = Board("test", "live", salt=secrets.token_bytes(), began=datetime.now(UTC))
        self.changed = asyncio.Event()
        self.filling = ClusterBoard(
            cluster, self.board, namespaces=namespaces, on_change=self.changed.set
        )

    async def document(self, wanted: Callable[[PageDocument], object]) -> PageDocument:
        """The document, once it is as *wanted*."""
        async with within(PATIENCE):
            while True:
                self.changed.clear()
                self.board.refresh(datetime.now(UTC))
                found = self.board.document(datetime.now(UTC))
                if wanted(found):
                    return found
                await self.changed.wait()


@contextlib.asynccontextmanager
async def filled(
    server: RunningServer, fault: Fault | None = None
) -> AsyncGenerator[tuple[BoardScene, Cluster], None]:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        await cluster.resource(ConfigMap).create(config_map("settings", LEVEL="info"))
        await cluster.resource(Secret).create(
            {"metadata": {"name": "db"}, "stringData": {"password": "hush"}}
        )
        await cluster.resource("pods").create(POD)
        if fault is not None:
            server.add_fault(fault)
        scene = BoardScene(cluster, ("default",))
        async with scene.filling:
            await scene.filling.ready(PATIENCE)
            yield scene, cluster


def states(document: PageDocument) -> dict[str, str]:
    workload = document.workloads.get(WEB)
    return {} if workload is None else {each.name: each.to[0].state for each in workload.arrivals}


def has_arrived(document: PageDocument) -> bool:
    """Whether an edit is in the file; the page may know of it before it is."""
    steps = document.edits[0].steps if document.edits else ()
    arrived = states(document)["/etc/app/conf"] == "current"
    return len(steps) > 3 and steps[2].state == "current" and arrived


async def test_what_is_on_the_server_is_on_the_board(server: RunningServer) -> None:
    async with filled(server) as (scene, _):
        document = await scene.document(states)

    assert states(document) == {"LEVEL": "current", "password": "current"}
    assert {"ConfigMap/default/settings", "Secret/default/db"} <= document.sources.keys()


async def test_three_lists_and_three_watches_are_all_it_asks_for(server: RunningServer) -> None:
    async with filled(server) as (scene, _):
        await scene.document(states)
        asked = [
            request.path.rpartition("/")[2]
            for request in server.requests
            if request.method == "GET" and request.path.startswith("/api/v1/namespaces")
        ]

    assert {name: asked.count(name) <= 2 for name in set(asked)} == {
        "pods": True,
        "configmaps": True,
        "secrets": True,
    }


async def test_an_edit_is_seen_with_its_time_in_the_cache(server: RunningServer) -> None:
    async with filled(server) as (scene, cluster):
        await scene.document(states)
        await cluster.resource(ConfigMap).patch("settings", {"data": {"LEVEL": "debug"}})
        document = await scene.document(lambda found: found.edits)

    [edit] = document.edits
    assert (edit.source, edit.keys) == ("ConfigMap/default/settings", ("LEVEL",))
    assert [step.stage for step in edit.steps] == ["event", "cache", "process"]
    assert edit.steps[1].text.endswith(" ms")


async def test_an_object_that_is_deleted_is_missing(server: RunningServer) -> None:
    async with filled(server) as (scene, cluster):
        await scene.document(states)
        await cluster.resource(Secret).delete("db")
        document = await scene.document(lambda found: "missing" in states(found).values())

    assert document.sources["Secret/default/db"].status == "missing"


REFUSED: Final = Fault("status", status=403, reason="Forbidden", times=1000, message="no")


async def test_secrets_that_may_not_be_listed_are_not_known(server: RunningServer) -> None:
    async with filled(server, dataclasses.replace(REFUSED, resource="secrets")) as (scene, _):
        document = await scene.document(lambda found: found.notes)

    assert states(document) == {"LEVEL": "current", "*": "unknown"}
    assert document.notes[0].startswith("Secrets in default cannot be read: ")


async def test_pods_that_may_not_be_listed_are_the_end(server: RunningServer) -> None:
    server.add_fault(dataclasses.replace(REFUSED, resource="pods"))
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        scene = BoardScene(cluster, ("default",))
        async with scene.filling:
            with pytest.raises(Forbidden):
                await scene.filling.ready(PATIENCE)


async def test_when_the_server_is_away_that_is_said_and_taken_back(server: RunningServer) -> None:
    async with filled(server) as (scene, _):
        await scene.document(states)
        async with asyncio.TaskGroup() as tasks:
            # Looked for meanwhile: soon after the server is back, nothing is said any more.
            tasks.create_task(asyncio.to_thread(server.restart, overload()))
            await scene.document(lambda found: any(AWAY in note for note in found.notes))
        document = await scene.document(lambda found: not found.notes)

    assert states(document) == {"LEVEL": "current", "password": "current"}


# The command


@contextlib.contextmanager
def command(*arguments: str) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command, and the address that it printed."""
    process = subprocess.Popen(
        [sys.executable, "-m", "reflet", "ui", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    with process:
        assert process.stdout is not None
        line = process.stdout.readline()
        try:
            yield process, line.strip().removeprefix("the page is at ")
        finally:
            process.terminate()


def first_event(address: str) -> dict[str, Any]:
    page, _, token = address.partition("#token=")
    request = urllib.request.Request(f"{page}events", headers={"Authorization": f"Bearer {token}"})
    with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
        for line in answer:
            if line.startswith(b"data: "):
                found: dict[str, Any] = json.loads(line[6:])
                return found
    raise AssertionError("there was no event")


def test_the_command_serves_files_and_reads_them_again(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(json.dumps(POD))
    with command("-f", str(path)) as (_, address):
        before = first_event(address)
        path.write_text(json.dumps({**POD, "metadata": {"name": "other"}}))
        deadline = Deadline(PATIENCE)
        while "Pod/default/other" not in (after := first_event(address))["workloads"]:
            assert not deadline.passed
            time.sleep(0.05)

    assert list(before["workloads"]) == ["Pod/default/web"]
    assert list(after["workloads"]) == ["Pod/default/other"]


def test_the_command_ends_in_order_when_it_is_told_to(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(json.dumps(POD))
    with command("-f", str(path)) as (process, address):
        process.send_signal(signal.SIGINT)
        code = process.wait(PATIENCE)

    assert address.startswith("http://127.0.0.1:")
    assert code == 0


def test_without_the_token_nobody_gets_the_document(tmp_path: Path) -> None:
    path = tmp_path / "shop.yaml"
    path.write_text(json.dumps(POD))
    with command("-f", str(path)) as (_, address):
        with pytest.raises(urllib.error.HTTPError) as refused:
            first_event(address.partition("#")[0] + "#token=guess")
        refused.value.close()

    assert refused.value.code == 401


def test_a_report_of_a_server_is_one_file(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    code = run(["reflet", "ui", "--once", "--kubeconfig", str(server.kubeconfig)])

    text = capsys.readouterr().out
    assert code == 0
    assert text.startswith("<!doctype html>")
    assert text.rstrip().endswith("</html>")


async def test_several_namespaces_are_one_page(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        await cluster.resource("namespaces").create({"metadata": {"name": "other"}})
        for namespace in ("default", "other"):
            config_maps = cluster.resource(ConfigMap, namespace=namespace)
            await config_maps.create(config_map("settings", LEVEL="info"))
    where = ("--kubeconfig", str(server.kubeconfig), "-n", "default", "-n", "other")
    code = await asyncio.to_thread(run, ["reflet", "ui", "--once", "-o", "json", *where])

    document = json.loads(capsys.readouterr().out)
    assert (code, document["title"]) == (0, "default, other")
    assert {"ConfigMap/default/settings", "ConfigMap/other/settings"} <= document["sources"].keys()


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [
        (["--once", "--open", "-A"], 2, "there is nothing to open"),
        (["-o", "html", "-A"], 2, "-o is for --once"),
        (["-A", "-n", "shop"], 2, "leave out -A, or -n"),
        (["-f", "x.yaml", "-A"], 2, "files are of one namespace"),
        (["-f", "nowhere.yaml"], 2, "nowhere.yaml"),
        (["--server", "http://127.0.0.1:9"], 3, "127.0.0.1"),
    ],
)
def test_a_mistake_is_one_line(
    arguments: list[str], code: int, words: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["reflet", "ui", *arguments]) == code
    said = capsys.readouterr().err.strip().splitlines()
    assert words in said[-1]
    assert said[-1].startswith("error: ")


def test_a_server_that_refuses_pods_is_exit_code_4(
    server: RunningServer, capsys: pytest.CaptureFixture[str]
) -> None:
    server.add_fault(dataclasses.replace(REFUSED, resource="pods"))

    assert run(["reflet", "ui", "--once", "--kubeconfig", str(server.kubeconfig)]) == 4
    assert capsys.readouterr().err.startswith("error: ")


# The node agent


async def test_the_agent_s_page_has_the_times_at_which_files_were_written(
    server: RunningServer, tmp_path: Path
) -> None:
    async with scene_on(server, tmp_path, ui=0) as scene:
        page = scene.agent.page
        assert page is not None
        token = page.token_file.read_text().strip()
        mode = page.token_file.stat().st_mode & 0o777
        await scene.config_maps.create(config_map("settings", conf="1", LEVEL="info"))
        container = {
            "envFrom": [{"configMapRef": {"name": "settings"}}],
            "volumeMounts": [{"name": "conf", "mountPath": "/etc/app"}],
        }
        volumes = [{"name": "conf", "configMap": {"name": "settings"}}]
        await scene.pods.create(pod_document("web", container=container, volumes=volumes))
        await scene.pod("web", is_running)
        await until(lambda: set(states(page.document()).values()) == {"current"})
        before = states(page.document())

        await scene.config_maps.patch("settings", {"data": {"conf": "2"}})
        await until(lambda: has_arrived(page.document()))
        after = page.document()
        shown = await asyncio.to_thread(first_event, f"{page.url}#token={token}")

    assert before.keys() == {"conf", "LEVEL", "/etc/app/conf", "/etc/app/LEVEL"}
    assert states(after)["/etc/app/conf"] == "current"
    assert states(after)["conf"] == "needs-restart"
    file = after.edits[0].steps[2]
    assert (file.stage, file.state) == ("file", "current")
    assert file.text.startswith("+")
    assert file.text.endswith(" web/conf")
    assert shown["kind"] == "node"
    assert mode == 0o600
    assert not page.token_file.exists()


# The sidecar


async def test_the_sidecar_s_page_has_the_times_at_which_files_were_written(
    server: RunningServer, tmp_path: Path
) -> None:
    labelled = {**config_map("dashboard", conf="1")}
    labelled["metadata"] = {"name": "dashboard", "labels": {"show": "1"}}
    variables = {
        "LABEL": "show",
        "FOLDER": str(tmp_path / "folder"),
        "KUBECONFIG": str(server.kubeconfig),
        "HEALTH_PORT": "0",
        "UI_PORT": str(free_port()),
        "TMPDIR": str(tmp_path),
    }
    token_file = tmp_path / "reflet-sidecar-page-token"
    (tmp_path / "folder").mkdir()
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        config_maps = cluster.resource(ConfigMap)
        await config_maps.create(labelled)
        with sidecar(variables):
            await until(lambda: token_file.exists() and (tmp_path / "folder/conf").exists())
            token = token_file.read_text().strip()
            address = f"http://127.0.0.1:{variables['UI_PORT']}/#token={token}"
            await until_event(address, lambda found: found["workloads"])
            await config_maps.patch("dashboard", {"data": {"conf": "2"}})
            document = await until_event(
                address, lambda found: found["edits"] and len(found["edits"][0]["steps"]) == 4
            )

    [workload] = document["workloads"].values()
    assert [each["to"][0]["state"] for each in workload["arrivals"]] == ["current"]
    file = document["edits"][0]["steps"][2]
    assert file["stage"] == "file"
    assert file["text"].endswith("/folder/conf")
    assert not token_file.exists()


@contextlib.contextmanager
def sidecar(variables: dict[str, str]) -> Iterator[None]:
    """A sidecar in a process of its own."""
    process = subprocess.Popen(
        [sys.executable, "-m", "reflet", "sidecar"],
        env={**os.environ, **variables},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        try:
            yield
        finally:
            process.terminate()


async def until_event(address: str, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The document of a page, once it is as *wanted*."""
    async with within(PATIENCE):
        while True:
            found = await asyncio.to_thread(first_event, address)
            if wanted(found):
                return found
            await asyncio.sleep(0.05)
