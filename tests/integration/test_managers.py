"""Managers on a server with real sockets: how many streams, how fresh, and what survives."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from typing import Any

import pytest

import reflet
from reflet.api.core.config import ConfigMap
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster
from reflet.devserver.faults import Fault
from reflet.errors import NotFound
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.last_known_objects import objects_of
from reflet.pods.pod_sources import ServedPods, pods_of_node
from reflet.pods.registrar import PodRegistrar
from reflet.testing.pytest_plugin import RunningServer
from tests.patience import Deadline, within
from tests.unit.managers.pods import pod

PATIENCE = 30.0  # seconds, for what takes a moment
A_LOOK = 0.01  # seconds between two looks at the server
CONFIG_MAPS = 50
PODS = 1000
WRITES = 30


def config_map(name: str, *, immutable: bool = False, **data: str) -> Mapping[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": data,
        "immutable": immutable,
    }


def user_of(name: str, *config_maps: str) -> Pod:
    return pod(name, *config_maps, namespace="default")


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[Cluster]:
    async with (
        reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        within(PATIENCE),
    ):
        yield cluster


def open_streams(server: RunningServer) -> int:
    return server.call(lambda: len(server.server.state.watchers))


async def until(reached: Callable[[], bool]) -> None:
    """Look again and again: the other end of a connection learns of its end a little later."""
    deadline = Deadline(PATIENCE)
    while not reached():
        assert not deadline.passed
        await asyncio.sleep(A_LOOK)


async def known(manager: ConfigMapManager, name: str, **data: str) -> None:
    """Wait until the manager shows an object with these data."""
    changes = manager.subscribe()
    with changes:
        while True:
            try:
                if manager.peek("default", name).data == data:
                    return
            except NotFound:
                pass
            await anext(changes)


@pytest.mark.parametrize(("strategy", "streams"), [("watch", CONFIG_MAPS), ("auto", 1)])
async def test_a_thousand_pods_that_share_fifty_config_maps(
    reflet_server: RunningServer, strategy: str, streams: int
) -> None:
    names = [f"settings-{number}" for number in range(CONFIG_MAPS)]
    pods = [
        user_of(f"pod-{number}", names[number % CONFIG_MAPS], names[(number * 7) % CONFIG_MAPS])
        for number in range(PODS)
    ]
    async with connected(reflet_server) as cluster:
        writer = cluster.resource(ConfigMap)
        for name in names:
            await writer.create(config_map(name, me=name))
        async with ConfigMapManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as manager:
            for item in pods:
                manager.register_pod(item)
            for name in names:
                assert (await manager.get("default", name)).data == {"me": name}
            with_pods = (open_streams(reflet_server), len(manager.plan()))
            for item in pods:
                manager.unregister_pod(item)
            await until(lambda: open_streams(reflet_server) == 0)

            assert with_pods == (streams, streams)
            assert len(manager.plan()) == 0


@pytest.mark.parametrize("strategy", ["watch", "auto"])
async def test_a_write_is_read_a_moment_later(
    reflet_server: RunningServer, strategy: str, record_property: Callable[[str, object], None]
) -> None:
    names = [f"settings-{number}" for number in range(12)]
    async with connected(reflet_server) as cluster:
        writer = cluster.resource(ConfigMap)
        for name in names:
            await writer.create(config_map(name))
        async with ConfigMapManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as manager:
            manager.register_pod(user_of("web", *names))
            await manager.get("default", names[0])
            changes = manager.subscribe()
            delays = []
            for number in range(WRITES):
                version = (
                    await writer.patch(names[0], {"data": {"number": str(number)}})
                ).metadata.resource_version
                acknowledged = time.perf_counter()
                while manager.peek("default", names[0]).metadata.resource_version != version:
                    await anext(changes)
                delays.append(time.perf_counter() - acknowledged)
            changes.close()

    delays.sort()
    record_property("freshness_p50_seconds", delays[len(delays) // 2])
    record_property("freshness_p99_seconds", delays[-1])
    assert delays[len(delays) // 2] < 0.5


@pytest.mark.parametrize("strategy", ["watch", "auto"])
async def test_an_immutable_config_map_needs_no_stream(
    reflet_server: RunningServer, strategy: str
) -> None:
    async with connected(reflet_server) as cluster:
        writer = cluster.resource(ConfigMap)
        await writer.create(config_map("settings", immutable=True, color="red"))
        async with ConfigMapManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as manager:
            manager.register_pod(user_of("web", "settings"))
            await manager.get("default", "settings")
            await until(lambda: open_streams(reflet_server) == 0)
            await writer.delete("settings")
            await writer.create(config_map("settings", color="green"))
            frozen = (await manager.get("default", "settings")).data
            manager.unregister_pod(user_of("web"))
            manager.register_pod(user_of("job", "settings"))

            assert frozen == {"color": "red"}
            assert (await manager.get("default", "settings")).data == {"color": "green"}


@pytest.mark.parametrize("strategy", ["watch", "auto"])
async def test_an_idle_stream_is_closed_and_opened_again_by_a_read(
    reflet_server: RunningServer, strategy: str
) -> None:
    async with connected(reflet_server) as cluster:
        writer = cluster.resource(ConfigMap)
        await writer.create(config_map("settings", color="red"))
        async with ConfigMapManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as manager:
            manager.register_pod(user_of("web", "settings"))
            await manager.get("default", "settings")
            store: Any = manager._store
            store._entries["default", "settings"].last_access -= 301
            store.stop_if_idle()
            await until(lambda: open_streams(reflet_server) == 0)
            await writer.patch("settings", {"data": {"color": "green"}})

            assert (await manager.get("default", "settings")).data == {"color": "green"}
            assert open_streams(reflet_server) == 1


@pytest.mark.parametrize("strategy", ["watch", "auto"])
async def test_the_last_content_is_served_while_the_server_is_away(
    reflet_server: RunningServer, strategy: str
) -> None:
    names = [f"settings-{number}" for number in range(12)]
    async with connected(reflet_server) as cluster:
        writer = cluster.resource(ConfigMap)
        for name in names:
            await writer.create(config_map(name, color="red"))
        async with ConfigMapManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as manager:
            manager.register_pod(user_of("web", *names))
            for name in names:
                await manager.get("default", name)
            restarting = asyncio.create_task(asyncio.to_thread(reflet_server.restart, 0.5))
            await until(lambda: open_streams(reflet_server) == 0)
            while_away = {(await manager.get("default", name)).data["color"] for name in names}
            await restarting
            await writer.patch(names[3], {"data": {"color": "green"}})
            await known(manager, names[3], color="green")

            assert while_away == {"red"}


async def test_auto_stays_with_individual_streams_where_a_namespace_is_forbidden(
    reflet_server: RunningServer,
) -> None:
    names = [f"settings-{number}" for number in range(12)]
    async with connected(reflet_server) as cluster:
        writer = cluster.resource(ConfigMap)
        for name in names:
            await writer.create(config_map(name, me=name))
        for verb in ("watch", "list"):
            fault = Fault(
                "status", status=403, reason="Forbidden", verb=verb, resource="configmaps"
            )
            reflet_server.add_fault(fault)
        async with ConfigMapManager(cluster, strategy="auto", sync_timeout=PATIENCE) as manager:
            manager.register_pod(user_of("web", *names))
            for name in names:
                assert (await manager.get("default", name)).data == {"me": name}

            assert {stream.name for stream in manager.plan().streams} == set(names)
            assert "forbidden" in str(manager.plan())


async def test_pods_of_the_server_drive_what_is_kept(reflet_server: RunningServer) -> None:
    document = {
        "apiVersion": "v1",
        "kind": "Pod",
        "metadata": {"name": "web"},
        "spec": {
            "nodeName": "worker-1",
            "containers": [
                {
                    "name": "app",
                    "image": "app",
                    "envFrom": [
                        {"configMapRef": {"name": "settings"}},
                        {"secretRef": {"name": "password"}},
                    ],
                }
            ],
        },
    }
    async with connected(reflet_server) as cluster:
        await cluster.resource(ConfigMap).create(config_map("settings", color="red"))
        pods = cluster.resource(Pod)
        async with (
            ConfigMapManager(cluster, sync_timeout=PATIENCE) as config_maps,
            SecretManager(cluster, sync_timeout=PATIENCE) as secrets,
            asyncio.TaskGroup() as tasks,
        ):
            registrar = PodRegistrar([config_maps, secrets])
            running = tasks.create_task(registrar.follow(pods_of_node(cluster, "worker-1")))
            made = await pods.create(document)
            await until(lambda: bool(registrar.registered))
            objects = await objects_of(registrar.registered[0], config_maps, secrets)
            await pods.patch("web", {"status": {"phase": "Succeeded"}}, subresource="status")
            await until(lambda: not registrar.registered)
            left = (len(config_maps.plan()), len(secrets.plan()))
            running.cancel()

    found = objects.config_map("default", "settings")
    assert isinstance(found, ConfigMap)
    assert (found.data, made.spec.node_name) == ({"color": "red"}, "worker-1")
    assert isinstance(objects.secret("default", "password"), NotFound)
    assert left == (0, 0)


async def test_pods_can_be_chosen_by_label(reflet_server: RunningServer) -> None:
    async with connected(reflet_server) as cluster:
        pods = cluster.resource(Pod)
        for name in ("web", "job"):
            await pods.create(
                {
                    "apiVersion": "v1",
                    "kind": "Pod",
                    "metadata": {"name": name, "labels": {"app": name}},
                    "spec": {"containers": [{"name": "app", "image": "app"}]},
                }
            )
        async with (
            ConfigMapManager(cluster, sync_timeout=PATIENCE) as config_maps,
            asyncio.TaskGroup() as tasks,
        ):
            source = ServedPods(cluster, namespace="default", label_selector="app=web")
            registrar = PodRegistrar([config_maps])
            running = tasks.create_task(registrar.follow(source))
            await until(lambda: bool(registrar.registered))
            running.cancel()

    assert [item.metadata.name for item in registrar.registered] == ["web"]


def test_a_program_without_an_event_loop(reflet_server: RunningServer) -> None:
    with reflet.blocking.connect(kubeconfig=str(reflet_server.kubeconfig)) as cluster:
        writer = cluster.resource(ConfigMap)
        writer.create(config_map("settings", color="red"))
        with (
            cluster.config_map_manager(strategy="auto") as config_maps,
            cluster.secret_manager() as secrets,
        ):
            item = pod("web", "settings", namespace="default", secrets=["password"])
            config_maps.register_pod(item)
            secrets.register_pod(item)
            first = config_maps.get("default", "settings").data
            changes = config_maps.subscribe()
            writer.patch("settings", {"data": {"color": "green"}})
            change = next(changes)
            with pytest.raises(NotFound):
                secrets.get("default", "password")

            assert first == {"color": "red"}
            assert change.object is not None
            assert change.object.data == {"color": "green"}
            assert [key.name for key in change.pods] == ["web"]
