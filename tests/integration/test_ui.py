"""The page as the command, the node agent and the sidecar serve it."""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import pytest

import reflet
from reflet.api.core.config import ConfigMap
from reflet.cli.main import run
from reflet.devserver.faults import Fault
from reflet.insight.page.page_document import PageDocument
from reflet.testing.pytest_plugin import RunningServer
from tests.board_scenes import PATIENCE, states
from tests.integration.node_agents import scene_on
from tests.node_scenes import config_map, free_port, is_running, pod_document, until
from tests.patience import Deadline, within
from tests.sidecar_process import sidecar_process

CONTAINER: Final = {"name": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}
POD: Final = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [CONTAINER]},
}


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
    refused = Fault("status", resource="pods", status=403, reason="Forbidden", times=1000)
    server.add_fault(refused)

    assert run(["reflet", "ui", "--once", "--kubeconfig", str(server.kubeconfig)]) == 4
    assert capsys.readouterr().err.startswith("error: ")


def has_arrived(document: PageDocument) -> bool:
    """Whether an edit is in the file; the page may know of it before it is."""
    steps = document.edits[0].steps if document.edits else ()
    arrived = states(document)["/etc/app/conf"] == "current"
    return len(steps) > 3 and steps[2].state == "current" and arrived


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


async def until_event(address: str, wanted: Callable[[dict[str, Any]], object]) -> dict[str, Any]:
    """The document of a page, once it is as *wanted*."""
    async with within(PATIENCE):
        while True:
            found = await asyncio.to_thread(first_event, address)
            if wanted(found):
                return found
            await asyncio.sleep(0.05)


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
        with sidecar_process(variables, tmp_path / "sidecar.log"):
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
