"""A stock kubectl, on a development server that the tests of a module share.

Owns: how kubectl is run, and a namespace for each test.  Must not know what is asked of it.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.testing.pytest_plugin import RunningServer, running_server

NEEDS_KUBECTL: Final = [
    pytest.mark.skipif(
        shutil.which("kubectl") is None and os.environ.get("CI") != "true",
        reason="kubectl is not installed",
    ),
    pytest.mark.time_limit(120),
]


class Kubectl:
    """kubectl with a home of its own."""

    def __init__(self, kubeconfig: Path, home: Path) -> None:
        self._environment = {
            "PATH": os.environ["PATH"],
            "KUBECONFIG": str(kubeconfig),
            "HOME": str(home),
            "KUBECACHEDIR": str(home / "cache"),
        }

    def run(
        self, *arguments: str, given: str = "", code: int = 0, **environment: str
    ) -> subprocess.CompletedProcess[str]:
        finished = subprocess.run(
            ["kubectl", *arguments],
            input=given,
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
            env={**self._environment, **environment},
        )
        assert finished.returncode == code, (arguments, finished.stdout, finished.stderr)
        return finished

    def __call__(self, *arguments: str, given: str = "") -> str:
        return self.run(*arguments, given=given).stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self(*arguments, "-o", "json"))

    def watch(self, *arguments: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            ["kubectl", "get", "-w", *arguments],
            stdout=subprocess.PIPE,
            text=True,
            env=self._environment,
        )


@pytest.fixture(scope="module")
def shared_server() -> Iterator[RunningServer]:
    with running_server({"tls": True}) as running:
        yield running


@pytest.fixture
def kubectl(shared_server: RunningServer, tmp_path: Path) -> Iterator[Kubectl]:
    everything = Kubectl(shared_server.kubeconfig, tmp_path)
    name = f"n{abs(hash(tmp_path)) % 10**8}"
    everything("create", "namespace", name)
    config = json.loads(shared_server.kubeconfig.read_text())
    config["contexts"][0]["context"]["namespace"] = name
    mine = tmp_path / "kubeconfig"
    mine.write_text(json.dumps(config))
    yield Kubectl(mine, tmp_path)
    everything("delete", "namespace", name)
