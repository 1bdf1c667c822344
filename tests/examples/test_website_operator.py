"""The operator of examples/ when the server fails, and when there are two of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

import pytest

from examples import website_operator
from examples.website_operator import ADDRESSES, DEFINITION, NAME, WEBSITES, operate
from reflet.api import ConfigMap, Deployment
from reflet.cluster import Cluster, connect
from reflet.controllers import condition, deleted, leader, wait_for
from reflet.devserver import DevServer, Fault
from reflet.play import Play

NAMES: Final = ("blog", "forum", "shop", "wiki")
SEED: Final = 18
WRITES: Final = 60


class Operators:
    """Several copies of the operator, and who of them worked when."""

    def __init__(self, server: DevServer, monkeypatch: pytest.MonkeyPatch) -> None:
        self.busy: dict[int, int] = {}
        self.worked: list[int] = []
        self.met = False
        self._server = server
        operators = self

        class Watched(website_operator.WebsiteOperator):
            async def work_on(self, key: str) -> None:
                me = id(self.cluster)
                operators.begin(me)
                try:
                    await super().work_on(key)
                finally:
                    operators.busy[me] -= 1

        monkeypatch.setattr(website_operator, "WebsiteOperator", Watched)

    def begin(self, me: int) -> None:
        self.busy[me] = self.busy.get(me, 0) + 1
        self.met |= sum(count > 0 for count in self.busy.values()) > 1
        if self.worked[-1:] != [me]:
            self.worked.append(me)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """One copy more."""
        async with (
            connect(kubeconfig=str(self._server.kubeconfig_path)) as cluster,
            asyncio.TaskGroup() as tasks,
        ):
            # A second, instead of five, in which nobody leads after one that was cancelled.
            candidate = leader(cluster, NAME, lease_duration=11.0)
            operating = tasks.create_task(operate(cluster, candidate), name="operator")
            yield
            operating.cancel()


@asynccontextmanager
async def a_cluster() -> AsyncIterator[tuple[DevServer, Cluster]]:
    play = Play("pods", "deployments", "garbage")
    async with (
        DevServer(tls=False, load=[DEFINITION], play=play) as server,
        connect(kubeconfig=str(server.kubeconfig_path), qps=0) as cluster,
    ):
        yield server, cluster


def website(name: str, replicas: int) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Website",
        "metadata": {"name": name},
        "spec": {"image": "nginx", "replicas": replicas},
    }


def has(replicas: int) -> Any:
    """Whether it is ready, with so many pods."""
    ready = condition("Ready")
    return lambda found: ready(found) and found.status["replicas"] == replicas


def harm(server: DevServer, chance: random.Random) -> None:
    """Let something fail that the operator does; what this test does itself must not."""
    resource = chance.choice(("deployments.apps", "configmaps", "leases.coordination.k8s.io"))
    fault = chance.choice(
        (
            Fault("status", status=500, verb="patch", resource=resource, times=2),
            Fault("status", status=429, verb="patch", resource=resource),
            Fault("drop", verb="patch", resource=resource),
            Fault("close", verb="watch", now=True),
            Fault("expire", verb="watch", now=True),
        )
    )
    server.faults.add(fault)


async def live(server: DevServer, cluster: Cluster, chance: random.Random) -> dict[str, int]:
    """Write, while things fail; which Websites are left, with how many pods."""
    websites = cluster.resource(WEBSITES)
    wanted: dict[str, int] = {}
    for _ in range(WRITES):
        name, replicas = chance.choice(NAMES), chance.randrange(4)
        if name not in wanted:
            await websites.create(website(name, replicas))
            wanted[name] = replicas
        elif chance.random() < 0.2:
            await websites.delete(name)
            await wait_for(websites, name, deleted)
            del wanted[name]
        else:
            await websites.patch(name, {"spec": {"replicas": replicas}})
            wanted[name] = replicas
        harm(server, chance)
    server.faults.clear()
    return wanted


async def test_every_website_is_as_it_was_last_asked_for_whatever_fails(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with a_cluster() as (server, cluster):
        operators = Operators(server, monkeypatch)
        async with operators.running(), operators.running():
            wanted = await live(server, cluster, random.Random(SEED))
            for name, replicas in wanted.items():
                await wait_for(cluster.resource(WEBSITES), name, has(replicas))

        listed = (await cluster.resource(Deployment).list()).items
        assert {each.metadata.name: each.spec.replicas for each in listed} == wanted
        addresses = (await cluster.resource(ConfigMap).get(ADDRESSES)).data
        assert addresses == {name: f"{name}.example.com" for name in wanted}
        assert not operators.met


async def test_the_second_copy_works_when_the_first_has_gone_and_not_before(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with a_cluster() as (server, cluster):
        operators = Operators(server, monkeypatch)
        websites = cluster.resource(WEBSITES)
        async with operators.running():
            await websites.create(website("shop", 1))
            await wait_for(websites, "shop", has(1))
            second = operators.running()
            await second.__aenter__()
            await websites.patch("shop", {"spec": {"replicas": 2}})
            await wait_for(websites, "shop", has(2))
            assert len(operators.worked) == 1

        await websites.patch("shop", {"spec": {"replicas": 3}})
        await wait_for(websites, "shop", has(3))

        assert len(operators.worked) == 2
        assert not operators.met
        await second.__aexit__(None, None, None)
