"""ConfigMaps and Secrets of a whole cluster: few requests, and little kept."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.api.core.config import ConfigMap, Secret
from reflet.api.meta import ObjectMeta
from reflet.client.client import Client
from reflet.errors import NotFound, TransportError
from reflet.podconfig.gather_many_objects import LONG, TOO_LONG, read_many_objects, slim
from reflet.resolution.objects import ObjectKey
from tests.unit.podconfig.listed_cluster import ListedCluster

SETTINGS: ObjectKey = ("ConfigMap", "shop", "settings")
GONE: ObjectKey = ("ConfigMap", "shop", "gone")
DB: ObjectKey = ("Secret", "blog", "db")
HELM: ObjectKey = ("Secret", "shop", "sh.helm.release.v1.web.v1")


def document(kind: str, namespace: str, name: str, **more: Any) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace}
    return {"apiVersion": "v1", "kind": kind, "metadata": metadata, **more}


OBJECTS = [
    document("ConfigMap", "shop", "settings", data={"a": "b"}),
    document("ConfigMap", "shop", "others", data={"a": "b"}),
    document("Secret", "blog", "db"),
]


async def test_each_kind_is_listed_once_over_all_namespaces() -> None:
    server = ListedCluster(*OBJECTS)

    found = await read_many_objects(Client(server), [SETTINGS, GONE, DB], everywhere=True)

    assert server.asked == ["configmaps", "secrets type!=helm.sh/release.v1"]
    assert found.keys() == {SETTINGS, GONE, DB}
    assert isinstance(found[GONE], NotFound)
    assert isinstance(found[DB], Secret)


async def test_a_kind_that_nobody_names_is_not_asked_for() -> None:
    server = ListedCluster()

    assert await read_many_objects(Client(server), [], everywhere=True) == {}
    assert server.asked == []


async def test_who_may_not_list_reads_one_by_one() -> None:
    server = ListedCluster(*OBJECTS, forbidden=("configmaps",))

    found = await read_many_objects(Client(server), [SETTINGS, GONE], everywhere=True)

    assert sorted(server.asked) == ["configmaps", "configmaps/gone", "configmaps/settings"]
    assert isinstance(found[SETTINGS], ConfigMap)


async def test_a_release_of_helm_is_asked_for_by_name() -> None:
    server = ListedCluster(document(*HELM))

    found = await read_many_objects(Client(server), [HELM], everywhere=True)

    assert server.asked == [f"secrets/{HELM[2]}"]
    assert isinstance(found[HELM], Secret)


async def test_in_one_namespace_few_are_read_one_by_one() -> None:
    server = ListedCluster(*OBJECTS)

    await read_many_objects(Client(server), [SETTINGS], everywhere=False)

    assert server.asked == ["configmaps/settings"]


async def test_a_server_that_cannot_be_asked_is_an_error() -> None:
    server = ListedCluster(failing=TransportError("away"))

    with pytest.raises(TransportError):
        await read_many_objects(Client(server), [SETTINGS], everywhere=True)


def test_of_large_values_only_the_keys_are_kept() -> None:
    large, wrong, zero = "x" * (LONG + 1), "x" * TOO_LONG, "\0" * (LONG + 1)
    metadata = ObjectMeta(namespace="shop", name="settings")
    config_map = ConfigMap(
        metadata=metadata,
        data={"small": "a", "large": large, "wrong": wrong, "zero": zero},
        binary_data={"bytes": b"\1\2"},
    )
    secret = Secret(metadata=metadata, data={"small": b"a", "large": large.encode()})

    slim_map, slim_secret = slim(config_map), slim(secret)

    assert isinstance(slim_map, ConfigMap)
    assert slim_map.data == {"small": "a", "large": "", "wrong": wrong, "zero": zero}
    assert slim_map.binary_data == {"bytes": b""}
    assert slim_secret.data == {"small": b"a", "large": b""}
