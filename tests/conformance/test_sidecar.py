"""Every recorded scenario of kiwigrid/k8s-sidecar, lived through by ours.

The records are what the original did against the development server, seen from outside: files,
requests, runs of its script, its end.  A scenario's class says what of it ours must do:

- ``same``: the same files, requests and runs
- ``superset``: the same files, at most as many requests and runs, and as different ones
- ``better``: the original is wrong; ``WANTED`` says what is right
- ``free``: anything that lives

Time is hurried, and nothing is slept for: a step is over when the sidecar is at rest.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import shutil
import socket
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.cli.main import exit_code, run
from reflet.errors import RefletError
from reflet.sidecar.running_sidecar import connection_settings
from reflet.sidecar.sidecar_settings import BadSettings, read_settings
from reflet.testing.pytest_plugin import RunningServer, running_server
from reflet.transport.config.settings import ConnectionSettings
from tests.sidecar_process import sidecar_process, until
from tests.sidecar_scenes import SidecarScene, tree_of
from tests.sidecar_surroundings import Document, WebTarget

SCENARIOS: Final[list[Document]] = json.loads(
    (Path(__file__).parent / "data" / "sidecar.json").read_text()
)

Files = Mapping[str, str]

# What is right where the original is wrong: the files after each step, or how it must end.
WANTED: Final[Mapping[str, Mapping[str, Files] | int]] = {
    "folder-annotation-wrong-way-round": {
        "start": {"one/f": "from a", "two/f": "from b"},
        "swapped": {"one/f": "from b", "two/f": "from a"},
    },
    "conflict": {"start": {"f": "from b"}, "loser-deleted": {"f": "from b"}},
    "file-mode-440-not-root": {"start": {"f": "1"}, "updated": {"f": "2"}},
    "file-mode-bad": 2,
    "url-500-replaces-good": {
        "start": {"d": "downloaded /text/good"},
        "failed": {"d": "downloaded /text/good"},
    },
    "url-deleted": {"start": {"d": "downloaded /text/d"}, "deleted": {}},
    "binary-to-text": {"start": {"f": "bin"}, "changed": {"f": "text"}},
    "script-no-shebang": {"start": {"f": "1"}},
    "method-list-write-error": 1,
    "resource-name-prefixed": {"start": {"a.txt": "1", "sb.txt": "1", "c.txt": "1"}},
    "resource-name-ns-swapped": {"start": {"sx.txt": "1"}},
    "namespace-key-collision": {
        "start": {"one.txt": "1", "two.txt": "2"},
        "later": {"one.txt": "1", "two.txt": "2"},
    },
    "no-folder": 2,
    "500-on-watch": {"start": {}, "later": {}},
    "watch-server-timeout": {
        "start": {"f": "1", "u": "version 1"},
        "later": {"f": "1", "u": "version 1"},
    },
    "restart-deleted-meanwhile": {"start": {"f": "1", "g": "1"}, "again": {"g": "1"}},
}

# How often the script runs, and what is asked for, where that is what the original has wrong.
WANTED_RUNS: Final[Mapping[str, Mapping[str, int]]] = {
    "conflict": {"start": 1, "loser-deleted": 0},
    "script-no-shebang": {"start": 1},
    "watch-server-timeout": {"start": 1, "later": 0},
    "restart-deleted-meanwhile": {"start": 1, "again": 1},
}
WANTED_REQUESTS: Final[Mapping[str, Mapping[str, int]]] = {
    "url-deleted": {"start": 1, "deleted": 0},
    "watch-server-timeout": {"start": 2, "later": 0},
}

# Scenarios of the class ``same`` whose records show what must never be repeated, and what.
DOWNLOADS_LESS: Final = {
    "unique-filenames": "the original downloads at each event, and once more before a deletion",
}

BEGUN: Final = b"sidecar is ready"
SCRIPT: Final = '#!/bin/sh\necho ran >> "@LOG@"\necho to-stdout\nexit @CODE@\n'


@pytest.fixture(scope="module")
def servers() -> Iterator[dict[bool, RunningServer]]:
    with running_server({"tls": False}) as plain, running_server({"tls": True}) as secure:
        yield {False: plain, True: secure}


class Stage:
    """One scenario with everything that it names in its place."""

    def __init__(self, scenario: Document, server: RunningServer, work: Path) -> None:
        self.scenario = scenario
        self.work = work
        self.root = work / "root"
        self.root.mkdir()
        self.target = WebTarget()
        self.server = server
        self._taken = (0, 0)
        self.snapshots: dict[str, Document] = {}
        path = work / "script.sh"
        text = scenario.get("script_text", SCRIPT)
        code = str(scenario.get("script_code", 0))
        path.write_text(text.replace("@LOG@", str(work / "script.log")).replace("@CODE@", code))
        path.chmod(int(scenario.get("script_mode", "755"), 8))
        for name, content in scenario.get("files", {}).items():
            there = Path(self.put_in(name))
            there.parent.mkdir(parents=True, exist_ok=True)
            there.write_text(content)

    def put_in(self, value: Any) -> Any:
        """A part of the scenario with its places filled in."""
        if isinstance(value, dict):
            return {self.put_in(key): self.put_in(each) for key, each in value.items()}
        if isinstance(value, list):
            return [self.put_in(each) for each in value]
        if not isinstance(value, str):
            return value
        for name, meant in (
            ("{HTTP}", self.target.url),
            ("{FOLDER}", str(self.root / "folder")),
            ("{ROOT}", str(self.root)),
            ("{WORK}", str(self.work)),
            ("{SCRIPT}", str(self.work / "script.sh")),
        ):
            value = value.replace(name, meant)
        if value.startswith("$b64:"):
            return base64.b64encode(value[5:].encode()).decode()
        return value

    @property
    def environ(self) -> dict[str, str]:
        given = {
            "LABEL": "findme",
            "FOLDER": str(self.root / "folder"),
            "HEALTH_PORT": "0",
            "LOG_LEVEL": "DEBUG",
            **self.scenario.get("env", {}),
        }
        return {name: self.put_in(text) for name, text in given.items() if text is not None}

    @property
    def runs(self) -> int:
        log = self.work / "script.log"
        return len(log.read_text().splitlines()) if log.exists() else 0

    def snap(self, name: str, *, running: bool, code: int | None = None) -> None:
        """Remember what there is to see since the last time."""
        self.snapshots[name] = self.look(running=running, code=code)
        self._taken = (len(self.target.log), self.runs)

    def look(self, *, running: bool, code: int | None = None) -> Document:
        """What there is to see since the last snapshot."""
        requests, runs = self._taken
        return {
            "tree": {path: list(each) for path, each in tree_of(self.root).items()},
            "requests": [
                [
                    each.get(name)
                    for name in ("method", "path", "body", "authorization", "content-type")
                ]
                for each in self.target.log[requests:]
            ],
            "scripts": self.runs - runs,
            "running": running,
            "exit_code": code,
        }


@pytest.mark.parametrize("scenario", SCENARIOS, ids=[each["name"] for each in SCENARIOS])
def test_a_recorded_scenario(
    scenario: Document,
    servers: dict[bool, RunningServer],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    server = servers[bool(scenario.get("incluster"))]
    beginning = server.snapshot()
    # Other users cannot enter the folders of a test run.
    work = Path(tempfile.mkdtemp(prefix="sidecar-")) if "uid" in scenario else tmp_path
    stage = Stage(scenario, server, work)
    for name, text in stage.environ.items():
        monkeypatch.setenv(name, text)
    for name in ("LABEL", "FOLDER"):
        if name not in stage.environ:
            monkeypatch.delenv(name, raising=False)
    try:
        with stage.target:
            if "args" in scenario:
                code = run(["reflet", "sidecar", *map(stage.put_in, scenario["args"])])
                stage.snap("start", running=False, code=code)
            elif scenario.get("hold_health_port") or ("uid" in scenario and os.geteuid() == 0):
                live_apart(stage, scenario)
            else:
                asyncio.run(live(stage, scenario))
    finally:
        server.restore(beginning)
        if work != tmp_path:
            shutil.rmtree(work)

    assert complaints(scenario, stage.snapshots) == []


async def live(stage: Stage, scenario: Document) -> None:
    """Live through a scenario inside this process."""
    try:
        settings = read_settings(stage.environ)
    except BadSettings as error:
        stage.snap("start", running=False, code=exit_code(error))
        return
    connection = in_cluster(stage, settings) if scenario.get("incluster") else None
    scene = SidecarScene(
        stage.server, stage.target, stage.root, stage.environ, connection=connection
    )
    namespaces = scenario.get("namespaces", [])
    scene.put(*({"kind": "Namespace", "metadata": {"name": each}} for each in namespaces))
    scene.put(*stage.put_in(scenario.get("before", [])))
    async with AsyncExitStack() as life:
        faults = scenario.get("faults", [])
        task = await life.enter_async_context(scene.running(faults))
        await scene.rest(task)
        stage.snap("start", running=not task.done(), code=end_of(task))
        for step in scenario.get("steps", []):
            if "restart" in step:
                await life.aclose()
                for change in step["restart"].get("while_down", []):
                    scene.put(*stage.put_in(change.get("apply", [])))
                    scene.delete(*change.get("delete", []))
                task = await life.enter_async_context(scene.running())
            await act(stage, scene, step)
            is_away = scene.faults is not None and scene.faults.is_refusing
            if not is_away:
                await scene.rest(task)
            if "snap" in step:
                stage.snap(step["snap"], running=not task.done(), code=end_of(task))


def live_apart(stage: Stage, scenario: Document) -> None:
    """Live through a scenario in a process of its own, as the user that the scenario names."""
    scene = SidecarScene(stage.server, stage.target, stage.root, stage.environ)
    namespaces = scenario.get("namespaces", [])
    scene.put(*({"kind": "Namespace", "metadata": {"name": each}} for each in namespaces))
    scene.put(*stage.put_in(scenario.get("before", [])))
    stage.work.chmod(0o755)
    stage.root.chmod(0o777)
    kubeconfig = stage.work / "kubeconfig"
    kubeconfig.write_bytes(stage.server.kubeconfig.read_bytes())
    kubeconfig.chmod(0o644)
    with ExitStack() as closing:
        holder = closing.enter_context(socket.create_server(("", 0), family=socket.AF_INET6))
        environ = {
            **stage.environ,
            "KUBECONFIG": str(kubeconfig),
            "NAMESPACE": stage.environ.get("NAMESPACE", "default"),
            "HEALTH_PORT": str(holder.getsockname()[1]),
        }
        log = stage.work / "log"
        process = closing.enter_context(sidecar_process(environ, log, uid=scenario.get("uid")))
        for step in ({"snap": "start"}, *scenario.get("steps", [])):
            scene.put(*stage.put_in(step.get("apply", [])))
            scene.delete(*step.get("delete", []))

            def is_over(name: str = step["snap"]) -> bool:
                seen = stage.look(running=process.poll() is None, code=process.returncode)
                # What comes before the start is over would be a part of it.
                has_begun = not seen["running"] or BEGUN in log.read_bytes()
                return has_begun and complaints(scenario, {name: seen}, only=name) == []

            until(is_over)
            stage.snap(step["snap"], running=process.poll() is None, code=process.returncode)


async def act(stage: Stage, scene: SidecarScene, step: Document) -> None:
    """Do what a step says."""
    assert scene.faults is not None
    if "refuse" in step:
        scene.faults.is_refusing = step["refuse"]
        scene.faults.cut()
    scene.put(*stage.put_in(step.get("apply", [])))
    scene.delete(*step.get("delete", []))
    for name, text in step.get("tamper", {}).items():
        path = Path(stage.put_in(name))
        path.unlink() if text is None else path.write_text(text)
    if "sleep" in step:
        await scene.clock.sleep(step["sleep"])


def in_cluster(stage: Stage, settings: Any) -> ConnectionSettings:
    """The connection that a sidecar in a pod has, with the server's own files."""
    folder = stage.work / "var/run/secrets/kubernetes.io/serviceaccount"
    folder.mkdir(parents=True)
    (folder / "token").write_text(stage.server.token)
    (folder / "ca.crt").write_bytes(stage.server.ca_data)
    host, _, port = stage.server.url.removeprefix("https://").rpartition(":")
    environ = {"KUBERNETES_SERVICE_HOST": host, "KUBERNETES_SERVICE_PORT": port}
    return connection_settings(settings, environ, root=stage.work)


