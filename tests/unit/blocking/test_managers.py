"""The managers of ConfigMaps and Secrets, for programs without an event loop."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.blocking.loop_thread import LoopThread
from reflet.blocking.managers import BlockingManager
from reflet.errors import NotFound, NotRegistered
from reflet.managers.manager import ConfigMapManager
from tests.served_objects import ServedObjects
from tests.unit.blocking.loop_scenes import fail
from tests.unit.managers.pods import pod

PATIENCE = 30.0  # seconds, for what takes a moment


@pytest.fixture
def loop() -> Iterator[LoopThread]:
    thread = LoopThread("the loop")
    yield thread
    thread.stop()


def manager_of(
    loop: LoopThread, server: ServedObjects, strategy: str = "watch"
) -> BlockingManager[ConfigMap]:
    return BlockingManager(loop, ConfigMapManager(server, strategy=strategy))


def on_loop(loop: LoopThread, function: Any, *arguments: Any) -> Any:
    async def call() -> Any:
        return function(*arguments)

    return loop.run(call())


@pytest.mark.parametrize("strategy", ["watch", "auto", "cache", "get"])
def test_a_registered_pods_objects_can_be_read(loop: LoopThread, strategy: str) -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    with manager_of(loop, server, strategy) as manager:
        manager.register_pod(pod("web", "a", "b"))

        assert manager.get("shop", "a") == item
        with pytest.raises(NotFound):
            manager.get("shop", "b")
        assert [key.name for key in manager.pods_using("shop", "a")] == ["web"]
        assert repr(manager).startswith(f"<BlockingConfigMapManager {strategy}")


def test_reads_of_what_is_known_need_no_loop(loop: LoopThread) -> None:
    server = ServedObjects()
    item = server.put("shop", "a")
    with manager_of(loop, server) as manager:
        manager.register_pod(pod("web", "a"))
        manager.get("shop", "a")

        blocked = threading.Event()
        loop._loop.call_soon_threadsafe(blocked.wait, PATIENCE)
        try:
            assert manager.peek("shop", "a") == manager.get("shop", "a") == item
        finally:
            blocked.set()


def test_an_unregistered_pods_objects_are_let_go(loop: LoopThread) -> None:
    server = ServedObjects()
    with manager_of(loop, server) as manager:
        manager.register_pod(pod("web", "a"))
        opened = len(manager.plan())
        manager.unregister_pod(pod("web"))

        assert (opened, len(manager.plan())) == (1, 0)
        with pytest.raises(NotRegistered):
            manager.get("shop", "a")


def test_a_manager_whose_loop_has_ended_is_left_quietly(
    loop: LoopThread, caplog: pytest.LogCaptureFixture
) -> None:
    with manager_of(loop, ServedObjects()) as manager:
        manager.register_pod(pod("web", "a"))
        loop.stop()

    assert caplog.records == []


def test_a_manager_whose_loop_has_ended_lets_the_error_of_its_block_through(
    loop: LoopThread,
) -> None:
    with pytest.raises(LookupError), manager_of(loop, ServedObjects()):
        fail(after=loop.stop)


def test_changes_can_be_iterated(loop: LoopThread) -> None:
    server = ServedObjects()
    on_loop(loop, server.put, "shop", "a")
    with manager_of(loop, server) as manager:
        manager.register_pod(pod("web", "a"))
        manager.get("shop", "a")
        changes = manager.subscribe()
        item = on_loop(loop, server.put, "shop", "a")
        change = next(changes)

        assert (change.name, change.object) == ("a", item)
        assert [key.name for key in change.pods] == ["web"]
    assert list(changes) == []
