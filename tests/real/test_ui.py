"""The page on a real API server: what its managed fields say, and what a watch sees."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any

from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster
from reflet.insight.page.page_document import PageDocument
from reflet.ui.board import Board
from reflet.ui.cluster_board import ClusterBoard
from tests.patience import within

PATIENCE = 30.0
CONTAINER = {"name": "web", "image": "web", "envFrom": [{"configMapRef": {"name": "settings"}}]}


def states(document: PageDocument) -> dict[str, str]:
    return {
        each.name: each.to[0].state
        for workload in document.workloads.values()
        for each in workload.arrivals
    }


async def test_an_edit_is_seen_key_by_key(cluster: Cluster, namespace: str) -> None:
    changed = asyncio.Event()
    board = Board(namespace, "live", salt=secrets.token_bytes(), began=datetime.now(UTC))
    filling = ClusterBoard(cluster, board, namespaces=(namespace,), on_change=changed.set)

    async def document(wanted: Callable[[PageDocument], Any]) -> PageDocument:
        async with within(PATIENCE):
            while True:
                changed.clear()
                board.refresh(datetime.now(UTC))
                found = board.document(datetime.now(UTC))
                if wanted(found):
                    return found
                await changed.wait()

    async with cluster, filling:
        config_maps, pods = cluster.resource(ConfigMap), cluster.resource(Pod)
        data = {"LEVEL": "info", "REGION": "eu"}
        await config_maps.create({"metadata": {"name": "settings"}, "data": data})
        spec = {"containers": [CONTAINER], "automountServiceAccountToken": False}
        made = await pods.create({"metadata": {"name": "web"}, "spec": spec})
        await filling.ready(PATIENCE)
        await document(lambda found: set(states(found).values()) == {"current"})
        started = made.metadata.creation_timestamp
        assert started is not None
        running = {"running": {"startedAt": started.isoformat()}}
        status = {"phase": "Running", "containerStatuses": [_status(running)]}
        await pods.patch("web", {"status": status}, subresource="status")
        await document(lambda found: "Running" in str(found.workloads))
        await config_maps.patch("settings", {"data": {"LEVEL": "debug"}})
        after = await document(lambda found: found.edits)

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
