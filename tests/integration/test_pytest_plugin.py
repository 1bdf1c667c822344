"""The fixtures that other projects use, in a pytest run of its own."""

from __future__ import annotations

import inspect
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from reflet.devserver.server import DevServer
from reflet.testing.server_options import OPTIONS

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

MARKED = """
import pytest
from reflet.devserver import Fault
from reflet.errors import ServiceUnavailable
from test_theirs import ask

pytestmark = pytest.mark.reflet_server(load=["app.yaml"])
NODE = {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "worker"}}


def names(server, resource):
    return [each["metadata"]["name"] for each in ask(server, f"/api/v1/{resource}")["items"]]


def test_a_module_may_say_what_to_begin_with(reflet_server):
    assert names(reflet_server, "configmaps") == ["settings"]


@pytest.mark.reflet_server(tls=True)
class TestClass:
    def test_a_class_may_say_more(self, reflet_server):
        assert reflet_server.url.startswith("https://")
        assert reflet_server.server.loaded

    @pytest.mark.reflet_server(tls=False, load=[NODE])
    def test_the_nearest_marker_decides(self, reflet_server):
        assert reflet_server.url.startswith("http://")
        assert names(reflet_server, "nodes") == ["worker"]
        assert names(reflet_server, "configmaps") == []


@pytest.mark.reflet_server(faults=[Fault("status", status=503, verb="list", resource="nodes")])
def test_what_goes_wrong_is_said_by_the_marker(reflet_server):
    with pytest.raises(Exception, match="503"):
        ask(reflet_server, "/api/v1/nodes")
    assert ask(reflet_server, "/api/v1/nodes")["items"] == []


def test_several_servers_know_nothing_of_each_other(reflet_server_factory):
    first = reflet_server_factory(load=[NODE])
    second = reflet_server_factory(token="mine")
    assert (names(first, "nodes"), names(second, "nodes")) == (["worker"], [])
    assert second.token == "mine"
"""

KUBECTL = """
import pytest
from reflet.testing import KubectlFailed

SETTINGS = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "settings"}}


def test_kubectl_speaks_to_the_server(reflet_server, reflet_kubectl):
    reflet_kubectl("create", "-f", "-", stdin=SETTINGS)
    found = reflet_kubectl("get", "configmaps", "-o", "json").json()["items"]
    assert [each["metadata"]["name"] for each in found] == ["settings"]
    assert any(each.verb == "create" for each in reflet_server.requests)


def test_what_fails_says_why(reflet_kubectl):
    with pytest.raises(KubectlFailed, match='get pod x ended with 1: .*pods "x" not found'):
        reflet_kubectl("get", "pod", "x")
    assert reflet_kubectl("get", "pod", "x", check=False).code == 1


def test_it_follows_the_server_that_the_test_has(reflet_restored_server, reflet_kubectl):
    reflet_kubectl("get", "nodes")
    assert any(each.resource == "nodes" for each in reflet_restored_server.requests)
"""

RESTORED = """
import http.client
import json
import urllib.error

import pytest
from reflet.devserver import Fault
from test_theirs import ask

SHARED = []
SETTINGS = {"kind": "ConfigMap", "apiVersion": "v1", "metadata": {"name": "settings"}}
pytestmark = pytest.mark.reflet_server(load=[SETTINGS])


def send(server, method, path, body=None):
    address = server.url.removeprefix("http://")
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, path, json.dumps(body), {"Content-Type": "application/json"})
    return connection, connection.getresponse()


DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "apples.example.com"},
    "spec": {
        "group": "example.com",
        "names": {"plural": "apples", "kind": "Apple"},
        "scope": "Cluster",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {"openAPIV3Schema": {"type": "object"}},
            }
        ],
    },
}


def test_the_first_leaves_everything_behind(reflet_restored_server):
    server = reflet_restored_server
    core = "/api/v1/namespaces/default"
    for method, path, body in (
        ("DELETE", f"{core}/configmaps/settings", None),
        ("POST", "/api/v1/namespaces", {"metadata": {"name": "garbage"}}),
        ("POST", f"{core}/serviceaccounts", {"metadata": {"name": "me"}}),
        ("POST", "/apis/apiextensions.k8s.io/v1/customresourcedefinitions", DEFINITION),
    ):
        connection, answer = send(server, method, path, body)
        assert answer.status < 300, answer.read()
        connection.close()
    connection, answer = send(server, "POST", f"{core}/serviceaccounts/me/token", {})
    token = json.load(answer)["status"]["token"]
    connection.close()
    server.add_fault(Fault("status", status=500, times=1000))
    server.server.log_source = lambda request: None
    watch = send(server, "GET", f"{core}/configmaps?watch=1")
    server.call(server.server.faults.clear)
    watch[0].close()
    watch = send(server, "GET", f"{core}/configmaps?watch=1")
    server.add_fault(Fault("status", status=500, times=1000))
    SHARED.append((server, watch, token))


def test_the_second_finds_nothing_of_it(reflet_restored_server):
    first, (connection, watch), token = SHARED[0]
    server = reflet_restored_server

    assert server.server is first.server
    assert server.requests == ()
    assert server.server.faults.waiting == server.server.faults.fired == ()
    assert server.server.log_source is None
    assert [each["metadata"]["name"] for each in ask(server, "/api/v1/configmaps")["items"]] == [
        "settings"
    ]
    namespaces = ask(server, "/api/v1/namespaces")["items"]
    assert "garbage" not in [each["metadata"]["name"] for each in namespaces]
    with pytest.raises(urllib.error.HTTPError, match="404"):
        ask(server, "/apis/example.com/v1/apples")
    assert server.token != first.token
    for old in (first.token, token):
        with pytest.raises(urllib.error.HTTPError, match="401"):
            ask(type("Old", (), {"url": server.url, "token": old}), "/api/v1/nodes")
    assert server.url != first.url
    with pytest.raises(ConnectionRefusedError):
        send(first, "GET", "/version")
    with pytest.raises((ConnectionError, http.client.HTTPException)):
        while watch.readline():
            pass
        raise ConnectionError("the watch is at its end")
    connection.close()


@pytest.mark.reflet_server(load=[])
def test_other_options_mean_another_server(reflet_restored_server):
    assert reflet_restored_server.server is not SHARED[0][0].server
    assert ask(reflet_restored_server, "/api/v1/configmaps")["items"] == []


def test_it_can_be_put_back_by_hand(reflet_server):
    before = reflet_server.snapshot()
    send(reflet_server, "DELETE", "/api/v1/namespaces/default/configmaps/settings")[0].close()
    assert ask(reflet_server, "/api/v1/configmaps")["items"] == []

    reflet_server.restore(before)

    assert len(ask(reflet_server, "/api/v1/configmaps")["items"]) == 1
"""

