"""Mirrors of a server with real sockets, with and without an event loop."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Mapping
from typing import Any

import msgspec
import pytest

import reflet
from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS, SECRETS, Resource
from reflet.devserver.faults import Fault
from reflet.errors import Forbidden, NotFound
from reflet.informer.handlers.changes import Change
from reflet.informer.informer_set import InformerSet
from reflet.informer.options import QueueKind
from reflet.store.transforms import drop_managed_fields
from reflet.testing.pytest_plugin import RunningServer
from tests.patience import within

PATIENCE = 30.0  # seconds, for what takes a moment


def config_map(name: str, **data: str) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name, "labels": {"app": name}},
        "data": data,
    }


async def test_the_shortest_useful_program(reflet_server: RunningServer) -> None:
    printed: list[tuple[str, str]] = []
    async with (
        reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster,
        within(PATIENCE),
    ):
        writer = cluster.resource(ConfigMap)
        await writer.create(config_map("before", color="red"))

        async with cluster.mirror("configmaps") as config_maps:
            await config_maps.synced(timeout=10)
            first = config_maps["before"].data
            async for change in config_maps.changes():
                printed.append((change.type, change.object.metadata.name))
                match printed[-1]:
                    case ("ADDED", "before"):
                        await writer.create(config_map("later"))
                    case ("ADDED", "later"):
                        await writer.patch("before", {"data": {"color": "green"}})
                    case ("UPDATED", "before"):
                        await writer.delete("later")
                    case ("DELETED", "later"):
                        break
                    case _:
                        pass

            assert (first, config_maps["before"].data) == ({"color": "red"}, {"color": "green"})
            assert "later" not in config_maps
            assert config_maps.is_live()

    assert [line for line in printed if line[1] in {"before", "later"}] == [
        ("ADDED", "before"),
        ("ADDED", "later"),
        ("UPDATED", "before"),
        ("DELETED", "later"),
    ]


@pytest.mark.parametrize("queue", ["ordered", "delta-fifo"])
@pytest.mark.parametrize("streaming", [True, False])
async def test_a_mirror_survives_a_restart_of_the_server(
    reflet_server: RunningServer, queue: QueueKind, streaming: bool
) -> None:
    async with reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        writer = cluster.resource(ConfigMap)
        await writer.create(config_map("a"))
        mirror = cluster.mirror(ConfigMap, queue=queue, streaming=streaming)
        async with mirror, within(PATIENCE):
            await mirror.synced()
            await asyncio.to_thread(reflet_server.restart)
            await writer.create(config_map("b"))
            async for change in mirror.changes():
                if change.object.metadata.name == "b":
                    break

            assert {"a", "b"} <= set(mirror)


def coloured(item: ConfigMap) -> ConfigMap:
    """A transform that relies on what anybody may leave out."""
    return msgspec.structs.replace(item, data={"color": item.data["color"]})


@pytest.mark.parametrize(
    "options",
    [
        {"indexers": {"color": lambda item: [item.data["color"]]}},
        {"transform": coloured},
    ],
    ids=["index", "transform"],
)
async def test_an_object_that_cannot_be_digested_does_not_stop_a_mirror(
    reflet_server: RunningServer, options: dict[str, Any]
) -> None:
    async with reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        writer = cluster.resource(ConfigMap)
        await writer.create(config_map("a", color="red"))
        await writer.create(config_map("poison"))
        mirror = cluster.mirror(ConfigMap, namespace="default", **options)
        async with mirror, within(PATIENCE):
            await mirror.synced()
            reflet_server.add_fault(Fault("expire", verb="watch", now=True))
            reflet_server.add_fault(Fault("close", verb="watch", now=True))
            await writer.patch("a", {"data": {"color": "green"}})
            async for change in mirror.changes():
                if change.object.data.get("color") == "green":
                    break

            assert mirror["a"].data == {"color": "green"}


async def test_a_resource_that_the_server_does_not_have_ends_the_wait(
    reflet_server: RunningServer,
) -> None:
    widgets = Resource(group="example.com", version="v1", plural="widgets", kind="Widget")
    async with (
        reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster,
        cluster.mirror(widgets) as mirror,
    ):
        with pytest.raises(NotFound):
            await mirror.synced(timeout=PATIENCE, fail_on=(Forbidden, NotFound))


async def test_a_raw_mirror_drops_managed_fields(reflet_server: RunningServer) -> None:
    async with reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        await cluster.resource(ConfigMap).create(config_map("a", color="red"))
        mirror = cluster.mirror("configmaps", raw=True, transform=drop_managed_fields)
        async with mirror:
            await mirror.synced(timeout=PATIENCE)

            assert mirror["a"]["data"] == {"color": "red"}
            assert "managedFields" not in mirror["a"]["metadata"]


async def test_a_set_of_informers_shares_what_it_can(reflet_server: RunningServer) -> None:
    async with reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        await cluster.resource(ConfigMap).create(config_map("a"))
        informers = InformerSet(
            lambda resource, namespace: cluster.resource(resource, namespace=namespace or "*")
        )
        async with informers:
            config_maps = informers.informer(CONFIG_MAPS, namespace="default")
            assert informers.informer(CONFIG_MAPS, namespace="default") is config_maps
            informers.informer(SECRETS)
            await informers.wait_synced(timeout=PATIENCE)

        assert "default/a" in config_maps.store


async def test_several_namespaces_are_one_mirror(reflet_server: RunningServer) -> None:
    async with (
        reflet.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster,
        within(PATIENCE),
    ):
        for name in ("shop", "bank", "other"):
            await cluster.resource("namespaces").create({"metadata": {"name": name}})
            await cluster.resource(ConfigMap, namespace=name).create(config_map("a"))
        async with cluster.mirror(
            ConfigMap, namespace=["shop", "bank"], label_selector="app in (a,b)"
        ) as mirror:
            await mirror.synced()
            before = sorted(mirror)
            await cluster.resource(ConfigMap, namespace="other").create(config_map("b"))
            await cluster.resource(ConfigMap, namespace="bank").create(config_map("b"))
            await cluster.resource(ConfigMap, namespace="shop").delete("a")
            awaited = {("DELETED", "shop/a"), ("ADDED", "bank/b")}
            async for change in mirror.changes():
                awaited.discard((change.type, change.key))
                if not awaited:
                    break

            assert (before, sorted(mirror)) == (["bank/a", "shop/a"], ["bank/a", "bank/b"])


def test_shared_mirrors_without_an_event_loop_are_one_watch(reflet_server: RunningServer) -> None:
    with reflet.blocking.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        with cluster.mirror(ConfigMap, shared=True) as mine:
            with cluster.mirror("configmaps", shared=True) as yours:
                yours.synced(timeout=PATIENCE)
                assert mine.asynchronous is yours.asynchronous
            cluster.resource(ConfigMap).create(config_map("a"))
            for change in mine.changes():
                if change.object.metadata.name == "a":
                    break

        assert mine.asynchronous.informer.is_stopped


def test_a_program_without_an_event_loop(reflet_server: RunningServer) -> None:
    told = threading.Event()

    def handler(change: Change[ConfigMap]) -> None:
        if change.object.data.get("color") == "green":
            told.set()

    with reflet.blocking.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        writer = cluster.resource(ConfigMap)
        writer.create(config_map("a", color="red"))
        with cluster.mirror(ConfigMap, label_selector="app in (a,b)") as mirror:
            mirror.synced(timeout=PATIENCE)
            before = mirror["a"].data
            mirror.add_handler(handler)
            writer.patch("a", {"data": {"color": "green"}})
            assert told.wait(PATIENCE)
            after = mirror["a"].data

            writer.create(config_map("b"))
            for change in mirror.changes():
                if change.object.metadata.name == "b":
                    break

    assert (before, after) == ({"color": "red"}, {"color": "green"})
