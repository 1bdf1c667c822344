"""A pod's files and variables from a server with real sockets, kept fresh on a real disk."""

from __future__ import annotations

import asyncio
import base64
import json
import stat
import time
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

import reflet
from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.core.services import Service
from reflet.api.core.small_kinds import ServiceAccount
from reflet.cluster import Cluster
from reflet.managers.manager import ConfigMapManager, SecretManager
from reflet.podconfig.pod_configuration import PodConfiguration
from reflet.podconfig.resolved_pod import ResolvedPod, difference
from reflet.podconfig.service_account_tokens import ServiceAccountTokens
from reflet.podconfig.volume_delivery import VolumeDelivery
from reflet.testing.pytest_plugin import RunningServer
from reflet.volumes.pod_directories import PodDirectories
from tests.patience import within
from tests.unit.volumes.scenes import seen

PATIENCE = 30.0  # seconds, for what takes a moment
QUIET = 0.3  # seconds in which nothing is to happen

SETTINGS = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "settings"}}
PASSWORD = {"apiVersion": "v1", "kind": "Secret", "metadata": {"name": "password"}}
POD: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web", "labels": {"tier": "front"}},
    "spec": {
        "serviceAccountName": "builder",
        "containers": [
            {
                "name": "web",
                "image": "web",
                "env": [
                    {
                        "name": "COLOUR",
                        "valueFrom": {"configMapKeyRef": {"name": "settings", "key": "colour"}},
                    }
                ],
                "envFrom": [{"secretRef": {"name": "password"}}],
            }
        ],
        "volumes": [
            {"name": "files", "configMap": {"name": "settings"}},
            {"name": "keys", "secret": {"secretName": "password", "defaultMode": 0o400}},
            {
                "name": "info",
                "downwardAPI": {
                    "items": [{"path": "labels", "fieldRef": {"fieldPath": "metadata.labels"}}]
                },
            },
            {
                "name": "api",
                "projected": {
                    "sources": [
                        {"serviceAccountToken": {"path": "token", "expirationSeconds": 600}}
                    ]
                },
            },
        ],
    },
}


def encoded(text: str) -> str:
    return base64.b64encode(text.encode()).decode()


async def write_settings(cluster: Cluster, **data: str) -> None:
    await cluster.resource(ConfigMap).apply(
        {**SETTINGS, "data": data}, field_manager="test", force=True
    )


async def write_password(cluster: Cluster, text: str) -> None:
    body = {**PASSWORD, "data": {"text": encoded(text)}}
    await cluster.resource(Secret).apply(body, field_manager="test", force=True)


@asynccontextmanager
async def connected(server: RunningServer) -> AsyncIterator[Cluster]:
    """A cluster with all that the pod needs, and the pod itself."""
    async with (
        reflet.connect(kubeconfig=str(server.kubeconfig)) as cluster,
        within(PATIENCE),
    ):
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "builder"}}
        await cluster.resource(ServiceAccount).create(account)
        await write_settings(cluster, colour="blue")
        await write_password(cluster, "hunter2")
        await cluster.resource(Pod).create(POD)
        yield cluster


@asynccontextmanager
async def configured(
    cluster: Cluster, *, strategy: str = "watch", **options: Any
) -> AsyncIterator[PodConfiguration]:
    async with (
        ConfigMapManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as config_maps,
        SecretManager(cluster, strategy=strategy, sync_timeout=PATIENCE) as secrets,
        PodConfiguration(
            await cluster.resource(Pod).get("web"),
            config_maps,
            secrets,
            tokens=ServiceAccountTokens(cluster),
            **options,
        ) as configuration,
    ):
        yield configuration


def delivery_into(folder: Path) -> VolumeDelivery:
    return VolumeDelivery(lambda contents: folder / contents.volume)


async def until(
    changes: AsyncGenerator[ResolvedPod, None], reached: Callable[[ResolvedPod], bool]
) -> ResolvedPod:
    async for resolved in changes:
        if reached(resolved):
            return resolved
    raise AssertionError("the changes ended")


@pytest.mark.parametrize("strategy", ["watch", "auto"])
async def test_an_edit_on_the_server_arrives_in_the_file(
    reflet_server: RunningServer,
    tmp_path: Path,
    strategy: str,
    record_property: Callable[[str, object], None],
) -> None:
    delivery = delivery_into(tmp_path)
    async with (
        connected(reflet_server) as cluster,
        configured(cluster, strategy=strategy) as configuration,
        aclosing(configuration.changes(debounce=0)) as changes,
    ):
        first = await anext(changes)
        delivery.write(first)
        before = seen(tmp_path / "files")
        await write_settings(cluster, colour="green", shape="round")
        written = time.monotonic()
        second = await anext(changes)
        report = delivery.write(second)
        record_property("delay", time.monotonic() - written)

    assert (first.errors, before) == ((), {"colour": "blue"})
    assert seen(tmp_path / "files") == {"colour": "green", "shape": "round"}
    assert report.changed == ("files",)
    assert report.unchanged == ("keys", "info", "api")
    assert list(difference(first, second).lines()) == [
        "container web: ~COLOUR",
        "volume files: +shape ~colour",
    ]
    assert second.environments["web"].values == {"COLOUR": "green", "text": "hunter2"}