def end_of(task: asyncio.Task[None]) -> int | None:
    """The exit code that a command would have."""
    if not task.done():
        return None
    error = task.exception()
    assert error is None or isinstance(error, RefletError), repr(error)
    return 0 if error is None else exit_code(error)


def complaints(
    scenario: Document, ours: Mapping[str, Document], *, only: str | None = None
) -> list[str]:
    """What ours did otherwise than it must; in one step, or in all."""
    name, recorded = scenario["name"], scenario["recorded"]
    if scenario["class"] == "better":
        return wanted_complaints(name, ours, only=only)
    found: list[str] = []
    for step, theirs in recorded.items() if scenario["class"] != "free" else ():
        if only not in {None, step}:
            continue
        mine = ours.get(step)
        if mine is None:
            found.append(f"{step}: not lived to see")
            continue
        if theirs["tree"] != mine["tree"]:
            found.append(f"{step}: files {theirs['tree']} / {mine['tree']}")
        is_same = scenario["class"] == "same"
        if name not in DOWNLOADS_LESS:
            asked, did = theirs["requests"], mine["requests"]
            kinds = [sorted({json.dumps(each) for each in some}) for some in (asked, did)]
            if (asked != did) if is_same else (kinds[0] != kinds[1] or len(did) > len(asked)):
                found.append(f"{step}: requests {asked} / {did}")
        theirs_ran, ran = theirs["scripts"], mine["scripts"]
        if (theirs_ran != ran) if is_same else (bool(theirs_ran) != bool(ran) or ran > theirs_ran):
            found.append(f"{step}: script runs {theirs_ran} / {ran}")
        if theirs["running"] != mine["running"] or bool(theirs["exit_code"]) != bool(
            mine["exit_code"]
        ):
            found.append(f"{step}: ends {theirs['exit_code']} / {mine['exit_code']}")
    return found


