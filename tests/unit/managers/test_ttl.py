"""The strategy ``cache``: what was read is kept, and asked for again when it is too old."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.errors import (
    CacheNotSynced,
    ConfigurationError,
    ConnectionRefused,
    NotFound,
    NotRegistered,
)
from reflet.managers.object_changes import ObjectChanges
from reflet.managers.ttl import ExpiringObjects
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects

pytestmark = pytest.mark.virtual_time


def stage(**options: Any) -> tuple[ServedObjects, ExpiringObjects[ConfigMap]]:
    server = ServedObjects()
    clock = VirtualClock()
    objects = ExpiringObjects(server, ConfigMap, word="configmap", clock=clock, **options)
    objects.add_reference("shop", "a", "pod")
    return server, objects


async def test_an_object_is_fresh_strictly_before_its_time() -> None:
    server, objects = stage()
    first = server.put("shop", "a")
    read = [await objects.get("shop", "a")]
    second = server.put("shop", "a")
    await asyncio.sleep(59.999)
    read.append(await objects.get("shop", "a"))
    await asyncio.sleep(0.001)
    read.append(await objects.get("shop", "a"))

    assert read == [first, first, second]
    assert server.requests == ["get shop/a at ''", "get shop/a at '0'"]


async def test_an_older_version_changes_nothing_and_is_asked_for_again() -> None:
    server, objects = stage(default_ttl=0.0)
    server.version = 200
    newer = server.put("shop", "a")
    await objects.get("shop", "a")
    server.version = 100
    server.put("shop", "a")

    assert [await objects.get("shop", "a"), await objects.get("shop", "a")] == [newer, newer]
    assert len(server.requests) == 3


async def test_an_error_is_hidden_by_what_is_kept_and_only_by_that() -> None:
    server, objects = stage(default_ttl=0.0)
    server.go_away()
    with pytest.raises(ConnectionRefused):
        await objects.get("shop", "a")
    server.come_back()
    kept = server.put("shop", "a")
    await objects.get("shop", "a")
    server.go_away()

    assert await objects.get("shop", "a") == kept


async def test_a_known_absence_hides_other_errors_and_is_asked_each_time() -> None:
    server, objects = stage()
    for _ in range(2):
        with pytest.raises(NotFound):
            await objects.get("shop", "a")
    server.go_away()
    for _ in range(3):
        with pytest.raises(NotFound) as caught:
            await objects.get("shop", "a")

    assert len(server.requests) == 5
    assert len(list(caught.traceback)) < 10


async def test_a_read_under_way_is_not_seen_after_a_new_reference() -> None:
    server, objects = stage()
    server.delays = lambda place: 1.0
    first = server.put("shop", "a")
    reading = asyncio.create_task(objects.get("shop", "a"))
    await asyncio.sleep(0.5)

    objects.add_reference("shop", "a", "another pod")
    server.delays = lambda place: 0.0
    second = server.put("shop", "a")

    assert (await objects.get("shop", "a"), (await reading) is not None) == (second, True)
    assert await objects.get("shop", "a") == second
    assert first != second


async def test_an_object_is_kept_until_its_last_reference_goes() -> None:
    server, objects = stage()
    server.put("shop", "a")
    objects.add_reference("shop", "a", "pod")
    counts = [objects.references("shop", "a")]
    for _ in range(3):
        objects.delete_reference("shop", "a", "pod")
        counts.append(objects.references("shop", "a"))

    assert (counts, len(objects)) == ([2, 1, 0, 0], 0)
    with pytest.raises(NotRegistered, match=r'^object "shop"/"a" not registered$'):
        await objects.get("shop", "a")


async def test_a_look_into_memory_finds_what_is_fresh() -> None:
    server, objects = stage()
    item = server.put("shop", "a")
    with pytest.raises(CacheNotSynced):
        objects.peek("shop", "a")
    await objects.get("shop", "a")
    fresh = objects.peek("shop", "a")
    await asyncio.sleep(60)

    assert fresh == item
    with pytest.raises(CacheNotSynced):
        objects.peek("shop", "a")


async def test_nobody_notices_changes() -> None:
    _, objects = stage()
    changes: ObjectChanges[ConfigMap] = ObjectChanges(lambda namespace, name: None)

    with pytest.raises(ConfigurationError, match="use watch or auto"):
        objects.follow(changes)
    async with objects:
        assert len(objects.plan()) == 0


async def test_a_version_that_is_no_number_counts_as_zero() -> None:
    server, objects = stage(default_ttl=0.0)
    server.put("shop", "a")
    kept = await objects.get("shop", "a")
    strange = ConfigMap(metadata=kept.metadata.__class__(name="a", resource_version="x"))
    server.objects["shop", "a"] = strange

    assert await objects.get("shop", "a") == kept
