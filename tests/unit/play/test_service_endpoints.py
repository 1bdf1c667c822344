from __future__ import annotations

from typing import Any

from reflet.play.service_endpoints import follow_service
from tests.unit.play.documents_scene import (
    GOING,
    Document,
    metadata,
    pod,
    ready_pod,
    view_of,
    words,
)

LABELS = {"labels": {"app": "web"}}


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


def decided(*documents: Document) -> list[Document]:
    return [dict(each.document) for each in follow_service(view_of(*documents), service()).actions]


def test_a_slice_has_the_ports_of_the_pods_and_says_who_is_ready() -> None:
    going = ready_pod("web-3", metadata={**LABELS, **GOING})
    other = ready_pod("other-4", metadata={"labels": {"app": "other"}})
    pods = [ready_pod("web-1", metadata=LABELS), pod("web-2", metadata=LABELS), going, other]

    made = decided(*map(behind, pods))[0]

    assert made["ports"] == [{"name": "http", "port": 8080, "protocol": "TCP"}]
    conditions = [tuple(each["conditions"].values()) for each in made["endpoints"]]
    assert conditions == [(True, True, False), (False, False, False), (False, True, True)]
    assert made["metadata"]["labels"] == {
        "team": "a",
        "kubernetes.io/service-name": "web",
        "endpointslice.kubernetes.io/managed-by": "endpointslice-controller.k8s.io",
    }


def test_the_old_form_has_those_that_are_ready_apart_and_none_that_go() -> None:
    going = ready_pod("web-3", metadata={**LABELS, **GOING})
    pods = [ready_pod("web-1", metadata=LABELS), pod("web-2", metadata=LABELS), going]

    (subset,) = decided(*map(behind, pods))[1]["subsets"]

    assert [each["ip"] for each in subset["addresses"]] == ["10.244.0.1"]
    assert [each["ip"] for each in subset["notReadyAddresses"]] == ["10.244.0.2"]


def test_a_hundred_endpoints_fit_into_a_slice() -> None:
    pods = [behind(ready_pod(f"web-{number}", metadata=LABELS)) for number in range(250)]

    made = [each for each in decided(*pods) if each["kind"] == "EndpointSlice"]

    assert [len(each["endpoints"]) for each in made] == [100, 100, 50]


def test_what_is_right_already_is_left_and_slices_too_many_go() -> None:
    web = behind(ready_pod("web-1", metadata=LABELS))
    right, endpoints = (
        {**each, "metadata": {**each["metadata"], **metadata("web")}} for each in decided(web)
    )
    other = {**right, "endpoints": [], "metadata": {**right["metadata"], "name": "web-z"}}

    assert decided(web, right, endpoints) == []
    steps = follow_service(view_of(web, right, other, endpoints), service())
    assert words(steps) == ["delete web-z"]
