"""The streams of the strategy ``auto``: the answers of ``watch`` with far fewer streams."""

from __future__ import annotations

import asyncio

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import NotFound
from reflet.managers.manager import ConfigMapManager
from reflet.managers.object_entry import ObjectEntry
from reflet.managers.watches.object_watch import StreamSettings
from reflet.managers.watches.stream_plan import StreamLimits
from reflet.managers.watches.streams import AutoStreams
from reflet.runtime.tasks import TaskOwner
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001


def entry(namespace: str, name: str) -> ObjectEntry[ConfigMap]:
    return ObjectEntry(namespace, name, now=0.0, changed=lambda changed: None)


def streams_of(server: ServedObjects) -> AutoStreams[ConfigMap]:
    clock = VirtualClock()
    settings = StreamSettings(server=server, kind=ConfigMap, word="configmap", clock=clock)
    return AutoStreams(settings, limits=StreamLimits(namespace_from=2, namespace_until=2))


async def test_each_namespace_has_its_own_plan() -> None:
    server = ServedObjects()
    streams = streams_of(server)
    async with TaskOwner("test") as tasks:
        streams.open(tasks)
        for namespace, name in (("shop", "a"), ("shop", "b"), ("bank", "a")):
            streams.start(entry(namespace, name))
        await asyncio.sleep(A_MOMENT)

        assert sorted(server.streams, key=str) == [("bank", "a"), ("shop", None)]
        assert [(it.namespace, it.name) for it in streams.plan().streams] == [
            ("bank", "a"),
            ("shop", None),
        ]
        streams.close()


async def test_a_namespace_that_nobody_needs_is_forgotten_and_can_come_back() -> None:
    server = ServedObjects()
    streams = streams_of(server)
    item = entry("shop", "a")
    async with TaskOwner("test") as tasks:
        streams.open(tasks)
        streams.start(item)
        await asyncio.sleep(A_MOMENT)
        streams.release(item)
        await asyncio.sleep(A_MOMENT)
        forgotten = dict(streams._namespaces)
        streams.release(item)
        streams.start(item)
        await asyncio.sleep(A_MOMENT)

        assert (forgotten, server.streams) == ({}, [("shop", "a")])
        streams.close()


async def test_nothing_begins_before_the_opening_or_after_the_end() -> None:
    server = ServedObjects()
    streams = streams_of(server)
    streams.start(entry("shop", "a"))
    async with TaskOwner("test") as tasks:
        streams.open(tasks)
        streams.start(entry("shop", "b"))
        streams.close()
        streams.start(entry("shop", "c"))
        await asyncio.sleep(A_MOMENT)

    assert server.requests == []


async def test_what_was_deleted_before_a_late_pod_came_is_not_shown_for_ever() -> None:
    server = ServedObjects(streaming=False, replicas=2)
    for name in "abcx":
        server.put("shop", name)
    server.lag(1, replica=1)
    server.delete("shop", "x")
    limits = StreamLimits(namespace_from=3, namespace_until=2)
    clock = VirtualClock()
    async with ConfigMapManager(server, strategy="auto", limits=limits, clock=clock) as manager:
        manager.register_pod(pod("first", "a", "b", "c"))
        await asyncio.sleep(0.1)
        server.route = lambda: 1  # the other API server has not heard of the deletion yet
        manager.register_pod(pod("late", "x"))
        await asyncio.sleep(0.1)
        before = await manager.get("shop", "x")
        server.lag(0, replica=1)
        for _ in range(120):
            await asyncio.sleep(60)
            server.put("shop", "a")
            server.bookmark_everywhere()
            for name in "abc":
                await manager.get("shop", name)
            with pytest.raises(NotFound):
                await manager.get("shop", "x")

        assert before.metadata.resource_version == "104"
        assert len(manager.plan()) == 1
