"""An operator: each Website becomes a Deployment and an address, and is looked after for ever.

``python examples/website_operator.py`` shows it with no cluster, in a second or two.  The operator
is the first part, up to ``operate``; the rest is the demonstration.  It is one of any number of
replicas (leader election), says how things are (conditions) and what happened (events), and takes
back what no garbage collector knows of (finalizer).
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

import reflet
from reflet import AnyObject, Cluster, ConfigMap, Deployment, Event, EventRecorder, Mirror
from reflet.controllers import (
    LeaderElection,
    applied_object,
    condition,
    deleted,
    ensure_finalizer,
    leader,
    owned,
    reconcile,
    remove_finalizer,
    set_condition,
    wait_for,
)
from reflet.devserver import DevServer
from reflet.play import Play
from reflet.runtime import Clock

WEBSITES, ADDRESSES = "websites.example.com", "addresses"
NAME, FINALIZER = "website-operator", "example.com/address"


@dataclass(frozen=True)
class WebsiteOperator:
    """Brings the world to what each Website says, and its status to what the world is."""

    cluster: Cluster
    websites: Mirror[AnyObject]
    deployments: Mirror[Deployment]
    events: EventRecorder

    async def work_on(self, key: str) -> None:
        website = self.websites.get(key)
        if website is None:
            return
        name, namespace = website.metadata.name, website.metadata.namespace
        websites = self.cluster.resource(WEBSITES, namespace=namespace)
        if website.metadata.deletion_timestamp is not None:
            await self.set_addresses(website, {})
            await remove_finalizer(websites, website, FINALIZER)
            return
        website = await ensure_finalizer(websites, website, FINALIZER)
        await self.set_addresses(website, {name: f"{name}.example.com"})
        pod = {"containers": [{"name": "web", "image": website.spec["image"]}]}
        spec = {
            "replicas": website.spec["replicas"],
            "selector": {"matchLabels": {"website": name}},
            "template": {"metadata": {"labels": {"website": name}}, "spec": pod},
        }
        wanted = applied_object(Deployment, name, owner=website, spec=spec)
        deployments = self.cluster.resource(Deployment, namespace=namespace)
        await deployments.apply(wanted, field_manager=NAME, force=True)
        await self.report(website)

    async def set_addresses(self, website: AnyObject, addresses: dict[str, str]) -> None:
        """Own these lines of a ConfigMap and no others; elsewhere it would be a DNS provider."""
        made = applied_object(ConfigMap, ADDRESSES, data=addresses)
        config_maps = self.cluster.resource(ConfigMap, namespace=website.metadata.namespace)
        await config_maps.apply(made, field_manager=f"{NAME}-{website.metadata.name}", force=True)

    async def report(self, website: AnyObject) -> None:
        name, namespace = website.metadata.name, website.metadata.namespace
        made = self.deployments.get(name, namespace)
        running, wanted = made.status.ready_replicas if made else 0, website.spec["replicas"]
        before = website.to_dict().get("status", {})
        conditions = set_condition(
            before.get("conditions", ()),
            "Ready",
            running == wanted,
            reason="Running" if running == wanted else "Starting",
            message=f"{running} of {wanted} run",
            observed_generation=website.metadata.generation,
        )
        status = {"replicas": running, "conditions": conditions}
        if status != before:
            websites = self.cluster.resource(WEBSITES, namespace=namespace)
            # A mirror may be a moment behind: then this is a Conflict, and the key comes again.
            version = {"resourceVersion": website.metadata.resource_version}
            change = {"metadata": version, "status": status}
            await websites.patch(name, change, subresource="status")
            self.events.normal(website, conditions[0]["reason"], conditions[0]["message"])


async def operate(
    cluster: Cluster, candidate: LeaderElection | None = None, *, clock: Clock | None = None
) -> None:
    """Look after all Websites, as the only one who does, until cancelled.

    *candidate* and *clock* are for those who want others than the usual ones.
    """
    async with (
        candidate or leader(cluster, NAME, clock=clock) as elected,
        EventRecorder(cluster, NAME, clock=clock) as events,
        cluster.mirror(WEBSITES, namespace=reflet.ALL_NAMESPACES, clock=clock) as websites,
        cluster.mirror(Deployment, namespace=reflet.ALL_NAMESPACES, clock=clock) as deployments,
    ):
        work_on = WebsiteOperator(cluster, websites, deployments, events).work_on
        watches = [owned(deployments, websites)]
        await reconcile(websites, work_on, watches=watches, elected=elected, workers=4, clock=clock)


# The demonstration

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": WEBSITES},
    "spec": {
        "group": "example.com",
        "names": {"plural": "websites", "singular": "website", "kind": "Website"},
        "scope": "Namespaced",
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "subresources": {"status": {}},
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "properties": {
                            "spec": {
                                "type": "object",
                                "required": ["image"],
                                "properties": {
                                    "image": {"type": "string"},
                                    "replicas": {"type": "integer", "minimum": 0, "default": 1},
                                },
                            },
                            "status": {
                                "type": "object",
                                "x-kubernetes-preserve-unknown-fields": True,
                            },
                        },
                    }
                },
            }
        ],
    },
}
SHOP = {
    "apiVersion": "example.com/v1",
    "kind": "Website",
    "metadata": {"name": "shop"},
    "spec": {"image": "nginx", "replicas": 2},
}


@asynccontextmanager
async def running_operator(cluster: Cluster) -> AsyncIterator[None]:
    async with asyncio.TaskGroup() as tasks:
        operating = tasks.create_task(operate(cluster), name="operator")
        yield
        operating.cancel()


def is_ready(replicas: int) -> Callable[[Any], bool]:
    ready = condition("Ready")
    return lambda website: ready(website) and website.status["replicas"] == replicas


def is_another(first: Deployment) -> Callable[[Any], bool]:
    """Whether a Deployment was made anew, and its pods run."""
    available = condition("Available")
    return lambda made: available(made) and made.metadata.uid != first.metadata.uid


async def demonstrate(cluster: Cluster) -> None:
    websites = cluster.resource(WEBSITES)
    deployments = cluster.resource(Deployment)
    await websites.create(SHOP)
    await wait_for(websites, "shop", is_ready(2), timeout=30)
    first = await deployments.get("shop")
    print("created: 2 pods run")

    await websites.patch("shop", {"spec": {"replicas": 3}})
    await wait_for(websites, "shop", is_ready(3), timeout=30)
    print("scaled: 3 pods run")

    await deployments.delete("shop")
    await wait_for(deployments, "shop", is_another(first), timeout=30)
    print("healed: pods of another Deployment run")
    print(f"addresses: {dict((await cluster.resource(ConfigMap).get(ADDRESSES)).data)}")

    await websites.delete("shop")
    await wait_for(websites, "shop", deleted, timeout=30)
    await wait_for(deployments, "shop", deleted, timeout=30)
    print(f"deleted, addresses: {dict((await cluster.resource(ConfigMap).get(ADDRESSES)).data)}")


async def main() -> None:
    play = Play("pods", "deployments", "garbage")
    async with (
        DevServer(load=[DEFINITION], play=play) as server,
        reflet.connect(kubeconfig=str(server.kubeconfig_path)) as cluster,
    ):
        async with running_operator(cluster):
            await demonstrate(cluster)
        events = (await cluster.resource(Event).list()).items
        told = [event for event in events if event.reporting_component == NAME]
        for event in sorted(told, key=lambda event: event.metadata.name):
            print(f"event: {event.reason}: {event.message}, {event.count} times")


if __name__ == "__main__":
    asyncio.run(main())
