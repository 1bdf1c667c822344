"""The fixtures that other projects use, in a pytest run of its own."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

TESTS = """
import asyncio
import json
import urllib.request


def ask(server, path):
    request = urllib.request.Request(
        server.url + path, headers={"Authorization": f"Bearer {server.token}"}
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def test_without_a_loop(reflet_server):
    assert ask(reflet_server, "/api/v1/namespaces")["kind"] == "NamespaceList"
    assert json.loads(reflet_server.kubeconfig.read_text())["kind"] == "Config"


def test_with_a_loop(reflet_server):
    async def main():
        return await asyncio.to_thread(ask, reflet_server, "/version")

    assert asyncio.run(main())["major"] == "1"


def test_requests_are_counted(reflet_server):
    ask(reflet_server, "/api/v1/nodes")
    assert [each.resource for each in reflet_server.requests] == ["nodes"]


def test_the_session_has_one_of_its_own(reflet_session_server, reflet_server):
    assert reflet_session_server.url != reflet_server.url
"""

LIST_HEAVY = """
import sys
import pytest
before = set(sys.modules)
import reflet.testing.pytest_plugin
heavy = {"aiohttp", "msgspec", "yaml", "cryptography", "reflet.devserver"}
print(sorted(heavy & (set(sys.modules) - before)))
"""


def test_its_fixtures_serve_tests_with_and_without_a_loop(tmp_path: Path) -> None:
    (tmp_path / "test_theirs.py").write_text(TESTS)

    # Named explicitly, so that it works where the package's entry points are not installed yet.
    finished = subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:reflet"),
            *("-p", "reflet.testing.pytest_plugin", "--rootdir", str(tmp_path), str(tmp_path)),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        timeout=50,
    )

    assert "4 passed" in finished.stdout, finished.stdout + finished.stderr


def test_importing_it_costs_nothing() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", LIST_HEAVY], capture_output=True, text=True, check=True, timeout=30
    )

    assert finished.stdout == "[]\n"
