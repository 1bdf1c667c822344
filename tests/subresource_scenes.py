"""Parts of objects whose answers are of another kind: what typed clients make of them.

Owns: the scenes, played on the development server and on the real one.  Must not know servers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from reflet.api.core.pods import Pod
from reflet.api.core.workloads import Deployment
from reflet.api.status import Status
from reflet.api.unstructured import AnyObject
from reflet.cluster import Cluster

CONTAINERS: Final = [{"name": "main", "image": "example"}]
POD: Final[Mapping[str, Any]] = {"metadata": {"name": "web"}, "spec": {"containers": CONTAINERS}}
DEPLOYMENT: Final[Mapping[str, Any]] = {
    "apiVersion": "apps/v1",
    "kind": "Deployment",
    "metadata": {"name": "web"},
    "spec": {
        "replicas": 2,
        "selector": {"matchLabels": {"app": "web"}},
        "template": {"metadata": {"labels": {"app": "web"}}, "spec": {"containers": CONTAINERS}},
    },
}
SCALE: Final = {"apiVersion": "autoscaling/v1", "kind": "Scale", "metadata": {"name": "web"}}


async def bind(cluster: Cluster) -> None:
    pods = cluster.resource(Pod)
    await pods.create(POD)
    target = {"apiVersion": "v1", "kind": "Node", "name": "node-1"}

    answer = await pods.create(
        {"apiVersion": "v1", "kind": "Binding", "metadata": {"name": "web"}, "target": target},
        name="web",
        subresource="binding",
    )

    assert isinstance(answer, Status)
    assert answer.status == "Success"
    assert (await pods.get("web")).spec.node_name == "node-1"


async def evict(cluster: Cluster) -> None:
    pods = cluster.resource(Pod)
    await pods.create(POD)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "web"}}

    answer = await pods.create(eviction, name="web", subresource="eviction")

    assert isinstance(answer, Status)
    assert answer.status == "Success"
    assert [pod.metadata.name for pod in (await pods.list()).items] == []


async def scale(cluster: Cluster) -> None:
    deployments = cluster.resource(Deployment)
    await deployments.create(DEPLOYMENT)

    read = await deployments.get("web", subresource="scale")
    patched = await deployments.patch("web", {"spec": {"replicas": 3}}, subresource="scale")
    written = await deployments.replace({**SCALE, "spec": {"replicas": 4}}, subresource="scale")
    applied = await deployments.apply(
        {**SCALE, "spec": {"replicas": 5}}, field_manager="test", force=True, subresource="scale"
    )

    assert [replicas_of(answer) for answer in (read, patched, written, applied)] == [2, 3, 4, 5]
    assert (await deployments.get("web", subresource="status")).spec.replicas == 5


def replicas_of(answer: Deployment | Status | AnyObject) -> int:
    assert isinstance(answer, AnyObject)
    assert (answer.api_version, answer.kind) == ("autoscaling/v1", "Scale")
    replicas: int = answer["spec"]["replicas"]
    return replicas


SCENES: Final = (bind, evict, scale)
