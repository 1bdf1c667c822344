"""Clients that others wrote work with the written kubeconfig, over TLS, as with a real server."""

from __future__ import annotations

import asyncio
import queue
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from importlib import import_module
from itertools import count, islice
from typing import Any

import lightkube
import pytest
from lightkube.core.exceptions import ApiError as LightkubeError
from lightkube.generic_resource import create_namespaced_resource
from lightkube.models.apps_v1 import DeploymentSpec
from lightkube.models.core_v1 import Container, PodSpec, PodTemplateSpec
from lightkube.models.meta_v1 import LabelSelector, ObjectMeta
from lightkube.resources.apiextensions_v1 import CustomResourceDefinition
from lightkube.resources.apps_v1 import Deployment
from lightkube.resources.core_v1 import ConfigMap, Namespace
from lightkube.types import PatchType

from reflet.devserver.faults import Action, Fault
from reflet.testing.pytest_plugin import RunningServer, running_server
from tests.integration.foreign_clients import close_connections
from tests.patience import overload

# Named at run time: their functions have no types that a checker could use.
official: Any = import_module("kubernetes.client")
official_config: Any = import_module("kubernetes.config")
official_dynamic: Any = import_module("kubernetes.dynamic")
official_informer: Any = import_module("kubernetes.informer")
official_watch: Any = import_module("kubernetes.watch")
asyncio_client: Any = import_module("kubernetes_asyncio.client")
asyncio_config: Any = import_module("kubernetes_asyncio.config")
asyncio_watch: Any = import_module("kubernetes_asyncio.watch")

JSON = "application/json-patch+json"
MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
APPLY = "application/apply-patch+yaml"

DEFINITION = {
    "apiVersion": "apiextensions.k8s.io/v1",
    "kind": "CustomResourceDefinition",
    "metadata": {"name": "widgets.example.com"},
    "spec": {
        "group": "example.com",
        "scope": "Namespaced",
        "names": {"plural": "widgets", "singular": "widget", "kind": "Widget"},
        "versions": [
            {
                "name": "v1",
                "served": True,
                "storage": True,
                "schema": {
                    "openAPIV3Schema": {
                        "type": "object",
                        "x-kubernetes-preserve-unknown-fields": True,
                    }
                },
            }
        ],
    },
}
PATCHES = [
    pytest.param(JSON, [{"op": "replace", "path": "/data/x", "value": "2"}], id="JSON"),
    pytest.param(MERGE, {"data": {"x": "2"}}, id="merge"),
    pytest.param(STRATEGIC, {"data": {"x": "2"}}, id="strategic"),
    pytest.param(
        APPLY,
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": {"name": "a"}, "data": {"x": "2"}},
        id="apply",
    ),
]
numbers = count()


def config_map(name: str, value: str = "1") -> dict[str, Any]:
    return {"metadata": {"name": name}, "data": {"x": value}}


def widget(name: str) -> dict[str, Any]:
    return {
        "apiVersion": "example.com/v1",
        "kind": "Widget",
        "metadata": {"name": name},
        "spec": {"size": 1},
    }


@pytest.fixture(scope="module")
def shared() -> Iterator[RunningServer]:
    with running_server({"tls": True}) as running:
        yield running


@pytest.fixture
def namespace(shared: RunningServer) -> str:
    name = f"n{next(numbers)}"
    with official_client(shared) as api:
        official.CoreV1Api(api).create_namespace({"metadata": {"name": name}})
    return name


# The official client


@contextmanager
def official_client(server: RunningServer) -> Iterator[Any]:
    with official_config.new_client_from_config(str(server.kubeconfig)) as made:
        yield made
        close_connections(made)


@pytest.fixture
def api(shared: RunningServer) -> Iterator[Any]:
    with official_client(shared) as made:
        yield made


@pytest.fixture
def core(api: Any) -> Any:
    return official.CoreV1Api(api)


def test_official_objects_come_and_go(core: Any, namespace: str) -> None:
    made = core.create_namespaced_config_map(namespace, config_map("a"))
    made.data = {"x": "2"}
    replaced = core.replace_namespaced_config_map("a", namespace, made)
    with pytest.raises(official.ApiException) as conflict:
        core.replace_namespaced_config_map("a", namespace, made)
    core.delete_namespaced_config_map("a", namespace)
    with pytest.raises(official.ApiException) as missing:
        core.read_namespaced_config_map("a", namespace)

    assert made.metadata.uid == replaced.metadata.uid
    assert replaced.data == {"x": "2"}
    assert (conflict.value.status, missing.value.status) == (409, 404)


