"""KubeSpawner's reflector of examples/: its dictionary, its first load, and when it gives up."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from examples.kubespawner_reflector import EventReflector, PodReflector, ResourceReflector
from reflet.api import Event, Pod
from reflet.cluster import Cluster, connect
from reflet.devserver import DevServer, Fault
from reflet.errors import Forbidden

HUB = {"component": "singleuser-server"}


def pod(name: str, **labels: str) -> Any:
    containers = [{"name": "notebook", "image": "jupyter"}]
    return {"metadata": {"name": name, "labels": labels}, "spec": {"containers": containers}}


def on(server: DevServer) -> Cluster:
    return connect(kubeconfig=str(server.kubeconfig_path))


async def until(reflector: ResourceReflector, *names: str) -> None:
    """Wait until these are the objects."""
    while set(reflector.resources) != {f"default/{name}" for name in names}:
        reflector.changed.clear()
        await reflector.changed.wait()


async def test_pods_that_match_are_there_after_the_first_load_and_follow_the_server() -> None:
    async with DevServer(tls=False) as server, on(server) as cluster:
        pods = cluster.resource(Pod)
        await pods.create(pod("jupyter-ada", **HUB))
        await pods.create(pod("hub"))
        reflector = PodReflector(cluster, labels=HUB)
        await reflector.start()
        assert reflector.first_load_future.done()
        assert list(reflector.pods) == ["default/jupyter-ada"]

        await pods.create(pod("jupyter-bob", **HUB))
        await until(reflector, "jupyter-ada", "jupyter-bob")
        await pods.delete("jupyter-ada")
        await until(reflector, "jupyter-bob")

        found = reflector.pods["default/jupyter-bob"]
        assert found["spec"]["containers"][0]["image"] == "jupyter"
        await reflector.stop()
        assert reflector.stopped()


async def test_events_are_given_in_the_order_of_their_times() -> None:
    async with DevServer(tls=False) as server, on(server) as cluster:
        involved = {"kind": "Pod", "name": "jupyter-ada", "namespace": "default"}
        for name, minute in (("late", 2), ("early", 1)):
            event: Any = {
                "metadata": {"name": name},
                "involvedObject": involved,
                "reason": name,
                "lastTimestamp": f"2026-01-01T00:0{minute}:00Z",
            }
            await cluster.resource(Event).create(event)
        reflector = EventReflector(cluster, fields={"involvedObject.kind": "Pod"})
        await reflector.start()

        assert [event["reason"] for event in reflector.events] == ["early", "late"]
        await reflector.stop()


async def test_a_server_that_says_no_is_a_failure_at_once() -> None:
    failed = asyncio.Event()
    async with DevServer(tls=False) as server, on(server) as cluster:
        server.faults.add(Fault("status", status=403, resource="pods", times=100))
        reflector = PodReflector(cluster, on_failure=failed.set)

        await reflector.start()

        assert failed.is_set()
        with pytest.raises(Forbidden):
            await reflector.first_load_future
        await reflector.stop()


async def test_a_server_that_stays_away_is_given_up_and_one_that_comes_back_is_not() -> None:
    failed = asyncio.Event()
    async with DevServer(tls=False) as server, on(server) as cluster:
        reflector = PodReflector(cluster, on_failure=failed.set, give_up_after=3600)
        await reflector.start()
        await server.restart(0.1)
        await cluster.resource(Pod).create(pod("jupyter-ada"))
        await until(reflector, "jupyter-ada")
        assert not failed.is_set()

        reflector.give_up_after = 0.01
        server.faults.add(Fault("status", status=503, resource="pods", times=1000))
        server.faults.add(Fault("close", verb="watch", now=True))

        await failed.wait()
        await reflector.stop()
