"""Which objects lead to which node."""

from __future__ import annotations

from typing import Any

import pytest

from reflet.devserver.authorization.node_graph import NodeGraph
from reflet.devserver.storage.storage import Storage
from reflet.devserver.storage.stored import Key

POD = Key("pods", "shop", "web")
VOLUME = Key("persistentvolumes", "", "disk-1")
CLAIM = Key("persistentvolumeclaims", "shop", "disk")


def pod(node: str = "a", *, annotations: Any = None, **spec: Any) -> dict[str, Any]:
    metadata = {"name": "web", "annotations": annotations or {}}
    return {"metadata": metadata, "spec": {"nodeName": node, **spec}}


def pull(*names: str) -> dict[str, Any]:
    return {"imagePullSecrets": [{"name": name} for name in names]}


def secret(name: str, namespace: str = "shop") -> Key:
    return Key("secrets", namespace, name)


def test_the_objects_of_a_pod_lead_to_its_node_and_to_no_other() -> None:
    graph = NodeGraph()
    graph.put(POD, pod("a", **pull("key")))

    assert graph.leads_to(POD, "a")
    assert graph.leads_to(secret("key"), "a")
    assert not graph.leads_to(secret("key"), "b")
    assert not graph.leads_to(secret("key", "other"), "a")
    assert not graph.leads_to(Key("configmaps", "shop", "key"), "a")


def test_a_pod_without_a_node_leads_nowhere() -> None:
    graph = NodeGraph()
    graph.put(POD, pod("", **pull("key")))

    assert not graph.leads_to(secret("key"), "")
    assert not graph.leads_to(POD, "")


def test_a_mirror_pod_leads_to_its_node_and_nothing_leads_to_it() -> None:
    graph = NodeGraph()
    graph.put(POD, pod("a", annotations={"kubernetes.io/config.mirror": ""}, **pull("key")))

    assert graph.leads_to(POD, "a")
    assert not graph.leads_to(secret("key"), "a")


def test_an_object_of_two_pods_leads_to_both_nodes_until_one_goes() -> None:
    graph = NodeGraph()
    graph.put(POD, pod("a", **pull("key")))
    other = Key("pods", "shop", "other")
    graph.put(other, pod("b", **pull("key")))
    both = [graph.leads_to(secret("key"), node) for node in "ab"]
    graph.remove(other)

    assert both == [True, True]
    assert [graph.leads_to(secret("key"), node) for node in "ab"] == [True, False]


def test_a_pod_that_changes_leads_where_it_leads_now() -> None:
    graph = NodeGraph()
    graph.put(POD, pod("a", **pull("old")))
    graph.put(POD, pod("a", **pull("new")))

    assert [graph.leads_to(secret(name), "a") for name in ("old", "new")] == [False, True]


def test_what_has_gone_leaves_nothing_behind() -> None:
    graph = NodeGraph()
    graph.put(POD, pod("a", **pull("key")))
    graph.remove(POD)

    assert [bool(part) for part in (graph._nodes, graph._next, graph._owned)] == [False] * 3


@pytest.mark.parametrize(
    ("source", "found"),
    [
        ({"csi": {"nodeStageSecretRef": {"namespace": "vault", "name": "s"}}}, ["vault"]),
        ({"csi": {"controllerPublishSecretRef": {"namespace": "vault", "name": "s"}}}, []),
        ({"rbd": {"secretRef": {"name": "s"}}}, ["shop"]),
        ({"rbd": {"secretRef": {"name": "s", "namespace": "vault"}}}, ["vault"]),
        ({"cinder": {"secretRef": {"name": "s"}}}, []),
        ({"azureFile": {"secretName": "s"}}, ["shop"]),
        ({"azureFile": {"secretName": "s", "secretNamespace": "vault"}}, ["vault"]),
        ({"hostPath": {"path": "/"}}, []),
    ],
)
def test_a_volume_leads_through_its_claim_and_so_do_its_secrets(
    source: Any, found: list[str]
) -> None:
    graph = NodeGraph()
    claimed = {"spec": {"claimRef": {"namespace": "shop", "name": "disk"}, **source}}
    graph.put(VOLUME, {"metadata": {}, **claimed})
    before = graph.leads_to(VOLUME, "a")
    graph.put(POD, pod(volumes=[{"name": "v", "persistentVolumeClaim": {"claimName": "disk"}}]))

    assert not before
    assert graph.leads_to(VOLUME, "a")
    assert graph.leads_to(CLAIM, "a")
    namespaces = [each for each in ("shop", "vault") if graph.leads_to(secret("s", each), "a")]
    assert namespaces == found


def test_a_volume_that_nobody_claims_leads_nowhere() -> None:
    graph = NodeGraph()
    graph.put(VOLUME, {"metadata": {}, "spec": {"azureFile": {"secretName": "s"}}})

    assert not graph.leads_to(secret("s"), "a")


@pytest.mark.parametrize(
    "resource", ["volumeattachments.storage.k8s.io", "resourceslices.resource.k8s.io"]
)
def test_some_objects_name_their_node_themselves(resource: str) -> None:
    graph = NodeGraph()
    graph.put(Key(resource, "", "x"), {"metadata": {}, "spec": {"nodeName": "a"}})

    assert [graph.leads_to(Key(resource, "", "x"), node) for node in "ab"] == [True, False]


def test_writes_are_followed() -> None:
    graph, storage = NodeGraph(), Storage()
    storage.subscribe(graph.follow, resource="pods")

    storage.create(POD, pod("", **pull("key")))
    unbound = graph.leads_to(secret("key"), "a")
    storage.replace(POD, pod("a", **pull("key")))
    bound = graph.leads_to(secret("key"), "a")
    storage.delete(POD)

    assert (unbound, bound, graph.leads_to(secret("key"), "a")) == (False, True, False)
