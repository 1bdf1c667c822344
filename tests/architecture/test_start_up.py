"""Starting costs little, because what is rarely needed is imported when it is needed.

Counted in modules, not in milliseconds: a module that is not imported takes no time on any
machine.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from docs.generators.rooms import LAZY_ROOMS

HEAVY: Final = frozenset(
    {
        *("aiohttp", "cryptography", "h2", "msgspec", "uvloop", "yaml", "yarl"),
        *("httpx2", "kubernetes", "kubernetes_asyncio", "lightkube"),
        *("prometheus_client", "urllib3"),
        *("asyncio", "concurrent.futures", "email", "http", "logging", "multiprocessing"),
        *("socket", "ssl", "subprocess", "tempfile", "urllib.request", "xml"),
    }
)

LIST_MODULES: Final = "print('\\n' + json.dumps(sorted(sys.modules)), file=sys.stderr)"


def heavy_modules_after(program: str) -> frozenset[str]:
    """Run a program in a bare interpreter and return the heavy modules it has loaded."""
    finished = subprocess.run(
        [sys.executable, "-c", f"import json, sys\n{program}\n{LIST_MODULES}"],
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    )
    return HEAVY.intersection(json.loads(finished.stderr.splitlines()[-1]))


def what_only_click_loads() -> frozenset[str]:
    return heavy_modules_after("import click")


@pytest.mark.parametrize("room", LAZY_ROOMS)
def test_importing_a_room_loads_nothing_heavy(room: str) -> None:
    assert heavy_modules_after(f"import {room}") == frozenset()


@pytest.mark.parametrize("name", ["reflet", "kubectl-reflet"])
def test_help_loads_nothing_heavy_beyond_the_command_line_library(name: str) -> None:
    loaded = heavy_modules_after(
        f"""
sys.argv = [{name!r}, "--help"]
from reflet.cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
"""
    )

    assert loaded <= what_only_click_loads()


MANIFEST: Final = """
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: web, image: web, env: [{name: MODE, value: dark}]}]}
"""


@pytest.mark.parametrize("command", [["lint"], ["env", "deploy/web"]])
def test_a_command_on_files_loads_the_readers_of_files_alone(
    tmp_path: Path, command: list[str]
) -> None:
    path = tmp_path / "web.yaml"
    path.write_text(MANIFEST)

    loaded = heavy_modules_after(
        f"""
sys.argv = ["reflet", *{command!r}, "-f", {str(path)!r}]
from reflet.cli.main import main
try:
    main()
except SystemExit as ended:
    assert not ended.code, ended.code
"""
    )

    assert loaded - what_only_click_loads() == {"msgspec", "yaml"}


def test_the_command_line_looks_for_cycles_rarely_but_does() -> None:
    finished = subprocess.run(
        [
            sys.executable,
            "-c",
            (
                "import gc, sys, reflet.cli.main as entry\n"
                "before = gc.get_threshold()\n"
                "sys.argv = ['reflet', '--version']\n"
                "try:\n"
                "    entry.main()\n"
                "except SystemExit:\n"
                "    after = gc.get_threshold()\n"
                "    print(after[0] > before[0], after[1:] == before[1:], gc.isenabled())\n"
                "    print(gc.get_freeze_count() > 0)\n"
            ),
        ],
        capture_output=True,
        check=True,
        text=True,
        timeout=30,
    )

    assert finished.stdout.split()[-4:] == ["True"] * 4


@pytest.mark.parametrize(
    ("module", "library"),
    [
        ("asyncio_client", "kubernetes_asyncio"),
        ("lightkube_client", "lightkube"),
        ("official", "kubernetes"),
        ("prometheus", "prometheus_client"),
    ],
)
def test_an_adapter_loads_its_library_only_when_it_is_used(module: str, library: str) -> None:
    assert library not in heavy_modules_after(f"import reflet.adapters.{module}")


def test_a_heavy_module_would_be_noticed() -> None:
    assert "ssl" in heavy_modules_after("import ssl")


FIRST_REQUEST: Final = """
import asyncio, importlib.abc, json, sys, threading
from reflet import ConfigMap, Mirror, connect

on_the_loop = []

class Finder(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path, target=None):
        if threading.current_thread() is threading.main_thread():
            on_the_loop.append(name)
        return None

async def main():
    async with connect(kubeconfig=sys.argv[1]) as cluster:
        sys.meta_path.insert(0, Finder())
        await cluster.version()
        async with cluster.mirror(ConfigMap, namespace="default") as mirror:
            await mirror.synced(timeout=20)
    print(json.dumps(on_the_loop))

asyncio.run(main())
"""
MOST_ON_THE_LOOP: Final = 8


@pytest.mark.parametrize("tls", [True, False])
def test_the_first_request_of_a_program_imports_next_to_nothing_on_its_event_loop(
    tmp_path: Path, tls: bool
) -> None:
    """Each module there is a pause of everything else that the program does."""
    kubeconfig = tmp_path / "kubeconfig"
    flags = ["--tls" if tls else "--no-tls", "--port", "0", "--kubeconfig-out", str(kubeconfig)]
    with subprocess.Popen(
        [sys.executable, "-m", "reflet", "serve", *flags], stdout=subprocess.PIPE, text=True
    ) as server:
        try:
            assert server.stdout is not None
            while not kubeconfig.exists():
                assert server.stdout.readline(), "the server has ended"
            finished = subprocess.run(
                [sys.executable, "-c", FIRST_REQUEST, str(kubeconfig)],
                capture_output=True,
                check=True,
                text=True,
                timeout=50,
            )
        finally:
            server.terminate()
            server.communicate()

    imported: list[str] = json.loads(finished.stdout)
    assert len(imported) <= MOST_ON_THE_LOOP, imported