UNKNOWN = """
import pytest


@pytest.mark.reflet_server(lode=["app.yaml"])
def test_a_slip_of_the_pen(reflet_server):
    pass
"""

APP = "{kind: ConfigMap, apiVersion: v1, metadata: {name: settings}}"

LIST_HEAVY = """
import sys
import pytest
before = set(sys.modules)
import reflet.testing.pytest_plugin
heavy = {"aiohttp", "msgspec", "yaml", "cryptography", "reflet.devserver", "subprocess"}
print(sorted(heavy & (set(sys.modules) - before)))
"""


def pytest_run(folder: Path, tests: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run tests as another project would, which has nothing to do with our temporary folders."""
    (folder / "test_theirs.py").write_text(TESTS)
    (folder / "test_more.py").write_text(tests)
    (folder / "app.yaml").write_text(APP)
    # Named explicitly, so that it works where the package's entry points are not installed yet.
    return subprocess.run(
        [
            *(sys.executable, "-m", "pytest", "-q", "-W", "error", "-p", "no:reflet", "-rs"),
            *("-p", "reflet.testing.pytest_plugin", "--strict-markers"),
            *("--basetemp", str(folder / "tmp"), "--rootdir", str(folder)),
            str(folder / "test_more.py"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=folder,
        timeout=50,
        env={**os.environ, **environment},
    )


def test_its_fixtures_serve_tests_with_and_without_a_loop(tmp_path: Path) -> None:
    finished = pytest_run(tmp_path, TESTS)

    assert "4 passed" in finished.stdout, finished.stdout + finished.stderr


def test_a_marker_says_what_the_server_of_a_test_is_like(tmp_path: Path) -> None:
    pytest.importorskip("cryptography")

    finished = pytest_run(tmp_path, MARKED)

    assert "5 passed" in finished.stdout, finished.stdout + finished.stderr


def test_an_option_that_a_marker_has_not_is_told_before_any_test_runs(tmp_path: Path) -> None:
    finished = pytest_run(tmp_path, UNKNOWN)

    assert finished.returncode == pytest.ExitCode.USAGE_ERROR
    assert finished.stderr.strip() == (
        "ERROR: test_more.py::test_a_slip_of_the_pen: the marker reflet_server has no 'lode'; it"
        " has data_dir, faults, host, kubeconfig, load, play, port, tls, token"
    )


def test_the_options_of_the_marker_are_those_of_the_server() -> None:
    parameters = inspect.signature(DevServer).parameters

    assert {*parameters, "faults", "play"} == set(OPTIONS)


@pytest.mark.skipif(shutil.which("kubectl") is None, reason="kubectl is not installed")
def test_kubectl_is_at_hand(tmp_path: Path) -> None:
    finished = pytest_run(tmp_path, KUBECTL)

    assert "3 passed" in finished.stdout, finished.stdout + finished.stderr


def test_without_kubectl_the_tests_that_need_it_are_skipped(tmp_path: Path) -> None:
    finished = pytest_run(tmp_path, KUBECTL, PATH=str(tmp_path))

    assert "3 skipped" in finished.stdout, finished.stdout + finished.stderr
    assert "kubectl is not on PATH, and reflet_kubectl runs it" in finished.stdout


def test_a_restored_server_is_as_new(tmp_path: Path) -> None:
    finished = pytest_run(tmp_path, RESTORED)

    assert "4 passed" in finished.stdout, finished.stdout + finished.stderr


def test_importing_it_costs_nothing() -> None:
    finished = subprocess.run(
        [sys.executable, "-c", LIST_HEAVY], capture_output=True, text=True, check=True, timeout=30
    )

    assert finished.stdout == "[]\n"


PLAYED = """
import time
import pytest
from test_theirs import ask

POD = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {"containers": [{"name": "web", "image": "nginx"}]},
}


@pytest.mark.reflet_server(play="pods", load=[POD])
@pytest.mark.parametrize("fixture", ["reflet_server", "reflet_restored_server"])
def test_pods_run(fixture, request):
    server = request.getfixturevalue(fixture)
    deadline = time.monotonic() + 30
    while True:
        pod = ask(server, "/api/v1/namespaces/default/pods/web")
        if pod["status"]["phase"] == "Running":
            return
        assert time.monotonic() < deadline, pod["status"]
        time.sleep(0.01)
"""


def test_a_marker_lets_pods_be_played(tmp_path: Path) -> None:
    finished = pytest_run(tmp_path, PLAYED)

    assert "2 passed" in finished.stdout, finished.stdout + finished.stderr
