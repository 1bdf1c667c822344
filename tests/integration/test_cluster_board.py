"""The board that a server fills: what is on it, what it asks for, and what it says of trouble."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncGenerator
from typing import Final

import pytest

import reflet
from reflet.api.core.config import ConfigMap, Secret
from reflet.cluster import Cluster
from reflet.devserver.faults import Fault
from reflet.errors import Forbidden
from reflet.testing.pytest_plugin import RunningServer
from reflet.ui.cluster_board import AWAY
from tests.board_scenes import PATIENCE, BoardScene, states
from tests.node_scenes import config_map
from tests.patience import overload

CONTAINER: Final = {
    "name": "web",
    "image": "web",
    "envFrom": [{"configMapRef": {"name": "settings"}}, {"secretRef": {"name": "db"}}],
}
POD: Final = {"metadata": {"name": "web"}, "spec": {"containers": [CONTAINER]}}
REFUSED: Final = Fault("status", status=403, reason="Forbidden", times=1000, message="no")


@contextlib.asynccontextmanager
async def filled(
    server: RunningServer, fault: Fault | None = None
) -> AsyncGenerator[tuple[BoardScene, Cluster], None]:
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        await cluster.resource(ConfigMap).create(config_map("settings", LEVEL="info"))
        await cluster.resource(Secret).create(
            {"metadata": {"name": "db"}, "stringData": {"password": "hush"}}
        )
        await cluster.resource("pods").create(POD)
        if fault is not None:
            server.add_fault(fault)
        scene = BoardScene(cluster)
        async with scene.filling:
            await scene.filling.ready(PATIENCE)
            yield scene, cluster


async def test_what_is_on_the_server_is_on_the_board(server: RunningServer) -> None:
    async with filled(server) as (scene, _):
        document = await scene.document(states)

    assert states(document) == {"LEVEL": "current", "password": "current"}
    assert {"ConfigMap/default/settings", "Secret/default/db"} <= document.sources.keys()


async def test_three_lists_and_three_watches_are_all_it_asks_for(server: RunningServer) -> None:
    async with filled(server) as (scene, _):
        await scene.document(states)
        asked = [
            request.path.rpartition("/")[2]
            for request in server.requests
            if request.method == "GET" and request.path.startswith("/api/v1/namespaces")
        ]

    assert {name: asked.count(name) <= 2 for name in set(asked)} == {
        "pods": True,
        "configmaps": True,
        "secrets": True,
    }


async def test_an_edit_is_seen_with_its_time_in_the_cache(server: RunningServer) -> None:
    async with filled(server) as (scene, cluster):
        await scene.document(states)
        await cluster.resource(ConfigMap).patch("settings", {"data": {"LEVEL": "debug"}})
        document = await scene.document(lambda found: found.edits)

    [edit] = document.edits
    assert (edit.source, edit.keys) == ("ConfigMap/default/settings", ("LEVEL",))
    assert [step.stage for step in edit.steps] == ["event", "cache", "process"]
    assert edit.steps[1].text.endswith(" ms")


async def test_an_object_that_is_deleted_is_missing(server: RunningServer) -> None:
    async with filled(server) as (scene, cluster):
        await scene.document(states)
        await cluster.resource(Secret).delete("db")
        document = await scene.document(lambda found: "missing" in states(found).values())

    assert document.sources["Secret/default/db"].status == "missing"


async def test_secrets_that_may_not_be_listed_are_not_known(server: RunningServer) -> None:
    async with filled(server, dataclasses.replace(REFUSED, resource="secrets")) as (scene, _):
        document = await scene.document(lambda found: found.notes)

    assert states(document) == {"LEVEL": "current", "*": "unknown"}
    assert document.notes[0].startswith("Secrets in default cannot be read: ")


async def test_pods_that_may_not_be_listed_are_the_end(server: RunningServer) -> None:
    server.add_fault(dataclasses.replace(REFUSED, resource="pods"))
    async with reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster:
        scene = BoardScene(cluster)
        async with scene.filling:
            with pytest.raises(Forbidden):
                await scene.filling.ready(PATIENCE)


async def test_when_the_server_is_away_that_is_said_and_taken_back(server: RunningServer) -> None:
    async with filled(server) as (scene, _):
        await scene.document(states)
        async with asyncio.TaskGroup() as tasks:
            # Looked for meanwhile: soon after the server is back, nothing is said any more.
            tasks.create_task(asyncio.to_thread(server.restart, overload()))
            await scene.document(lambda found: any(AWAY in note for note in found.notes))
        document = await scene.document(lambda found: not found.notes)

    assert states(document) == {"LEVEL": "current", "password": "current"}
