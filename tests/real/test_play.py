"""Play beside a real kube-apiserver: what it writes is what the real server takes, too."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from reflet.api import DeleteOptions
from reflet.cluster import connect
from reflet.play import Play
from tests.integration.play_scenes import until, until_gone
from tests.real.kube_server import KubeServer

pytestmark = pytest.mark.time_limit(120)


class RealServer:
    """A real server, as play sees the one that it lives beside."""

    def __init__(self, kube: KubeServer, folder: Path) -> None:
        self.kubeconfig_path = kube.write_kubeconfig(folder / "kubeconfig")
        self.ca_data = kube.ca_data


def workload(kind: str, **spec: Any) -> dict[str, Any]:
    return {
        "apiVersion": "batch/v1" if kind == "Job" else "apps/v1",
        "kind": kind,
        "metadata": {"name": "it"},
        "spec": {
            "template": {
                "metadata": {"labels": {"app": kind}},
                "spec": {"containers": [{"name": "main", "image": "nginx"}]},
            },
            **spec,
        },
    }


def selected(kind: str, **spec: Any) -> dict[str, Any]:
    return workload(kind, selector={"matchLabels": {"app": kind}}, **spec)


async def test_every_controller_gets_its_work_done_on_the_real_server(tmp_path: Path) -> None:
    job = workload("Job")
    job["spec"]["template"]["spec"]["restartPolicy"] = "Never"
    behind = {"selector": {"app": "Deployment"}, "ports": [{"port": 80}]}
    service = {"metadata": {"name": "it"}, "spec": behind}
    with KubeServer() as kube:
        server = RealServer(kube, tmp_path)
        async with (
            Play("all").beside(server),
            connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
        ):
            for name, document in (
                ("deployments", selected("Deployment", replicas=3)),
                ("statefulsets", selected("StatefulSet", replicas=2, serviceName="it")),
                ("daemonsets", selected("DaemonSet")),
                ("jobs", job),
                ("services", service),
            ):
                await cluster.resource(name, raw=True).create(document)

            await until(
                cluster, "deployments", "it", lambda it: "NewReplicaSetAvailable" in str(it.status)
            )
            await until(
                cluster, "statefulsets", "it", lambda it: it.status.get("readyReplicas") == 2
            )
            await until(
                cluster, "daemonsets", "it", lambda it: it.status.get("numberAvailable") == 1
            )
            await until(cluster, "jobs", "it", lambda it: bool(it.status.get("completionTime")))
            await until(cluster, "endpoints", "it", lambda it: "10.244." in str(it.get("subsets")))
            foreground = DeleteOptions(propagation_policy="Foreground")
            await cluster.resource("deployments", raw=True).delete("it", foreground)
            await until_gone(cluster, "deployments", "it")
            namespaces = cluster.resource("namespaces", raw=True)
            await namespaces.create({"metadata": {"name": "shop"}})
            await namespaces.delete("shop")
            await until_gone(cluster, "namespaces", "shop")
