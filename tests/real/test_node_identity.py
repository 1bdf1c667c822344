"""Managers with the rights of a node, on a real API server: its pods' objects and no others."""

from __future__ import annotations

import dataclasses
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from reflet.cluster import Cluster, settings_from
from reflet.transport.config.kubeconfig import Overrides
from tests.node_identity_scenes import SCENES
from tests.real.access_rules import Role
from tests.real.kube_server import KubeServer


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