def wanted_complaints(
    name: str, ours: Mapping[str, Document], *, only: str | None = None
) -> list[str]:
    wanted = WANTED[name]
    if isinstance(wanted, int):
        code = ours["start"]["exit_code"]
        return [] if code == wanted else [f"ends with {code}, not {wanted}"]
    found: list[str] = []
    for step, files in wanted.items():
        if only not in {None, step}:
            continue
        mine = ours[step]
        held = {
            path.removeprefix("folder/"): text
            for path, (_, text) in mine["tree"].items()
            if not path.endswith("/")
        }
        if held != files:
            found.append(f"{step}: files {held}, not {files}")
        if not mine["running"]:
            found.append(f"{step}: it has ended with {mine['exit_code']}")
        runs = WANTED_RUNS.get(name, {}).get(step, mine["scripts"])
        asked = WANTED_REQUESTS.get(name, {}).get(step, len(mine["requests"]))
        if (runs, asked) != (mine["scripts"], len(mine["requests"])):
            found.append(f"{step}: {mine['scripts']} runs, requests {mine['requests']}")
    return found


def test_every_better_scenario_says_what_is_right() -> None:
    better = {each["name"] for each in SCENARIOS if each["class"] == "better"}

    assert better == WANTED.keys()
    assert better >= WANTED_RUNS.keys() | WANTED_REQUESTS.keys()
