"""``reflet stale`` on the development server: what it finds, rolls, and goes on to say."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import Any

import pytest

from reflet.cli.main import run
from reflet.controllers.rollout_restarts import RESTARTED_AT
from reflet.play import Play
from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.integration.plain_client import MERGE_PATCH, Client
from tests.integration.running import until

CANARY = "canary-hush-hush"
APPS, CORE = "/apis/apps/v1/namespaces/default", "/api/v1/namespaces/default"


def workload(kind: str, name: str, **spec: Any) -> dict[str, Any]:
    level = {"configMapKeyRef": {"name": "settings", "key": "level"}}
    container = {"name": "web", "image": "i", "env": [{"name": "LEVEL", "valueFrom": level}]}
    labels = {"app": name}
    return {
        "apiVersion": "apps/v1",
        "kind": kind,
        "metadata": {"name": name},
        "spec": {
            "selector": {"matchLabels": labels},
            "template": {"metadata": {"labels": labels}, "spec": {"containers": [container]}},
            **spec,
        },
    }


SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {"name": "settings"},
    "data": {"level": "info"},
}
BY_HAND = {"updateStrategy": {"type": "OnDelete"}, "serviceName": "db"}


@pytest.fixture
def played() -> Iterator[RunningServer]:
    with running_server({"tls": False, "play": Play("all")}) as server:
        yield server


@pytest.fixture
def client(played: RunningServer) -> Client:
    """Objects that were made yesterday, for pods that have just been started."""
    client, state = Client(played.url, played.token), played.server.state
    now = state.now
    state.now = lambda: now() - timedelta(days=1)
    client.request("POST", f"{CORE}/configmaps", SETTINGS)
    client.request("POST", f"{APPS}/deployments", workload("Deployment", "web"))
    client.request("POST", f"{APPS}/statefulsets", workload("StatefulSet", "db", **BY_HAND))
    until(lambda: len(running_pods(client)) == 2)
    state.now = now
    return client


def running_pods(client: Client) -> list[str]:
    items = client.request("GET", f"{CORE}/pods").body["items"]
    return [each["metadata"]["name"] for each in items if each["status"]["phase"] == "Running"]


def change(client: Client, level: str) -> None:
    answer = client.request(
        "PATCH",
        f"{CORE}/configmaps/settings",
        {"data": {"level": level}},
        headers=MERGE_PATCH,
    )
    assert answer.code == 200, answer.message


def template_annotations(client: Client, path: str) -> dict[str, str]:
    found = client.request("GET", f"{APPS}/{path}").body
    annotations: dict[str, str] = found["spec"]["template"]["metadata"].get("annotations", {})
    return annotations


def test_exactly_the_workloads_that_are_concerned_are_rolled(
    played: RunningServer, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    change(client, "debug")

    code = run(["reflet", "stale", "--restart", "--yes", "--kubeconfig", str(played.kubeconfig)])

    output = capsys.readouterr().out
    assert code == 1  # one is left alone
    assert "deployment/web in default: rolled" in output
    assert "statefulset/db in default: left alone: its updateStrategy is OnDelete" in output
    assert RESTARTED_AT in template_annotations(client, "deployments/web")
    assert template_annotations(client, "statefulsets/db") == {}


@contextmanager
def watching(server: RunningServer, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-u", "-m", "reflet", "stale", "--watch", *arguments]
    with subprocess.Popen(
        [*command, "--kubeconfig", str(server.kubeconfig)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            yield process
        finally:
            process.send_signal(signal.SIGINT)
            process.communicate(timeout=30)


def test_a_watch_says_what_it_saw_become_stale(played: RunningServer, client: Client) -> None:
    with watching(played, "deploy/web") as process:
        assert process.stdout is not None
        assert "1 running pod was checked" in process.stdout.readline()
        change(client, "debug")
        line = process.stdout.readline()

    assert "default deployment/web web: env LEVEL: " in line
    assert "configmap/settings level: seen to change: last changed " in line


def test_what_a_watch_saw_is_there_for_prometheus(played: RunningServer, client: Client) -> None:
    with watching(played, "--metrics-address", "127.0.0.1:0") as process:
        assert process.stdout is not None
        assert process.stderr is not None
        place = process.stderr.readline().split()[-1]
        process.stdout.readline()
        change(client, "debug")
        process.stdout.readline()
        with urllib.request.urlopen(place, timeout=30) as answer:
            page = answer.read().decode()

    assert "# TYPE reflet_stale_containers gauge" in page
    assert 'workload="statefulset/db"' in page


def test_no_value_of_a_secret_is_shown(
    played: RunningServer, client: Client, capsys: pytest.CaptureFixture[str]
) -> None:
    secret = {"metadata": {"name": "vault"}, "stringData": {"password": CANARY}}
    client.request("POST", f"{CORE}/secrets", secret)
    container = {
        "name": "main",
        "image": "i",
        "envFrom": [{"secretRef": {"name": "vault"}}],
    }
    pod = {"metadata": {"name": "alone"}, "spec": {"containers": [container]}}
    client.request("POST", f"{CORE}/pods", pod)
    until(lambda: "alone" in running_pods(client))

    for form in ("table", "wide", "json", "yaml", "prometheus"):
        run(["reflet", "stale", "--all", "-o", form, "--kubeconfig", str(played.kubeconfig)])
        output = capsys.readouterr()
        assert CANARY not in output.out + output.err
        if form == "json":
            names = {
                use["object"]["name"]
                for workload in json.loads(output.out)["workloads"]
                for use in workload["uses"]
            }
            assert "vault" in names