def test_official_lists_come_in_pages(core: Any, namespace: str) -> None:
    for index in range(5):
        core.create_namespaced_config_map(namespace, config_map(f"c{index}"))

    pages, token = [], None
    while token != "":
        page = core.list_namespaced_config_map(namespace, limit=2, _continue=token)
        pages.append([each.metadata.name for each in page.items])
        token = page.metadata._continue or ""

    assert pages == [["c0", "c1"], ["c2", "c3"], ["c4"]]


def test_official_watches_tell_of_every_change(core: Any, namespace: str) -> None:
    core.create_namespaced_config_map(namespace, config_map("a"))
    version = core.list_namespaced_config_map(namespace).metadata.resource_version
    core.patch_namespaced_config_map("a", namespace, {"data": {"x": "2"}})
    core.delete_namespaced_config_map("a", namespace)
    stream = official_watch.Watch().stream(
        core.list_namespaced_config_map, namespace, resource_version=version
    )

    told = [(each["type"], each["object"].data) for each in islice(stream, 2)]
    stream.close()

    assert told == [("MODIFIED", {"x": "2"}), ("DELETED", {"x": "2"})]


@pytest.mark.parametrize(("kind", "patch"), PATCHES)
def test_official_patches_change_what_they_say(
    core: Any, namespace: str, kind: str, patch: Any
) -> None:
    core.create_namespaced_config_map(namespace, config_map("a"))
    options = {"field_manager": "tests", "force": True} if kind == APPLY else {}

    patched = core.patch_namespaced_config_map("a", namespace, patch, _content_type=kind, **options)

    assert patched.data == {"x": "2"}


def test_official_typed_models_keep_their_defaults(api: Any, namespace: str) -> None:
    labels = {"app": "web"}
    container = official.V1Container(name="main", image="example")
    template = official.V1PodTemplateSpec(
        metadata=official.V1ObjectMeta(labels=labels),
        spec=official.V1PodSpec(containers=[container]),
    )
    spec = official.V1DeploymentSpec(
        selector=official.V1LabelSelector(match_labels=labels), template=template
    )
    body = official.V1Deployment(metadata=official.V1ObjectMeta(name="web"), spec=spec)
    apps = official.AppsV1Api(api)

    made = apps.create_namespaced_deployment(namespace, body)
    scaled = apps.patch_namespaced_deployment_scale("web", namespace, {"spec": {"replicas": 3}})

    assert (made.spec.replicas, made.spec.strategy.type) == (1, "RollingUpdate")
    assert scaled.spec.replicas == 3


@contextmanager
def widgets_defined(api: Any) -> Iterator[None]:
    definitions = official.ApiextensionsV1Api(api)
    definitions.create_custom_resource_definition(DEFINITION)
    try:
        yield
    finally:
        definitions.delete_custom_resource_definition("widgets.example.com")


def test_official_custom_objects_are_served(api: Any, namespace: str) -> None:
    place = ("example.com", "v1", namespace, "widgets")
    custom = official.CustomObjectsApi(api)
    with widgets_defined(api):
        custom.create_namespaced_custom_object(*place, widget("small"))
        patched = custom.patch_namespaced_custom_object(
            *place, "small", {"spec": {"size": 2}}, _content_type=MERGE
        )
        stream = official_watch.Watch().stream(
            custom.list_namespaced_custom_object, *place, resource_version="0"
        )
        first = next(stream)
        stream.close()
        custom.delete_namespaced_custom_object(*place, "small")
        rest = custom.list_namespaced_custom_object(*place)["items"]

    assert patched["spec"] == {"size": 2}
    assert (first["type"], first["object"]["metadata"]["name"]) == ("ADDED", "small")
    assert rest == []


