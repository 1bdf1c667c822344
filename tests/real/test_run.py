"""``reflet run`` with the configuration of a workload on a real API server."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Final

import pytest

from reflet.api.yaml.text import read_values
from tests.integration.running import LOOP, MANIFESTS, POLITE, Running, memory, running, shell
from tests.real.kube_server import KubeServer

PATHS: Final = {
    "ConfigMap": "/api/v1/namespaces/{}/configmaps",
    "Secret": "/api/v1/namespaces/{}/secrets",
    "Deployment": "/apis/apps/v1/namespaces/{}/deployments",
}
SETTINGS: Final = "/api/v1/namespaces/{}/configmaps/settings"


@pytest.fixture
def environment(kube: KubeServer, namespace: str, tmp_path: Path) -> Iterator[dict[str, str]]:
    with kube.connect() as connection:
        for placed in read_values(MANIFESTS):
            connection.create(PATHS[placed.value["kind"]].format(namespace), placed.value)
    config = kube.write_kubeconfig(tmp_path / "config", namespace=namespace)
    with memory() as place:
        yield {"KUBECONFIG": str(config), "XDG_RUNTIME_DIR": str(place)}


def change(kube: KubeServer, namespace: str, **data: str) -> None:
    path = SETTINGS.format(namespace)
    settings = kube.request("GET", path).body
    settings["data"] |= data
    answer = kube.request("PUT", path, settings)
    assert answer.code == 200, answer


def test_a_process_gets_the_environment_and_files_of_the_pod(
    environment: dict[str, str], tmp_path: Path
) -> None:
    script = "echo $LEVEL $DSN; cat $REFLET_ROOT/etc/reflet-test/conf/app.conf; exit 3"
    arguments = ("deploy/web", "--", *shell(script))

    with running(tmp_path, arguments, environment=environment) as run:
        assert (run.code(), run.output) == (3, "info db:hunter2\none")
        assert "hunter2" not in run.said


def test_a_changed_variable_restarts_the_process_and_an_unused_key_does_not(
    kube: KubeServer, namespace: str, environment: dict[str, str], tmp_path: Path
) -> None:
    with running(tmp_path, ("deploy/web", "--", *shell(POLITE)), environment=environment) as run:
        run.until_output("up info")
        change(kube, namespace, unused="y")
        change(kube, namespace, LEVEL="debug")
        run.until_output("up debug")

    assert run.output.count("up") == 2


def test_the_process_runs_on_while_the_server_is_away(
    kube: KubeServer, namespace: str, environment: dict[str, str], tmp_path: Path
) -> None:
    script = f"trap 'echo again; exit 0' HUP; echo up; {LOOP}"
    arguments = ("deploy/web", "--on-change", "signal:HUP", "--", *shell(script))

    with running(tmp_path, arguments, environment=environment) as run:
        run.until_output("up")
        with kube.outage():
            assert still_runs(run)
        change(kube, namespace, **{"app.conf": "two"})

        run.until_output("again")
        assert run.code() == 0


def still_runs(run: Running) -> bool:
    return run.process.poll() is None
