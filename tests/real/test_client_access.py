"""What a client may do and finds on a real API server: rights, custom kinds, another loop."""

from __future__ import annotations

import asyncio
import json
import secrets
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest
import uvloop

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.options import (
    WatchOptions,
)
from reflet.api.resources import Resource
from reflet.client.client import ALL_NAMESPACES
from reflet.cluster import Cluster, connect
from reflet.errors import (
    Forbidden,
    ParseError,
    TLSFailure,
    Unauthorized,
)
from tests.patience import within
from tests.real.access_rules import Role
from tests.real.kube_server import KubeServer
from tests.real.watching import drained


async def test_custom_resources_are_found_and_lose_nothing(
    kube: KubeServer, cluster: Cluster
) -> None:
    group = f"{secrets.token_hex(4)}.example.com"
    definition = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        "metadata": {"name": f"widgets.{group}"},
        "spec": {
            "group": group,
            "scope": "Namespaced",
            "names": {"plural": "widgets", "kind": "Widget", "shortNames": ["wd"]},
            "versions": [
                {
                    "name": "v1",
                    "served": True,
                    "storage": True,
                    "schema": {
                        "openAPIV3Schema": {
                            "type": "object",
                            "x-kubernetes-preserve-unknown-fields": True,
                        }
                    },
                }
            ],
        },
    }
    async with cluster:
        await cluster.resource("crd").create(definition)
        resource = await found(cluster, f"widgets.{group}")
        widgets = cluster.resource(resource)

        await widgets.create(
            {
                "apiVersion": f"{group}/v1",
                "kind": "Widget",
                "metadata": {"name": "w"},
                "spec": {"z": [1, {"y": None}], "a": 1.5},
            }
        )

        assert resource.short_names == ("wd",)
        assert (await widgets.get("w")).to_dict()["spec"] == {"z": [1, {"y": None}], "a": 1.5}


async def found(cluster: Cluster, name: str) -> Resource:
    """The server serves a new custom resource a moment after it accepted the definition."""
    async with within(20):
        while True:
            try:
                return await cluster.find(name)
            except ParseError:
                await cluster.resources(refresh=True)


async def test_the_server_says_what_it_serves(cluster: Cluster) -> None:
    async with cluster:
        served = await cluster.resources()
        version = await cluster.version()

        assert version.git_version.startswith("v1.36.")
        assert {"configmaps", "deployments.apps", "leases.coordination.k8s.io"} <= set(
            map(str, served)
        )


@asynccontextmanager
async def as_role(
    kube: KubeServer, role: Role, tmp_path: Path, namespace: str
) -> AsyncIterator[Cluster]:
    path = tmp_path / f"as-{role}"
    kube.write_kubeconfig(path, role, namespace=namespace)
    async with connect(kubeconfig=str(path)) as cluster:
        yield cluster


async def test_a_forbidden_list_says_who_may_not_do_what(kube: KubeServer, tmp_path: Path) -> None:
    async with as_role(kube, "restricted", tmp_path, "default") as cluster:
        with pytest.raises(Forbidden, match='cannot list resource "secrets"') as caught:
            await cluster.resource(Secret).list()

        assert caught.value.code == 403
        assert caught.value.verb == "list"


async def test_a_watch_may_be_forbidden_too(kube: KubeServer, tmp_path: Path) -> None:
    async with as_role(kube, "restricted", tmp_path, "default") as cluster:
        with pytest.raises(Forbidden):
            await drained(cluster.resource(Secret, namespace=ALL_NAMESPACES), WatchOptions())


async def test_what_is_allowed_by_name_can_be_watched_by_name(
    kube: KubeServer, tmp_path: Path
) -> None:
    async with as_role(kube, "restricted", tmp_path, "allowed") as cluster:
        options = WatchOptions(
            field_selector="metadata.name=known",
            send_initial_events=True,
            resource_version_match="NotOlderThan",
        )
        async with cluster.resource(Secret).watch(options) as watch:
            async for event in watch:
                assert event.object.metadata.name == "known"
                break


async def test_an_unknown_token_is_unauthorized(kubeconfig: Path) -> None:
    document = json.loads(kubeconfig.read_text())
    document["users"][0]["user"] = {"token": "unknown"}
    kubeconfig.write_text(json.dumps(document))

    async with connect(kubeconfig=str(kubeconfig)) as cluster:
        with pytest.raises(Unauthorized):
            await cluster.resource(ConfigMap).list()


async def test_a_wrong_authority_is_a_tls_failure(kube: KubeServer, kubeconfig: Path) -> None:
    document = json.loads(kubeconfig.read_text())
    cluster_entry = document["clusters"][0]["cluster"]
    cluster_entry.pop("certificate-authority-data", None)
    cluster_entry["certificate-authority"] = str(kube.client_ca_file)
    kubeconfig.write_text(json.dumps(document))

    async with connect(kubeconfig=str(kubeconfig)) as cluster:
        with pytest.raises(TLSFailure, match="certificate-authority"):
            await cluster.version()


@pytest.fixture(scope="module")
def uvloop_runner() -> Iterator[asyncio.Runner]:
    """Made outside the test: uvloop keeps a pipe of its own for the life of the process."""
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.sleep(0))
        yield runner


def test_uvloop_reaches_the_server_too(kubeconfig: Path, uvloop_runner: asyncio.Runner) -> None:
    async def names() -> list[str]:
        async with connect(kubeconfig=str(kubeconfig)) as cluster:
            await cluster.resource(ConfigMap).create({"metadata": {"name": "a"}})
            return [item.metadata.name for item in (await cluster.resource(ConfigMap).list()).items]

    assert uvloop_runner.run(names()) == ["a"]
