"""The rights that ``reflet rbac --sidecar`` prints are enough for a sidecar, on a real server."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap
from reflet.cli.main import run
from reflet.cluster import Cluster, settings_from
from reflet.errors import Forbidden
from reflet.sidecar.sidecar import Sidecar
from reflet.sidecar.sidecar_settings import read_settings
from reflet.transport.config.kubeconfig import Overrides
from tests.patience import within
from tests.real.kube_server import KubeServer

PATIENCE: Final = 20.0  # seconds until the server knows a new role, and a file is there
RBAC: Final = "/apis/rbac.authorization.k8s.io/v1"
DASHBOARD: Final = {"metadata": {"name": "dash", "labels": {"find": "me"}}, "data": {"a": "b"}}


def granted(kube: KubeServer, namespace: str, printed: str) -> None:
    """Create what ``reflet rbac`` printed."""
    with kube.connect() as connection:
        for document in json.loads(printed)["items"]:
            plural = f"{document['kind'].lower()}s"
            connection.create(f"{RBAC}/namespaces/{namespace}/{plural}", document)


@pytest.mark.parametrize(
    "variables",
    [
        {"RESOURCE": "both"},
        {"RESOURCE_NAME": "configmap/dash"},
        {"METHOD": "SLEEP"},
        {"METHOD": "LIST"},
    ],
    ids=["label", "name", "sleep", "list"],
)
async def test_a_sidecar_needs_no_more_than_what_is_printed(
    kube: KubeServer,
    namespace: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    variables: dict[str, Any],
) -> None:
    user = f"sidecar-{namespace}"
    config = kube.write_kubeconfig(tmp_path / "config", namespace=namespace)
    environment = {"LABEL": "find", "FOLDER": str(tmp_path / "files"), "HEALTH_PORT": "0"}
    for name, value in {**environment, **variables}.items():
        monkeypatch.setenv(name, value)
    arguments = ("--sidecar", "--subject", f"user:{user}", "-n", namespace, "-o", "json")
    assert await asyncio.to_thread(run, ["reflet", "rbac", *arguments]) == 0
    granted(kube, namespace, capsys.readouterr().out)
    with kube.connect() as connection:
        connection.create(f"/api/v1/namespaces/{namespace}/configmaps", DASHBOARD)
    settings = settings_from(Overrides(kubeconfig=str(config), as_user=user))

    async with Cluster(settings) as cluster, within(PATIENCE):
        while not await works(environment | variables, cluster, namespace):  # noqa: ASYNC110 - no event tells
            await asyncio.sleep(0.1)  # the server does not know the role yet
        with pytest.raises(Forbidden):
            await cluster.resource(ConfigMap).delete("dash")

    assert (tmp_path / "files/a").read_text() == "b"


async def works(variables: dict[str, Any], cluster: Cluster, namespace: str) -> bool:
    """Run a sidecar until its file is there; False when it is not allowed to read."""
    sidecar = Sidecar(read_settings(variables), cluster, namespace=namespace)
    file = Path(variables["FOLDER"]) / "a"
    running = asyncio.create_task(sidecar.run(), name="sidecar")
    while not running.done() and not file.exists():  # noqa: ASYNC110 - nobody tells of a file
        await asyncio.sleep(0.02)
    running.cancel()
    with suppress(asyncio.CancelledError, Forbidden):
        await running
    return file.exists()
