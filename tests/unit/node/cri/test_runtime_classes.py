from __future__ import annotations

from typing import cast

import pytest

from reflet.api.unstructured import AnyObject
from reflet.client.client import Client
from reflet.errors import TransportError
from reflet.node.cri.runtime_classes import RuntimeClasses, UnknownRuntimeClass
from tests.unit.node.fake_cluster import FakeCluster
from tests.unit.node.pod_scenes import pod

SAFE = pod(runtimeClassName="safe")


def served(**handlers: str) -> FakeCluster:
    cluster = FakeCluster()
    for name, handler in handlers.items():
        cluster.objects[name] = AnyObject.from_dict({"handler": handler})
    return cluster


def classes_of(cluster: FakeCluster) -> RuntimeClasses:
    return RuntimeClasses(cast("Client", cluster))


async def test_a_class_names_its_handler() -> None:
    assert await classes_of(served(safe="kata")).handler_of(SAFE) == "kata"


async def test_nothing_is_asked_for_a_pod_without_a_class() -> None:
    cluster = served()

    assert await classes_of(cluster).handler_of(pod()) == ""
    assert cluster.writes == []


async def test_a_class_that_does_not_exist_is_said_in_the_kubelets_words() -> None:
    with pytest.raises(UnknownRuntimeClass) as caught:
        await classes_of(served()).handler_of(SAFE)

    assert str(caught.value) == 'runtimeclass.node.k8s.io "safe" not found'


async def test_a_handler_that_was_known_is_known_while_the_server_is_away() -> None:
    cluster = served(safe="kata")
    classes = classes_of(cluster)
    await classes.handler_of(SAFE)
    cluster.failures.append(TransportError("away"))

    assert await classes.handler_of(SAFE) == "kata"


async def test_a_class_that_was_deleted_is_not_remembered() -> None:
    cluster = served(safe="kata")
    classes = classes_of(cluster)
    await classes.handler_of(SAFE)
    del cluster.objects["safe"]
    with pytest.raises(UnknownRuntimeClass, match="not found"):
        await classes.handler_of(SAFE)
    cluster.failures.append(TransportError("away"))

    with pytest.raises(UnknownRuntimeClass, match="failed to lookup RuntimeClass safe: away"):
        await classes.handler_of(SAFE)
