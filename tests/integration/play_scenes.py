"""A development server with somebody who plays, and waiting for what becomes of objects."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from reflet.api import AnyObject
from reflet.cluster import Cluster, connect
from reflet.devserver.server import DevServer
from reflet.play import Play

Document = dict[str, Any]
Test = Callable[[AnyObject], bool]


@asynccontextmanager
async def playing(play: Play, **options: Any) -> AsyncIterator[tuple[DevServer, Cluster]]:
    async with (
        DevServer(tls=False, play=play, **options) as server,
        connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
    ):
        yield server, cluster


async def until(
    cluster: Cluster, kind: str, name: str, test: Test, *, namespace: str | None = None
) -> AnyObject:
    """Wait until an object is as it should be."""
    resource = await cluster.find(kind)
    async with cluster.mirror(resource, raw=True, namespace=namespace) as mirror:
        async for change in mirror.changes():
            found = change.object
            if found.metadata.name == name and change.type != "DELETED" and test(found):
                return found
    raise AssertionError(f"{kind} {name} was never as it should be")


async def until_gone(cluster: Cluster, kind: str, name: str) -> None:
    """Wait until an object is not there."""
    resource = await cluster.find(kind)
    async with cluster.mirror(resource, raw=True) as mirror:
        await mirror.synced()
        if name not in mirror:
            return
        async for change in mirror.changes():
            if change.object.metadata.name == name and change.type == "DELETED":
                return


def pod(name: str, script: str = "", *, image: str = "nginx", **more: Any) -> Document:
    annotations = {"reflet.dev/play": script} if script else {}
    container = {"name": "main", "image": image, **more.pop("container", {})}
    return {
        "metadata": {"name": name, "annotations": annotations, **more.pop("metadata", {})},
        "spec": {"containers": [container], **more},
    }


def owned(name: str, owner: AnyObject, **more: Any) -> Document:
    """A ConfigMap that belongs to somebody."""
    reference = {
        "apiVersion": owner.api_version,
        "kind": owner.kind,
        "name": owner.metadata.name,
        "uid": owner.metadata.uid,
        "blockOwnerDeletion": True,
    }
    return {"metadata": {"name": name, "ownerReferences": [reference], **more}}


def is_ready(found: AnyObject) -> bool:
    conditions = found.status.get("conditions") or ()
    return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)


def state_of(found: AnyObject) -> Any:
    statuses: Any = found.status.get("containerStatuses")
    return statuses[0]["state"] if statuses else {}
