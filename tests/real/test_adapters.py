"""Informers on other people's clients, against a real API server that comes and goes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.options import ListOptions, WatchOptions
from reflet.client.client import Client
from reflet.errors import Expired, Forbidden
from reflet.informer.handlers.changes import Change
from reflet.informer.shared_informer import SharedInformer
from reflet.runtime.metrics import MemoryMetrics
from tests.integration.foreign_clients import ADAPTERS, Adapter
from tests.patience import within
from tests.real.kube_server import KubeServer


@pytest.fixture(params=list(ADAPTERS.values()), ids=list(ADAPTERS))
def adapter(request: pytest.FixtureRequest) -> Adapter:
    chosen: Adapter = request.param
    return chosen


def config_map(name: str, data: Mapping[str, str] | None = None) -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": data or {}}


def create(kube: KubeServer, namespace: str, *names: str) -> None:
    with kube.connect() as connection:
        for name in names:
            connection.create(f"/api/v1/namespaces/{namespace}/configmaps", config_map(name))


def request(kube: KubeServer, method: str, namespace: str, name: str, body: Any = None) -> None:
    path = f"/api/v1/namespaces/{namespace}/configmaps/{name}"
    assert kube.request(method, path, body).code == 200


async def in_thread(action: Any, *arguments: Any, **options: Any) -> None:
    """The test's own requests block, and the loop must go on meanwhile."""
    await asyncio.to_thread(action, *arguments, **options)


class Told:
    """A handler that remembers, and can be waited for."""

    def __init__(self) -> None:
        self.changes: list[tuple[str, str]] = []
        self._news = asyncio.Event()

    def __call__(self, change: Change[ConfigMap]) -> None:
        if not change.is_resync:  # a new list repeats everything
            self.changes.append((change.type, change.object.metadata.name))
            self._news.set()

    async def until(self, *expected: tuple[str, str]) -> None:
        async with within(50):
            while not set(expected) <= set(self.changes):
                self._news.clear()
                await self._news.wait()


@asynccontextmanager
async def informing(
    client: Client, namespace: str, **options: Any
) -> AsyncIterator[tuple[SharedInformer[ConfigMap], Told]]:
    told = Told()
    informer = SharedInformer(
        client.resource(ConfigMap, namespace=namespace),
        name="configmaps",
        on_error=lambda error: None,
        **options,
    )
    informer.add_handler(told)
    async with informer:
        await informer.wait_synced(timeout=20)
        yield informer, told


def held(informer: SharedInformer[ConfigMap]) -> list[str]:
    return sorted(item.metadata.name for item in informer.store.objects())


async def test_pages_and_watches(kube: KubeServer, namespace: str, adapter: Adapter) -> None:
    create(kube, namespace, "a", "b")

    async with adapter(kube.kubeconfig()) as client:
        config_maps = client.resource(ConfigMap, namespace=namespace)
        page = await config_maps.page(ListOptions(limit=1))
        assert [item.metadata.name for item in page.items] == ["a"]
        assert page.metadata.continue_
        version = page.metadata.resource_version
        async with config_maps.watch(WatchOptions(resource_version=version)) as watch:
            await in_thread(create, kube, namespace, "c")
            event = await anext(aiter(watch))

    assert (event.type, event.object.metadata.name) == ("ADDED", "c")


async def test_the_other_verbs_work_too(kube: KubeServer, namespace: str, adapter: Adapter) -> None:
    async with adapter(kube.kubeconfig()) as client:
        config_maps = client.resource(ConfigMap, namespace=namespace)
        await config_maps.create(config_map("a", {"one": "1"}))
        await config_maps.patch("a", {"data": {"two": "2"}})
        body = {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a", {"three": "3"})}
        applied = await config_maps.apply(body, field_manager="test")
        await config_maps.delete("a")
        left = await config_maps.list()

    assert dict(applied.data) == {"one": "1", "two": "2", "three": "3"}
    assert left.items == ()


async def test_an_informer_begins_with_a_streaming_list(
    kube: KubeServer, namespace: str, adapter: Adapter
) -> None:
    create(kube, namespace, "a", "b")
    metrics = MemoryMetrics()

    async with (
        adapter(kube.kubeconfig()) as client,
        informing(client, namespace, metrics=metrics) as (informer, told),
    ):
        assert held(informer) == ["a", "b"]
        await in_thread(request, kube, "PUT", namespace, "a", config_map("a", {"new": "1"}))
        await in_thread(request, kube, "DELETE", namespace, "b")
        await told.until(("UPDATED", "a"), ("DELETED", "b"))

    streamed = metrics.counted(
        "reflet_reflector_streaming_lists_total", resource="configmaps", result="synced"
    )
    assert streamed == 1


async def test_an_expired_version_is_refused(
    kube: KubeServer, namespace: str, adapter: Adapter
) -> None:
    """Events are served from etcd, so that a compaction shows at once."""
    async with adapter(kube.kubeconfig()) as client:
        events = client.resource("events", namespace=namespace)
        old = (await events.page()).metadata.resource_version
        create(kube, namespace, f"later-{secrets.token_hex(4)}")
        await in_thread(kube.compact)
        with pytest.raises(Expired):
            await events.page(ListOptions(resource_version=old, resource_version_match="Exact"))
        with pytest.raises(Expired):
            async with events.watch(WatchOptions(resource_version=old)) as watch:
                await anext(aiter(watch))


@pytest.mark.time_limit(150)
async def test_an_informer_survives_a_restart_that_loses_history(
    kube: KubeServer, namespace: str, adapter: Adapter
) -> None:
    await in_thread(create, kube, namespace, "changed", "deleted", "untouched")

    async with (
        adapter(kube.kubeconfig()) as client,
        informing(client, namespace) as (informer, told),
    ):
        await in_thread(kube.compact)
        await in_thread(kube.restart_apiserver, patience=0)
        await in_thread(
            request, kube, "PUT", namespace, "changed", config_map("changed", {"new": "1"})
        )
        await in_thread(request, kube, "DELETE", namespace, "deleted")
        await in_thread(create, kube, namespace, "new")

        await told.until(("UPDATED", "changed"), ("DELETED", "deleted"), ("ADDED", "new"))
        assert held(informer) == ["changed", "new", "untouched"]

    assert told.changes.count(("ADDED", "untouched")) == 1
    assert ("UPDATED", "untouched") not in told.changes


async def test_their_identity_is_the_one_that_counts(kube: KubeServer, adapter: Adapter) -> None:
    async with adapter(kube.kubeconfig("restricted")) as client:
        with pytest.raises(Forbidden):
            await client.resource("secrets", namespace="default").page()