async def test_files_have_the_pods_modes_and_the_token_is_bound_to_it(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    async with connected(reflet_server) as cluster, configured(cluster) as configuration:
        resolved = await configuration.resolve()
        delivery_into(tmp_path).write(resolved)
        token = (tmp_path / "api/token").read_text()
        uid = configuration.pod.metadata.uid

    key = tmp_path / "keys/text"
    assert (key.read_text(), stat.S_IMODE(key.stat().st_mode)) == ("hunter2", 0o400)
    assert (tmp_path / "info/labels").read_text() == 'tier="front"'
    claims = json.loads(base64.urlsafe_b64decode(token.split(".")[1] + "=="))
    assert claims["sub"] == "system:serviceaccount:default:builder"
    assert claims["kubernetes.io"]["pod"] == {"name": "web", "uid": uid}


async def test_a_deleted_secret_keeps_its_files(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    delivery = delivery_into(tmp_path)
    async with (
        connected(reflet_server) as cluster,
        configured(cluster) as configuration,
        aclosing(configuration.changes()) as changes,
    ):
        delivery.write(await anext(changes))
        await cluster.resource(Secret).delete("password")
        gone = await until(changes, lambda resolved: bool(resolved.errors))
        report = delivery.write(gone)
        kept = seen(tmp_path / "keys")
        await write_password(cluster, "hunter3")
        back = await until(changes, lambda resolved: not resolved.errors)
        delivery.write(back)

    assert report.failures == {"keys": 'secret "password" not found'}
    assert (kept, seen(tmp_path / "keys")) == ({"text": "hunter2"}, {"text": "hunter3"})


async def test_a_restart_of_the_server_loses_nothing(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    delivery = delivery_into(tmp_path)
    async with (
        connected(reflet_server) as cluster,
        configured(cluster) as configuration,
        aclosing(configuration.changes()) as changes,
    ):
        delivery.write(await anext(changes))
        restarting = asyncio.create_task(asyncio.to_thread(reflet_server.restart, 0.5))
        await asyncio.sleep(0.2)
        while_away = await configuration.resolve()
        await restarting
        await write_settings(cluster, colour="after the restart")
        resolved = await until(
            changes, lambda resolved: resolved.environments["web"].values["COLOUR"] != "blue"
        )
        report = delivery.write(resolved)

    assert while_away.errors == ()
    assert report.changed == ("files",)
    assert seen(tmp_path / "files") == {"colour": "after the restart"}


async def test_an_edit_that_no_container_sees_is_no_change(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    async with (
        connected(reflet_server) as cluster,
        configured(cluster) as configuration,
        aclosing(configuration.changes()) as changes,
    ):
        await anext(changes)
        await cluster.resource(ConfigMap).patch(
            "settings", {"metadata": {"labels": {"irrelevant": "yes"}}}
        )
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(QUIET):
                await anext(changes)


async def test_labels_that_the_server_shows_later_arrive_in_the_file(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    delivery = delivery_into(tmp_path)
    async with (
        connected(reflet_server) as cluster,
        configured(cluster) as configuration,
        aclosing(configuration.changes()) as changes,
    ):
        delivery.write(await anext(changes))
        changed = await cluster.resource(Pod).patch(
            "web", {"metadata": {"labels": {"tier": "back"}}}
        )
        configuration.update(changed)
        report = delivery.write(await anext(changes))

    assert report.changed == ("info",)
    assert (tmp_path / "info/labels").read_text() == 'tier="back"'


async def test_services_of_the_server_become_variables(reflet_server: RunningServer) -> None:
    async with (
        connected(reflet_server) as cluster,
        cluster.mirror(Service, namespace="*") as services,
        configured(cluster, services=services) as configuration,
        aclosing(configuration.changes()) as changes,
    ):
        await services.synced(timeout=PATIENCE)
        await anext(changes)
        await cluster.resource(Service).create(
            {
                "apiVersion": "v1",
                "kind": "Service",
                "metadata": {"name": "db"},
                "spec": {"ports": [{"port": 5432}], "clusterIP": "10.96.0.55"},
            }
        )
        resolved = await until(
            changes,
            lambda resolved: "DB_SERVICE_HOST" in resolved.environments["web"].values,
        )

    assert resolved.environments["web"].values["DB_SERVICE_HOST"] == "10.96.0.55"


async def test_a_pods_folders_are_the_kubelets_and_are_taken_down(
    reflet_server: RunningServer, tmp_path: Path
) -> None:
    directories = PodDirectories(tmp_path / "root", memory_root=tmp_path / "memory")
    async with connected(reflet_server) as cluster, configured(cluster) as configuration:
        resolved = await configuration.resolve()
        uid = configuration.pod.metadata.uid
        directories.make_pod(uid)
        report = VolumeDelivery(
            lambda contents: directories.volume(uid, contents.kind, contents.volume)
        ).write(resolved)
        files = seen(directories.volume(uid, "configMap", "files"))
        kept = directories.tear_down(uid)

    assert report.changed == ("files", "keys", "info", "api")
    assert (files, kept, directories.uids()) == ({"colour": "blue"}, (), ())
