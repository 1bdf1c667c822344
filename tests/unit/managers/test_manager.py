"""What the managers of ConfigMaps and Secrets have in common."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from reflet.errors import ConfigurationError, NotFound, NotRegistered
from reflet.managers.manager import ConfigMapManager
from reflet.managers.watches.stream_plan import StreamLimits
from reflet.testing.virtual_time import VirtualClock
from tests.served_objects import ServedObjects
from tests.unit.managers.pods import pod

pytestmark = pytest.mark.virtual_time

A_MOMENT = 0.001
STRATEGIES = ["watch", "auto", "cache", "get"]
LIMITS = StreamLimits(namespace_from=2, namespace_until=2)


def manager_of(server: ServedObjects, strategy: str, **options: Any) -> ConfigMapManager:
    return ConfigMapManager(
        server, strategy=strategy, clock=VirtualClock(), limits=LIMITS, **options
    )


@pytest.mark.parametrize("strategy", STRATEGIES)
async def test_a_registered_pods_objects_can_be_read(strategy: str) -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    async with manager_of(server, strategy) as manager:
        manager.register_pod(pod("web", "a", "b"))

        assert await manager.get("shop", "a") == item
        with pytest.raises(NotFound, match=r'^configmap "b" not found$'):
            await manager.get("shop", "b")
        assert [key.name for key in manager.pods_using("shop", "a")] == ["web"]


@pytest.mark.parametrize("strategy", ["watch", "auto", "cache"])
async def test_an_unregistered_pods_objects_are_let_go(strategy: str) -> None:
    server = ServedObjects()
    async with manager_of(server, strategy) as manager:
        manager.register_pod(pod("web", "a", "b"))
        await asyncio.sleep(A_MOMENT)
        manager.unregister_pod(pod("web"))
        await asyncio.sleep(A_MOMENT)

        assert (server.streams, len(manager.plan())) == ([], 0)
        with pytest.raises(NotRegistered):
            await manager.get("shop", "a")


@pytest.mark.parametrize("strategy", ["watch", "auto"])
async def test_who_subscribes_is_told_what_changed_and_for_whom(strategy: str) -> None:
    server = ServedObjects()
    server.put("shop", "a")
    async with manager_of(server, strategy) as manager:
        manager.register_pod(pod("web", "a", "b"))
        manager.register_pod(pod("job", "a"))
        await manager.get("shop", "a")
        changes = manager.subscribe()
        item = server.put("shop", "a")
        server.put("shop", "c")
        first = await anext(changes)
        server.delete("shop", "a")
        second = await anext(changes)

    assert (first.namespace, first.name, first.object) == ("shop", "a", item)
    assert [key.name for key in first.pods] == ["web", "job"]
    assert (second.name, second.object) == ("a", None)
    assert [change async for change in changes] == []


async def test_a_change_of_what_nobody_refers_to_any_more_is_not_told() -> None:
    server = ServedObjects()
    async with manager_of(server, "watch") as manager:
        manager.register_pod(pod("web", "a"))
        manager.register_pod(pod("job", "b"))
        changes = manager.subscribe()
        await asyncio.sleep(A_MOMENT)
        manager.unregister_pod(pod("web"))

        assert (await anext(changes)).name == "b"


@pytest.mark.parametrize("strategy", ["cache", "get"])
async def test_a_strategy_that_notices_no_changes_says_so(strategy: str) -> None:
    async with manager_of(ServedObjects(), strategy) as manager:
        with pytest.raises(ConfigurationError, match="use watch or auto"):
            manager.subscribe()


async def test_a_manager_can_be_shown() -> None:
    async with manager_of(ServedObjects(), "Watch") as manager:
        manager.register_pod(pod("web", "a"))

        assert repr(manager) == "<ConfigMapManager watch, 1 pods, 1 streams>"


def test_an_unknown_option_is_a_mistake() -> None:
    with pytest.raises(TypeError, match="patience"):
        ConfigMapManager(ServedObjects(), patience=1)  # type: ignore[call-arg]  # the mistake


async def test_pods_are_woken_at_once_and_nothing_is_read_for_it() -> None:
    server, woken = ServedObjects(), list[str]()
    async with manager_of(server, "watch") as manager:
        waker = manager.wake_pods(lambda key: woken.append(key.name))
        for name in ("web", "job"):
            manager.register_pod(pod(name, "a", uid=name))
        manager.register_pod(pod("other", "b", uid="other"))
        await asyncio.sleep(0.001)
        woken.clear()
        server.put("shop", "a")
        await asyncio.sleep(0.001)
        waker.close()
        server.put("shop", "a")
        await asyncio.sleep(0.001)

    assert woken == ["web", "job"]
