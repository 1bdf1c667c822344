from __future__ import annotations

from typing import Any

from reflet.play.actions import Create, Delete, Update
from reflet.play.service_endpoints import slice_actions
from tests.unit.play.documents_scene import Document, metadata, pod, ready_pod


def service(**spec: Any) -> Document:
    ports = [{"name": "http", "port": 80, "targetPort": "web", "protocol": "TCP"}]
    return {
        "apiVersion": "v1",
        "kind": "Service",
        "metadata": metadata("web", labels={"team": "a"}),
        "spec": {"selector": {"app": "web"}, "ports": ports, **spec},
    }


def behind(each: Document) -> Document:
    number = int(each["metadata"]["name"].rpartition("-")[2])
    each["status"]["podIP"] = f"10.244.{number // 256}.{number % 256}"
    each["spec"]["nodeName"] = "one"
    each["spec"]["containers"][0]["ports"] = [{"name": "web", "containerPort": 8080}]
    return each


def test_a_slice_has_the_ports_of_the_pods_and_says_who_is_ready() -> None:
    going = ready_pod("web-3", metadata={"deletionTimestamp": "now"})
    pods = [behind(ready_pod("web-1")), behind(pod("web-2")), behind(going)]

    (made,) = slice_actions(service(), pods, [])

    assert isinstance(made, Create)
    assert made.document["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    conditions = [tuple(each["conditions"].values()) for each in made.document["endpoints"]]
    assert conditions == [(True, True, False), (False, False, False), (False, True, True)]
    assert made.document["metadata"]["labels"] == {
        "team": "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }


def test_a_hundred_endpoints_fit_into_a_slice() -> None:
    pods = [behind(ready_pod(f"web-{number}")) for number in range(250)]

    made = [each for each in slice_actions(service(), pods, []) if isinstance(each, Create)]

    assert [len(each.document["endpoints"]) for each in made] == [100, 100, 50]


def test_slices_are_used_again_and_those_too_many_go() -> None:
    pods = [behind(ready_pod("web-1"))]
    (made,) = slice_actions(service(), pods, [])
    assert isinstance(made, Create)
    old = {**made.document, "endpoints": []}

    found = slice_actions(service(), pods, [old, old])

    assert [type(each) for each in found] == [Update, Delete]
    assert slice_actions(service(), pods, [dict(made.document)]) == []
