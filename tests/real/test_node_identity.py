"""The identity of a node on a real API server: its pods' objects and no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from reflet.cluster import Cluster, settings_from
from reflet.testing import pytest_plugin
from reflet.testing.pytest_plugin import RunningServer
from reflet.transport.config.kubeconfig import Overrides
from tests.node_identity_scenes import SCENES
from tests.real.access_rules import Role
from tests.real.kube_server import KubeServer

reflet_server = pytest_plugin.reflet_server
reflet_server_options = pytest_plugin.reflet_server_options


def cluster_of(kube: KubeServer, role: Role, namespace: str, folder: Path) -> Cluster:
    path = kube.write_kubeconfig(folder / role, role, namespace=namespace)
    return Cluster(dataclasses.replace(settings_from(Overrides(kubeconfig=str(path))), qps=0))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.__name__)
async def test_a_node_gets_what_its_pods_need(
    kube: KubeServer,
    namespace: str,
    tmp_path: Path,
    scene: Callable[[Cluster, Cluster, str], Awaitable[None]],
) -> None:
    as_admin = cluster_of(kube, "admin", namespace, tmp_path)
    as_node = cluster_of(kube, "node", namespace, tmp_path)

    await scene(as_admin, as_node, namespace)


async def test_whoever_acts_as_a_node_is_in_its_group(
    kube: KubeServer, reflet_server: RunningServer, tmp_path: Path
) -> None:
    # The real server tries first what an administrator did last, so this one is new to it.
    newcomer = kube.client_certificate("newcomer", ["system:masters"])
    real = kube.write_kubeconfig(tmp_path / "newcomer", certificate=newcomer)
    groups = []
    for path in (real, reflet_server.kubeconfig):
        settings = settings_from(Overrides(kubeconfig=str(path), as_user="system:node:worker-1"))
        async with Cluster(settings) as cluster:
            reviews = await cluster.find("selfsubjectreviews")
            review = await cluster.resource(reviews, raw=True).create({})
            groups.append(review.to_dict()["status"]["userInfo"]["groups"])

    assert groups == [["system:nodes", "system:authenticated"]] * 2
