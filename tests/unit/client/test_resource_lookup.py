"""Resources that only the server knows."""

from __future__ import annotations

from typing import Any, Literal

import msgspec
import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.frozen import Frozen, constant
from reflet.api.meta import ObjectMeta, PartialObjectMetadata, TypedObject
from reflet.api.unstructured import AnyObject
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.cluster import Cluster
from reflet.devserver.server import DevServer
from reflet.errors import DecodeError, NotFound, ParseError
from reflet.transport.config.settings import ConnectionSettings
from tests.mirror_scenes import WIDGET_DEFINITION
from tests.unit.client.scripted_transport import ScriptedTransport


class WidgetSpec(Frozen, frozen=True, kw_only=True):
    size: int = 0


class Widget(TypedObject, frozen=True, kw_only=True):
    """A kind that Reflet has never heard of."""

    api_version: Literal["example.com/v1"] = constant("example.com/v1")
    kind: Literal["Widget"] = constant("Widget")
    metadata: ObjectMeta = ObjectMeta()
    spec: WidgetSpec = WidgetSpec()


class PlainSpec(msgspec.Struct, frozen=True):
    size: int


class PlainWidget(msgspec.Struct, frozen=True, rename="camel"):
    """The same kind, without a base of ours; what is required must be there."""

    spec: PlainSpec
    metadata: ObjectMeta
    api_version: Literal["example.com/v1"] = "example.com/v1"
    kind: Literal["Widget"] = "Widget"


DEFINITIONS = "customresourcedefinitions.apiextensions.k8s.io"
SMALL = {
    "apiVersion": "example.com/v1",
    "kind": "Widget",
    "metadata": {"name": "small"},
    "spec": {"size": 1},
}


def on(server: DevServer) -> Cluster:
    return Cluster(ConnectionSettings(server=server.url, namespace="default"))


@pytest.mark.parametrize("kind", ["widgets.example.com", "Widget.example.com", Widget, PlainWidget])
async def test_a_custom_resource_needs_no_more_than_its_name_or_its_class(kind: Any) -> None:
    async with DevServer(tls=False) as server, on(server) as cluster:
        await cluster.resource(DEFINITIONS).create(WIDGET_DEFINITION)
        widgets = cluster.resource(kind)

        await widgets.create(SMALL)
        found = await widgets.get("small")

        assert str(widgets.resource) == "widgets.example.com"
        assert isinstance(found, AnyObject if isinstance(kind, str) else kind)
        async with cluster.mirror(kind) as mirror:
            await mirror.synced()
            assert mirror["small"] == found or isinstance(kind, str)
            assert mirror.keys() == ["small"]
            assert mirror.list("") == mirror.values()


async def test_what_is_not_installed_is_told_and_found_once_it_is() -> None:
    async with DevServer(tls=False) as server, on(server) as cluster:
        widgets = cluster.resource(Widget)
        with pytest.raises(NotFound, match=r"has no Widget\.example\.com: is its CustomResource"):
            await widgets.list()

        await cluster.resource(DEFINITIONS).create(WIDGET_DEFINITION)

        assert (await widgets.list()).items == ()


@pytest.mark.virtual_time
async def test_a_mirror_of_what_is_not_installed_yet_waits_for_it() -> None:
    async with (
        DevServer(tls=False) as server,
        on(server) as cluster,
        cluster.mirror("widgets.example.com") as mirror,
    ):
        with pytest.raises(NotFound, match="is its CustomResourceDefinition installed"):
            await mirror.synced(fail_on=NotFound)

        await cluster.resource(DEFINITIONS).create(WIDGET_DEFINITION)
        await cluster.resource("widgets.example.com").create(SMALL)
        await mirror.synced()

        assert mirror.keys() == ["small"]


async def test_a_missing_object_does_not_make_the_client_look_the_resource_up_again() -> None:
    async with DevServer(tls=False) as server, on(server) as cluster:
        await cluster.resource(DEFINITIONS).create(WIDGET_DEFINITION)
        widgets = cluster.resource(Widget)
        for _ in range(3):
            with pytest.raises(NotFound, match='"absent" not found'):
                await widgets.get("absent")

        asked = [request.path for request in server.requests.all() if request.verb == ""]
        assert asked.count("/apis") == 1


async def test_a_definition_that_comes_back_in_another_version_is_found_again() -> None:
    second = {**WIDGET_DEFINITION["spec"]["versions"][0], "name": "v2"}
    async with DevServer(tls=False) as server, on(server) as cluster:
        definitions = cluster.resource(DEFINITIONS)
        await definitions.create(WIDGET_DEFINITION)
        widgets = cluster.resource("widgets.example.com")
        await widgets.create(SMALL)

        await definitions.delete("widgets.example.com")
        spec = {**WIDGET_DEFINITION["spec"], "versions": [second]}
        await definitions.create({**WIDGET_DEFINITION, "spec": spec})
        with pytest.raises(NotFound):
            await widgets.list()

        assert (await widgets.list()).items == ()
        assert widgets.resource.version == "v2"


async def test_a_resource_without_namespaces_has_none_once_it_is_found() -> None:
    spec = {**WIDGET_DEFINITION["spec"], "scope": "Cluster"}
    async with DevServer(tls=False) as server, on(server) as cluster:
        await cluster.resource(DEFINITIONS).create({**WIDGET_DEFINITION, "spec": spec})
        widgets = cluster.resource("widgets.example.com")

        made = await widgets.create(SMALL)

        assert widgets.namespace is None
        assert made.metadata.namespace == ""


def test_a_name_without_a_group_must_be_a_built_in_one() -> None:
    with pytest.raises(ParseError, match="did you mean"):
        Client(ScriptedTransport()).resource("configmapz")


def test_built_in_names_are_not_looked_up() -> None:
    client = Client(ScriptedTransport())

    assert client.resource("deployments.apps", namespace=ALL_NAMESPACES).namespace is None
    assert client.resource(ConfigMap).resource.plural == "configmaps"


async def test_of_any_kind_the_metadata_alone_can_be_had() -> None:
    async with DevServer(tls=False) as server, on(server) as cluster:
        await cluster.resource(DEFINITIONS).create(WIDGET_DEFINITION)
        await cluster.resource("widgets.example.com").create(SMALL)
        await cluster.resource(ConfigMap).create({"metadata": {"name": "a"}, "data": {"x": "y"}})
        for kind, name in ((ConfigMap, "a"), ("widgets.example.com", "small")):
            client = cluster.resource(kind, metadata_only=True)

            assert type(await client.get(name)) is PartialObjectMetadata
            assert [each.metadata.name for each in (await client.list()).items] == [name]
            async with cluster.mirror(kind, metadata_only=True) as mirror:
                await mirror.synced()
                await cluster.resource(kind).patch(name, {"metadata": {"labels": {"seen": "yes"}}})
                changes = mirror.changes()
                while not mirror[name].metadata.labels:
                    await anext(changes)
                assert type(mirror[name]) is PartialObjectMetadata


async def test_an_object_that_does_not_fit_the_class_is_told_to_who_mirrors() -> None:
    errors: list[Exception] = []
    async with DevServer(tls=False) as server, on(server) as cluster:
        await cluster.resource(DEFINITIONS).create(WIDGET_DEFINITION)
        await cluster.resource("widgets.example.com").create({**SMALL, "spec": {"size": "large"}})

        async with cluster.mirror(PlainWidget, on_error=errors.append) as mirror:
            with pytest.raises(DecodeError, match=r"spec\.size: expected an integer"):
                await mirror.synced(timeout=30, fail_on=DecodeError)

        assert "spec.size: expected an integer" in str(errors[0])