def test_the_dynamic_client_finds_its_way(api: Any, namespace: str) -> None:
    with widgets_defined(api):
        dynamic = official_dynamic.DynamicClient(api)
        widgets = dynamic.resources.get(api_version="example.com/v1", kind="Widget")
        widgets.create(body=widget("small"), namespace=namespace)
        config_maps = dynamic.resources.get(api_version="v1", kind="ConfigMap")
        body = {"apiVersion": "v1", "kind": "ConfigMap", **config_map("a")}
        applied = config_maps.server_side_apply(
            body=body, namespace=namespace, field_manager="tests"
        )
        listed = widgets.get(namespace=namespace)

    assert [each.metadata.name for each in listed.items] == ["small"]
    assert applied.data.to_dict() == {"x": "1"}


def test_the_official_informer_syncs_and_recovers(
    shared: RunningServer, core: Any, namespace: str
) -> None:
    core.create_namespaced_config_map(namespace, config_map("first"))
    told: queue.Queue[tuple[str, str]] = queue.Queue()
    # The informer looks at its stop flag only when a watch says something or ends.
    informer = official_informer.SharedInformer(
        core.list_namespaced_config_map, namespace=namespace, resync_period=1
    )
    for kind in ("ADDED", "MODIFIED", "DELETED"):
        informer.add_event_handler(
            kind, lambda each, kind=kind: told.put((kind, each.metadata.name))
        )
    informer.start()
    try:
        expect(told, ("ADDED", "first"))
        core.create_namespaced_config_map(namespace, config_map("second"))
        expect(told, ("ADDED", "second"))
        shared.add_fault(Fault(Action.EXPIRE, now=True))
        shared.add_fault(Fault(Action.CLOSE, verb="watch", resource="configmaps", now=True))
        core.delete_namespaced_config_map("first", namespace)
        expect(told, ("DELETED", "first"))
        names = [each.metadata.name for each in informer.cache.list()]
    finally:
        informer.stop()

    assert names == ["second"]


def expect(told: queue.Queue[tuple[str, str]], wanted: tuple[str, str]) -> None:
    """Wait for news; a resync repeats old ones in between."""
    while told.get(timeout=15 * overload()) != wanted:
        pass


# kubernetes_asyncio


@asynccontextmanager
async def asyncio_api(server: RunningServer) -> AsyncIterator[Any]:
    api = await asyncio_config.new_client_from_config(str(server.kubeconfig))
    async with api:
        yield api
    # Its sockets are closed a moment after its session: a watch that was left early, for one.
    await asyncio.sleep(0.1)


async def test_asyncio_objects_come_in_pages_and_go(shared: RunningServer, namespace: str) -> None:
    async with asyncio_api(shared) as api:
        core = asyncio_client.CoreV1Api(api)
        for name in ("a", "b", "c"):
            await core.create_namespaced_config_map(namespace, config_map(name))
        first = await core.list_namespaced_config_map(namespace, limit=2)
        await core.delete_namespaced_config_map("c", namespace)
        second = await core.list_namespaced_config_map(
            namespace, limit=2, _continue=first.metadata._continue
        )
        with pytest.raises(asyncio_client.ApiException) as missing:
            await core.read_namespaced_config_map("c", namespace)

    assert [each.metadata.name for each in first.items] == ["a", "b"]
    assert [each.metadata.name for each in second.items] == ["c"]
    assert missing.value.status == 404


async def test_asyncio_watches_tell_of_every_change(shared: RunningServer, namespace: str) -> None:
    told = []
    async with asyncio_api(shared) as api:
        core = asyncio_client.CoreV1Api(api)
        await core.create_namespaced_config_map(namespace, config_map("a"))
        async with asyncio_watch.Watch().stream(
            core.list_namespaced_config_map, namespace
        ) as events:
            async for event in events:
                told.append((event["type"], event["object"].data))
                if event["type"] == "ADDED":
                    body = {"data": {"x": "2"}}
                    await core.patch_namespaced_config_map(
                        "a", namespace, body, _content_type=MERGE
                    )
                elif event["type"] == "MODIFIED":
                    await core.delete_namespaced_config_map("a", namespace)
                else:
                    break

    assert told == [("ADDED", {"x": "1"}), ("MODIFIED", {"x": "2"}), ("DELETED", {"x": "2"})]


