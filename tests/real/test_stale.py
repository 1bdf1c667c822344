"""What a real API server writes into managedFields, and what ``stale`` makes of it."""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import PatchOptions
from reflet.api.resources import CONFIG_MAPS, SECRETS
from reflet.cli.main import run
from reflet.cluster import Cluster
from reflet.insight.stale.object_history import ObjectHistory, history_of
from tests.integration.kubectl_runner import NEEDS_KUBECTL

needs_kubectl = NEEDS_KUBECTL[0]
MANIFEST = """
apiVersion: v1
kind: {kind}
metadata: {{name: settings}}
{bag}: {data}
"""


def written(data: Mapping[str, str], *, kind: str = "ConfigMap", bag: str = "data") -> str:
    return MANIFEST.format(kind=kind, bag=bag, data=json.dumps(data))


class Writer:
    """kubectl, and the history that an object has after it has written."""

    def __init__(self, kubeconfig: Path, cluster: Cluster) -> None:
        self._command = ("kubectl", "--kubeconfig", str(kubeconfig))
        self._cluster = cluster

    def __call__(self, *arguments: str, given: str = "") -> None:
        subprocess.run(
            [*self._command, *arguments],
            input=given,
            text=True,
            check=True,
            capture_output=True,
            timeout=60,
        )

    def apply(self, data: Mapping[str, str], *arguments: str, **more: str) -> None:
        self("apply", *arguments, "-f", "-", given=written(data, **more))

    async def history(self, kind: str = "ConfigMap") -> ObjectHistory:
        resource = CONFIG_MAPS if kind == "ConfigMap" else SECRETS
        async with Cluster(self._cluster.settings) as cluster:
            return history_of(await cluster.resource(resource, raw=True).get("settings"))


@pytest.fixture
def kubectl(kubeconfig: Path, cluster: Cluster) -> Writer:
    return Writer(kubeconfig, cluster)


def managers(history: ObjectHistory) -> dict[str, str]:
    """Who is said to have written each key last."""
    writes = {key: history.last_write(key) for key in history.keys}
    return {key: "" if write is None else write.manager for key, write in writes.items()}


@needs_kubectl
async def test_a_patch_takes_over_the_key_that_it_changes(kubectl: Writer) -> None:
    kubectl("create", "cm", "settings", "--from-literal=a=1", "--from-literal=b=2")
    kubectl("patch", "cm", "settings", "-p", '{"data": {"a": "3"}}')

    assert managers(await kubectl.history()) == {"a": "kubectl-patch", "b": "kubectl-create"}


@needs_kubectl
async def test_an_apply_that_changes_nothing_owns_nothing_more(kubectl: Writer) -> None:
    kubectl.apply({"a": "1"})
    kubectl.apply({"a": "1"})

    history = await kubectl.history()

    assert managers(history) == {"a": "kubectl-client-side-apply"}
    assert history.writes[0].metadata  # where kubectl keeps what it applied


@needs_kubectl
async def test_who_applies_the_same_value_has_not_changed_it(kubectl: Writer) -> None:
    kubectl("create", "cm", "settings", "--from-literal=a=1")
    kubectl.apply({"a": "1"}, "--server-side")

    assert managers(await kubectl.history()) == {"a": "kubectl-create"}


@needs_kubectl
async def test_a_key_that_is_taken_away_leaves_no_time(kubectl: Writer) -> None:
    """So that only a watch can say that an object had more keys."""
    kubectl("create", "cm", "settings", "--from-literal=a=1", "--from-literal=b=2")
    before = await kubectl.history()
    kubectl("patch", "cm", "settings", "-p", '{"data": {"b": null}}')
    after = await kubectl.history()

    assert after.keys == ("a",)
    assert [write.at for write in after.writes] == [write.at for write in before.writes]


@needs_kubectl
async def test_text_that_is_applied_to_a_secret_is_owned_beside_its_data(
    kubectl: Writer,
) -> None:
    kubectl.apply({"a": "1"}, "--server-side", kind="Secret", bag="stringData")
    history = await kubectl.history("Secret")

    (write,) = history.writes
    assert (history.keys, write.keys, write.string_keys) == (("a",), (), ("a",))
    assert managers(history) == {"a": "kubectl"}


POD: dict[str, Any] = {
    "metadata": {"name": "web"},
    "spec": {
        "automountServiceAccountToken": False,
        "containers": [
            {
                "name": "web",
                "image": "i",
                "env": [
                    {
                        "name": "LEVEL",
                        "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "level"}},
                    },
                    {
                        "name": "PASSWORD",
                        "valueFrom": {"secretKeyRef": {"name": "vault", "key": "password"}},
                    },
                ],
            }
        ],
    },
}


async def start(cluster: Cluster, at: datetime) -> None:
    status = {
        "name": "web",
        "image": "i",
        "imageID": "",
        "ready": True,
        "restartCount": 0,
        "state": {"running": {"startedAt": at.isoformat().replace("+00:00", "Z")}},
    }
    await cluster.resource("pods", raw=True).patch(
        "web",
        {"status": {"phase": "Running", "containerStatuses": [status]}},
        subresource="status",
    )


def test_the_whole_command(
    cluster: Cluster, kubeconfig: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A container that started an hour from now has everything; one of an hour ago may not."""

    async def prepare() -> None:
        async with cluster:
            settings = {"metadata": {"name": "settings"}, "data": {"level": "info"}}
            vault = {"metadata": {"name": "vault"}, "stringData": {"password": "canary"}}
            await cluster.resource(Secret).create(vault)
            await cluster.resource(ConfigMap).create(settings)
            await cluster.resource("pods").create(POD)
            await start(cluster, (datetime.now(UTC) + timedelta(hours=1)).replace(microsecond=0))
            # After everything else, by somebody else.
            await cluster.resource(ConfigMap).patch(
                "settings", {"data": {"level": "debug"}}, options=PatchOptions(field_manager="edit")
            )

    async def restart(at: timedelta) -> None:
        async with Cluster(cluster.settings) as again:
            await start(again, (datetime.now(UTC) + at).replace(microsecond=0))

    def found() -> tuple[int, dict[str, str]]:
        code = run(["reflet", "stale", "--all", "-o", "json", "--kubeconfig", str(kubeconfig)])
        output = capsys.readouterr().out
        assert "canary" not in output
        (workload,) = json.loads(output)["workloads"]
        return code, {use["name"]: use["verdict"] for use in workload["uses"]}

    asyncio.run(prepare())
    assert found() == (0, {"LEVEL": "is current", "PASSWORD": "is current"})
    asyncio.run(restart(-timedelta(hours=1)))
    assert found()[1]["LEVEL"] == "may be stale"
