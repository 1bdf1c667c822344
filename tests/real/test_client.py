"""Every verb of the client, on a real API server."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.api.meta import ObjectMeta
from reflet.api.options import (
    CreateOptions,
    DeleteOptions,
    GetOptions,
    ListOptions,
    PatchOptions,
    PatchType,
    WatchOptions,
)
from reflet.api.status import Status, is_too_large_version
from reflet.cluster import Cluster
from reflet.errors import (
    AlreadyExists,
    BadRequest,
    ConfigurationError,
    Conflict,
    Expired,
    Invalid,
    NotFound,
)
from tests.real.kube_server import KubeServer
from tests.real.watching import drained
from tests.subresource_scenes import SCENES

POD: Mapping[str, Any] = {
    "apiVersion": "v1",
    "kind": "Pod",
    "metadata": {"name": "web"},
    "spec": {
        "containers": [{"name": "web", "image": "web:1", "env": [{"name": "A", "value": "b"}]}]
    },
}


def config_map(name: str, **data: str) -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data=data)


async def test_an_object_can_be_created_read_and_deleted(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)

        created = await maps.create(config_map("a", key="value"))
        read = await maps.get("a")
        gone = await maps.delete("a")

        assert read == created
        assert read.data == {"key": "value"}
        assert isinstance(gone, Status)
        with pytest.raises(NotFound, match='configmaps "a" not found') as caught:
            await maps.get("a")
        assert caught.value.verb == "get"
        assert caught.value.path.endswith("/configmaps/a")


async def test_creating_twice_is_refused(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        await maps.create(config_map("a"))

        with pytest.raises(AlreadyExists):
            await maps.create(config_map("a"))


async def test_a_dry_run_changes_nothing(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)

        await maps.create(config_map("a"), CreateOptions(dry_run=True))

        with pytest.raises(NotFound):
            await maps.get("a")


async def test_replacing_an_outdated_object_is_a_conflict(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        first = await maps.create(config_map("a", key="1"))

        second = await maps.replace(
            ConfigMap(metadata=first.metadata, data={"key": "2"}, immutable=False)
        )

        assert second.data == {"key": "2"}
        with pytest.raises(Conflict, match="the object has been modified"):
            await maps.replace(first)


async def test_a_typed_pod_is_not_written_back(cluster: Cluster) -> None:
    async with cluster:
        pod = await cluster.resource(Pod).create(POD)

        with pytest.raises(ConfigurationError, match="use patch"):
            await cluster.resource(Pod).replace(pod)


async def test_a_raw_object_is_written_back_whole(cluster: Cluster) -> None:
    async with cluster:
        pods = cluster.resource("pods", raw=True)
        await pods.create(POD)
        document = (await pods.get("web")).to_dict()
        document["metadata"]["labels"] = {"app": "web"}

        replaced = await pods.replace(document)

        assert replaced.metadata.labels == {"app": "web"}
        assert replaced["spec"]["tolerations"]  # a field that the typed Pod does not have


@pytest.mark.parametrize(
    ("patch_type", "patch"),
    [
        (PatchType.JSON, [{"op": "add", "path": "/data/new", "value": "1"}]),
        (PatchType.MERGE, {"data": {"new": "1"}}),
        (PatchType.STRATEGIC, {"data": {"new": "1"}}),
    ],
)
async def test_each_patch_changes_the_object(
    cluster: Cluster, patch_type: PatchType, patch: Any
) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        await maps.create(config_map("a", old="0"))

        patched = await maps.patch("a", patch, patch_type)

        assert patched.data == {"old": "0", "new": "1"}


async def test_apply_creates_then_conflicts_then_forces(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        await maps.apply(config_map("a", key="1"), field_manager="one")

        with pytest.raises(Conflict, match='conflict with "one"') as caught:
            await maps.apply(config_map("a", key="2"), field_manager="two")
        forced = await maps.apply(config_map("a", key="2"), field_manager="two", force=True)

        assert [cause.field for cause in caught.value.causes] == [".data.key"]
        assert forced.data == {"key": "2"}


async def test_the_status_is_a_part_of_its_own(cluster: Cluster) -> None:
    async with cluster:
        pods = cluster.resource(Pod)
        await pods.create(POD)

        await pods.patch("web", {"status": {"phase": "Running"}}, subresource="status")

        assert (await pods.get("web")).status.phase == "Running"


@pytest.mark.parametrize("scene", SCENES)
async def test_a_part_of_an_object_comes_as_what_it_is(
    cluster: Cluster, scene: Callable[[Cluster], Awaitable[None]]
) -> None:
    async with cluster:
        await scene(cluster)


async def test_a_token_is_made_for_a_service_account(cluster: Cluster) -> None:
    async with cluster:
        await cluster.resource("serviceaccounts").create(
            {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "robot"}}
        )

        token = await cluster.request_token("robot", expiration_seconds=600)

        assert token.token.count(".") == 2
        assert token.token not in repr(token)


async def test_deleting_with_a_wrong_uid_is_a_conflict(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        await maps.create(config_map("a"))

        with pytest.raises(Conflict):
            await maps.delete("a", DeleteOptions(uid="another"))


async def test_a_collection_is_deleted_by_selector(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        for name, labels in (("a", {"app": "x"}), ("b", {"app": "y"})):
            await maps.create(ConfigMap(metadata=ObjectMeta(name=name, labels=labels)))

        await maps.delete_collection(ListOptions(label_selector="app=x"))

        assert [item.metadata.name for item in (await maps.list()).items] == ["b"]


async def test_an_invalid_object_names_its_field(cluster: Cluster) -> None:
    async with cluster:
        with pytest.raises(Invalid) as caught:
            await cluster.resource(ConfigMap).create(config_map("a", **{"bad key": "x"}))

        assert [cause.field for cause in caught.value.causes] == ["data[bad key]"]


async def many(cluster: Cluster, count: int) -> None:
    maps = cluster.resource(ConfigMap)
    for start in range(0, count, 50):
        names = (f"m-{number:04}" for number in range(start, min(start + 50, count)))
        await asyncio.gather(*(maps.create(config_map(name)) for name in names))


async def test_twelve_hundred_objects_are_listed_in_three_pages(cluster: Cluster) -> None:
    async with cluster:
        await many(cluster, 1200)
        maps = cluster.resource(ConfigMap)

        listing = await maps.list()
        sizes = [len(page.items) async for page in maps.pages()]

        assert len({item.metadata.name for item in listing.items}) == 1200
        assert listing.metadata.resource_version
        assert sizes == [500, 500, 200]


async def test_pages_can_be_left_early(cluster: Cluster) -> None:
    async with cluster:
        await many(cluster, 30)

        async for page in cluster.resource(ConfigMap).pages(page_size=10):
            assert len(page.items) == 10
            break


async def test_selectors_reach_the_server(cluster: Cluster) -> None:
    async with cluster:
        secrets_ = cluster.resource(Secret)
        await secrets_.create(Secret(metadata=ObjectMeta(name="a"), data={"k": b"\x00v"}))
        await secrets_.create(Secret(metadata=ObjectMeta(name="b"), type="example.com/b"))

        chosen = await secrets_.list(ListOptions(field_selector="type=Opaque"))

        assert [(item.metadata.name, item.data) for item in chosen.items] == [
            ("a", {"k": b"\x00v"})
        ]
        with pytest.raises(BadRequest, match="field label not supported"):
            await secrets_.list(ListOptions(field_selector="data.k=v"))


async def test_a_watch_tells_changes_in_order(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        listing = await maps.list()
        options = WatchOptions(resource_version=listing.metadata.resource_version)
        async with maps.watch(options) as watch:
            await maps.create(config_map("a", key="1"))
            await maps.patch("a", {"data": {"key": "2"}})
            await maps.delete("a")

            seen = []
            async for event in watch:
                seen.append((event.type, event.object.metadata.name, event.object.data.get("key")))
                if event.type == "DELETED":
                    break

        assert seen == [("ADDED", "a", "1"), ("MODIFIED", "a", "2"), ("DELETED", "a", "2")]


async def test_a_streaming_list_ends_with_its_bookmark(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        await maps.create(config_map("a"))
        options = WatchOptions(send_initial_events=True, resource_version_match="NotOlderThan")
        async with maps.watch(options) as watch:
            seen = []
            async for event in watch:
                seen.append(event.type)
                if event.type == "BOOKMARK":
                    break

        assert seen == ["ADDED", "BOOKMARK"]
        assert event.object.metadata.annotations == {"k8s.io/initial-events-end": "true"}


async def test_a_quiet_watch_ends_when_the_server_says_so(cluster: Cluster) -> None:
    async with cluster:
        listing = await cluster.resource(ConfigMap).list()
        options = WatchOptions(
            resource_version=listing.metadata.resource_version, timeout_seconds=1
        )
        async with cluster.resource(ConfigMap).watch(options) as watch:
            seen = [event.type async for event in watch]

        assert seen in ([], ["BOOKMARK"])


async def test_a_version_from_the_future_is_too_large(cluster: Cluster) -> None:
    async with cluster:
        with pytest.raises(Exception, match="Too large resource version") as caught:
            await cluster.resource(ConfigMap).get("a", GetOptions(resource_version="999999999"))

        assert is_too_large_version(caught.value)


async def test_compacted_history_is_expired(kube: KubeServer, cluster: Cluster) -> None:
    event = {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {"generateName": "e-"},
        "involvedObject": {"kind": "Pod", "namespace": cluster.namespace, "name": "web"},
    }
    async with cluster:
        events = cluster.resource("events")
        for _ in range(3):
            await events.create(event)
        first = await events.page(ListOptions(limit=1))
        await asyncio.to_thread(kube.compact)

        with pytest.raises(Expired):
            await events.page(ListOptions(limit=1, continue_=first.metadata.continue_))
        with pytest.raises(Expired):
            await drained(events, WatchOptions(resource_version=first.metadata.resource_version))
        assert len((await events.list(page_size=1)).items) == 3


async def test_force_needs_apply(cluster: Cluster) -> None:
    async with cluster:
        maps = cluster.resource(ConfigMap)
        await maps.create(config_map("a"))

        with pytest.raises(Invalid, match="force"):
            await maps.patch("a", {}, PatchType.MERGE, PatchOptions(force=True))
