"""The Reloader of examples/, in the situations that stakater/Reloader's issues tell of."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from examples import reloader
from examples.reloader import COLOR, ROLLED, SEEN, SETTINGS, deployment, is_at, is_seen
from reflet.api import ConfigMap, DaemonSet, Deployment, Pod, ReplicaSet, Secret, StatefulSet
from reflet.cluster import Cluster
from reflet.controllers import wait_for
from reflet.devserver import DevServer, Fault
from reflet.play import Play
from tests.integration.play_scenes import playing

NAMES: Final = ("cart", "shop", "web")
PASSWORD: Final = {"metadata": {"name": "database"}, "stringData": {"password": "old"}}
FROM_SETTINGS: Final = {"name": "COLOR", "valueFrom": COLOR}
FROM_SECRET: Final = {
    "name": "PASSWORD",
    "valueFrom": {"secretKeyRef": {"name": "database", "key": "password"}},
}
FILES: Final = {"volumes": [{"name": "files", "secret": {"secretName": "database"}}]}


class Witness:
    """Makes Reloaders, and knows which workloads they have looked at."""

    def __init__(self) -> None:
        self.looked: set[str] = set()
        self._moved = asyncio.Event()

    def __call__(self, *parts: Any) -> reloader.Reloader:
        witness = self

        class Watched(reloader.Reloader):
            async def look_at(self, key: str) -> None:
                await super().look_at(key)
                witness.looked.add(key.rpartition("/")[2])
                witness._moved.set()

        return Watched(*parts)

    async def saw(self, *names: str) -> None:
        """Wait until all of them have been looked at."""
        while not self.looked >= set(names):
            self._moved.clear()
            await self._moved.wait()


@asynccontextmanager
async def a_cluster(
    *workloads: Mapping[str, Any], play: str = "pods,deployments"
) -> AsyncIterator[tuple[DevServer, Cluster]]:
    async with playing(Play.parse(play, nodes=2)) as (server, cluster):
        await cluster.resource(ConfigMap).create(SETTINGS)
        await cluster.resource(Secret).create(PASSWORD)
        for workload in workloads:
            await cluster.resource(Deployment).create(workload)
        yield server, cluster


async def adopt(cluster: Cluster, *names: str) -> None:
    """Let a Reloader see the workloads, and go."""
    async with reloader.running(cluster):
        for name in names:
            await wait_for(cluster.resource(Deployment), name, is_seen)


async def templates(cluster: Cluster) -> dict[str, Any]:
    listed = await cluster.resource(Deployment).list()
    return {each.metadata.name: each.spec.template for each in listed.items}


def is_rolled(workload: Any) -> bool:
    return ROLLED in workload.spec.template.metadata.annotations


async def test_166_a_reloader_that_is_made_anew_replaces_no_pods() -> None:
    # Pods of many workloads were recreated when the Reloader's own pod was, without any change;
    # and all of them when it was first installed.
    async with a_cluster(*(deployment(name, FROM_SETTINGS) for name in NAMES)) as (_, cluster):
        before = await templates(cluster)
        await adopt(cluster, *NAMES)
        again = Witness()

        async with reloader.running(cluster, again):
            await again.saw(*NAMES)

        assert await templates(cluster) == before


async def test_216_a_drained_node_is_no_change_of_configuration() -> None:
    # Applications were restarted whenever the Reloader was evicted with everything on its node.
    async with a_cluster(*(deployment(name, FROM_SETTINGS) for name in NAMES)) as (_, cluster):
        await adopt(cluster, *NAMES)
        for name in NAMES:
            await wait_for(cluster.resource(Deployment), name, is_at(1))
        pods = cluster.resource(Pod)
        for pod in (await pods.list()).items:
            eviction = {"apiVersion": "policy/v1", "kind": "Eviction"}
            name = pod.metadata.name
            body: Any = {**eviction, "metadata": {"name": name}}
            await pods.create(body, name=name, subresource="eviction")
        again = Witness()

        async with reloader.running(cluster, again):
            await again.saw(*NAMES)
            for name in NAMES:
                await wait_for(cluster.resource(Deployment), name, is_at(1))

        assert len((await cluster.resource(ReplicaSet).list()).items) == len(NAMES)


@pytest.mark.parametrize("used", [deployment("web", FROM_SECRET), deployment("web", **FILES)])
async def test_814_what_changed_while_the_reloader_was_down_is_found(used: Any) -> None:
    # A Secret was changed while the Reloader was scaled to nothing; nobody was told afterwards.
    async with a_cluster(used) as (_, cluster):
        await adopt(cluster, "web")
        await cluster.resource(Secret).patch("database", {"stringData": {"password": "new"}})

        async with reloader.running(cluster):
            await wait_for(cluster.resource(Deployment), "web", is_rolled)
            await wait_for(cluster.resource(Deployment), "web", is_at(2))


async def test_701_of_many_that_use_a_secret_none_is_left_out_when_writes_fail(
    caplog: pytest.LogCaptureFixture,
) -> None:
    # Of 20 Deployments whose Secrets change at once, 17 or 18 were restarted, and no error logged.
    caplog.set_level(logging.DEBUG, "reflet.controllers.reconciler")  # repeated ones too
    names = [f"akhq-{number}" for number in range(20)]
    # Nobody plays: the only writes to Deployments that can fail are the Reloader's.
    used = (deployment(name, FROM_SECRET) for name in names)
    async with (
        a_cluster(*used, play="serviceaccounts") as (server, cluster),
        reloader.running(cluster),
    ):
        for name in names:
            await wait_for(cluster.resource(Deployment), name, is_seen)
        refused = Fault("status", status=500, verb="patch", resource="deployments.apps", times=5)
        server.faults.add(refused)
        server.faults.add(Fault("drop", verb="patch", resource="deployments.apps", times=3))

        await cluster.resource(Secret).patch("database", {"stringData": {"password": "new"}})

        for name in names:
            await wait_for(cluster.resource(Deployment), name, is_rolled)
    failures = [each for each in caplog.messages if "again in" in each]
    assert len(failures) == 8


async def test_a_key_that_nobody_uses_rolls_nobody() -> None:
    whole = {"envFrom": [{"configMapRef": {"name": "settings"}}], "name": "web", "image": "nginx"}
    used = (deployment("web", FROM_SETTINGS), deployment("shop", containers=[whole]))
    async with a_cluster(*used) as (_, cluster):
        await adopt(cluster, "web", "shop")
        await cluster.resource(ConfigMap).patch("settings", {"data": {"new": "key"}})
        again = Witness()

        async with reloader.running(cluster, again):
            await again.saw("web")
            await wait_for(cluster.resource(Deployment), "shop", is_rolled)

        assert not is_rolled(await cluster.resource(Deployment).get("web"))


async def test_a_template_that_asks_for_more_is_rolled_once_for_that() -> None:
    async with a_cluster(deployment("web", FROM_SETTINGS)) as (_, cluster):
        deployments = cluster.resource(Deployment)
        async with reloader.running(cluster):
            seen = await wait_for(deployments, "web", is_seen)
            assert seen is not None
            another = {"configMapKeyRef": {"name": "settings", "key": "unused"}}
            more = deployment("web", FROM_SETTINGS, {"name": "MORE", "valueFrom": another})
            await deployments.patch("web", {"spec": more["spec"]})
            await wait_for(
                deployments,
                "web",
                lambda web: "unused" in web.metadata.annotations[SEEN] if web else False,
            )
            await wait_for(deployments, "web", is_at(2))

        assert not is_rolled(await deployments.get("web"))


async def test_a_pod_that_waits_for_its_configuration_is_not_replaced_when_it_comes() -> None:
    missing = {"configMapKeyRef": {"name": "later", "key": "color"}}
    used = deployment("web", {"name": "COLOR", "valueFrom": missing})
    async with a_cluster(used) as (_, cluster):
        deployments = cluster.resource(Deployment)
        async with reloader.running(cluster):
            await cluster.resource(ConfigMap).create(
                {"metadata": {"name": "later"}, "data": {"color": "blue"}}
            )
            await wait_for(deployments, "web", is_seen)
            await wait_for(deployments, "web", is_at(1))

        assert not is_rolled(await deployments.get("web"))


async def test_who_applies_the_rest_takes_nothing_away_and_sees_no_conflict() -> None:
    used = deployment("web", FROM_SETTINGS)
    async with a_cluster() as (_, cluster):
        deployments = cluster.resource(Deployment)
        await deployments.apply(used, field_manager="argocd-controller")
        async with reloader.running(cluster):
            await wait_for(deployments, "web", is_seen)
            await cluster.resource(ConfigMap).patch("settings", {"data": {"color": "red"}})
            rolled = await wait_for(deployments, "web", is_rolled)
        assert rolled is not None

        again = await deployments.apply(used, field_manager="argocd-controller")

        assert again.spec.template == rolled.spec.template
        raw = await cluster.resource(Deployment, raw=True).get("web")
        managers = {each["manager"]: each for each in raw["metadata"]["managedFields"]}
        owned = managers["reloader"]["fieldsV1"]
        assert owned == {
            "f:metadata": {"f:annotations": {f"f:{SEEN}": {}}},
            "f:spec": {"f:template": {"f:metadata": {"f:annotations": {f"f:{ROLLED}": {}}}}},
        }


@pytest.mark.parametrize("kind", [StatefulSet, DaemonSet])
async def test_other_workloads_are_rolled_too(kind: Any) -> None:
    document = deployment("web", FROM_SECRET)
    document["kind"] = kind.__name__
    async with a_cluster(play="serviceaccounts") as (_, cluster):
        client = cluster.resource(kind)
        async with reloader.running(cluster):
            await client.create(document)
            await wait_for(client, "web", is_seen)

            await cluster.resource(Secret).patch("database", {"stringData": {"password": "new"}})

            await wait_for(client, "web", is_rolled)
