"""The page on a real API server: what its managed fields say, and what a watch sees."""

from __future__ import annotations

from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster
from tests.board_scenes import PATIENCE, BoardScene, states

CONTAINER = {"name": "web", "image": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}


async def test_an_edit_is_seen_key_by_key(cluster: Cluster, namespace: str) -> None:
    scene = BoardScene(cluster, namespace)
    async with cluster, scene.filling:
        config_maps, pods = cluster.resource(ConfigMap), cluster.resource(Pod)
        data = {"LEVEL": "info", "REGION": "eu"}
        await config_maps.create({"metadata": {"name": "settings"}, "data": data})
        spec = {"containers": [CONTAINER], "automountServiceAccountToken": False}
        made = await pods.create({"metadata": {"name": "web"}, "spec": spec})
        await scene.filling.ready(PATIENCE)
        await scene.document(lambda found: set(states(found).values()) == {"current"})
        started = made.metadata.creation_timestamp
        assert started is not None
        running = {"running": {"startedAt": started.isoformat()}}
        status = {"phase": "Running", "containerStatuses": [_status(running)]}
        await pods.patch("web", {"status": status}, subresource="status")
        await scene.document(lambda found: "Running" in str(found.workloads))
        await config_maps.patch("settings", {"data": {"LEVEL": "debug"}})
        after = await scene.document(lambda found: found.edits)

    assert states(after)["LEVEL"] == "needs-restart"
    [edit] = after.edits
    assert edit.keys == ("LEVEL",)


def _status(state: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": "web",
        "state": state,
        "ready": True,
        "restartCount": 0,
        "image": "web",
        "imageID": "",
    }
