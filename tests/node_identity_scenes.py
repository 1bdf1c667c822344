"""What the managers get with the rights of a node, on any server that authorizes nodes.

Owns: the scenes.  Must not know which server it is: a real one, or the development server.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Any, Final

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.core.pods import Pod
from reflet.cluster import Cluster
from reflet.errors import CacheNotSynced, Forbidden
from reflet.managers.manager import ConfigMapManager, ObjectManager, SecretManager
from reflet.managers.object_changes import ObjectChange
from reflet.pods.pod_sources import pods_of_node
from reflet.pods.registrar import PodRegistrar
from tests.patience import within

NODE: Final = "worker-1"
PATIENCE: Final = 30.0  # seconds
RECORDED: Final = json.loads(
    (Path(__file__).parent / "conformance" / "data" / "scenarios.json").read_text()
)["node_authorizer"]


def pod_document(
    name: str, config_maps: Sequence[str] = (), secrets: Sequence[str] = (), *, node: str = ""
) -> dict[str, Any]:
    sources = [
        *({"configMapRef": {"name": each}} for each in config_maps),
        *({"secretRef": {"name": each}} for each in secrets),
    ]
    spec: dict[str, Any] = {"containers": [{"name": "app", "image": "app", "envFrom": sources}]}
    if node:
        spec["nodeName"] = node
    return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, "spec": spec}


def config_map(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": name},
        "data": {"name": name},
    }


def secret(name: str) -> dict[str, Any]:
    return {**config_map(name), "kind": "Secret", "data": {"name": "eA=="}}


async def arrival(manager: ObjectManager[Any], namespace: str, name: str) -> Any:
    """Read again and again, as a pod that waits for its configuration does."""
    async with within(PATIENCE):
        while True:
            try:
                return await manager.get(namespace, name)
            except CacheNotSynced:
                continue


def causes_of(error: BaseException | None) -> list[type[BaseException]]:
    found = []
    while error is not None:
        found.append(type(error))
        error = error.__cause__
    return found


async def a_nodes_pods_objects_can_be_read_and_others_cannot(
    as_admin: Cluster, as_node: Cluster, namespace: str
) -> None:
    async with as_admin, as_node, SecretManager(as_node) as secrets:
        await as_admin.resource(Secret).create(secret("mine"))
        await as_admin.resource(Secret).create(secret("theirs"))
        pods = as_admin.resource(Pod)
        mine = await pods.create(pod_document("mine", secrets=["mine"], node=NODE))
        theirs = await pods.create(pod_document("theirs", secrets=["theirs"], node="worker-2"))
        secrets.register_pod(mine)
        secrets.register_pod(theirs)

        found = await arrival(secrets, namespace, "mine")
        with pytest.raises(CacheNotSynced) as caught:
            await secrets.get(namespace, "theirs")

    assert found.data == {"name": b"x"}
    text = "failed to sync secret cache: timed out waiting for the condition"
    assert str(caught.value) == text
    assert Forbidden in causes_of(caught.value)


async def access_follows_when_a_pod_is_bound_to_the_node(
    as_admin: Cluster, as_node: Cluster, namespace: str
) -> None:
    async with as_admin, as_node, ConfigMapManager(as_node) as config_maps:
        await as_admin.resource(ConfigMap).create(config_map("settings"))
        pods = as_admin.resource(Pod)
        item = await pods.create(pod_document("web", ["settings"]))
        config_maps.register_pod(item)
        with pytest.raises(CacheNotSynced):
            await config_maps.get(namespace, "settings")

        binding = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": "web"},
            "target": {"apiVersion": "v1", "kind": "Node", "name": NODE},
        }
        raw = as_admin.resource("pods", raw=True)
        await raw.create(binding, name="web", subresource="binding")
        found = await arrival(config_maps, namespace, "settings")

    assert found.data == {"name": "settings"}


async def auto_stays_with_individual_watches_as_a_node(
    as_admin: Cluster, as_node: Cluster, namespace: str
) -> None:
    names = [f"settings-{number}" for number in range(12)]
    async with as_admin, as_node, ConfigMapManager(as_node, strategy="auto") as config_maps:
        for name in names:
            await as_admin.resource(ConfigMap).create(config_map(name))
        item = await as_admin.resource(Pod).create(pod_document("web", names, node=NODE))
        config_maps.register_pod(item)
        found = [await arrival(config_maps, namespace, name) for name in names]
        plan = config_maps.plan()

    assert [each.data["name"] for each in found] == names
    assert {stream.name for stream in plan.streams} == set(names)
    assert {stream.reason for stream in plan.streams} == {
        "watching the whole namespace is forbidden"
    }


async def auto_needs_one_watch_where_it_may(as_admin: Cluster, _: Cluster, namespace: str) -> None:
    names = [f"settings-{number}" for number in range(12)]
    async with as_admin, ConfigMapManager(as_admin, strategy="auto") as config_maps:
        maps = as_admin.resource(ConfigMap)
        for name in (*names, "late"):
            await maps.create(config_map(name))
        pods = as_admin.resource(Pod)
        config_maps.register_pod(await pods.create(pod_document("web", names)))
        found = [await arrival(config_maps, namespace, name) for name in names]
        one = config_maps.plan().streams
        config_maps.register_pod(await pods.create(pod_document("late", ["late"])))
        late = await arrival(config_maps, namespace, "late")
        changes = config_maps.subscribe()
        written = await maps.patch("late", {"data": {"name": "changed"}})
        change = await heard(changes, "late", written.metadata.resource_version)
        after = config_maps.plan().streams

    assert [each.data["name"] for each in found] == names
    assert [stream.name for stream in one] == [stream.name for stream in after] == [None]
    assert (late.data, change.object.data) == ({"name": "late"}, {"name": "changed"})


async def heard(changes: Any, name: str, version: str) -> Any:
    """The change that shows a version of an object."""
    async with within(PATIENCE):
        change: ObjectChange[ConfigMap]
        async for change in changes:
            shown = change.object
            if change.name == name and shown and shown.metadata.resource_version == version:
                return change
    return None


class Awaited:
    """Says when a pod of a namespace is registered."""

    def __init__(self, namespace: str) -> None:
        self.is_here = asyncio.Event()
        self._namespace = namespace

    def register_pod(self, pod: Pod) -> None:
        if pod.metadata.namespace == self._namespace:
            self.is_here.set()

    def unregister_pod(self, pod: Pod) -> None:
        """Forget nothing: once it was here, it was here."""


async def a_node_finds_its_own_pods_and_keeps_what_they_refer_to(
    as_admin: Cluster, as_node: Cluster, namespace: str
) -> None:
    async with (
        as_admin,
        as_node,
        ConfigMapManager(as_node) as config_maps,
        within(PATIENCE),
        asyncio.TaskGroup() as tasks,
    ):
        awaited = Awaited(namespace)
        registrar = PodRegistrar([config_maps, awaited])
        running = tasks.create_task(registrar.follow(pods_of_node(as_node, NODE)))
        await as_admin.resource(ConfigMap).create(config_map("settings"))
        await as_admin.resource(Pod).create(pod_document("web", ["settings"], node=NODE))
        await awaited.is_here.wait()
        found = await arrival(config_maps, namespace, "settings")
        running.cancel()

    assert found.data == {"name": "settings"}


async def the_recorded_cases_of_the_node_authorizer(
    as_admin: Cluster, _: Cluster, namespace: str
) -> None:
    async with as_admin, within(PATIENCE):
        await plant_recorded_graph(as_admin)
        asked = [dict(case) for case in RECORDED["cases"]]
        first: dict[str, Any] = {}
        while not first.get("allowed"):  # the authorizer hears of pods a little later
            first = await answer(as_admin, asked[0], namespace)
        answers = [await answer(as_admin, case, namespace) for case in asked]

    seen = [
        (bool(each["allowed"]), each.get("reason", "") if "reason" in case else "")
        for case, each in zip(asked, answers, strict=True)
    ]
    wanted = [(case["allow"], case.get("reason", "")) for case in asked]
    assert [allowed for allowed, _ in seen] == [allowed for allowed, _ in wanted]
    assert all(reason in said for (_, reason), (_, said) in zip(wanted, seen, strict=True))


async def plant_recorded_graph(cluster: Cluster) -> None:
    for number in (0, 1):
        name = f"pod0-node{number}"
        document = pod_document(
            name,
            [f"configmap0-{name}"],
            [f"secret0-{name}", "secret0-shared"],
            node=f"node{number}",
        )
        await cluster.resource(Pod).create(document)


async def answer(cluster: Cluster, case: dict[str, Any], namespace: str) -> dict[str, Any]:
    """What the server says of one recorded question, by a review of node0's rights."""
    attributes = {
        "verb": case["verb"],
        "resource": case["resource"],
        "version": "v1",
        "namespace": namespace if case["namespace"] else "",
        "name": case["name"],
    }
    review = {
        "apiVersion": "authorization.k8s.io/v1",
        "kind": "SubjectAccessReview",
        "spec": {
            "user": "system:node:node0",
            "groups": ["system:nodes"],
            "resourceAttributes": attributes,
        },
    }
    reviews = await cluster.find("subjectaccessreviews")
    made = await cluster.resource(reviews, raw=True).create(review)
    status: dict[str, Any] = made.to_dict()["status"]
    return status


# Each is played by the administrator, by the node, and in a namespace.
SCENES: Final[tuple[Callable[[Cluster, Cluster, str], Awaitable[None]], ...]] = (
    a_nodes_pods_objects_can_be_read_and_others_cannot,
    access_follows_when_a_pod_is_bound_to_the_node,
    auto_stays_with_individual_watches_as_a_node,
    auto_needs_one_watch_where_it_may,
    a_node_finds_its_own_pods_and_keeps_what_they_refer_to,
    the_recorded_cases_of_the_node_authorizer,
)