@pytest.mark.parametrize(("kind", "patch"), PATCHES)
async def test_asyncio_patches_change_what_they_say(
    shared: RunningServer, namespace: str, kind: str, patch: Any
) -> None:
    options = {"field_manager": "tests", "force": True} if kind == APPLY else {}
    async with asyncio_api(shared) as api:
        core = asyncio_client.CoreV1Api(api)
        await core.create_namespaced_config_map(namespace, config_map("a"))
        patched = await core.patch_namespaced_config_map(
            "a", namespace, patch, _content_type=kind, **options
        )

    assert patched.data == {"x": "2"}


async def test_asyncio_custom_objects_are_served(shared: RunningServer, namespace: str) -> None:
    place = ("example.com", "v1", namespace, "widgets")
    async with asyncio_api(shared) as api:
        definitions = asyncio_client.ApiextensionsV1Api(api)
        custom = asyncio_client.CustomObjectsApi(api)
        await definitions.create_custom_resource_definition(DEFINITION)
        await custom.create_namespaced_custom_object(*place, widget("small"))
        listed = await custom.list_namespaced_custom_object(*place)
        await definitions.delete_custom_resource_definition("widgets.example.com")
        with pytest.raises(asyncio_client.ApiException) as gone:
            await custom.list_namespaced_custom_object(*place)

    assert [each["spec"] for each in listed["items"]] == [{"size": 1}]
    assert gone.value.status == 404


# lightkube


@pytest.fixture
def light(shared: RunningServer, namespace: str) -> Iterator[lightkube.Client]:
    config = lightkube.KubeConfig.from_file(shared.kubeconfig)
    client = lightkube.Client(config, namespace=namespace, field_manager="tests", trust_env=False)
    yield client
    client.close()


def light_map(name: str, value: str = "1") -> ConfigMap:
    return ConfigMap(metadata=ObjectMeta(name=name), data={"x": value})


def test_lightkube_objects_come_in_pages_and_go(light: lightkube.Client) -> None:
    for name in ("a", "b", "c"):
        light.create(light_map(name))

    listed = [each.metadata.name for each in light.list(ConfigMap, chunk_size=2) if each.metadata]
    light.delete(ConfigMap, "a")
    with pytest.raises(LightkubeError) as missing:
        light.get(ConfigMap, "a")

    assert listed == ["a", "b", "c"]
    assert missing.value.status.code == 404


def test_lightkube_watches_tell_of_every_change(light: lightkube.Client, namespace: str) -> None:
    version = light.get(Namespace, namespace).metadata
    assert version is not None
    light.create(light_map("a"))
    light.replace(light_map("a", "2"))
    light.delete(ConfigMap, "a")
    stream = light.watch(ConfigMap, resource_version=version.resourceVersion)

    told = [(kind, each.data) for kind, each in islice(stream, 3)]

    assert told == [("ADDED", {"x": "1"}), ("MODIFIED", {"x": "2"}), ("DELETED", {"x": "2"})]


@pytest.mark.parametrize(("kind", "patch"), PATCHES)
def test_lightkube_patches_change_what_they_say(
    light: lightkube.Client, kind: str, patch: Any
) -> None:
    light.create(light_map("a"))

    patched = light.patch(ConfigMap, "a", patch, patch_type=PatchType(kind), force=kind == APPLY)

    assert patched.data == {"x": "2"}


def test_lightkube_applies_what_it_has_typed(light: lightkube.Client) -> None:
    labels = {"app": "web"}
    template = PodTemplateSpec(
        metadata=ObjectMeta(labels=labels),
        spec=PodSpec(containers=[Container(name="main", image="example")]),
    )
    spec = DeploymentSpec(selector=LabelSelector(matchLabels=labels), template=template)

    applied = light.apply(Deployment(metadata=ObjectMeta(name="web"), spec=spec))

    assert applied.spec is not None
    assert applied.spec.replicas == 1


def test_lightkube_custom_objects_are_served(light: lightkube.Client) -> None:
    widgets: Any = create_namespaced_resource("example.com", "v1", "Widget", "widgets")
    definition: Any = CustomResourceDefinition.from_dict(DEFINITION)
    light.create(definition)
    try:
        light.create(widgets(widget("small")))
        listed = [each["spec"] for each in light.list(widgets)]
    finally:
        light.delete(CustomResourceDefinition, "widgets.example.com")

    assert listed == [{"size": 1}]
