"""A cluster, as a program first meets it: what its mirrors ask for."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from reflet.api.core.config import ConfigMap
from reflet.api.resources import CONFIG_MAPS
from reflet.api.unstructured import AnyObject
from reflet.client.client import ALL_NAMESPACES, Client
from reflet.cluster import Cluster, connect
from reflet.errors import ConfigurationError, ParseError
from reflet.informer.shared_informer import NotSynced
from reflet.store.transforms import drop_managed_fields
from reflet.transport.config.settings import ConnectionSettings
from reflet.transport.interface import Response
from tests.unit.client.scripted_transport import ScriptedStream, ScriptedTransport, events, ok

pytestmark = pytest.mark.virtual_time

SETTINGS = {
    "apiVersion": "v1",
    "kind": "ConfigMap",
    "metadata": {
        "name": "settings",
        "namespace": "shop",
        "resourceVersion": "4",
        "managedFields": [{"manager": "kubectl"}],
    },
    "data": {"color": "red"},
}
LIST = {
    "apiVersion": "v1",
    "kind": "ConfigMapList",
    "metadata": {"resourceVersion": "5"},
    "items": [SETTINGS],
}


class ScriptedCluster(Cluster):
    """A cluster whose server is a script."""

    def __init__(self, *answers: Response | ScriptedStream) -> None:
        self.transport = ScriptedTransport(*answers)
        Client.__init__(self, self.transport, namespace="shop")
        self.settings = ConnectionSettings(server="https://scripted")


async def mirrored(
    kind: Any, **options: Any
) -> tuple[list[ConfigMap | AnyObject], ScriptedTransport]:
    """What a mirror holds after its first list, and the requests that led to it."""
    cluster = ScriptedCluster(ok(LIST), events(status=200))
    async with cluster.mirror(kind, streaming=False, **options) as mirror:
        await mirror.synced(timeout=10)
        return mirror.values(), cluster.transport


@pytest.mark.parametrize("kind", [ConfigMap, "configmaps", "cm", CONFIG_MAPS])
async def test_a_mirror_holds_typed_objects_of_the_own_namespace(kind: Any) -> None:
    held, transport = await mirrored(kind)

    assert isinstance(held[0], ConfigMap)
    assert held[0].data == {"color": "red"}
    assert transport.requests[0].path == "/api/v1/namespaces/shop/configmaps"


async def test_a_mirror_may_span_all_namespaces() -> None:
    _, transport = await mirrored(ConfigMap, namespace=ALL_NAMESPACES)

    assert transport.requests[0].path == "/api/v1/configmaps"


async def test_a_mirror_of_several_namespaces_asks_for_each_of_them() -> None:
    cluster = ScriptedCluster(events(status=200), events(status=200))
    async with cluster.mirror(ConfigMap, namespace=["shop", "bank", "shop"]) as mirror:
        with pytest.raises(NotSynced):
            await mirror.synced(timeout=0.1)

    assert [request.path for request in cluster.transport.requests][:2] == [
        "/api/v1/namespaces/shop/configmaps",
        "/api/v1/namespaces/bank/configmaps",
    ]


@pytest.mark.parametrize(
    ("kind", "namespaces", "named"),
    [
        (ConfigMap, ["shop", ALL_NAMESPACES], "configmaps"),
        (ConfigMap, ["shop"], "configmaps in shop"),
        (ConfigMap, ("shop", "bank"), "configmaps in shop, bank"),
        ("nodes", ["shop", "bank"], "nodes"),
    ],
)
def test_several_namespaces_are_watched_as_few(
    kind: Any, namespaces: Sequence[str], named: str
) -> None:
    assert ScriptedCluster().mirror(kind, namespace=namespaces).informer.name == named


def test_an_empty_list_of_namespaces_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="name at least one"):
        ScriptedCluster().mirror(ConfigMap, namespace=[])


@pytest.mark.parametrize(
    ("question", "is_shared"),
    [
        ({"kind": "cm"}, True),
        ({"kind": ConfigMap, "namespace": ["shop"]}, True),
        ({"kind": ConfigMap, "namespace": "bank"}, False),
        ({"kind": ConfigMap, "raw": True}, False),
        ({"kind": ConfigMap, "label_selector": "a"}, False),
        ({"kind": ConfigMap, "shared": False}, False),
    ],
)
def test_a_shared_mirror_is_that_of_the_same_question(
    question: dict[str, Any], is_shared: bool
) -> None:
    cluster = ScriptedCluster()
    first = cluster.mirror(ConfigMap, shared=True)

    assert (cluster.mirror(**{"shared": True, **question}) is first) is is_shared


async def test_a_mirror_asks_for_what_is_selected() -> None:
    _, transport = await mirrored(
        ConfigMap, label_selector="app=web", field_selector="metadata.name=settings"
    )

    asked = dict(transport.requests[0].query)
    assert (asked["labelSelector"], asked["fieldSelector"]) == ("app=web", "metadata.name=settings")


async def test_a_raw_mirror_holds_everything_but_what_is_dropped() -> None:
    held, _ = await mirrored("configmaps", raw=True, transform=drop_managed_fields)

    assert isinstance(held[0], AnyObject)
    assert "managedFields" not in held[0]["metadata"]
    assert held[0]["data"] == {"color": "red"}


async def test_a_name_that_nobody_knows_is_refused_at_once() -> None:
    with pytest.raises(ParseError, match="widgets"):
        ScriptedCluster().mirror("widgets")


# How fast it asks


def limits(cluster: Cluster) -> tuple[float, int]:
    return cluster.settings.qps, cluster.settings.burst


def test_the_limit_is_that_of_the_settings() -> None:
    settings = ConnectionSettings(server="https://127.0.0.1:1", qps=7, burst=8)

    assert limits(connect(settings)) == (7, 8)


def test_the_limit_can_be_given() -> None:
    settings = ConnectionSettings(server="https://127.0.0.1:1")

    assert limits(connect(settings, qps=1000, burst=2000)) == (1000, 2000)
    assert limits(connect(settings, qps=0)) == (0, 100)
    assert limits(connect(settings, burst=5)) == (50, 5)


def test_a_limit_that_lets_nobody_through_is_refused() -> None:
    with pytest.raises(ConfigurationError, match="burst must be at least 1"):
        connect(ConnectionSettings(server="https://127.0.0.1:1"), burst=0)


def test_a_misspelled_option_of_a_mirror_is_refused_by_the_call_itself() -> None:
    cluster = ScriptedCluster()
    typo: dict[str, Any] = {"indexerz": {}}

    with pytest.raises(TypeError, match="did you mean 'indexers'"):
        cluster.mirror(ConfigMap, **typo)
